// The places where a kernel synchronises: waits, arrivals, fences, asynchronous copies and products, slots, barriers,
// semaphores and devices. An instruction that moves keeps its operands defined; one whose mutant would be the same text
// has none. Not here: conditions of synchronisation (a cond that is always taken), and wgmma products that are missing
// or done twice, which are mistakes of arithmetic.
#include <algorithm>
#include <charconv>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/mutation/mutation_sites.h"
#include "semantics/base/cat.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::mutation {
namespace {

bool IsProduct(const Instr& instr) { return RowOf(instr).access == RefAccess::kProduct; }

// A wait, an arrival, a fence, an asynchronous copy or product.
bool IsSync(const Instr& instr) {
  return RowOf(instr).asks_port == AsksPort::kAlways && !edit::HasResult(instr) && instr.regions.empty();
}

// What another thread or an engine can see, or that waits: crossing anything else changes nothing.
bool TouchesMemory(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  return !instr.regions.empty() || row.asks_port == AsksPort::kAlways ||
         (row.access != RefAccess::kNone && row.access != RefAccess::kPrefetch);
}

bool Uses(const Arg& arg, ValueId id);

bool Uses(const Transform& transform, ValueId id) {
  return Uses(transform.peer, id) ||
         std::any_of(transform.indices.begin(), transform.indices.end(),
                     [&](const Index& index) { return Uses(index.start, id) || Uses(index.size, id); });
}

bool Uses(const Arg& arg, ValueId id) {
  if (arg.kind == Arg::Kind::kValue && arg.value == id) return true;
  return std::any_of(arg.transforms.begin(), arg.transforms.end(), [&](const Transform& t) { return Uses(t, id); }) ||
         std::any_of(arg.select.begin(), arg.select.end(), [&](const Arg& one) { return Uses(one, id); });
}

bool UsesResultOf(const Instr& instr, const Instr& earlier) {
  return std::any_of(earlier.results.begin(), earlier.results.end(), [&](ValueId id) {
    return id.valid() &&
           std::any_of(instr.args.begin(), instr.args.end(), [&](const Arg& arg) { return Uses(arg, id); });
  });
}

class SyncFinder {
 public:
  SyncFinder(const Module& module, Kernel& kernel, std::vector<MutationSite>& sites)
      : module_(module), kernel_(kernel), sites_(sites) {}

  void Find() {
    copies_ = std::any_of(kernel_.bodies.begin(), kernel_.bodies.end(), [](const Body& b) { return Copies(b.region); });
    for (Body& body : kernel_.bodies) {
      std::size_t param = 0;
      for (Operand& operand : kernel_.operands) {
        if (operand.role == Role::kBound || param >= body.region.params.size()) continue;
        const ValueId id = body.region.params[param++].value;
        if (operand.role == Role::kScratch) FindArrivals({id, operand.value}, operand.text_line);
      }
      VisitRegion(body.region);
    }
  }

 private:
  void VisitRegion(Region& region) {
    const std::size_t outside = in_scope_.size();
    for (const Param& param : region.params) in_scope_.push_back(param.value);
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      Instr& instr = region.body[i];
      if (IsSync(instr)) {
        FindOrder(region, i);
        FindOtherBarrier(instr);
        FindOtherDevice(region, i);
      }
      const RefAccess access = RowOf(instr).access;
      if (IsSync(instr) || access == RefAccess::kLoad || access == RefAccess::kStore) FindSlots(region, i);
      FindWaitCount(instr);
      for (Region& inner : instr.regions) {
        if (RowOf(instr).allocates == Allocates::kScope) {
          for (const Param& param : inner.params) FindArrivals({param.value}, instr.text_line);
        }
        VisitRegion(inner);
      }
    }
    in_scope_.resize(outside);
  }

  void Add(Mutation mutation, const Instr& instr, std::string_view what, std::function<void()> apply) {
    sites_.push_back({.mutation = mutation,
                      .line = instr.text_line,
                      .what = Cat("`", Print(module_, kernel_, instr), "` ", what),
                      .apply = std::move(apply)});
  }

