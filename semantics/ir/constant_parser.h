// Array constants: `dense<type[numbers]>`, or their bytes in hex.
#ifndef PALLADION_SEMANTICS_IR_CONSTANT_PARSER_H_
#define PALLADION_SEMANTICS_IR_CONSTANT_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/text_cursor.h"
#include "semantics/ir/type_parser.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

class ConstantParser {
 public:
  ConstantParser(TextCursor& in, TypeParser& types) : in_(in), types_(types) {}
  absl::Status ParseDense(std::shared_ptr<const Tensor>* out);

 private:
  absl::Status ParseDenseList(const Token& start, DType dtype, std::int64_t count, std::vector<std::byte>* bytes);
  absl::Status ParseDenseHex(const Token& start, DType dtype, std::int64_t count, std::vector<std::byte>* bytes);

  TextCursor& in_;
  TypeParser& types_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_CONSTANT_PARSER_H_
