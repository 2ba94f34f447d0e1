#include "semantics/simd/dot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/attributes.h"
#include "semantics/simd/dot_kernels.h"

namespace palladion::simd {
namespace {

// A block of a (256 KiB of doubles) and one panel of b (32 KiB) stay in L2 and L1; sums live in a C block between depth
// blocks.
constexpr std::size_t kRowBlock = 256;
constexpr std::size_t kDepthBlock = 128;
constexpr std::size_t kColumnBlock = 512;
constexpr std::size_t kRowChunk = 32;  // rows multiplied, then rounded while their sums are in L1
constexpr std::size_t kPad = 8;        // keeps the rows of a block out of one cache set
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxAccumulatorBytes = 8;

std::size_t RoundUp(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// The regions of the scratch, in bytes from its first aligned byte, for accumulators of 8 bytes.
struct ScratchLayout {
  std::size_t b;  // a is at 0
  std::size_t c;
  std::size_t gather;
  std::size_t total;
};

std::size_t BlockStride(std::size_t depth) { return RoundUp(std::min(depth, kDepthBlock), kPad) + kPad; }

ScratchLayout LayOut(const DotShape& shape) {
  const std::size_t rows = std::min(shape.m, kRowBlock);
  const std::size_t depth = std::min(shape.k, kDepthBlock);
  const std::size_t columns = shape.k > kDepthBlock
                                  ? RoundUp(std::min(shape.n, kColumnBlock) * kMaxAccumulatorBytes, kMaxPanelBytes)
                                  : kMaxPanelBytes;
  ScratchLayout layout{};
  layout.b = RoundUp(rows * BlockStride(shape.k) * kMaxAccumulatorBytes, kAlignment);
  layout.c = layout.b + depth * kMaxPanelBytes;
  layout.gather = layout.c + rows * columns;
  layout.total = layout.gather + kRowBlock * kMaxAccumulatorBytes;
  return layout;
}

// One operand of the multiply, as rows and columns of a block.
struct BlockSource {
  const std::byte* data;
  DType dtype;
  std::size_t element_bytes;
  const std::int64_t* row_offset;
  const std::int64_t* column_offset;

  // An operand without elements has no data, and adding to a null pointer is undefined even if nothing is read.
  const void* At(std::int64_t offset) const {
    return data == nullptr ? nullptr : data + offset * static_cast<std::int64_t>(element_bytes);
  }
};

// Length of the run of consecutive offsets at the front of the table.
std::size_t UnitRun(const std::int64_t* offset, std::size_t count) {
  std::size_t length = 1;
  while (length < count && offset[length] == offset[length - 1] + 1) ++length;
  return std::min(length, count);
}

// Whether most of the table is runs long enough for vectors.
bool HasLongRuns(const std::int64_t* offset, std::size_t count) {
  constexpr std::size_t kLongRun = 8;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < count; i += UnitRun(offset + i, count - i)) ++runs;
  return runs == 1 || runs * kLongRun <= count;
}

template <typename T>
class BlockedDot {
 public:
  BlockedDot(const DotKernels<T>& kernels, const DotCall& call, std::byte* scratch)
      : kernels_(kernels),
        a_(SourceOf(call.a, call.a.outer_offset, call.a.k_offset)),
        b_(SourceOf(call.b, call.b.k_offset, call.b.outer_offset)),
        shape_(call.shape),
        out_dtype_(call.result.dtype),
        out_bytes_(StorageBytes(call.result.dtype)),
        out_(static_cast<std::byte*>(call.result.data)),
        addend_(static_cast<const std::byte*>(call.result.addend)),
        out_stride_(call.result.stride),
        panel_width_(kernels.lanes * kernels.vectors),
        a_stride_(BlockStride(call.shape.k)) {
    const ScratchLayout layout = LayOut(call.shape);
    a_block_ = reinterpret_cast<T*>(scratch);
    b_panel_ = reinterpret_cast<T*>(scratch + layout.b);
    c_block_ = reinterpret_cast<T*>(scratch + layout.c);
    gather_ = scratch + layout.gather;
  }

  void Run(const RunControl* control) {
    for (std::size_t column = 0; column < shape_.n; column += kColumnBlock) {
      for (std::size_t row = 0; row < shape_.m; row += kRowBlock) {
        std::size_t depth = 0;
        do {
          if (Interrupted(control)) return;
          MultiplyBlock(row, column, depth);
          depth += kDepthBlock;
        } while (depth < shape_.k);
      }
    }
  }

 private:
  // Some of the rows, columns or depths.
  struct Part {
    std::size_t first, count;
  };

