// Where in a kernel's text a wait is missing for what an instruction starts. A wait at a barrier, or for a DMA
// semaphore, takes one completion: it can be inserted only where all completions and waits there are known and occur
// once, in the order of the text; where every completion has its wait, one has to move. A wait for a group of the own
// thread may occur twice.
#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "emu/run/launch/mended.h"
#include "semantics/base/cat.h"
#include "semantics/ir/module.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

using Where = TextEdit::Where;
using Place = TextPlaces::Place;

constexpr std::string_view kAtBarrier = "plgpu.barrier_wait(", kOfCopy = "copy.wait";

// The waits for groups, and what the text has for them.
constexpr std::pair<std::string_view, std::string_view> kGroupWaits[] = {
    {"plgpu.wgmma_wait(0)", "wgmma_wait(0:i32);"},
    {"plgpu.commit_tmem()", "commit_tmem();"},
    {"plgpu.wait_load_tmem()", "wait_load_tmem();"},
    {"plgpu.wait_smem_to_gmem(0)", "wait_smem_to_gmem{wait_read_only=false}(0:i32);"},
};

const Arg* Named(const Instr& instr, std::string_view name) {
  const auto found =
      std::find_if(instr.args.begin(), instr.args.end(), [name](const Arg& arg) { return arg.name == name; });
  return found == instr.args.end() || found->kind == Arg::Kind::kNone ? nullptr : &*found;
}

// Several blocks take part.
bool IsCollective(const Instr& instr) {
  for (const std::string_view name : {"collective_axis", "collective_axes"}) {
    const Attr* const attr = Find(instr.attrs, name);
    if (attr == nullptr || std::holds_alternative<AttrNone>(attr->value)) continue;
    const auto* const axes = std::get_if<AttrList>(&attr->value);
    if (axes == nullptr || !axes->empty()) return true;
  }
  return false;
}

bool IsConstant(const Arg& arg) {
  return std::all_of(arg.transforms.begin(), arg.transforms.end(), [](const Transform& transform) {
    return transform.kind == Transform::Kind::kAt &&
           std::all_of(transform.indices.begin(), transform.indices.end(), [](const Index& index) {
             return index.kind == Index::Kind::kPoint && index.start.kind == Arg::Kind::kLiteral;
           });
  });
}

// "{arrivals=2, orders_tensor_core=false}"
std::int64_t ArrivalsOf(const Type& barrier) {
  constexpr std::string_view kName = "arrivals=";
  const std::size_t at = barrier.attrs.find(kName);
  std::int64_t arrivals = 1;
  if (at != std::string::npos) {
    const char* const begin = barrier.attrs.data() + at + kName.size();
    std::from_chars(begin, barrier.attrs.data() + barrier.attrs.size(), arrivals);
  }
  return std::max<std::int64_t>(arrivals, 1);
}

bool BothWrite(const Finding& finding) {
  const auto writes = [](const std::optional<FindingAccess>& side) {
    return side.has_value() && side->kind == AccessKind::kWrite;
  };
  return writes(finding.first) && writes(finding.second);
}

// What takes completions of one barrier, or of one DMA semaphore.
class CountedWait {
 public:
  CountedWait(const WaitedText& wait, const Arg& object, std::string text, std::int64_t arrivals)
      : wait_(wait), text_(wait.text), object_(object), line_(std::move(text)), arrivals_(arrivals) {}

  // The fix as it stands where no place is found.
  std::optional<Mended> Before(const Place& access) const;
  std::optional<Mended> AtEnd() const;

 private:
  struct Use {
    const Place* place;
    bool waits;
  };
  // All that is done with it, in the order of the text, as `region` sees it; nothing where that is not known.
  std::optional<std::vector<Use>> UsesFrom(const Region* region) const;
  std::string At(const Place& place) const { return PlaceText(wait_.module, place.instr->loc, place.instr->text_line); }
  std::int64_t Completions(const std::vector<Use>& uses) const;
  // The wait that finds no completion once there is another one before the `at`-th place; nullptr: none.
  const Place* LeftOver(const std::vector<Use>& uses, std::size_t at) const;

  const WaitedText& wait_;
  const TextPlaces& text_;
  const Arg& object_;
  const std::string line_;
  const std::int64_t arrivals_;  // of one completion
};

std::optional<std::vector<CountedWait::Use>> CountedWait::UsesFrom(const Region* region) const {
  std::vector<Use> uses;
  const std::string element = text_.Text(object_);
  for (const Place& place : text_.places()) {
    for (const Arg& arg : place.instr->args) {
      const bool waits = RowOf(*place.instr).waits == Waits::kSignal;
      if (arg.kind != Arg::Kind::kValue || arg.value != object_.value) continue;
      if (waits && arg.name != object_.name) continue;  // the other semaphore of a remote copy
      if (text_.Text(arg) != element) {
        if (!IsConstant(arg) || !IsConstant(object_)) return std::nullopt;
        continue;
      }
      const Region* const common = text_.Common(place.region, region);
      if (common == nullptr || text_.Repeats(region, common) || text_.Repeats(place.region, common))
        return std::nullopt;
      if ((waits && text_.Decides(place.region, common)) || Named(*place.instr, "predicate") != nullptr)
        return std::nullopt;
      uses.push_back({&place, waits});
    }
  }
  return uses;
}

