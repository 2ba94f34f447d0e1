#include "semantics/ir/type.h"

#include <array>

#include "semantics/base/cat.h"
#include "semantics/ir/type_text.h"

namespace palladion {
namespace {

constexpr std::array<std::string_view, 15> kSpaceNames = {
    "default",     "any",  "gmem",      "smem", "tmem",  "regs", "hbm",   "vmem",
    "vmem_shared", "cmem", "semaphore", "host", "index", "key",  "error",
};
static_assert(kSpaceNames[static_cast<std::size_t>(Space::kVmemShared)] == "vmem_shared");
static_assert(kSpaceNames.size() == static_cast<std::size_t>(Space::kError) + 1);

constexpr std::array<std::string_view, 6> kElementNames = {
    "data", "barrier", "cluster_barrier", "sem", "dma_sem", "barrier_sem",
};
static_assert(kElementNames.size() == static_cast<std::size_t>(ElementKind::kBarrierSem) + 1);

void AppendDims(const Type& type, const DimNamer& namer, std::string* out) {
  out->push_back('[');
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) out->push_back(',');
    const DynamicDim* dynamic = nullptr;
    for (const DynamicDim& d : type.dynamic) {
      if (static_cast<std::size_t>(d.axis) == i) dynamic = &d;
    }
    if (dynamic != nullptr) {
      out->append(namer(dynamic->operand));
    } else {
      Append(out, type.shape[i]);
    }
  }
  out->push_back(']');
}

// "f32[8]", "key<fry>[8]": what a key, an array and the inside of a ref have in common.
void AppendElement(const Type& type, const DimNamer& namer, std::string* out) {
  if (type.element != ElementKind::kData) {
    out->append(Name(type.element));
    if (type.element == ElementKind::kBarrier || type.element == ElementKind::kClusterBarrier) out->append(type.attrs);
  } else if (!type.key_impl.empty()) {
    Append(out, "key<", type.key_impl, ">");
  } else {
    out->append(Name(type.dtype));
  }
  AppendDims(type, namer, out);
}

}  // namespace

std::string_view Name(Space space) { return kSpaceNames[static_cast<std::size_t>(space)]; }

std::optional<Space> SpaceFromName(std::string_view name) {
  for (std::size_t i = 0; i < kSpaceNames.size(); ++i) {
    if (kSpaceNames[i] == name) return static_cast<Space>(i);
  }
  return std::nullopt;
}

std::string_view Name(ElementKind kind) { return kElementNames[static_cast<std::size_t>(kind)]; }

std::string ToString(const Type& type, const DimNamer& namer) {
  std::string out;
  switch (type.kind) {
    case TypeKind::kToken:
      return "token";
    case TypeKind::kArray:
    case TypeKind::kKey:
      if (type.weak) out.push_back('~');
      AppendElement(type, namer, &out);
      return out;
    case TypeKind::kRef:
      Append(&out, "ref<", Name(type.space), ",");
      AppendElement(type, namer, &out);
      if (type.element != ElementKind::kBarrier && type.element != ElementKind::kClusterBarrier &&
          !type.attrs.empty()) {
        Append(&out, " ", type.attrs);
      }
      out.push_back('>');
      return out;
  }
  return out;
}

std::string ToString(const Type& type) {
  return ToString(type, [](ValueId operand) { return Cat("%", operand.value); });
}

std::string ToString(const Shape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) Append(&out, i > 0 ? "," : "", shape[i]);
  out.push_back(']');
  return out;
}

}  // namespace palladion
