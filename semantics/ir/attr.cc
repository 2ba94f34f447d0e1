#include "semantics/ir/attr.h"

#include <bit>

#include "semantics/base/cat.h"
#include "semantics/ir/lexer.h"
#include "semantics/ir/literal.h"

namespace palladion {
namespace {

struct Printer {
  std::string* out;
  void operator()(AttrNone) const { out->append("none"); }
  void operator()(bool b) const { out->append(b ? "true" : "false"); }
  void operator()(std::int64_t i) const { Append(out, i); }
  void operator()(double d) const { out->append(NumberText(DType::kF64, reinterpret_cast<const std::byte*>(&d))); }
  void operator()(const std::string& s) const { out->append(Quote(s)); }
  void operator()(const AttrIdent& ident) const { out->append(ident.name); }
  void operator()(const AttrList& list) const {
    out->push_back('[');
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out->push_back(',');
      std::visit(*this, list[i].value);
    }
    out->push_back(']');
  }
  void operator()(const AttrMap& map) const {
    out->push_back('{');
    for (std::size_t i = 0; i < map.size(); ++i) {
      Append(out, i > 0 ? ", " : "", map[i].first, "=");
      std::visit(*this, map[i].second.value);
    }
    out->push_back('}');
  }
};

}  // namespace

bool operator==(const Attr& a, const Attr& b) {
  const double* x = std::get_if<double>(&a.value);
  const double* y = std::get_if<double>(&b.value);
  if (x != nullptr && y != nullptr) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
  return a.value == b.value;
}

const Attr* Find(const AttrMap& map, std::string_view name) {
  for (const auto& [key, attr] : map) {
    if (key == name) return &attr;
  }
  return nullptr;
}

std::string ToString(const Attr& attr) {
  std::string out;
  std::visit(Printer{&out}, attr.value);
  return out;
}

std::string ToString(const AttrMap& map) {
  std::string out;
  if (!map.empty()) Printer{&out}(map);
  return out;
}

}  // namespace palladion