  static BlockSource SourceOf(const DotOperand& operand, const std::int64_t* rows, const std::int64_t* columns) {
    return {static_cast<const std::byte*>(operand.data), operand.dtype, StorageBytes(operand.dtype), rows, columns};
  }

  void MultiplyBlock(std::size_t row, std::size_t column, std::size_t depth) {
    const Part rows{row, std::min(kRowBlock, shape_.m - row)};
    const Part depths{depth, std::min(kDepthBlock, shape_.k - depth)};
    const std::size_t column_end = std::min(shape_.n, column + kColumnBlock);
    Pack(a_, rows, depths, a_block_, a_stride_);
    T* c = c_block_;
    for (std::size_t j = column; j < column_end; j += panel_width_) {
      MultiplyPanel(rows, depths, {j, std::min(panel_width_, column_end - j)}, c);
      if (shape_.k > kDepthBlock) c += rows.count * panel_width_;
    }
  }

  void MultiplyPanel(Part rows, Part depths, Part columns, T* c) {
    const std::size_t vectors = (columns.count + kernels_.lanes - 1) / kernels_.lanes;
    const std::size_t width = vectors * kernels_.lanes;
    Pack(b_, depths, columns, b_panel_, width);
    for (std::size_t k = 0; k < depths.count; ++k) {
      for (std::size_t j = columns.count; j < width; ++j) b_panel_[k * width + j] = 0;
    }
    const bool accumulate = depths.first > 0, last = depths.first + depths.count == shape_.k;
    for (std::size_t i = 0; i < rows.count; i += kRowChunk) {
      const std::size_t chunk = std::min(kRowChunk, rows.count - i);
      T* sums = c + i * width;
      kernels_.multiply(
          {a_block_ + i * a_stride_, a_stride_, b_panel_, sums, chunk, depths.count, vectors, accumulate});
      if (!last) continue;
      const std::size_t at = ((rows.first + i) * out_stride_ + columns.first) * out_bytes_;
      const std::byte* addend = addend_ == nullptr ? nullptr : addend_ + at;
      kernels_.round(out_dtype_, {sums, width, chunk, columns.count, out_ + at, addend, out_stride_});
    }
  }

  // dst[r][c] = source(rows.first + r, columns.first + c), converted.
  void Pack(const BlockSource& source, Part rows, Part columns, T* dst, std::size_t stride) {
    const std::int64_t* row_offset = source.row_offset + rows.first;
    const std::int64_t* column_offset = source.column_offset + columns.first;
    if (HasLongRuns(column_offset, columns.count)) {
      for (std::size_t c = 0; c < columns.count;) {
        const std::size_t run = UnitRun(column_offset + c, columns.count - c);
        kernels_.convert(source.dtype, {source.At(column_offset[c]), row_offset, rows.count, run, dst + c, stride});
        c += run;
      }
    } else if (HasLongRuns(row_offset, rows.count)) {
      for (std::size_t r = 0; r < rows.count;) {
        const std::size_t run = UnitRun(row_offset + r, rows.count - r);
        kernels_.transpose(source.dtype,
                           {source.At(row_offset[r]), column_offset, columns.count, run, dst + r * stride, stride});
        r += run;
      }
    } else {
      PackGathered(source, rows, columns, dst, stride);
    }
  }

  void PackGathered(const BlockSource& source, Part rows, Part columns, T* dst, std::size_t stride) {
    const std::int64_t zero = 0;
    const std::int64_t* row_offset = source.row_offset + rows.first;
    const std::int64_t* column_offset = source.column_offset + columns.first;
    for (std::size_t r = 0; r < rows.count; ++r) {
      switch (source.element_bytes) {
        case 1:
          Gather<std::uint8_t>(source.At(row_offset[r]), column_offset, columns.count);
          break;
        case 2:
          Gather<std::uint16_t>(source.At(row_offset[r]), column_offset, columns.count);
          break;
        case 4:
          Gather<std::uint32_t>(source.At(row_offset[r]), column_offset, columns.count);
          break;
        default:
          Gather<std::uint64_t>(source.At(row_offset[r]), column_offset, columns.count);
          break;
      }
      kernels_.convert(source.dtype, {gather_, &zero, 1, columns.count, dst + r * stride, stride});
    }
  }

  template <typename Bits>
  void Gather(const void* from, const std::int64_t* offset, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(gather_ + i * sizeof(Bits), static_cast<const Bits*>(from) + offset[i], sizeof(Bits));
    }
  }

