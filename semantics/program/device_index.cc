#include "semantics/program/device_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

absl::Status NoMesh(std::string_view what) {
  return absl::UnimplementedError(Cat(what,
                                      ", and the kernel text has no `devices {AXIS=SIZE};`: export the kernel from "
                                      "inside shard_map, whose mesh that is"));
}

bool IsLogical(const Transform& peer) {
  const Attr* kind = Find(peer.attrs, "kind");
  return kind != nullptr && ToString(*kind) == "logical";
}

}  // namespace

std::vector<std::vector<std::string>> DeviceAxes(bool logical, const std::vector<std::string>& mesh) {
  if (logical) return {mesh};
  std::vector<std::vector<std::string>> axes;
  for (const std::string& name : mesh) axes.push_back({name});
  return axes;
}

absl::StatusOr<std::vector<PeerIndex>> PlanDeviceNumbers(absl::Span<const DeviceNumber> numbers, Builder& builder) {
  std::vector<PeerIndex> peer;
  for (const DeviceNumber& one : numbers) {
    PALLADION_ASSIGN_OR_RETURN(const IndexValue index, builder.PlanIndex(*one.number));
    std::int64_t inner = 1;  // devices along the axes after this one
    for (std::size_t k = one.axes.size(); k-- > 0;) {
      PALLADION_ASSIGN_OR_RETURN(const int axis, builder.GridAxis(one.axes[k]));  // of the cores too, from JAX 0.12 on
      const auto dim = static_cast<std::size_t>(axis);
      const std::int64_t size = builder.program().grid[dim].size;
      // The first axis keeps what is too large, so that no number beyond the mesh is a device of it.
      peer.push_back({.grid_dim = dim, .index = index, .divisor = inner, .size = k == 0 ? 0 : size});
      inner *= size;
    }
  }
  return peer;
}

absl::StatusOr<std::vector<PeerIndex>> PlanPeerView(const Arg& view, Builder& builder) {
  std::vector<const Transform*> peers;
  for (const Transform& transform : view.transforms) {
    if (transform.kind == Transform::Kind::kPeer) peers.push_back(&transform);
  }
  if (peers.empty()) return std::vector<PeerIndex>();
  const std::vector<std::string>& mesh = builder.program().device_axes;
  if (mesh.empty()) return NoMesh("a view of another device's memory (plgpu.remote_ref)");
  const std::vector<std::vector<std::string>> axes = DeviceAxes(IsLogical(*peers[0]), mesh);
  if (axes.size() != peers.size()) {
    return absl::InvalidArgumentError(Cat("a view of another device's memory has ", peers.size(), " numbers; expected ",
                                          axes.size(), " for the mesh [", absl::StrJoin(mesh, ", "), "]"));
  }
  std::vector<DeviceNumber> numbers;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i]->peer.kind == Arg::Kind::kNone) continue;
    const Type type = builder.TypeOf(peers[i]->peer);
    if (!type.is_array() || !type.shape.empty() || !IsInteger(type.dtype))
      return absl::InvalidArgumentError(Cat("the device of a view must be an integer; found ", ToString(type)));
    numbers.push_back({&peers[i]->peer, axes[i]});
  }
  return PlanDeviceNumbers(numbers, builder);
}

std::vector<std::string> NamesOf(const Attr& attr) {
  std::vector<std::string> names;
  const AttrList single = {attr};
  const AttrList* several = std::get_if<AttrList>(&attr.value);
  for (const Attr& part : several == nullptr ? single : *several) {
    const std::string* name = std::get_if<std::string>(&part.value);
    if (name == nullptr) return {};
    names.push_back(*name);
  }
  return names;
}

absl::StatusOr<std::vector<std::size_t>> WholeMesh(const std::vector<std::string>& axes, std::string_view what,
                                                   Builder& builder) {
  const std::vector<std::string>& mesh = builder.program().device_axes;
  if (mesh.empty()) return NoMesh(Cat("all devices of a mesh are named (", what, ")"));
  std::vector<std::string> wanted = mesh, found = axes;
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (wanted != found) {
    return absl::InvalidArgumentError(Cat(what, " must be all axes of the devices' mesh, [", absl::StrJoin(mesh, ", "),
                                          "]; found [", absl::StrJoin(axes, ", "),
                                          "]: hardware reaches the whole mesh at once or one device (device_id=, "
                                          "plgpu.remote_ref)"));
  }
  std::vector<std::size_t> dims(mesh.size());
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = d;
  return dims;
}

std::vector<std::vector<PeerCoordinate>> PeersAlong(absl::Span<const std::size_t> dims, const Frame& frame) {
  std::vector<std::vector<PeerCoordinate>> peers = {{}};
  for (const std::size_t dim : dims) {
    std::vector<std::vector<PeerCoordinate>> more;
    for (const std::vector<PeerCoordinate>& peer : peers) {
      for (std::int64_t i = 0; i < frame.grid_size()[dim]; ++i) {
        more.push_back(peer);
        more.back().push_back({dim, i});
      }
    }
    peers = std::move(more);
  }
  return peers;
}

}  // namespace palladion
