#include "semantics/ops/gpu/collective_copy.h"

#include <cstdint>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::StatusOr<std::vector<std::size_t>> ReadAxes(const Instr& op, const Builder& builder) {
  std::vector<std::size_t> axes;
  if (!HasAttr(op, "collective_axes")) return axes;
  const Attr& attr = *Find(op.attrs, "collective_axes");
  const AttrList single = {attr};
  const AttrList* names = std::get_if<AttrList>(&attr.value);
  for (const Attr& part : names == nullptr ? single : *names) {
    const std::string* name = std::get_if<std::string>(&part.value);
    if (name == nullptr) return absl::InvalidArgumentError("collective_axes must be names of cluster axes");
    PALLADION_ASSIGN_OR_RETURN(const std::size_t dim, ClusterAxis(*name, builder));
    axes.push_back(dim);
  }
  return axes;
}

// The blocks along the axes, the leader first, and the number of the thread's own block among them.
struct Group {
  std::vector<std::vector<PeerCoordinate>> blocks = {{}};  // in row-major order
  std::int64_t mine = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(blocks.size()); }
};

Group GroupAlong(absl::Span<const std::size_t> axes, const Frame& frame) {
  Group group;
  for (const std::size_t axis : axes) {
    std::vector<std::vector<PeerCoordinate>> more;
    for (const std::vector<PeerCoordinate>& block : group.blocks) {
      for (std::int64_t i = 0; i < frame.grid_size()[axis]; ++i) {
        more.push_back(block);
        more.back().push_back({axis, i});
      }
    }
    group.blocks = std::move(more);
    group.mine = group.mine * frame.grid_size()[axis] + frame.grid_index()[axis];
  }
  return group;
}

// Part i of n of a box along a dimension of its value; false where it does not come out even.
bool TakePart(std::int64_t i, std::int64_t n, std::size_t value_dim, BoxAccess* box) {
  if (static_cast<std::size_t>(box->value_rank) <= value_dim) return false;
  const std::size_t d = box->order[value_dim];
  if (box->count[d] % n != 0) return false;
  box->count[d] /= n;
  box->start[d] += i * box->count[d] * box->step[d];
  return true;
}

// What a block sends: to which of the group, by destination, and how many of them, the first ones, send anything.
struct Sent {
  std::vector<std::int64_t> to;
  std::int64_t senders = 1;
};

// The block's own part of the source goes to it alone.
absl::StatusOr<Sent> TakeOwnPart(std::size_t axis, const Group& group, AsyncRequest* request) {
  if (!TakePart(group.mine, group.size(), axis, &std::get<BoxAccess>(request->sources[0].where))) {
    return absl::InternalError("a partitioned copy whose parts are not equal");
  }
  AsyncOperand& source = request->sources[0];
  source.bytes = source.bytes / group.size();
  return Sent{.to = {group.mine}, .senders = group.size()};
}

// The block's part of the source goes to all blocks. Where the parts do not come out even, the first block sends all.
Sent SendToAll(const Group& group, const Site& site, Frame& frame, AsyncRequest* request) {
  auto* source = std::get_if<BoxAccess>(&request->sources[0].where);
  auto* destination = std::get_if<BoxAccess>(&request->destinations[0].where);
  BoxAccess from = *source, to = *destination;
  const bool even = TakePart(group.mine, group.size(), 0, &from) && TakePart(group.mine, group.size(), 0, &to);
  if (even) *source = from, *destination = to;
  Sent sent{.to = {}, .senders = even ? group.size() : 1};
  for (auto* sides : {&request->sources, &request->destinations}) {
    AsyncOperand& side = (*sides)[0];
    side.bytes = side.bytes / sent.senders, side.elements = side.elements / sent.senders;
  }
  const AsyncOperand part = request->destinations[0];
  const BufferId mine_there = destination->buffer;
  request->destinations.clear();  // and with it what `destination` points to
  if (!even && group.mine != 0) {
    request->sources.clear();
    return sent;
  }
  for (std::int64_t i = 0; i < group.size(); ++i) {
    const BufferId buffer = frame.machine().PeerBuffer(mine_there, group.blocks[static_cast<std::size_t>(i)], site);
    if (i != group.mine && buffer == mine_there) continue;  // a block that is not there gets nothing
    std::get<BoxAccess>(request->destinations.emplace_back(part).where).buffer = buffer;
    sent.to.push_back(i);
  }
  request->function = [](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
    for (AsyncValue& value : *out) value = in[0];
  };
  return sent;
}

