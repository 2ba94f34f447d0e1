// What a backend refuses before it runs anything: shapes of blocks, types, memory spaces, operations. Each rule is one
// that the backend itself enforces, with its own message, so such a kernel would not compile there. Based on: the
// checks of JAX 0.10.2's lowerings, jax/_src/pallas/{mosaic,triton,mosaic_gpu}/lowering.py, and Triton's
// TensorSizeTrait. The limits of GPU kernels are tables of their own (gpu/limits.h), and so are the refusals of a TPU's
// compiler behind the lowering (tpu/refusals.h). What it does not catch: layouts of intermediate values, registers of
// one thread.
#ifndef PALLADION_EMU_CHECK_LEGALITY_LEGALITY_H_
#define PALLADION_EMU_CHECK_LEGALITY_LEGALITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/legality/limit_row.h"
#include "emu/check/legality/refusal_text.h"
#include "emu/chip/machines/chip.h"
#include "semantics/base/finding.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion::legality {

// What the rules look at, and what they say.
class Legality {
 public:
  // `program` is nullptr where the kernel was parsed but cannot be prepared: then only CheckGpuLimits, CheckOperations,
  // CheckTpu and the capacity check of a TPU or of a kernel over a mesh may be called.
  Legality(const Kernel& kernel, const Target& target, const Program* program);

  const Kernel& kernel() const { return kernel_; }
  const Program& program() const { return *program_; }
  const Program* program_or_null() const { return program_; }
  const machines::Chip* chip() const { return chip_; }
  TargetBackend backend() const { return target_.backend; }
  std::string target() const { return ToString(target_); }
  // The same target, and another kernel with the same operands.
  Legality Of(const Kernel& kernel) const { return Legality(kernel, target_, nullptr); }

  // The place is the operand's or the instruction's.
  void Illegal(const Operand& operand, std::string message, std::string fix = "", About about = About::kOther);
  void Illegal(const Instr& op, std::string message, std::string fix = "", About about = About::kOther);
  void Illegal(std::string message, std::string fix = "");                           // the kernel itself
  void Exceeds(std::string message, std::string fix);                                // CAPACITY
  void MayExceed(std::string message, std::string fix);                              // the same as a note
  void MayRefuse(const Instr& op, const RefusalText& text, std::string_view found);  // COMPILER
  void MayRefuse(const Operand& operand, const RefusalText& text, std::string_view found);

  // The operand's ref in the body, and where it lives: the operand's own word, else the ref's.
  Space SpaceOf(std::size_t operand) const;
  Space SpaceOf(ValueId ref) const;
  // The rank of an operand's block, squeezed dimensions counted; nullopt: not an operand's ref.
  std::optional<std::size_t> BlockRankOf(ValueId ref) const;
  // The operand whose block the ref is; nullptr: not an operand's ref.
  const Operand* OperandOf(ValueId ref) const;
  std::string NameOf(const Operand& operand) const;  // as the user has it: "args[0]"
  // The one region of a branch that this target's code has: a branch of lax.platform_dependent; nullopt: all.
  std::optional<std::size_t> RegionOf(const Instr& op) const;

  void WrittenBy(std::string_view producer);  // sets these two
  bool jax_0_11 = false;                      // the text is from JAX 0.11 or later, which takes more
  bool jax = false;                           // the text is from JAX: its arrays are as large as a machine's
  std::int64_t blocks = 0, operations = 0, accesses = 0, memories = 0;  // looked at
  // A finding about a shape, of an instruction or an operand.
  struct OfShape {
    std::size_t finding;  // its number
    const Instr* op = nullptr;
    const Operand* operand = nullptr;
    About about = About::kShape;
  };
  const std::vector<OfShape>& of_shapes() const { return of_shapes_; }
  Finding& finding(std::size_t number) { return findings_[number]; }
  std::vector<Finding> TakeFindings() { return std::move(findings_); }

 private:
  void AddRefusal(LocId loc, int text_line, std::string_view what, const RefusalText& text, std::string_view found);
  Finding& Add(FindingCode code, LocId loc, int text_line, std::string message, std::string fix);

  const Kernel& kernel_;
  const Target target_;
  const Program* program_;
  const machines::Chip* chip_;
  std::vector<Finding> findings_;
  std::vector<OfShape> of_shapes_;
  std::vector<std::pair<ValueId, std::size_t>> operand_of_;  // body parameter -> operand
  std::vector<std::pair<ValueId, std::size_t>> platforms_;   // result of a platform_index -> its value
};

// Is a text with this `producer` ("jax 0.12.0.1, palladion 0.1") from JAX 0.11 or later? One that names no JAX is
// judged by the rules of 0.10.
bool IsFromJax011(std::string_view producer);
bool IsFromJax(std::string_view producer);

// What all backends have in common; the rules of each are in a folder of its own. Each does nothing on a target that it
// is not about.
void CheckOperations(Legality& legality);   // operations that the named backend has no lowering for
void CheckGpuOperands(Legality& legality);  // what neither lowering for GPUs takes as an operand

// Calls `use` with every instruction of the body, those of nested regions included.
template <class F>
void ForEachInstr(const Region& region, const F& use) {
  for (const Instr& op : region.body) {
    use(op);
    for (const Region& inner : op.regions) ForEachInstr(inner, use);
  }
}

// What the target compiles: the body, and on a TPU the index maps of the blocks that it moves itself.
std::vector<const Region*> CompiledRegions(const Legality& legality);

// The same, without the regions that this target's code does not have.
template <class F>
void ForEachCompiled(const Legality& legality, const Region& region, const F& use) {
  for (const Instr& op : region.body) {
    use(op);
    const std::optional<std::size_t> only = legality.RegionOf(op);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      if (!only.has_value() || *only == i) ForEachCompiled(legality, op.regions[i], use);
    }
  }
}

// The block is all of the array, and its index map returns literal zeros: it never moves.
bool IsTrivialWindow(const Operand& operand, const Type& array);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_LEGALITY_H_
