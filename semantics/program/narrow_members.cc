#include "semantics/program/narrow_members.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_layout.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// An access of a member, in the order of the text.
struct Use {
  ValueId of;               // the union: of a callee's parameter, the caller's
  std::int64_t begin, end;  // bytes
  std::int64_t bits;        // of an element, 8 where it has as many or more
  std::string type;
  bool reads = false, writes = false, later = false;  // later: an engine does it
  std::int64_t loop = 0;                              // the outermost one that it is in; 0: none
  std::int64_t waits = 0;                             // operations before it that wait for something
  int text_line = 0;
};

bool Meet(const Use& a, const Use& b) { return a.of == b.of && a.begin < b.end && b.begin < a.end; }

class Uses {
 public:
  explicit Uses(const Kernel& kernel) {
    for (std::size_t i = 0; i < kernel.values.size(); ++i) root_.push_back(ValueId{static_cast<std::int32_t>(i)});
    for (const Body& body : kernel.bodies) Collect(body.region);
  }

  absl::Status Check() const {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (const Use* wrote = uses_[i].reads ? LastOfAnotherWidth(i) : nullptr; wrote != nullptr)
        return Refused(uses_[i], *wrote);
    }
    return absl::OkStatus();
  }

 private:
  void Collect(const Region& region) {
    for (const Instr& op : region.body) {
      for (std::size_t i = 0; i < op.args.size(); ++i) {
        const Arg& arg = op.args[i];
        for (const Region& callee : op.regions) {
          if (arg.kind != Arg::Kind::kValue || !arg.transforms.empty() || i >= callee.params.size()) continue;
          if (const ValueId param = callee.params[i].value; param.valid())
            root_[param.index()] = root_[arg.value.index()];
        }
        Collect(op, arg);
        for (const Arg& choice : arg.select) Collect(op, choice);
      }
      if (op.row->waits != Waits::kNever) ++waits_;
      const bool outermost = loop_ == 0 && (op.row->loops == Loops::kTurns || op.row->loops == Loops::kWhile);
      if (outermost) loop_ = ++loops_;
      for (const Region& inner : op.regions) Collect(inner);
      if (outermost) loop_ = 0;
    }
  }

  void Collect(const Instr& op, const Arg& arg) {
    if (arg.kind != Arg::Kind::kValue || arg.transforms.empty()) return;
    if (arg.transforms[0].kind != Transform::Kind::kAlias) return;
    const absl::StatusOr<AliasMember> member = ParseAlias(arg.transforms[0].attrs);
    if (!member.ok() || member->in_tensor_memory) return;
    const RefAccess access = op.row->access;
    const bool engine = access == RefAccess::kCopy || access == RefAccess::kProduct;
    Use use{.of = root_[arg.value.index()],
            .begin = member->offset,
            .end = member->offset + BytesOf(*member),
            .bits = IsPacked(member->dtype) ? Info(member->dtype).bits : 8,
            .type = ToString(ArrayType(member->dtype, member->shape)),
            .later = engine,
            .loop = loop_,
            .waits = waits_,
            .text_line = op.text_line};
    const bool both = access == RefAccess::kAdd || access == RefAccess::kAtomic;
    use.writes = both || access == RefAccess::kStore || (!op.row->written.empty() && arg.name == op.row->written);
    use.reads = both || !use.writes || (!op.results.empty() && op.results[0].valid());
    if (access != RefAccess::kPrefetch) uses_.push_back(std::move(use));
  }

  // The last write before the read, where nothing else can have written in between: a copy in flight may have,
  // and in a loop what is written further down.
  const Use* LastOfAnotherWidth(std::size_t read) const {
    const Use& reader = uses_[read];
    const Use *last = nullptr, *copy = nullptr;
    bool own = false;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const Use& use = uses_[i];
      if (!use.writes || !Meet(use, reader)) continue;
      own |= use.bits == reader.bits;
      if (i > read && use.bits == reader.bits && use.loop != 0 && use.loop == reader.loop) return nullptr;
      if (i < read && use.later && use.bits == reader.bits) copy = &use;
      if (i < read) last = &use;
    }
    if (last == nullptr || last->bits == reader.bits) return own ? nullptr : WriterOfAnotherWidth(reader);
    return copy != nullptr && reader.waits > last->waits ? nullptr : last;
  }

  const Use* WriterOfAnotherWidth(const Use& reader) const {
    for (const Use& use : uses_) {
      if (use.writes && use.bits != reader.bits && Meet(use, reader)) return &use;
    }
    return nullptr;
  }

  static absl::Status Refused(const Use& read, const Use& wrote) {
    return absl::UnimplementedError(
        Cat("line ", read.text_line, " reads a member ", read.type, " of a union of refs, whose bytes line ",
            wrote.text_line, " writes as ", wrote.type,
            ": what is narrower than a byte is not seen through a member of another width; read it through the member "
            "that wrote it, and bitcast the value"));
  }

  std::vector<ValueId> root_;
  std::vector<Use> uses_;
  std::int64_t waits_ = 0, loops_ = 0, loop_ = 0;
};

}  // namespace

absl::Status CheckNarrowMembers(const Kernel& kernel) { return Uses(kernel).Check(); }

}  // namespace palladion