// The barrier's own block issues a copy: an arrival, which expects these bytes of all senders.
void Expect(const SyncElement& barrier, ByteCount bytes, std::int64_t senders, Frame& frame, AsyncRequest* request) {
  request->expects_at = std::get<BarrierId>(frame.machine().CompletionAt(barrier).object);
  request->expects.bytes = bytes.value();
  for (std::int64_t i = 0; i < senders; ++i) request->expects.senders.push_back(i);
}

// As TMA does with mbarriers: each block expects, at its own barrier, all that will land in it; where only the
// leader's barrier counts, it expects all that will land anywhere. Bytes complete where they are expected.
struct Signalled {
  const SyncElement& barrier;  // the thread's own
  ByteCount whole;             // that a block gets
  bool leader_only = false;
};
void SignalBarriers(const Signalled& signalled, const Group& group, const Sent& sent, Frame& frame,
                    AsyncRequest* request) {
  const Site site{request->site.loc, request->site.text_line, request->program};
  const bool expects = !signalled.leader_only || group.mine == 0;
  const ByteCount all = signalled.leader_only ? group.size() * signalled.whole : signalled.whole;
  if (expects) Expect(signalled.barrier, all, sent.senders, frame, request);
  if (request->destinations.empty()) {
    request->must_await = std::nullopt;  // another block sends all
    return;
  }
  const ByteCount part = request->destinations[0].bytes;
  const auto signal = [&](std::int64_t block, ByteCount bytes, std::optional<std::size_t> of) {
    const auto& there = group.blocks[static_cast<std::size_t>(block)];
    const SyncElement barrier =
        block == group.mine ? signalled.barrier : frame.machine().PeerSync(signalled.barrier, there, site);
    if (block != group.mine && barrier.array == signalled.barrier.array) return;  // of a block that is not there
    Completion landing = frame.machine().CompletionAt(barrier);
    landing.amount = bytes.value(), landing.unit = CompletionUnit::kBytes;
    landing.sender = group.mine, landing.of = of;
    request->completions.push_back(landing);
  };
  if (signalled.leader_only) {
    const auto blocks = static_cast<std::int64_t>(request->destinations.size());
    return signal(0, blocks * part, std::nullopt);
  }
  request->each_destination = true;
  for (std::size_t i = 0; i < sent.to.size(); ++i) signal(sent.to[i], part, i);
}

absl::Status CheckParts(const CollectiveCopy& copy, const CopyViews& views, Builder& builder) {
  if (!copy.leader.has_value() || !copy.leader->axis.has_value()) return absl::OkStatus();
  const std::size_t axis = *copy.leader->axis;
  std::int64_t blocks = 1;
  for (const std::size_t d : copy.axes) blocks *= builder.program().grid[d].size;
  const std::int64_t whole = views.source.type.shape[axis], part = views.destination.type.shape[axis];
  if (whole == part * blocks) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("a copy partitioned along dimension ", axis, " over ", blocks,
                                        " blocks needs a source of ", part * blocks,
                                        " there, a part for each block; found ", whole));
}

}  // namespace

absl::StatusOr<std::optional<LeaderTracked>> ReadLeaderTracked(const Instr& op) {
  if (!HasAttr(op, "leader_tracked")) return std::nullopt;
  const auto* const map = std::get_if<AttrMap>(&Find(op.attrs, "leader_tracked")->value);
  const Attr* const axis = map == nullptr ? nullptr : Find(*map, "axis");
  const std::int64_t* const number = axis == nullptr ? nullptr : std::get_if<std::int64_t>(&axis->value);
  const bool replicated = map != nullptr && map->empty(), partitioned = number != nullptr && *number >= 0;
  if (!replicated && !partitioned) {
    return absl::InvalidArgumentError(
        "leader_tracked must be {axis=N}, where each block gets its part along dimension N of the source, or {}, where "
        "each gets all of it");
  }
  if (!HasAttr(op, "collective_axes")) {
    return absl::InvalidArgumentError("leader_tracked needs collective_axes: the blocks that make the copy together");
  }
  LeaderTracked leader;
  if (partitioned) leader.axis = static_cast<std::size_t>(*number);
  return leader;
}

