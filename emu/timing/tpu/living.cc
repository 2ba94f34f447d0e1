#include "emu/timing/tpu/living.h"

#include <algorithm>
#include <utility>

namespace palladion::timing::tpu {

// Turn by turn, the largest go first: they are loaded as they are used, and small ones are used more often.
std::vector<TpuLiving::Spilled> TpuLiving::Take(double registers) {
  std::vector<Value> kept;
  for (const auto& [value, of] : std::exchange(values_, {})) {
    if (of.until > of.made) kept.push_back(of);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Value& a, const Value& b) { return a.registers < b.registers; });
  std::map<std::int64_t, double> taken;  // by turn
  std::vector<Spilled> spilled;
  for (const Value& value : kept) {
    double most = 0;
    for (std::int64_t turn = value.made; turn < value.until; ++turn) most = std::max(most, taken[turn]);
    const double here = std::min(value.registers, std::max(0.0, registers - most));
    for (std::int64_t turn = value.made; turn < value.until; ++turn) taken[turn] += here;
    if (here < value.registers) spilled.push_back({value.instr, value.registers - here});
  }
  return spilled;
}

}  // namespace palladion::timing::tpu