  void AddMove(Mutation mutation, Region& region, std::size_t from, std::size_t to, std::string_view where) {
    if (Print(module_, kernel_, region.body[from]) == Print(module_, kernel_, region.body[to])) return;
    Add(mutation, region.body[from], Cat(where, " `", region.body[to].name, "`"), [&region, from, to] {
      const auto at = [&](std::size_t i) { return region.body.begin() + static_cast<std::ptrdiff_t>(i); };
      if (from < to) {
        std::rotate(at(from), at(from + 1), at(to + 1));
      } else {
        std::rotate(at(to), at(from), at(from + 1));
      }
    });
  }

  void FindOrder(Region& region, std::size_t i) {
    Instr& instr = region.body[i];
    if (!IsProduct(instr)) {
      Add(Mutation::kDropSync, instr, "is gone",
          [&region, i] { region.body.erase(region.body.begin() + static_cast<std::ptrdiff_t>(i)); });
      Add(Mutation::kRepeatSync, instr, "is there twice", [&region, i] {
        Instr again = region.body[i];
        region.body.insert(region.body.begin() + static_cast<std::ptrdiff_t>(i), std::move(again));
      });
    }
    for (std::size_t j = i + 1; j < region.body.size(); ++j) {
      if (!IsSync(region.body[j])) continue;
      AddMove(Mutation::kSwapSync, region, i, j, "stands behind");
      break;
    }
    for (std::size_t j = i + 1; j < region.body.size(); ++j) {
      if (!TouchesMemory(region.body[j])) continue;
      if (!IsSync(region.body[j])) AddMove(Mutation::kMoveSync, region, i, j, "stands behind");
      break;
    }
    for (std::size_t j = i; j-- > 0 && !UsesResultOf(instr, region.body[j]);) {
      if (!TouchesMemory(region.body[j])) continue;
      if (!IsSync(region.body[j])) AddMove(Mutation::kMoveSync, region, i, j, "stands before");
      break;
    }
  }

  // Memory that copies fill slot by slot: shared memory of a GPU, a TPU core's where the kernel copies by itself.
  bool HasSlots(const Type& type) const {
    if (type.rank() == 0 || type.shape[0] < 2) return false;
    const bool semaphore = type.element == ElementKind::kSem || type.element == ElementKind::kDmaSem;
    return type.space == Space::kSmem || semaphore || (copies_ && type.space == Space::kVmem);
  }

