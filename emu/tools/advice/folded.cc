#include "emu/tools/advice/folded.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "emu/tools/advice/origins.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

namespace palladion::advice {
namespace {

constexpr OpId kComparisons[] = {OpId::kEq, OpId::kNe, OpId::kLt, OpId::kLe, OpId::kGt, OpId::kGe};

class Follower {
 public:
  Follower(Kernel& kernel, const GridChange& change) : kernel_(kernel), change_(change), origins_(kernel) {}

  std::string Follow() {
    for (Body& body : kernel_.bodies) edit::ForEachInstr(body.region, [&](Instr& instr) { Visit(instr); });
    return why_;
  }

 private:
  void Visit(Instr& instr) {
    if (instr.args.size() != 2) return;
    const std::size_t literal = instr.args[1].kind == Arg::Kind::kLiteral ? 1 : 0;
    std::optional<NumberRef> number = NumberOf(instr.args[literal]);
    const std::optional<std::int64_t> offset = OffsetOf(instr.args[1 - literal]);
    if (!number.has_value() || !offset.has_value()) return;
    if (Is(instr, OpId::kMul)) {
      if (*offset == 0 && number->Get() == change_.block_before) number->Set(change_.block);
      return;
    }
    const bool compares =
        std::any_of(std::begin(kComparisons), std::end(kComparisons), [&](OpId id) { return Is(instr, id); });
    if (compares) Compare(instr, *number, *offset);
  }

  // What is added to the number of the program; nothing where this is no number of a program of the dimension.
  std::optional<std::int64_t> OffsetOf(const Arg& arg) const {
    const std::optional<Affine> affine = origins_.AffineOf(arg);
    if (!affine.has_value()) return std::nullopt;
    const Instr* giver = origins_.Giver(affine->root);
    if (giver == nullptr || !Is(*giver, OpId::kProgramId)) return std::nullopt;
    for (const AttrEntry& entry : giver->attrs) {
      const auto* axis = entry.first == "axis" ? std::get_if<std::int64_t>(&entry.second.value) : nullptr;
      if (axis != nullptr && *axis == static_cast<std::int64_t>(change_.dim)) return affine->offset;
    }
    return std::nullopt;
  }

  void Compare(const Instr& instr, const NumberRef& number, std::int64_t offset) {
    const std::int64_t program = number.Get() - offset;
    const bool last = program == change_.programs_before - 1, all = program == change_.programs_before;
    if (program == 0 && last) {
      Doubt(instr, "compares the program's number with 0, which is the first and the last");
    } else if (last || all) {
      number.Set(number.Get() + change_.programs - change_.programs_before);
    } else if (program > 0) {
      Doubt(instr, Cat("compares the program's number with ", program, ", which is neither the first nor the last"));
    }
  }

  void Doubt(const Instr& instr, const std::string& what) {
    if (why_.empty()) why_ = Cat("line ", instr.text_line, " of the text ", what);
  }

  Kernel& kernel_;
  const GridChange& change_;
  const Origins origins_;
  std::string why_;
};

}  // namespace

std::string FollowGrid(Kernel& kernel, const GridChange& change) { return Follower(kernel, change).Follow(); }

}  // namespace palladion::advice
