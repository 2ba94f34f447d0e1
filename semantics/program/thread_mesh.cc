#include "semantics/program/thread_mesh.h"

#include <string>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

absl::Status Bad(std::string_view name, std::string_view expected) {
  return absl::InvalidArgumentError(Cat("attribute '", name, "' of the mesh must be ", expected));
}

const AttrList* ListOf(const AttrMap& attrs, std::string_view name) {
  const Attr* attr = Find(attrs, name);
  return attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
}

// The dimensions of one level, and their names.
absl::Status ReadDims(const AttrMap& attrs, std::string_view name, MeshLaunch* launch) {
  const AttrList* sizes = ListOf(attrs, name);
  if (sizes == nullptr) return Find(attrs, name) == nullptr ? absl::OkStatus() : Bad(name, "a list of sizes");
  const AttrList* names = ListOf(attrs, Cat(name, "_names"));
  for (std::size_t d = 0; d < sizes->size(); ++d) {
    const std::int64_t* size = std::get_if<std::int64_t>(&(*sizes)[d].value);
    if (size == nullptr || *size < 1) return Bad(name, "a list of sizes of at least 1");
    launch->sizes.push_back(*size);
    const std::string* word =
        names != nullptr && d < names->size() ? std::get_if<std::string>(&(*names)[d].value) : nullptr;
    launch->mesh.names.push_back(word == nullptr ? "" : *word);
  }
  return absl::OkStatus();
}

// `mesh tensorcore {axes=["core"], sizes=[2]}`.
absl::StatusOr<MeshLaunch> ReadCores(const Launch& launch) {
  MeshLaunch read;
  const AttrList* names = ListOf(launch.mesh_attrs, "axes");
  const AttrList* sizes = ListOf(launch.mesh_attrs, "sizes");
  if (names == nullptr || sizes == nullptr || names->size() != 1 || sizes->size() != 1)
    return Bad("axes", "one name, and `sizes` one number: how many cores there are");
  const std::string* name = std::get_if<std::string>(&(*names)[0].value);
  const std::int64_t* size = std::get_if<std::int64_t>(&(*sizes)[0].value);
  if (name == nullptr || size == nullptr || *size < 1) return Bad("sizes", "a number of cores of at least 1");
  read.sizes.push_back(*size);
  read.mesh = {.cores = true, .cluster_dims = 1, .names = {*name}};
  return read;
}

}  // namespace

absl::StatusOr<MeshLaunch> ReadMesh(const Launch& launch) {
  if (launch.mesh == "tensorcore") return ReadCores(launch);
  if (launch.mesh != "gpu") {
    return absl::UnimplementedError(
        Cat("a launch over a mesh of kind '", launch.mesh,
            "' needs a machine that is not modelled yet; `mesh gpu` and `mesh tensorcore` run"));
  }
  MeshLaunch read;
  const AttrMap& attrs = launch.mesh_attrs;
  PALLADION_RETURN_IF_ERROR(ReadDims(attrs, "grid", &read));
  const std::size_t grid_dims = read.sizes.size();
  PALLADION_RETURN_IF_ERROR(ReadDims(attrs, "cluster", &read));
  read.mesh.cluster_dims = read.sizes.size() - grid_dims;
  const Attr* threads = Find(attrs, "threads");
  if (threads == nullptr || std::holds_alternative<AttrNone>(threads->value)) return read;
  const std::int64_t* count = std::get_if<std::int64_t>(&threads->value);
  if (count == nullptr || *count < 1) return Bad("threads", "a number of at least 1");
  read.sizes.push_back(*count);
  read.mesh.thread_dim = true;
  const Attr* name = Find(attrs, "thread_name");
  const std::string* word = name == nullptr ? nullptr : std::get_if<std::string>(&name->value);
  read.mesh.names.push_back(word == nullptr ? "" : *word);
  return read;
}

}  // namespace palladion