  static bool Copies(const Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), [](const Instr& instr) {
      const OpRow& row = RowOf(instr);
      const bool copies = row.access == RefAccess::kCopy && row.backends.bits == kTpu.bits;
      return copies || std::any_of(instr.regions.begin(), instr.regions.end(), Copies);
    });
  }

  // Of the copy that is waited for by its descriptor, only the semaphore and the size count.
  bool IsDescription(const Instr& instr, const Arg& arg) const {
    const OpRow& row = RowOf(instr);
    if (row.waits != Waits::kSignal || row.access != RefAccess::kNone) return false;
    const bool data = kernel_.values[arg.value.index()].type.element == ElementKind::kData;
    return data || arg.name == "src_sem";
  }

  // The first index of an array of barriers or semaphores, or of slots.
  void FindSlots(Region& region, std::size_t at) {
    Instr& instr = region.body[at];
    for (Arg& arg : instr.args) {
      if (arg.kind != Arg::Kind::kValue || !arg.value.valid()) continue;
      const Type& type = kernel_.values[arg.value.index()].type;
      if (!type.is_ref() || !HasSlots(type) || IsDescription(instr, arg)) continue;
      const auto indexed = std::find_if(arg.transforms.begin(), arg.transforms.end(), [](const Transform& t) {
        return t.kind != Transform::Kind::kUnswizzle && t.kind != Transform::Kind::kUntile;
      });
      if (indexed == arg.transforms.end() || indexed->kind != Transform::Kind::kAt || indexed->indices.empty())
        continue;
      Index& index = indexed->indices[0];
      if (index.kind != Index::Kind::kPoint) continue;
      const std::int64_t slots = type.shape[0];
      const std::string what = Cat("takes the next of ", slots, arg.name.empty() ? "" : " for its ", arg.name);
      if (index.start.kind == Arg::Kind::kLiteral && index.start.literal.dtype == DType::kI32) {
        Add(Mutation::kNextSlot, instr, what,
            [&index, slots] { edit::SetInt(index.start.literal, (edit::IntOf(index.start.literal) + 1) % slots); });
      } else if (index.start.kind == Arg::Kind::kValue && index.start.transforms.empty() &&
                 kernel_.values[index.start.value.index()].type.shape.empty()) {
        Add(Mutation::kNextSlot, instr, what, [this_kernel = &kernel_, &region, at, &index, slots] {
          InsertNext(*this_kernel, region, at, index.start, slots);
        });
      }
    }
  }

  static ValueId Computed(Kernel& kernel, OpId op, const Arg& left, std::int64_t right, Instr& made) {
    const Type type = kernel.values[left.value.index()].type;
    const ValueId id{static_cast<std::int32_t>(kernel.values.size())};
    kernel.values.push_back({.name = Cat("next_", NameOf(op)), .type = type, .label = ""});
    made = MakeInstr(op, {left, edit::LiteralArg(right, type)}, made.loc);
    made.args[0].name.clear();
    made.results = {id};
    made.types = {type};
    return id;
  }

  static void InsertNext(Kernel& kernel, Region& region, std::size_t at, Arg& start, std::int64_t slots) {
    Instr add, rem;
    add.loc = rem.loc = region.body[at].loc;
    Arg sum = start;
    sum.value = Computed(kernel, OpId::kAdd, start, 1, add);
    start.value = Computed(kernel, OpId::kRem, sum, slots, rem);  // before the insertions, which move the instruction
    const auto here = region.body.insert(region.body.begin() + static_cast<std::ptrdiff_t>(at), std::move(rem));
    region.body.insert(here, std::move(add));
  }

  void FindOtherBarrier(Instr& instr) {
    for (Arg& arg : instr.args) {
      if (arg.kind != Arg::Kind::kValue || !arg.value.valid()) continue;
      const Type& type = kernel_.values[arg.value.index()].type;
      if (!type.is_ref() || type.element == ElementKind::kData || IsDescription(instr, arg)) continue;
      std::vector<ValueId> same;
      std::copy_if(in_scope_.begin(), in_scope_.end(), std::back_inserter(same),
                   [&](ValueId id) { return id.valid() && kernel_.values[id.index()].type == type; });
      const auto own = std::find(same.begin(), same.end(), arg.value);
      if (own == same.end() || same.size() < 2) continue;
      const ValueId other = own + 1 == same.end() ? same.front() : own[1];
      Add(Mutation::kOtherBarrier, instr, Cat("takes %", kernel_.values[other.index()].name),
          [&arg, other] { arg.value = other; });
    }
  }

  // The sizes of what each operand device_id= counts along: the whole mesh by a logical number, else an axis.
  std::vector<std::int64_t> DeviceSizes(const Instr& instr) const {
    const Attr* devices = palladion::Find(kernel_.other, "devices");
    const AttrMap* mesh = devices == nullptr ? nullptr : std::get_if<AttrMap>(&devices->value);
    const Attr* kind = palladion::Find(instr.attrs, "device_id_type");
    std::vector<std::int64_t> sizes;
    if (mesh == nullptr || palladion::Find(instr.attrs, "device_axes") != nullptr) return sizes;
    for (const AttrEntry& axis : *mesh) {
      const std::int64_t* size = std::get_if<std::int64_t>(&axis.second.value);
      sizes.push_back(size == nullptr ? 1 : *size);
    }
    if (kind == nullptr || kind->value != Attr{AttrIdent{"logical"}}.value) return sizes;
    std::int64_t all = 1;
    for (const std::int64_t size : sizes) all *= size;
    return {all};
  }

  void FindOtherDevice(Region& region, std::size_t at) {
    if (RowOf(region.body[at]).signals == Signals::kNever) return;
    const std::vector<std::int64_t> sizes = DeviceSizes(region.body[at]);
    std::size_t number = 0;
    for (Arg& arg : region.body[at].args) {
      if (arg.name != "device_id" || arg.kind == Arg::Kind::kNone || number == sizes.size()) continue;
      const std::int64_t size = sizes[number++];
      if (size < 2 || arg.kind != Arg::Kind::kValue || !kernel_.values[arg.value.index()].type.shape.empty()) continue;
      Add(Mutation::kOtherDevice, region.body[at], Cat("names the next of ", size, " devices"),
          [this_kernel = &kernel_, &region, at, &arg, size] { InsertNext(*this_kernel, region, at, arg, size); });
    }
  }

  // `ids` are the names of one array of barriers.
  void FindArrivals(const std::vector<ValueId>& ids, int line) {
    if (!ids[0].valid()) return;
    const ValueInfo& info = kernel_.values[ids[0].index()];
    if (info.type.element != ElementKind::kBarrier && info.type.element != ElementKind::kClusterBarrier) return;
    constexpr std::string_view kKey = "arrivals=";
    const std::size_t found = info.type.attrs.find(kKey);
    if (found == std::string::npos) return;
    const std::size_t begin = found + kKey.size();
    const std::size_t end = std::min(info.type.attrs.find_first_of(",}", begin), info.type.attrs.size());
    std::int64_t arrivals = 0;
    std::from_chars(info.type.attrs.data() + begin, info.type.attrs.data() + end, arrivals);
    for (const std::int64_t to : {arrivals + 1, arrivals - 1}) {
      if (to < 1) continue;
      sites_.push_back({.mutation = Mutation::kArrivals,
                        .line = line,
                        .what = Cat("a phase of `%", info.name, "` takes ", to, " arrivals, not ", arrivals),
                        .apply = [&kernel = kernel_, ids, begin, end, to] {
                          for (const ValueId id : ids) {
                            if (id.valid()) {
                              kernel.values[id.index()].type.attrs.replace(begin, end - begin, std::to_string(to));
                            }
                          }
                        }});
    }
  }

  void FindWaitCount(Instr& instr) {
    const auto add = [&](std::int64_t count, auto set) {
      for (const std::int64_t to : {count + 1, count - 1}) {
        if (to >= 0) Add(Mutation::kWaitCount, instr, Cat("leaves ", to, " in flight"), [set, to] { set(to); });
      }
    };
    const OpRow& row = RowOf(instr);
    const bool counts = row.waits == Waits::kEngine && row.effect == Effect::kSynchronises;
    if (counts && !instr.args.empty() && instr.args[0].kind == Arg::Kind::kLiteral &&
        instr.args[0].literal.dtype == DType::kI32) {
      Literal& literal = instr.args[0].literal;
      add(edit::IntOf(literal), [&literal](std::int64_t to) { edit::SetInt(literal, to); });
    }
    for (AttrEntry& entry : instr.attrs) {
      if (entry.first != "wait_n") continue;
      if (auto* count = std::get_if<std::int64_t>(&entry.second.value)) {
        add(*count, [count](std::int64_t to) { *count = to; });
      }
    }
  }

  const Module& module_;
  bool copies_ = false;  // by a TPU's own copies
  Kernel& kernel_;
  std::vector<MutationSite>& sites_;
  std::vector<ValueId> in_scope_;  // parameters of the regions around
};

}  // namespace

void AddSyncSites(const Module& module, Kernel& kernel, std::vector<MutationSite>& sites) {
  SyncFinder(module, kernel, sites).Find();
}

}  // namespace palladion::mutation