absl::StatusOr<Type> PartOfSource(const std::optional<LeaderTracked>& leader, const Type& source,
                                  const Type& destination) {
  if (!leader.has_value() || !leader->axis.has_value()) return source;
  const std::size_t axis = *leader->axis;
  if (axis >= source.shape.size() || axis >= destination.shape.size()) {
    return absl::InvalidArgumentError(
        Cat("leader_tracked names dimension ", axis, " of a source that is ", ToString(source)));
  }
  Type part = source;
  if (destination.shape[axis] > 0 && source.shape[axis] % destination.shape[axis] == 0)
    part.shape[axis] = destination.shape[axis];
  if (part.dtype == destination.dtype && part.shape != destination.shape) {
    return absl::InvalidArgumentError(Cat("leader_tracked gives each block a part of ", ToString(source),
                                          " along dimension ", axis,
                                          ": the destination must be as long as the source along the others, ",
                                          "and divide it there; found ", ToString(destination)));
  }
  return part;
}

absl::StatusOr<CollectiveCopy> ReadCollective(const Instr& op, const CopyViews& views, Builder& builder) {
  CollectiveCopy copy;
  PALLADION_ASSIGN_OR_RETURN(copy.axes, ReadAxes(op, builder));
  PALLADION_ASSIGN_OR_RETURN(copy.leader, ReadLeaderTracked(op));
  PALLADION_RETURN_IF_ERROR(CheckParts(copy, views, builder));
  const auto name = [&](const ViewPlan& view) { return builder.program().refs[view.ref.index()].name; };
  copy.from = name(views.source);
  copy.to = name(views.destination);
  copy.signals = name(views.barrier);
  return copy;
}

absl::Status StartCollective(const CollectiveCopy& copy, AsyncRequest request, const SyncElement& barrier,
                             const Step& step, Frame& frame) {
  const Group group = GroupAlong(copy.axes, frame);
  const auto* const source = std::get_if<BoxAccess>(&request.sources[0].where);
  const auto* const destination = std::get_if<BoxAccess>(&request.destinations[0].where);
  if (source == nullptr || destination == nullptr) {
    return absl::UnimplementedError("a collective copy by index arrays: hardware has none");
  }
  PALLADION_RETURN_IF_ERROR(frame.machine().Collective(
      {.kinds = "collective copies",
       .grid_dims = copy.axes,
       .what = Cat("copy from ", copy.from, DescribeBox(*source), " to ", copy.to, DescribeBox(*destination), " for ",
                   copy.signals, "[", barrier.element, "]")},
      frame.site(step)));
  const ByteCount whole = request.destinations[0].bytes;
  Sent sent;
  if (copy.leader.has_value() && copy.leader->axis.has_value()) {
    PALLADION_ASSIGN_OR_RETURN(sent, TakeOwnPart(*copy.leader->axis, group, &request));
  } else {
    sent = SendToAll(group, frame.site(step), frame, &request);
  }
  SignalBarriers({barrier, whole, copy.leader.has_value()}, group, sent, frame, &request);
  if (copy.leader.has_value() && group.mine != 0) {
    request.await = Cat("plgpu.barrier_wait(", copy.signals, ") in the leader, and a plgpu.ClusterBarrier from there,");
  }
  return frame.machine().Start(std::move(request));
}

absl::Status ArriveWithoutCopy(const CollectiveCopy& copy, AsyncRequest request, const SyncElement& barrier,
                               Frame& frame) {
  if (GroupAlong(copy.axes, frame).mine != 0) return absl::OkStatus();
  request.completions.push_back(frame.machine().CompletionAt(barrier));
  return frame.machine().Start(std::move(request));
}

}  // namespace palladion
