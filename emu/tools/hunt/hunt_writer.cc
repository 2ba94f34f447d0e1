#include "emu/tools/hunt/hunt_writer.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::hunt {

void TextWriter::Line(const std::string& text) {
  Append(&out_.text, text, "\n");
  ++line_;
}

std::string TextWriter::Fresh() { return Cat("%v", ++values_); }

void TextWriter::Ops(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    if (op.what == What::kIf) {
      If(op);
    } else {
      Write(op);
    }
  }
}

void TextWriter::If(const Op& op) {
  const std::string bit = Fresh();
  Line(Cat(bit, " = and(", sum_, ", 1:i32) : i32[];"));
  const std::string result = Fresh(), before = sum_;
  const std::size_t branch = code_->size();
  Record(What::kIf, &op);
  Line(Cat(result, " = cond(", bit, ") {"));
  const std::vector<Instr> head = std::exchange(*code_, {});
  Ops(op.otherwise);
  Line(Cat("return ", sum_, ";"));
  const std::vector<Instr> otherwise = std::exchange(*code_, {});
  sum_ = before;
  Line("} {");
  Ops(op.body);
  Line(Cat("return ", sum_, ";"));
  const std::vector<Instr> body = std::exchange(*code_, head);
  Line("} : i32[];");
  (*code_)[branch].skip = static_cast<int>(body.size()) + 1;
  code_->insert(code_->end(), body.begin(), body.end());
  code_->push_back({nullptr, What::kJump, 0, later_, static_cast<int>(otherwise.size())});
  code_->insert(code_->end(), otherwise.begin(), otherwise.end());
  sum_ = result;
}

void TextWriter::Add(const std::string& term) {
  const std::string tripled = Fresh(), sum = Fresh();
  Line(Cat(tripled, " = mul(", sum_, ", 3:i32) : i32[];"));
  Line(Cat(sum, " = add(", tripled, ", ", term, ") : i32[];"));
  sum_ = sum;
}

std::string TextWriter::Columns(Part part) {
  static constexpr const char* kText[] = {"0", "64", "0 +: 64", "64 +: 64", "*"};
  return kText[static_cast<int>(part)];
}

std::string TextWriter::TypeOf(Part part) {
  return IsPoint(part) ? "i32[]" : part == Part::kRow ? "i32[128]" : "i32[64]";
}

}  // namespace palladion::hunt
