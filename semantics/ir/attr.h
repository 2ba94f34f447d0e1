// Attributes of instructions and kernels: small immutable trees, printed and parsed without loss.
#ifndef PALLADION_SEMANTICS_IR_ATTR_H_
#define PALLADION_SEMANTICS_IR_ATTR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace palladion {

struct Attr;
struct AttrNone {
  friend bool operator==(AttrNone, AttrNone) { return true; }
};
struct AttrIdent {  // a bare word: dtype names, enum values, "mesh"
  std::string name;
  friend bool operator==(const AttrIdent&, const AttrIdent&) = default;
};
using AttrList = std::vector<Attr>;
struct AttrEntry;
using AttrMap = std::vector<AttrEntry>;  // in the order of the text

struct Attr {
  std::variant<AttrNone, bool, std::int64_t, double, std::string, AttrIdent, AttrList, AttrMap> value;
  friend bool operator==(const Attr& a, const Attr& b);  // doubles by their bits, so NaN equals itself
};

// Not std::pair: clang 14 would ask whether an Attr can be made while it still defines the pair that an Attr holds.
struct AttrEntry {
  AttrEntry() = default;
  AttrEntry(std::string_view name, Attr value) : first(name), second(std::move(value)) {}
  std::string first;
  Attr second;
  friend bool operator==(const AttrEntry&, const AttrEntry&) = default;
};

const Attr* Find(const AttrMap& map, std::string_view name);  // nullptr when absent
std::string ToString(const Attr& attr);
std::string ToString(const AttrMap& map);  // "{a=1, b=[2,3]}", "" when empty

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_ATTR_H_
