#include "emu/tools/debug/element_query.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "emu/kernel/prepared_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/tensor/element_index.h"

namespace palladion::debug {
namespace {

// "17, 3"; an empty list is an index of no dimensions. False: something else.
bool ReadIndexList(absl::string_view list, ElementIndex& index) {
  if (list.empty()) return true;
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    index.push_back(0);
    if (!absl::SimpleAtoi(part, &index.back())) return false;
  }
  return true;
}

}  // namespace

bool IndexInside(const ElementIndex& index, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) return false;
  }
  return true;
}

std::int64_t FlatElement(const ElementIndex& index, const Shape& shape) {
  std::int64_t element = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + index[d];
  return element;
}

std::string NamedElement(const std::string& name, const ElementIndex& index) {
  return index.empty() ? name : Cat(name, "[", absl::StrJoin(index, ", "), "]");
}

std::int64_t BroadcastFrom(const Shape& operand, const Shape& shape, std::int64_t element) {
  ElementIndex index = IndexOfElement(shape, element);
  index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(shape.size() - operand.size()));
  for (std::size_t d = 0; d < operand.size(); ++d) index[d] = operand[d] == 1 ? 0 : index[d];
  return FlatElement(index, operand);
}

absl::StatusOr<ElementQuery> FindElement(const PreparedKernel& kernel, const std::string& element) {
  const std::vector<OperandInfo>& infos = kernel.state().program().operand_infos;
  // The user's own name may have brackets itself: the last pair is the index.
  const bool indexed = !element.empty() && element.back() == ']' && element.find('[') != std::string::npos;
  const std::size_t open = indexed ? element.rfind('[') : element.size();
  const std::string name = element.substr(0, open);
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role != Role::kOut) continue;
    const OperandDescription& output = kernel.outputs()[outputs.size()];
    const Shape shape = CallerShape(kernel.state().program(), infos[i].type);
    outputs.push_back(Cat(output.name, ": ", TypeString(output.dtype, output.shape)));
    const bool whole_name = element == output.name || (!output.label.empty() && element == output.label);
    if (whole_name && shape.empty()) return ElementQuery{i, outputs.size() - 1, {}};
    if (name != output.name && (output.label.empty() || name != output.label)) continue;
    ElementIndex index;
    const bool numbers = !indexed || ReadIndexList(ToAbsl(element).substr(open + 1, element.size() - open - 2), index);
    if (numbers && index.size() == shape.size() && IndexInside(index, shape))
      return ElementQuery{i, outputs.size() - 1, index};
    return absl::InvalidArgumentError(Cat("--element ", element, " is no element of output '", output.name,
                                          "', which is ", TypeString(output.dtype, output.shape),
                                          "; count from 0, one number for each dimension"));
  }
  return absl::InvalidArgumentError(Cat("--element must be OUTPUT[I,J] of an output of kernel @", kernel.name(),
                                        "; found '", element, "'; the outputs are ", absl::StrJoin(outputs, ", ")));
}

}  // namespace palladion::debug