std::int64_t CountedWait::Completions(const std::vector<Use>& uses) const {
  return std::count_if(uses.begin(), uses.end(), [](const Use& use) { return !use.waits; }) / arrivals_;
}

const Place* CountedWait::LeftOver(const std::vector<Use>& uses, std::size_t at) const {
  std::int64_t arrived = 0, waits = 0;
  bool put_in = false;
  for (const Use& use : uses) {
    if (!put_in && use.place->at >= at) {
      ++waits;
      put_in = true;
    }
    if (use.waits && (waits + 1) * arrivals_ > arrived) return use.place;
    ++(use.waits ? waits : arrived);
  }
  return nullptr;
}

std::optional<Mended> CountedWait::Before(const Place& access) const {
  const auto uses = UsesFrom(access.region);
  if (!uses.has_value()) return std::nullopt;
  const Place* before = nullptr;
  std::int64_t arrived = 0, waits = 0;
  const bool barrier = wait_.finding.mend.await.starts_with(kAtBarrier);
  for (const Use& use : *uses) {
    if (use.place->at >= access.at) break;
    // It completes again before it was awaited: the wait is missing there.
    const bool again = barrier && !use.waits && arrived - waits * arrivals_ >= arrivals_;
    if (again && use.place->region == access.region) {
      before = use.place;
      break;
    }
    ++(use.waits ? waits : arrived);
  }
  Mended mended{wait_.finding.fix, {}};
  if (before != nullptr) {
    mended.fix = Cat(wait_.finding.mend.await, " before its next arrival, at ", At(*before));
  } else if (arrived - waits * arrivals_ < arrivals_) {
    return std::nullopt;
  } else {
    before = &access;
  }
  if (!text_.Sees(object_, before->region, before->at)) return std::nullopt;
  mended.edits.push_back(Inserted(Where::kBefore, before->instr->text_line, {line_}));
  const Place* const late = LeftOver(*uses, before->at);
  if (late == nullptr) return mended;
  // What is read between the two would be what the access left.
  if (late->at < before->at || late->region != before->region || BothWrite(wait_.finding)) return std::nullopt;
  Append(&mended.fix, ", instead of at ", At(*late));
  mended.edits.push_back(Inserted(Where::kInstead, late->instr->text_line, {}));
  return mended;
}

// A barrier that is awaited afterwards takes no second completion before that.
std::optional<Mended> CountedWait::AtEnd() const {
  const Place& issue = wait_.issue;
  const auto uses = UsesFrom(issue.region);
  if (!uses.has_value()) return std::nullopt;
  const std::int64_t all = std::count_if(uses->begin(), uses->end(), [](const Use& use) { return use.waits; });
  const bool after =
      std::any_of(uses->begin(), uses->end(), [&](const Use& use) { return use.waits && use.place->at > issue.at; });
  if (all >= Completions(*uses) || (after && wait_.finding.mend.await.starts_with(kAtBarrier))) return std::nullopt;
  return Mended{wait_.finding.fix, {Inserted(Where::kEnd, issue.instr->text_line, {line_})}};
}

// A copy of a TPU: the wait is made of the same operands.
std::optional<std::string> WaitOfCopy(const WaitedText& wait) {
  const Instr& issue = *wait.issue.instr;
  const Attr* const type = Find(issue.attrs, "device_id_type");
  if (type == nullptr || Named(issue, "dst_sem") == nullptr) return std::nullopt;
  std::string line = Cat("dma_wait{device_id_type=", ToString(*type), ", insert_dummy_device=false}(");
  for (std::size_t i = 0; i < issue.args.size(); ++i) {
    const Arg& arg = issue.args[i];
    Append(&line, i == 0 ? "" : ", ", arg.name.empty() ? "" : Cat(arg.name, "="), wait.text.Text(arg));
  }
  return Cat(line, ");");
}

// Are all operands of the wait there?
bool SeesAll(const WaitedText& wait, const Place& from) {
  const std::vector<Arg>& args = wait.issue.instr->args;
  return std::all_of(args.begin(), args.end(),
                     [&](const Arg& arg) { return wait.text.Sees(arg, from.region, from.at); });
}

Mended InWords(const WaitedText& wait, const Place* access) {
  const bool pair = access != nullptr && IsCollective(*access->instr);
  return {Cat(wait.finding.mend.otherwise,
              pair ? ", by each block for what it has started itself, and let the blocks meet in between"
              : access != nullptr && BothWrite(wait.finding) ? ", and let what it brings be read first"
                                                             : ""),
          {}};
}

