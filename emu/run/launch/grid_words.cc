#include "emu/run/launch/grid_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/run/launch/equal_writes.h"
#include "emu/run/launch/interaction.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

// Does the kernel itself call the dimension parallel? On a TPU those without a word are in order.
bool SaysParallel(const Kernel& kernel, std::size_t dim) {
  const Attr* attr = Find(kernel.params, "dimension_semantics");
  const AttrList* words = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (words == nullptr) return false;
  const std::size_t skip = kernel.launch.grid.size() - std::min(kernel.launch.grid.size(), words->size());
  if (dim < skip || dim - skip >= words->size()) return false;
  const std::string* word = std::get_if<std::string>(&(*words)[dim - skip].value);
  return word != nullptr && word->ends_with("parallel");
}

// Do values of the set reach the argument?
bool Reaches(const std::set<ValueId>& values, const Arg& arg) {
  if (arg.kind == Arg::Kind::kValue && values.count(arg.value) != 0) return true;
  for (const Transform& transform : arg.transforms) {
    for (const Index& index : transform.indices) {
      if (Reaches(values, index.start) || Reaches(values, index.size)) return true;
    }
  }
  return false;
}

// Have all programs along the dimension the same block? What a map computes in regions is taken to depend on all.
bool MapIgnores(const Region& map, std::size_t dim) {
  if (dim >= map.params.size()) return false;
  std::set<ValueId> of_dim = {map.params[dim].value};
  const auto reached = [&of_dim](const Arg& arg) { return Reaches(of_dim, arg); };
  for (const Instr& instr : map.body) {
    if (!instr.regions.empty()) return false;
    if (std::any_of(instr.args.begin(), instr.args.end(), reached))
      of_dim.insert(instr.results.begin(), instr.results.end());
  }
  return std::none_of(map.results.begin(), map.results.end(), reached);
}

std::string_view Did(AccessKind kind) {
  return kind == AccessKind::kRead ? "reads" : kind == AccessKind::kAtomic ? "updates" : "writes";
}

bool IsInherited(const Meeting& meeting) { return meeting.rule == memory_model::ConflictRule::kInherited; }

// The other one's index; empty where it could not be asked for.
absl::Span<const std::int64_t> OtherOf(const Meeting& meeting) {
  return meeting.first.has_value() ? absl::MakeConstSpan(meeting.first->program) : absl::Span<const std::int64_t>();
}

bool IsWhole(const Operand& operand, const Kernel& kernel) {
  const Shape& shape = kernel.values[operand.value.index()].type.shape;
  return operand.block.has_value() &&
         std::equal(shape.begin(), shape.end(), operand.block->dims.begin(), operand.block->dims.end(),
                    [](std::int64_t size, const BlockDim& dim) { return dim.size == size; });
}

}  // namespace

GridWords::GridWords(const kernel::PreparedKernelState& kernel, std::vector<memory_model::TaskDim> dims)
    : kernel_(kernel),
      program_(kernel.program()),
      dims_(std::move(dims)),
      atomics_(!NeedsThreads(program_) && ProgramsInteract(program_)) {}

std::string GridWords::NameOf(const OperandInfo& operand) const { return program_.refs[operand.ref.index()].name; }

FindingAccess GridWords::Describe(const memory_model::WitnessAccess& access, const std::string& object) {
  return {.kind = access.kind,
          .agent = AgentName(access.program),
          .object = object,
          .box = access.box,
          .loc = access.loc,
          .text_line = access.text_line};
}

MeetingSide GridWords::SideOf(const memory_model::WitnessAccess& access, const OperandInfo& operand) const {
  return {Describe(access, NameOf(operand)), access.program};
}

std::string GridWords::WhyUnordered(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const {
  std::vector<std::size_t> differ;
  if (a.size() != b.size()) return "one of them has not begun";  // index maps of a core's first program
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (dims_[d].parallel && a[d] != b[d]) differ.push_back(d);
  }
  const std::string which =
      Cat("they differ in grid dimension", differ.size() > 1 ? "s " : " ", absl::StrJoin(differ, ", "));
  if (tpu()) return Cat(which, ", which is parallel: its programs run in any order, and on several cores");
  if (generic()) return Cat(which, ", whose programs have no order unless dimension_semantics says \"arbitrary\"");
  return Cat(which, ": programs of a GPU grid run in any order, and at the same time");
}

