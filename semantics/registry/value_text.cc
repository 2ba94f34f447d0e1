#include "semantics/registry/value_text.h"

#include "semantics/ir/literal.h"

namespace palladion {
namespace {

void AppendValue(const Type& type, std::size_t dim, const std::byte*& element, std::string& text) {
  if (dim == type.shape.size()) {
    text += NumberText(type.dtype, element);
    element += StorageBytes(type.dtype);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < type.shape[dim]; ++i) {
    if (i > 0) text += ' ';
    AppendValue(type, dim + 1, element, text);
  }
  text += ']';
}

}  // namespace

std::string ValueText(const Type& type, const std::byte* value) {
  std::string text;
  AppendValue(type, 0, value, text);
  return text;
}

}  // namespace palladion
