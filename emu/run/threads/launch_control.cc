#include "emu/run/threads/launch_control.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <variant>

#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

// What an answer holds. A word that no kernel writes by chance separates it from other bytes.
struct AnswerBytes {
  std::uint32_t magic = 0;
  std::uint32_t success = 0;
  std::uint64_t serial = 0;
};
static_assert(sizeof(AnswerBytes) == kCancelAnswerBytes);
constexpr std::uint32_t kMagic = 0x434c4321;
constexpr auto kAnswerBytes = static_cast<std::int64_t>(kCancelAnswerBytes);

BufferId& BufferOf(AsyncOperand& operand) {
  return std::visit([](auto& where) -> BufferId& { return where.buffer; }, operand.where);
}

}  // namespace

// ---- clusters

std::int64_t LaunchControl::ClustersOfDevice() const {
  return base_.shape.blocks() / base_.shape.cluster_size() / base_.shape.devices();
}

LaunchControl::State LaunchControl::StateOf(std::int64_t cluster) const {
  const auto at = static_cast<std::size_t>(cluster);
  return at < states_.size() ? states_[at] : State::kWaits;
}

void LaunchControl::SetState(std::int64_t cluster, State state) {
  const auto at = static_cast<std::size_t>(cluster);
  if (states_.size() <= at) states_.resize(at + 1, State::kWaits);
  states_[at] = state;
  while (first_waiting_ < states_.size() && states_[first_waiting_] != State::kWaits) ++first_waiting_;
}

bool LaunchControl::Begin(std::int64_t cluster) {
  const State state = StateOf(cluster);
  if (state == State::kWaits) SetState(cluster, State::kBegun);
  return state != State::kTaken;
}

// The first from `from` on, and around the end of its device's; none: all of these have begun or are taken.
WorkChoice LaunchControl::NextWaiting(std::int64_t from) const {
  const std::int64_t clusters = ClustersOfDevice(), first = from / clusters * clusters;
  for (std::int64_t i = 0; i < clusters; ++i) {
    const std::int64_t cluster = first + (from - first + i) % clusters;
    if (StateOf(cluster) == State::kWaits) return cluster;
  }
  return std::nullopt;
}

std::vector<WorkChoice> LaunchControl::Choices(AgentId thread) const {
  constexpr std::size_t kFew = 8;
  std::vector<WorkChoice> choices;
  const std::int64_t device = base_.shape.DeviceOf(base_.residents.BlockOf(thread).index);
  const std::int64_t first = device * ClustersOfDevice(), end = first + ClustersOfDevice();
  for (std::int64_t c = std::max(first, static_cast<std::int64_t>(first_waiting_));
       c < end && (all_ || choices.size() <= kFew); ++c) {
    if (StateOf(c) == State::kWaits) choices.emplace_back(c);
  }
  if (!all_ && choices.size() > kFew) {
    std::int64_t last = end - 1;
    while (StateOf(last) != State::kWaits) --last;
    choices = {choices[0], NextWaiting((*choices[0] + last) / 2), last};
  }
  choices.emplace_back(std::nullopt);
  return choices;
}

void LaunchControl::Answer(WorkChoice choice) {
  answer_ = choice.has_value() ? NextWaiting(*choice) : std::nullopt;
  if (answer_.has_value()) SetState(*answer_, State::kTaken);
}

// ---- requests

// The bytes go to every block of the cluster, and complete at each block's own barrier.
AsyncRequest LaunchControl::RequestFor(AgentId thread, const CancelRequest& request, const Site& site) {
  AsyncRequest made{.name = "request for work", .each_destination = true};
  made.At(site);
  const Block& own = base_.residents.BlockOf(thread);
  std::vector<std::size_t> dims;
  for (std::size_t d = base_.shape.cluster_first(); d < base_.shape.block_dims(); ++d) dims.push_back(d);
  AsyncOperand result = request.result;
  const BufferId here = BufferOf(result);
  for (const std::vector<std::int64_t>& index : base_.shape.Along(own.index, dims)) {
    std::vector<PeerCoordinate> where;
    for (const std::size_t d : dims) where.push_back({d, index[d]});
    BufferOf(result) = memory_.OfPeer(thread, here, where, site);
    if (index != own.index && BufferOf(result) == here) continue;  // a block that is not there gets nothing
    made.destinations.push_back(result);
    made.completions.push_back({.object = syncs_.BarrierOf(syncs_.OfPeer(thread, request.barrier, index, site)),
                                .amount = kAnswerBytes,
                                .unit = CompletionUnit::kBytes,
                                .of = made.destinations.size() - 1});
  }
  made.function = [this, requested_at = CodeSite::Of(site)](const std::vector<AsyncValue>&,
                                                            std::vector<AsyncValue>* results) {
    Give(requested_at, results);
  };
  return made;
}