Finding GridWords::Of(Meeting meeting) const {
  const bool turned = meeting.first.has_value() && meeting.second.program < meeting.first->program;
  if (turned && !IsInherited(meeting)) std::swap(*meeting.first, meeting.second);
  const bool writes = meeting.rule == memory_model::ConflictRule::kWriteWrite;
  Finding finding{.code = writes ? FindingCode::kRaceWriteWrite : FindingCode::kRaceReadWrite,
                  .loc = meeting.second.access.loc,
                  .text_line = meeting.second.access.text_line,
                  .count = meeting.count,
                  .second = meeting.second.access,
                  .fix = FixFor(meeting)};
  if (generic() || IsInherited(meeting)) finding.code = FindingCode::kGridOrder;
  finding.severity = RowOf(finding.code).severity;
  finding.message = MessageOf(meeting);
  if (!meeting.first.has_value()) {
    finding.why = "the run that asks who else touches it did not come to its end";
    return finding;
  }
  if (writes && meeting.one_value) SayEqual(finding, ", and ");
  finding.first = meeting.first->access;
  finding.why = WhyUnordered(meeting.first->program, meeting.second.program);
  if (!meeting.missing.empty()) Append(&finding.why, "; ", meeting.missing);
  finding.mend = MendFor(meeting);
  return finding;
}

std::string GridWords::MessageOf(const Meeting& meeting) const {
  const FindingAccess& second = meeting.second.access;
  if (!meeting.first.has_value())
    return Cat("'", second.object, "': ", second.agent, " ", Did(second.kind),
               " elements that another program, which has no order with it, touches too",
               generic() ? OnEachBackend(meeting) : "");
  const FindingAccess& first = meeting.first->access;
  const bool inherited = IsInherited(meeting), read_first = inherited && second.kind == AccessKind::kWrite;
  std::string message = Cat("'", second.object, "'", meeting.element, ": ", second.agent, " ", Did(second.kind),
                            inherited && !read_first ? " what " : " it, ", first.agent,
                            read_first  ? " reads it and may come later"
                            : inherited ? " left there"
                                        : Cat(" ", Did(first.kind), " it too"));
  const bool equal = meeting.rule == memory_model::ConflictRule::kWriteWrite && meeting.one_value;
  if (!equal) Append(&message, generic() ? OnEachBackend(meeting) : "; the two have no order");
  return message;
}

// The parallel dimensions in which two programs differ, as the kernel's own grid counts them.
std::vector<std::size_t> GridWords::ParallelDims(const Meeting& meeting) const {
  const absl::Span<const std::int64_t> a = meeting.second.program, b = OtherOf(meeting);
  std::vector<std::size_t> differ;
  const std::size_t axes = program_.device_axes.size();
  for (std::size_t d = axes; d < std::min(a.size(), b.size()); ++d) {
    if (dims_[d].parallel && a[d] != b[d]) differ.push_back(d - axes);
  }
  return differ;
}

// Where the index map of a block gives programs the same one, it is the map that has to change.
std::string GridWords::ElementsOfItsOwn(const Meeting& meeting, std::string_view else_words) const {
  const auto at = static_cast<std::size_t>(meeting.operand - program_.operand_infos.data());
  const Operand& operand = kernel_.text().operands[at];
  const std::vector<std::size_t> dims = ParallelDims(meeting);
  const bool same_block =
      operand.block.has_value() && !dims.empty() &&
      std::all_of(dims.begin(), dims.end(), [&](std::size_t dim) { return MapIgnores(operand.block->map, dim); });
  // A view of the whole array needs no other map; a block of a TPU goes back as a whole.
  if (!same_block || (!tpu() && IsWhole(operand, kernel_.text()))) return std::string(else_words);
  return Cat("let the index map of '", NameOf(*meeting.operand), "' depend on grid dimension ", dims[0],
             ", along which all programs have the same block");
}

// On `generic`, where a conflict is no answer: what it would be on each backend.
std::string GridWords::OnEachBackend(const Meeting& meeting) const {
  if (atomics_ && !IsInherited(meeting))
    return "; no target is named: on triton and mosaic_gpu it is a race, and a TPU has no such atomics";
  const absl::Span<const std::int64_t> own = meeting.second.program, other = OtherOf(meeting);
  bool parallel = false;
  for (std::size_t d = 0; d < std::min(other.size(), own.size()); ++d)
    parallel |= dims_[d].parallel && other[d] != own[d] && SaysParallel(kernel_.text(), d);
  if (parallel) return "; it is a race on mosaic_tpu, triton and mosaic_gpu, as the dimension is parallel";
  if (IsInherited(meeting))
    return "; no target is named: on mosaic_tpu programs run in this order and share scratch, on triton and mosaic_gpu "
           "each has its own";
  return "; no target is named: on mosaic_tpu the two run in this order, on triton and mosaic_gpu it is a race";
}

