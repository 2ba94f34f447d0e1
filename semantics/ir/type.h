// Types of kernel text: arrays, refs into a memory space, PRNG keys, tokens.
// Based on: JAX's ShapedArray, AbstractRef and extended dtypes.
#ifndef PALLADION_SEMANTICS_IR_TYPE_H_
#define PALLADION_SEMANTICS_IR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semantics/base/dtype.h"
#include "semantics/base/ids.h"

namespace palladion {

using Shape = std::vector<std::int64_t>;

// Limits of every array, so that no text can ask for unbounded memory: checked by the verifier.
inline constexpr int kMaxRank = 32;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 36;

// What a shape holds where the dimension is an operand's value (Type::dynamic): no size, so that none is taken for it.
inline constexpr std::int64_t kDynamicDim = -1;

enum class Space : std::uint8_t {
  kDefault,
  kAny,
  kGmem,
  kSmem,
  kTmem,
  kRegs,
  kHbm,
  kVmem,
  kVmemShared,
  kCmem,
  kSemaphore,
  kHost,
  kIndex,
  kKey,
  kError,
};
std::string_view Name(Space space);
std::optional<Space> SpaceFromName(std::string_view name);

// What the elements of a ref are. Everything but kData is a synchronisation object, not bytes.
enum class ElementKind : std::uint8_t { kData, kBarrier, kClusterBarrier, kSem, kDmaSem, kBarrierSem };
std::string_view Name(ElementKind kind);

enum class TypeKind : std::uint8_t { kArray, kRef, kKey, kToken };

// A dimension that is an operand's value at run time (dynamic grid, SparseCore slices): its axis and the operand.
struct DynamicDim {
  int axis;
  ValueId operand;
  friend bool operator==(const DynamicDim&, const DynamicDim&) = default;
};

struct Type {
  TypeKind kind = TypeKind::kArray;
  DType dtype = DType::kF32;  // kKey: the words' type, u32
  Shape shape;
  bool weak = false;
  Space space = Space::kDefault;             // refs only
  ElementKind element = ElementKind::kData;  // refs only
  std::string key_impl;                      // kKey: "fry", "rbg", ...; a ref of keys carries it too
  std::string attrs;                         // canonical text of a ref's or barrier's attributes, "" when none
  std::vector<DynamicDim> dynamic;

  bool is_array() const { return kind == TypeKind::kArray; }
  bool is_ref() const { return kind == TypeKind::kRef; }
  bool is_key() const { return kind == TypeKind::kKey; }
  int rank() const { return static_cast<int>(shape.size()); }
  friend bool operator==(const Type&, const Type&) = default;
};

inline Type ArrayType(DType dtype, Shape shape) {
  Type type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}

inline std::int64_t NumElements(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

std::string ToString(const Type& type);    // as kernel text spells it: "f32[8,128]", "ref<vmem,f32[8,128]>"
std::string ToString(const Shape& shape);  // "[8,128]"

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TYPE_H_