bool IsAwaitedAnywhere(const TextPlaces& text, const Arg& object) {
  const auto waits = [&object](const Place& place) {
    const std::vector<Arg>& args = place.instr->args;
    return RowOf(*place.instr).waits == Waits::kSignal && std::any_of(args.begin(), args.end(), [&](const Arg& arg) {
             return arg.kind == Arg::Kind::kValue && arg.value == object.value && arg.name == object.name;
           });
  };
  return std::any_of(text.places().begin(), text.places().end(), waits);
}

// Of a wait that the text has nowhere, the call says enough; not which slot of a ring it is for, and not where blocks
// have to meet.
Mended MendedByCount(const WaitedText& wait, const Place* access) {
  const Mend& mend = wait.finding.mend;
  const Mended as_it_is{wait.finding.fix, {}};
  const bool barrier = mend.await.starts_with(kAtBarrier), at_end = mend.kind == Mend::Kind::kAwaitAtEnd;
  const Arg* const object = Named(*wait.issue.instr, barrier ? "barrier" : "dst_sem");
  const bool named = object != nullptr && object->kind == Arg::Kind::kValue && object->value.valid();
  if (!named || (!at_end && access == nullptr)) return as_it_is;
  const bool collective = IsCollective(*wait.issue.instr) || (access != nullptr && IsCollective(*access->instr));
  const bool there = IsAwaitedAnywhere(wait.text, *object);
  const bool says_enough = barrier ? !there && !collective && IsConstant(*object) : !(at_end && there);
  const Mended words = says_enough ? as_it_is : InWords(wait, access);
  const std::optional<std::string> line =
      barrier ? Cat("barrier_wait(barrier=", wait.text.Text(*object), ");") : WaitOfCopy(wait);
  if (collective || !line.has_value()) return words;
  if (!barrier && access != nullptr && !SeesAll(wait, *access)) return words;
  const Type& type = wait.text.kernel().values[object->value.index()].type;
  const CountedWait counted(wait, *object, *line, barrier ? ArrivalsOf(type) : 1);
  return (at_end ? counted.AtEnd() : counted.Before(*access)).value_or(words);
}

// A wait of all groups that is there after the issue, in the same region.
const Place* GroupWaitAfter(const WaitedText& wait, std::string_view line) {
  const std::string_view name = line.substr(0, line.find_first_of("{("));
  for (const Place& place : wait.text.places()) {
    if (place.region != wait.issue.region || place.at < wait.issue.at || place.instr->name != name) continue;
    const std::vector<Arg>& args = place.instr->args;
    if (args.empty() || wait.text.Text(args[0]).starts_with("0:")) return &place;
  }
  return nullptr;
}

Mended MendedByGroupWait(const WaitedText& wait, const Place* access, std::string_view line) {
  const Mend& mend = wait.finding.mend;
  const Place& issue = wait.issue;
  const std::string at = PlaceText(wait.module, issue.instr->loc, issue.instr->text_line);
  std::vector<std::string> lines = {std::string(line)};
  if (mend.commits) lines.insert(lines.begin(), "commit_group();");
  const auto edit = [&lines](Where where, int text_line) { return std::vector{Inserted(where, text_line, lines)}; };
  if (mend.kind == Mend::Kind::kAwaitAtEnd) {
    const Place* const there = mend.commits ? GroupWaitAfter(wait, line) : nullptr;
    if (there == nullptr) return {wait.finding.fix, edit(Where::kEnd, issue.instr->text_line)};
    lines.pop_back();
    return {Cat("plgpu.commit_smem_to_gmem_group() before the wait at ",
                PlaceText(wait.module, there->instr->loc, there->instr->text_line), ", which is for what is committed"),
            edit(Where::kBefore, there->instr->text_line)};
  }
  if (mend.line == 0) return {wait.finding.fix, edit(Where::kAfter, issue.instr->text_line)};
  if (access == nullptr) return {wait.finding.fix, {}};
  if (IsCollective(*access->instr))
    return {Cat(mend.await, " right after the issue at ", at), edit(Where::kAfter, issue.instr->text_line)};
  const bool follows = issue.at < access->at && wait.text.IsIn(access->region, issue.region) &&
                       !wait.text.Repeats(access->region, issue.region);
  if (!follows) return {wait.finding.fix, {}};
  return {wait.finding.fix, edit(Where::kBefore, access->instr->text_line)};
}

}  // namespace

Mended MendedByWait(const WaitedText& wait) {
  const Mend& mend = wait.finding.mend;
  const Place* const access = mend.line > 0 ? wait.text.At(mend.line) : nullptr;
  for (const auto& [call, line] : kGroupWaits) {
    if (mend.await == call) return MendedByGroupWait(wait, access, line);
  }
  const bool counted = mend.await.starts_with(kAtBarrier) || mend.await.starts_with(kOfCopy);
  if (counted && mend.await.ends_with(')')) return MendedByCount(wait, access);
  return {wait.finding.fix, {}};
}

}  // namespace palladion::launch
