// The public list of operations: what docs and tests read of the registry.
#ifndef PALLADION_EMU_OPERATIONS_H_
#define PALLADION_EMU_OPERATIONS_H_

#include <string>
#include <vector>

#include "emu/export.h"

namespace palladion {

struct OperationDescription {
  std::string dialect;  // "" for JAX's own primitives
  std::string name;
  std::string spec;                   // "elementwise.md#add"
  std::vector<std::string> backends;  // that accept it: "mosaic_tpu", "mosaic_gpu", "triton"
  std::string effect;
  std::string unit;
  std::string flow;  // how undefined elements pass: a rule of docs/spec/definedness.md; "" but for operations on values
  bool implemented = false;
  std::string reason;  // when it is not
};

PALLADION_EXPORT std::vector<OperationDescription> Operations();
PALLADION_EXPORT std::string OperationsJson();
PALLADION_EXPORT std::string OperationsText();

}  // namespace palladion

#endif  // PALLADION_EMU_OPERATIONS_H_
