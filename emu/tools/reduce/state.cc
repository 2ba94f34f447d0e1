#include "emu/tools/reduce/state.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/verifier.h"

namespace palladion::reduce {
namespace {

// The lines of a kernel's operands and instructions, in an order that its text does not change.
std::vector<int> LinesOf(Kernel& kernel) {
  std::vector<int> lines;
  for (const Operand& operand : kernel.operands) lines.push_back(operand.text_line);
  edit::ForEachInstr(kernel, [&](Instr& instr) { lines.push_back(instr.text_line); });
  return lines;
}

absl::StatusOr<int> MovedLine(Kernel& from, Kernel& to, int line) {
  const std::vector<int> before = LinesOf(from), after = LinesOf(to);
  const auto found = std::find(before.begin(), before.end(), line);
  if (found == before.end() || before.size() != after.size())
    return absl::NotFoundError(Cat("no instruction or operand stands on line ", line, " of the kernel text"));
  return after[static_cast<std::size_t>(found - before.begin())];
}

// A value's name is not defined again where it is visible; what moved out of its region may have to change its own.
class NamesApart {
 public:
  explicit NamesApart(Kernel& kernel) : kernel_(kernel) {
    for (const Operand& operand : kernel.operands) visible_.insert(kernel.values[operand.value.index()].name);
  }

  void Visit(Region& region) {
    std::vector<std::string> own;
    for (const Param& param : region.params) Define(param.value, own);
    for (Instr& instr : region.body) {
      for (Region& inner : instr.regions) Visit(inner);
      for (const ValueId id : instr.results) Define(id, own);
    }
    for (const std::string& name : own) visible_.erase(name);
  }

 private:
  void Define(ValueId id, std::vector<std::string>& own) {
    if (!id.valid()) return;
    std::string& name = kernel_.values[id.index()].name;
    const std::string wanted = name;
    for (int k = 1; !visible_.insert(name).second; ++k) name = Cat(wanted, "_", k);
    own.push_back(name);
  }

  Kernel& kernel_;
  std::set<std::string> visible_;
};

Tensor Sliced(const Tensor& from, const Shape& shape) {
  Tensor to(from.dtype(), shape);
  const std::size_t element = StorageBytes(from.dtype());
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < to.num_elements(); ++i) {
    std::int64_t at = 0, rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    for (std::size_t d = 0; d < shape.size(); ++d) at = at * from.shape()[d] + index[d];
    std::memcpy(to.bytes() + static_cast<std::size_t>(i) * element,
                from.bytes() + static_cast<std::size_t>(at) * element, element);
  }
  return to;
}

// Of an operand whose size is known only at run time the input keeps its own.
Shape ShapeOf(const Type& type, const Tensor& value) {
  Shape shape = type.shape;
  if (type.is_key() && value.rank() == type.rank() + 1) shape.push_back(value.shape().back());
  for (std::size_t d = 0; d < shape.size() && d < value.shape().size(); ++d) {
    if (shape[d] == kDynamicDim) shape[d] = value.shape()[d];
  }
  return shape;
}

// The input as its operand takes it now.
absl::Status Fit(const Type& type, Input& input) {
  const Shape shape = ShapeOf(type, *input.value);
  if (input.value->dtype() == type.dtype && input.value->shape() == shape) return absl::OkStatus();
  if (!input.words.empty() && input.words[0] != '[') {
    PALLADION_ASSIGN_OR_RETURN(Tensor made, TensorFromText(type.dtype, shape, input.words));
    input.value = std::make_shared<const Tensor>(std::move(made));
    return absl::OkStatus();
  }
  const bool smaller = input.value->dtype() == type.dtype && input.value->rank() == static_cast<int>(shape.size()) &&
                       std::equal(shape.begin(), shape.end(), input.value->shape().begin(), std::less_equal<>());
  if (!smaller) return absl::InvalidArgumentError(Cat("the value of '", input.name, "' is no ", ToString(type)));
  input.value = std::make_shared<const Tensor>(Sliced(*input.value, shape));
  input.words.clear();
  return absl::OkStatus();
}

absl::Status FitInputs(State& state) {
  std::vector<Input> fitted;
  for (const Operand& operand : state.kernel().operands) {
    if (operand.role == Role::kOut || operand.role == Role::kScratch) continue;
    const ValueInfo& info = state.kernel().values[operand.value.index()];
    const auto found = std::find_if(state.inputs.begin(), state.inputs.end(),
                                    [&](const Input& input) { return input.name == info.name; });
    if (found == state.inputs.end()) return absl::InvalidArgumentError(Cat("'", info.name, "' has no value"));
    PALLADION_RETURN_IF_ERROR(Fit(info.type, *found));
    fitted.push_back(*found);
  }
  state.inputs = std::move(fitted);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<State> Settle(State edited) {
  for (Body& body : edited.kernel().bodies) NamesApart(edited.kernel()).Visit(body.region);
  for (Operand& operand : edited.kernel().operands) {
    if (operand.block.has_value()) NamesApart(edited.kernel()).Visit(operand.block->map);
  }
  State settled{.module = {}, .text = Print(edited.module), .inputs = std::move(edited.inputs)};
  PALLADION_ASSIGN_OR_RETURN(settled.module, Parse(settled.text, edited.module.path));
  if (edited.line != 0) {
    PALLADION_ASSIGN_OR_RETURN(settled.line, MovedLine(edited.kernel(), settled.kernel(), edited.line));
  }
  PALLADION_RETURN_IF_ERROR(FitInputs(settled));
  PALLADION_ASSIGN_OR_RETURN(const VerifiedModule verified, Verify(settled.module));
  settled.module = verified.module();  // its instructions have found their rows
  return settled;
}

absl::StatusOr<int> LineInCanonical(const Module& written, const Module& settled, int line) {
  Kernel from = written.kernels[0], to = settled.kernels[0];
  return MovedLine(from, to, line);
}

}  // namespace palladion::reduce
