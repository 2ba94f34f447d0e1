// Which values instructions read, and where a region reads each for the last time.
#ifndef PALLADION_SEMANTICS_PROGRAM_USES_H_
#define PALLADION_SEMANTICS_PROGRAM_USES_H_

#include <cstddef>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "semantics/ir/module.h"

namespace palladion {

// Every value that an instruction, with its regions, or an operand reads.
void VisitUses(const Instr& op, const std::function<void(ValueId)>& visit);
void VisitUses(const Arg& arg, const std::function<void(ValueId)>& visit);

class LastUses {
 public:
  explicit LastUses(const Region& region);

  bool Has(ValueId value) const { return uses_.contains(value.value); }
  // It is unused after this instruction of the region.
  bool EndsBy(ValueId value, std::size_t position) const;
  // The instruction that reads it last; the region's size where its result does, or nothing reads it.
  std::size_t Last(ValueId value) const;
  // How many of the region's results it is.
  int Returned(ValueId value) const;

 private:
  struct Use {
    std::size_t last = 0;
    int returned = 0;
  };
  const Region& region_;
  absl::flat_hash_map<std::int32_t, Use> uses_;  // by ValueId
};

// True for a parameter (a loop's carry) that the region returns unchanged as this result.
bool ReturnsParam(const Region& region, std::size_t result, ValueId param);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_USES_H_
