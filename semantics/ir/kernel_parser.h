// Kernels: properties, operands with their blocks, the launch, bodies.
#ifndef PALLADION_SEMANTICS_IR_KERNEL_PARSER_H_
#define PALLADION_SEMANTICS_IR_KERNEL_PARSER_H_

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "semantics/base/status.h"
#include "semantics/ir/declarations.h"
#include "semantics/ir/module.h"
#include "semantics/ir/region_parser.h"

namespace palladion {

class KernelParser {
 public:
  KernelParser(TextCursor& in, ValueNames& names, TypeParser& types, RegionParser& regions, Declarations& declarations)
      : in_(in), names_(names), types_(types), regions_(regions), declarations_(declarations) {}
  absl::Status ParseKernel(Module* module);  // the module's next one

 private:
  absl::Status ParseProp(Kernel* kernel, std::string_view word);
  absl::Status ParseOperand(Role role);
  absl::Status ParseBlock(BlockSpec* block);
  absl::Status ParseBlockDim(BlockDim* dim);
  absl::Status ParseGrid(Launch* launch);
  absl::Status ParseGridNames(Launch* launch);
  absl::Status ParseMesh(Launch* launch);
  absl::Status ParseBody();

  TextCursor& in_;
  ValueNames& names_;
  TypeParser& types_;
  RegionParser& regions_;
  Declarations& declarations_;
  Kernel* kernel_ = nullptr;
  absl::flat_hash_set<absl::string_view> kernels_;  // their names
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_KERNEL_PARSER_H_