// In a sequential grid, do programs lie between the two that may have another block? An output's block is written back
// then, and the second visit begins with nothing.
bool GridWords::AreApart(const Meeting& meeting) const {
  const absl::Span<const std::int64_t> a = meeting.second.program, b = OtherOf(meeting);
  if (a.size() != b.size()) return false;
  bool differs = false, apart = false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    differs |= a[d] != b[d];
    apart |= differs && a[d] == b[d] && dims_[d].size > 1;
  }
  return apart;
}

bool GridWords::IsOfLeftBlock(const Meeting& meeting) const {
  return tpu() && meeting.operand->mode == BlockMode::kResident && AreApart(meeting);
}

std::string GridWords::FixFor(const Meeting& meeting) const {
  constexpr std::string_view kOwn = "give each program elements of its own";
  constexpr std::string_view kArbitrary = "say \"arbitrary\" for the dimension in dimension_semantics, or ";
  const std::string own = ElementsOfItsOwn(meeting, kOwn);
  if (atomics_ && !IsInherited(meeting))
    return Cat(own, own == kOwn ? "," : "; or",
               " use atomics on both sides, or let an atomic that both update order the two: a lock, a counter of "
               "arrivals");
  bool parallel = false;
  for (std::size_t d = 0; d < dims_.size(); ++d) parallel |= SaysParallel(kernel_.text(), d);
  const std::string_view for_tpu =
      generic() && !parallel
          ? "for a TPU, name it as the target (\"v5e\") or say \"arbitrary\" for the dimension in dimension_semantics; "
            "for any target, "
          : kArbitrary;
  if (IsInherited(meeting)) return Cat(atomics_ ? "" : for_tpu, "initialise it in every program");
  if (generic()) return Cat(for_tpu, own);
  if (IsOfLeftBlock(meeting))
    return Cat(ElementsOfItsOwn(meeting, "give each of the programs elements of its own"),
               "; or put the dimension last in the grid, where the programs that share a block follow one another, and "
               "say \"arbitrary\" for it");
  if (tpu()) return Cat(kArbitrary, ElementsOfItsOwn(meeting, "give each of its programs elements of its own"));
  return Cat(own, own == kOwn ? "," : "; or",
             " use atomics on both sides, or write in one launch and read in the next");
}

// Where it is the word of the dimension that is to change.
Mend GridWords::MendFor(const Meeting& meeting) const {
  const std::vector<std::size_t> dims = ParallelDims(meeting);
  if (!(tpu() || generic()) || atomics_ || dims.empty() || IsOfLeftBlock(meeting)) return {};
  return {.kind = Mend::Kind::kArbitrary, .object = {}, .amount = static_cast<std::int64_t>(dims[0])};
}

bool GridFindings::IsKnown(const Finding& known, const Finding& finding) const {
  const auto same = [](const FindingAccess& a, const FindingAccess& b) {
    return a.object == b.object && a.loc == b.loc && a.text_line == b.text_line && a.kind == b.kind;
  };
  if (!known.first.has_value() || !finding.first.has_value()) return false;
  if ((known.code == FindingCode::kOutRevisit) != (finding.code == FindingCode::kOutRevisit)) return false;
  const bool equal = same(*known.first, *finding.first) && same(*known.second, *finding.second);
  const bool mirrored = same(*known.first, *finding.second) && same(*known.second, *finding.first);
  const bool of_array = one_of_array_ && finding.code == FindingCode::kGridOrder && known.code == finding.code &&
                        known.first->object == finding.first->object;
  return equal || mirrored || of_array;
}

void GridFindings::Add(Finding finding) {
  const auto known =
      std::find_if(findings_.begin(), findings_.end(), [&](const Finding& other) { return IsKnown(other, finding); });
  if (known == findings_.end()) return findings_.push_back(std::move(finding));
  if (finding.severity > known->severity) *known = std::move(finding);
}

}  // namespace palladion::launch
