// Which values of a stretch of straight-line code outlive the registers of a TensorCore. Operations on whole arrays are
// done register by register, so that what follows elementwise takes a value where it is; but a product and a reduction
// across lanes need all of their operand before their result is there, so what is used after such a turn and was made
// before it is kept meanwhile. Based on: the number of registers of the machine; loads, and what is computed of them
// alone, are not kept, they can be done later. Limits: an order of the compiler's that keeps less, by doing one block
// of rows to its end before the next, is not looked for; what a register is short of for other reasons is not known.
#ifndef PALLADION_EMU_TIMING_TPU_LIVING_H_
#define PALLADION_EMU_TIMING_TPU_LIVING_H_

#include <cstdint>
#include <map>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::timing::tpu {

class TpuLiving {
 public:
  // `turn`: so many products and reductions are behind it, one after another.
  void Made(std::int32_t value, std::int64_t turn, double registers, const Instr* instr) {
    values_[value] = {turn, turn, registers, instr};
  }
  void Used(std::int32_t value, std::int64_t turn) {
    const auto found = values_.find(value);
    if (found != values_.end() && found->second.until < turn) found->second.until = turn;
  }

  struct Spilled {
    const Instr* instr = nullptr;
    double registers = 0;
  };
  // What does not fit into `registers` at some turn, each value once; and all is forgotten.
  std::vector<Spilled> Take(double registers);

 private:
  struct Value {
    std::int64_t made = 0, until = 0;
    double registers = 0;
    const Instr* instr = nullptr;
  };
  std::map<std::int32_t, Value> values_;
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_LIVING_H_
