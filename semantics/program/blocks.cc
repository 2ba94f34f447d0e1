#include "semantics/program/blocks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/port/nowhere.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/block_copies.h"
#include "semantics/program/frame_shadow.h"

namespace palladion {
namespace {

const OperandInfo& InfoOf(const void* params, const Frame& frame) {
  return frame.program().operand_infos[static_cast<const OperandParams*>(params)->operand];
}

RefId RefOf(const void* params, const Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  return info.pipelined ? info.slots[static_cast<const OperandParams*>(params)->slot] : info.ref;
}

std::int64_t MapResult(const OperandInfo& info, std::size_t d, Frame& frame) {
  return ReadIndex(frame.slot(info.index[d]), info.index_dtype[d], 0);
}

// grid.md#blocks: where dimension d of the block starts in the array.
std::int64_t Start(const BlockDim& dim, std::int64_t index) {
  const bool blocked = dim.kind == BlockDim::Kind::kBlocked;
  const std::int64_t limit = blocked ? kFarOutside / std::max<std::int64_t>(1, dim.size) : kFarOutside;
  const std::int64_t near = std::clamp(index, -limit, limit);
  if (blocked) return near * dim.size;
  return dim.kind == BlockDim::Kind::kElement ? near - dim.low : near;
}

// grid.md#out-of-bounds: no element in the array or, where the map counts in the padded array, in its padding.
bool WhollyOutside(const BlockDim& dim, std::int64_t start, std::int64_t size) {
  const bool padded = dim.kind == BlockDim::Kind::kElement;
  const std::int64_t low = padded ? dim.low : 0, high = padded ? dim.high : 0;
  return dim.size > 0 && (start >= size + high || start + dim.size <= -low);
}

// No element in the array, though maybe some in its padding.
bool MissesArray(const BlockDim& dim, std::int64_t start, std::int64_t size) {
  return dim.size > 0 && (start >= size || start + dim.size <= 0);
}

// The ref's name in the kernel.
std::string NameOf(const OperandInfo& info, const Frame& frame) {
  return info.ref.valid() ? frame.program().refs[info.ref.index()].name : info.name;
}

// Each index as the block number that an element's index would have; none where that is no likely reading of the map:
// each index outside is the first element of some block, and is no program's own index along the grid.
std::optional<std::vector<std::int64_t>> AsElements(const OperandInfo& info, absl::Span<const std::int64_t> index,
                                                    const Frame& frame) {
  std::vector<std::int64_t> blocks(index.begin(), index.end());
  const auto& grid = frame.grid_index();
  for (std::size_t d = 0; d < index.size(); ++d) {
    const BlockDim& dim = info.block[d];
    const std::int64_t size = info.type.shape[d];
    if (!WhollyOutside(dim, Start(dim, index[d]), size)) continue;
    if (dim.kind != BlockDim::Kind::kBlocked || dim.size < 2) return std::nullopt;
    if (index[d] < 0 || index[d] >= size || index[d] % dim.size != 0) return std::nullopt;
    if (std::find(grid.begin(), grid.end(), index[d]) != grid.end()) return std::nullopt;
    blocks[d] = index[d] / dim.size;
  }
  return blocks;
}

std::string FixOfBlock(const OperandInfo& info, absl::Span<const std::int64_t> index, const Frame& frame) {
  const std::optional<std::vector<std::int64_t>> blocks = AsElements(info, index, frame);
  if (!blocks.has_value()) return "let at least one element of the block be inside: correct the index map or the grid";
  return Cat("return block numbers from the index map, which seems to return elements: (", absl::StrJoin(*blocks, ", "),
             ") is the block that begins at element (", absl::StrJoin(index, ", "),
             "); or count in elements, with pl.Element(size) in the block's shape");
}

enum class Missed : std::uint8_t { kArrayAndPadding, kArray };

// Where the map counts in the padded array, an input's block of padding alone is what it asked for; of an output's
// nothing is kept.
void ReportBlockOutOfBounds(const OperandInfo& info, Missed missed, const Step& step, Frame& frame) {
  const bool in_padding = missed == Missed::kArray;
  std::vector<std::int64_t> index;
  for (std::size_t d = 0; d < info.index.size(); ++d) index.push_back(MapResult(info, d, frame));
  frame.machine().Report({.code = FindingCode::kBlockOutOfBounds,
                          .severity = in_padding ? Severity::kWarning : Severity::kDefect,
                          .message = Cat("the block of ", in_padding ? "output" : "operand", " '", NameOf(info, frame),
                                         "'", AtAgent(NamingOf(frame.program()), frame.grid_index()), " lies wholly ",
                                         in_padding ? "in the padding of" : "outside", " its array ",
                                         ToString(info.type), ": the index map returned (", absl::StrJoin(index, ", "),
                                         ")", in_padding ? "; nothing of it is written" : ""),
                          .loc = step.loc,
                          .text_line = step.text_line,
                          .fix = FixOfBlock(info, index, frame)});
}

// grid.md#index-type: hardware computes blocks in i32. False: said.
bool ExpectIndexType(const OperandInfo& info, std::size_t d, const Step& step, Frame& frame) {
  const std::int64_t index = MapResult(info, d, frame);
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min(),
                         kHigh = std::numeric_limits<std::int32_t>::max();
  const bool is_u64 = info.index_dtype[d] == DType::kU64;
  if (index >= kLow && index <= kHigh && !(is_u64 && index < 0)) return true;
  const std::string value = is_u64 ? Cat(static_cast<std::uint64_t>(index)) : Cat(index);
  frame.machine().Report({.code = FindingCode::kIndexType,
                          .severity = Severity::kDefect,
                          .message = Cat("the index map of operand '", NameOf(info, frame), "' returned ", value,
                                         " for dimension ", d, AtAgent(NamingOf(frame.program()), frame.grid_index()),
                                         "; a block index must be one that an i32 holds"),
                          .loc = step.loc,
                          .text_line = step.text_line});
  return false;
}

std::int64_t* Current(const OperandInfo& info, Frame& frame) {
  return reinterpret_cast<std::int64_t*>(frame.slot(info.current));
}

}  // namespace

// The window's origin in the array, from the index map's results. A block that is wholly outside, which is said here,
// is put where no array and no padding of one is, so that what it holds is not reported as padding's; but for a pointer
// (Triton), which has no end.
void PlaceWindow(const OperandInfo& info, RefId window, const Step& step, Frame& frame) {
  RefState& state = frame.ref(window);
  const bool ends = frame.program().refs[window.index()].bounded_by_window;
  bool outside = false, misses = false, fits = true;
  for (std::size_t d = 0; d < info.block.size(); ++d) {
    const BlockDim& dim = info.block[d];
    if (Info(info.index_dtype[d]).bits >= 32 && info.index_dtype[d] != DType::kI32)
      fits &= ExpectIndexType(info, d, step, frame);
    const std::int64_t start = Start(dim, MapResult(info, d, frame));
    const bool outside_here = WhollyOutside(dim, start, info.type.shape[d]);
    state.origin[d] = !outside_here || !ends ? start : start < 0 ? -kNowhere - dim.size : kNowhere;
    outside |= outside_here;
    misses |= MissesArray(dim, start, info.type.shape[d]);
  }
  if (!fits) return;
  if (outside) return ReportBlockOutOfBounds(info, Missed::kArrayAndPadding, step, frame);
  if (misses && info.role == Role::kOut) ReportBlockOutOfBounds(info, Missed::kArray, step, frame);
}

void KeepIndex(const OperandInfo& info, Frame& frame) {
  for (std::size_t d = 0; d < info.index.size(); ++d) Current(info, frame)[d] = MapResult(info, d, frame);
}

bool IsKept(const OperandInfo& info, Frame& frame) {
  for (std::size_t d = 0; d < info.index.size(); ++d) {
    if (Current(info, frame)[d] != MapResult(info, d, frame)) return false;
  }
  return true;
}

namespace {

bool SameBlock(const OperandInfo& info, Frame& frame) { return !frame.begins_task() && IsKept(info, frame); }

}  // namespace

// A block must not depend on unwritten memory.
void UseIndex(const OperandInfo& info, const Step& step, Frame& frame) {
  if (frame.shadow() == nullptr) return;
  for (SlotId slot : info.index)
    frame.shadow()->Use(slot, Cat("the block index of operand '", NameOf(info, frame), "'"), step, frame);
}

namespace {

// All elements of a ref, in its own order.
void WholeBox(RefId id, const Step& step, Frame& frame, BoxAccess& box) {
  const RefInfo& info = frame.program().refs[id.index()];
  const RefState& state = frame.ref(id);
  box.buffer = state.buffer;
  box.rank = static_cast<int>(info.window.size());
  for (std::size_t d = 0; d < info.window.size(); ++d) {
    box.start[d] = box.lower[d] = state.origin[d];
    box.count[d] = info.window[d];
    box.step[d] = 1;
    box.upper[d] = state.origin[d] + info.window[d];
  }
  box.value_rank = static_cast<int>(info.kept.size());
  for (std::size_t i = 0; i < info.kept.size(); ++i) box.order[i] = static_cast<std::uint8_t>(info.kept[i]);
  box.outside = info.outside;
  box.mask = {};
  box.site = frame.site(step);
}

}  // namespace

void WholeOperand(RefId id, const Step& step, Frame& frame, AsyncOperand& operand) {
  WholeBox(id, step, frame, *std::get_if<BoxAccess>(&operand.where));
  const RefInfo& info = frame.program().refs[id.index()];
  operand.bytes = ByteCount(static_cast<std::int64_t>(StorageBytes(info.dtype) * info.words_per_element));
  for (const std::int64_t size : info.window) operand.bytes = size * operand.bytes;
}

namespace {

// One source, one destination. The request is the frame's: a machine that has carried it out leaves it for the next
// copy, which so allocates nothing.
absl::Status CopyBlock(RefId from, RefId to, const Step& step, Frame& frame) {
  AsyncRequest& copy = frame.block_copy();
  if (copy.sources.size() != 1 || copy.destinations.size() != 1) {
    copy = {.name = "copy of a block"};
    copy.sources.resize(1);
    copy.destinations.resize(1);
  }
  WholeOperand(from, step, frame, copy.sources[0]);
  WholeOperand(to, step, frame, copy.destinations[0]);
  copy.queue = frame.machine().QueueOf(AsyncQueue::kBlocks);
  copy.At(frame.site(step));
  return frame.machine().Start(std::move(copy));
}

}  // namespace

absl::Status RunAllocBlock(const void* params, const Step& step, Frame& frame) {
  const RefId ref = RefOf(params, frame);
  const RefInfo& info = frame.program().refs[ref.index()];
  RefState& state = frame.ref(ref);
  AllocRequest request{.name = info.name,
                       .dtype = info.dtype,
                       .words_per_element = info.words_per_element,
                       .shape = info.buffer_shape,
                       .is_output = InfoOf(params, frame).role == Role::kOut,
                       .loc = step.loc,
                       .text_line = step.text_line};
  // Engines reach what lies in a core's memory.
  if (frame.program().uses_port) request.place = AllocationPlace{.step = &step - frame.program().steps.data()};
  PALLADION_ASSIGN_OR_RETURN(state.buffer, frame.machine().Alloc(request));
  for (std::size_t d = 0; d < info.buffer_shape.size(); ++d) state.origin[d] = 0;
  frame.ref(InfoOf(params, frame).ref) = state;
  return absl::OkStatus();
}

absl::Status RunFreeBlock(const void* params, const Step& step, Frame& frame) {
  const BufferId buffer = frame.ref(RefOf(params, frame)).buffer;
  if (frame.program().uses_port) {
    frame.machine().Leave(buffer, frame.site(step));
  } else {
    frame.machine().Free(buffer);
  }
  return absl::OkStatus();
}

absl::Status RunBeginProgram(const void*, const Step&, Frame& frame) {
  frame.machine().Running({.id = frame.agent(), .index = frame.grid_index(), .begins = true});
  return absl::OkStatus();
}

absl::Status RunBindWindow(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  UseIndex(info, step, frame);
  PlaceWindow(info, info.ref, step, frame);
  return absl::OkStatus();
}

absl::Status RunUseIndex(const void* params, const Step& step, Frame& frame) {
  UseIndex(InfoOf(params, frame), step, frame);
  return absl::OkStatus();
}

// grid.md#residency: an output goes back to its array when the next program's index differs, and after the last
// program.
absl::Status RunFlushIfLeft(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  if (frame.first_program() || SameBlock(info, frame)) return absl::OkStatus();
  return CopyBlock(info.ref, info.array, step, frame);
}

absl::Status RunFlush(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  return CopyBlock(info.ref, info.array, step, frame);
}

// grid.md#residency: an input is fetched when its index differs from the last program's; equal indices leave the memory
// as the body left it. The memory of an output that is new holds nothing: it is not read from the array, unless it asks
// for that.
absl::Status RunFetchIfNew(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  UseIndex(info, step, frame);
  if (SameBlock(info, frame)) return absl::OkStatus();
  PlaceWindow(info, info.array, step, frame);
  KeepIndex(info, frame);
  if (info.role != Role::kOut || info.restored) return CopyBlock(info.array, info.ref, step, frame);
  // The first one is new memory, where another device's copy may have come already.
  if (frame.first_program() && frame.program().uses_port) return absl::OkStatus();
  frame.machine().Poison(frame.ref(info.ref).buffer);
  return absl::OkStatus();
}

WaitTarget WaitsForBlocks(const void*, const Step&, Frame&) {
  return {.kind = WaitTarget::Kind::kQueue, .object = {}, .queue = AsyncQueue::kBlocks};
}

absl::Status RunAwaitBlocks(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForBlocks(params, step, frame), frame.site(step));
}

}  // namespace palladion
