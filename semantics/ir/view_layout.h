// Types of views through the GPU's layouts: tiles, swizzles, batches, members of a union of refs, memory of other
// blocks and devices. Based on: JAX's UntilingTransform, UnswizzleRef, ExtractAliasedRef and their kin
// (jax/_src/pallas/mosaic_gpu/core.py), whose rules these are; docs/spec/kernel-text.md, "Views through layouts". What
// it does not check: how an allocation was laid out, which no type of the text says.
#ifndef PALLADION_SEMANTICS_IR_VIEW_LAYOUT_H_
#define PALLADION_SEMANTICS_IR_VIEW_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// Does hardware have several elements in a byte?
inline bool IsPacked(DType dtype) { return Info(dtype).bits < 8 && dtype != DType::kBool; }

// A member of a union of refs: `dtype[shape]` from byte `offset` of it, or from that column of tensor memory.
struct AliasMember {
  DType dtype = DType::kF32;
  Shape shape;
  std::int64_t offset = 0;
  bool in_tensor_memory = false;
  AttrMap layout;  // there: as a ref of its own would have it
};
absl::StatusOr<AliasMember> ParseAlias(const AttrMap& attrs);
std::int64_t BytesOf(const AliasMember& member);  // of the union; elements narrower than a byte are packed

// A block of the cluster, along the axes named. An index is a literal or a value.
struct ClusterPlace {
  std::vector<std::string> dims;
  std::vector<Arg> indices;
};
absl::StatusOr<ClusterPlace> ParseCluster(const Transform& transform);

// `shape` and `dtype` are those before the transform and become those after it. InvalidArgument where it breaks a rule.
absl::Status ApplyLayout(const Transform& transform, Shape* shape, DType* dtype);

// Whether the transform changes which memory is meant, and neither its shape nor its element type.
bool NamesAnotherPlace(Transform::Kind kind);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_VIEW_LAYOUT_H_