void LaunchControl::Give(const CodeSite& requested_at, std::vector<AsyncValue>* results) {
  const AnswerBytes bytes{.magic = kMagic, .success = answer_.has_value() ? 1u : 0u, .serial = given_.size()};
  given_.push_back({.work = answer_, .requested_at = requested_at, .readers = {}});
  for (AsyncValue& result : *results) {
    std::memcpy(result.bytes.data(), &bytes, sizeof(bytes));
    result.marks.clear();
  }
}

// Then the first block's request stands for all, so that the rest of the kernel can be looked at.
void LaunchControl::ReportEachAlong(std::string_view axes, const CodeSite& site) {
  Report(Cat("each block of a cluster along ", std::string(axes),
             " asks for work of its own, and every answer goes to all blocks of the cluster: of several answers in one "
             "place one is read, and the work of the others is lost"),
         "name all axes of the cluster: plgpu.dynamic_scheduling_loop(cluster_axes=...), "
         "plgpu.try_cluster_cancel(collective_axes=...)",
         site);
}

absl::Status LaunchControl::Try(AgentId thread, const CancelRequest& request, const Site& site) {
  const CodeSite code = CodeSite::Of(site);
  const bool first = request.of_each_thread || base_.residents.Of(thread).number == 0;
  if (first && !request.each_along.empty()) ReportEachAlong(request.each_along, code);
  const BarrierId barrier = syncs_.BarrierOf(request.barrier);
  first ? base_.model.Expect(thread, barrier, {.bytes = kAnswerBytes, .senders = {0}}, code)
        : base_.model.Arrive(thread, barrier, code);
  if (!first || base_.residents.BlockOf(thread).number % base_.shape.cluster_size() != 0) return absl::OkStatus();
  if (refused_.count(thread) > 0) {
    Report(Cat(base_.model.agents().NameOf(thread),
               " asks for work again, after an answer that there is none; what that does is undefined"),
           "leave the loop where query_cluster_cancel's success is false", code);
  }
  asking_ = true;
  const absl::Status status = operations_.Start(thread, RequestFor(thread, request, site));
  asking_ = false;
  return status;
}

// ---- answers

CancelAnswer LaunchControl::Read(AgentId thread, const std::byte* bytes, const Site& site) {
  AnswerBytes answer;
  std::memcpy(&answer, bytes, sizeof(answer));
  if (answer.magic != kMagic || answer.serial >= given_.size()) return {};
  Given& given = given_[answer.serial];
  if (!given.work.has_value()) {
    refused_.insert(thread);
    return {.is_one = true};
  }
  const std::pair<AgentId, int> reader{thread, site.text_line};
  if (std::find(given.readers.begin(), given.readers.end(), reader) != given.readers.end()) {
    Report(Cat(base_.model.agents().NameOf(thread), " takes the work of ", NameOfWork(*given.work),
               " a second time: it has read the same answer here before"),
           "ask with plgpu.try_cluster_cancel and wait for its barrier before each query", CodeSite::Of(site));
  } else {
    given.readers.push_back(reader);
    if (on_read_)
      on_read_({.thread = thread,
                .serial = static_cast<std::size_t>(answer.serial),
                .cluster = *given.work,
                .site = CodeSite::Of(site)});
  }
  return {.is_one = true, .success = true, .cluster = *given.work};
}

void LaunchControl::ReportTwice(const AnswerReading& again, const CodeSite& first, std::string_view output) {
  Report(Cat(base_.model.agents().NameOf(again.thread), " does the work of ", NameOfWork(again.cluster),
             " a second time: after reading the same answer again it writes elements of ", std::string(output),
             " that it wrote after the first reading, at ", base_.model.PlaceOf(first)),
         "query each answer once, and do its work there", again.site);
}

void LaunchControl::End() {
  for (const Given& given : given_) {
    if (!given.work.has_value() || !given.readers.empty()) continue;
    Report(Cat("the work of ", NameOfWork(*given.work),
               " was taken and is lost: it never runs, and no agent has read the answer that names it"),
           "query each answer after its barrier, and do the work where success is true", given.requested_at);
  }
}

std::string LaunchControl::NameOfWork(std::int64_t cluster) const {
  const std::int64_t size = base_.shape.cluster_size();
  const std::string block = base_.shape.BlockNameOf(base_.shape.IndexOf(cluster * size));
  return size == 1 ? block : Cat("the cluster of ", block);
}

void LaunchControl::Report(std::string message, std::string fix, const CodeSite& site) {
  base_.memory.Report({.code = FindingCode::kLaunchControl,
                       .severity = RowOf(FindingCode::kLaunchControl).severity,
                       .message = std::move(message),
                       .loc = site.loc,
                       .text_line = site.text_line,
                       .fix = std::move(fix)});
}

}  // namespace palladion::threads