  const DotKernels<T>& kernels_;
  const BlockSource a_;
  const BlockSource b_;
  const DotShape shape_;
  const DType out_dtype_;
  const std::size_t out_bytes_;
  std::byte* const out_;
  const std::byte* const addend_;
  const std::size_t out_stride_;  // elements from one row to the next
  const std::size_t panel_width_;
  const std::size_t a_stride_;
  T* a_block_;
  T* b_panel_;
  T* c_block_;
  std::byte* gather_;
};

// Bits of the longest significand of the type.
int Precision(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 53;
    case DType::kF32:
      return 24;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    default:
      return Info(dtype).bits;  // integers; for the floats of eight bits and fewer more than enough
  }
}

DotProduct ProductOf(DType a, DType b) {
  constexpr int kDoublePrecision = 53;
  return Precision(a) + Precision(b) <= kDoublePrecision ? DotProduct::kExact : DotProduct::kFused;
}

// How the output is cut for several threads: into bands of rows or of columns, whichever there are more of.
struct Split {
  std::size_t parts;
  bool by_rows;
  std::size_t band;  // rows or columns of a part; the last may have fewer
};

Split SplitOf(const DotShape& shape, std::size_t threads) {
  constexpr std::size_t kBandStep = 32;
  const std::size_t longer = std::max(shape.m, shape.n);
  const bool by_rows = shape.m >= shape.n;
  if (threads <= 1 || !WorthSharing(shape)) return {1, by_rows, longer};
  const std::size_t band = RoundUp((longer + threads - 1) / threads, kBandStep);
  return {(longer + band - 1) / band, by_rows, band};
}

DotShape PartShape(const DotShape& shape, const Split& split) {
  return split.by_rows ? DotShape{split.band, shape.n, shape.k} : DotShape{shape.m, split.band, shape.k};
}

template <typename T>
void RunParts(const DotKernels<T>& kernels, const DotCall& call, std::byte* scratch, DotHelp help) {
  Parallel* const parallel = help.parallel;
  const DotShape& shape = call.shape;
  const DotResult& result = call.result;
  const Split split = SplitOf(shape, parallel != nullptr ? parallel->threads() : 1);
  if (split.parts == 1) {
    BlockedDot<T>(kernels, call, scratch).Run(help.control);
    return;
  }
  const std::size_t scratch_stride = RoundUp(LayOut(PartShape(shape, split)).total, kAlignment);
  parallel->For(split.parts, [&](std::size_t number) {
    const std::size_t first = number * split.band;
    DotCall part = call;
    if (split.by_rows) {
      part.a.outer_offset += first;
      part.shape.m = std::min(split.band, shape.m - first);
    } else {
      part.b.outer_offset += first;
      part.shape.n = std::min(split.band, shape.n - first);
    }
    const std::size_t at = first * (split.by_rows ? result.stride : 1) * StorageBytes(result.dtype);
    part.result.data = static_cast<std::byte*>(result.data) + at;
    if (result.addend != nullptr) part.result.addend = static_cast<const std::byte*>(result.addend) + at;
    BlockedDot<T>(kernels, part, scratch + number * scratch_stride).Run(help.control);
  });
}

}  // namespace

double WorkOf(DotShape shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

bool WorthSharing(DotShape shape) {
  constexpr double kWorthwhile = 4e6;  // multiply-adds: some tens of microseconds, far more than waking a thread
  return WorkOf(shape) >= kWorthwhile;
}

std::size_t DotScratchBytes(DotShape shape, std::size_t threads) {
  if (shape.n == 1) std::swap(shape.m, shape.n);
  const Split split = SplitOf(shape, threads);
  return split.parts * RoundUp(LayOut(PartShape(shape, split)).total, kAlignment) + kAlignment;
}

void Dot(const DotCall& call, absl::Span<std::byte> scratch, Target target, DotHelp help) {
  const DotShape& shape = call.shape;
  // Lanes run across n. A matrix times a vector is turned around; its output is the same bytes.
  const bool turns = shape.n == 1 && shape.m > 1;
  if (turns || call.result.stride == 0) {
    DotCall dense = call;
    dense.result.stride = turns ? shape.m : std::max<std::size_t>(1, shape.n);
    if (turns) {
      std::swap(dense.a, dense.b);
      std::swap(dense.shape.m, dense.shape.n);
    }
    return Dot(dense, scratch, target, help);
  }
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(scratch.data());
  std::byte* aligned = scratch.data() + (RoundUp(address, kAlignment) - address);
  if (IsFloat(call.a.dtype) || IsFloat(call.b.dtype) || IsFloat(call.result.dtype)) {
    RunParts(DoubleDotKernels(target, ProductOf(call.a.dtype, call.b.dtype)), call, aligned, help);
  } else if (Info(call.result.dtype).bits <= 32) {
    RunParts(Int32DotKernels(target), call, aligned, help);
  } else {
    RunParts(ScalarInt64DotKernels(), call, aligned, help);
  }
}

}  // namespace palladion::simd
