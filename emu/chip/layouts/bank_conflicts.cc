#include "emu/chip/layouts/bank_conflicts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/layout_walk.h"
#include "emu/chip/layouts/register_layouts.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion::layouts {
namespace {

using Index = std::vector<std::int64_t>;

constexpr std::int64_t kWidestBytes = 16;  // of one transfer
constexpr std::int64_t kJaxBanks = 32;     // with which JAX looks for an order

// ---- memory

bool Untile(const std::vector<std::int64_t>& tile, InMemory& memory) {
  const std::size_t t = tile.size();
  if (memory.dims.size() < 2 * t) return false;
  const std::size_t first = memory.dims.size() - 2 * t;
  for (std::size_t i = 0; i < t; ++i) {
    InMemory::Dim& outer = memory.dims[first + i];
    const InMemory::Dim inner = memory.dims[first + t + i];
    if (outer.tile != 0 || inner.tile != 0 || inner.size != tile[i]) return false;
    outer = {.size = outer.size * inner.size, .stride = inner.stride, .tile = inner.size, .tile_stride = outer.stride};
  }
  memory.dims.resize(first + t);
  return true;
}

bool Slice(const Transform& at, InMemory& memory) {
  std::vector<InMemory::Dim> dims;
  if (at.indices.size() > memory.dims.size()) return false;
  for (std::size_t d = 0; d < memory.dims.size(); ++d) {
    InMemory::Dim dim = memory.dims[d];
    const palladion::Index* index = d < at.indices.size() ? &at.indices[d] : nullptr;
    if (index != nullptr && index->kind == palladion::Index::Kind::kRef) return false;
    if (index != nullptr && index->kind == palladion::Index::Kind::kPoint) continue;
    if (index != nullptr && index->kind == palladion::Index::Kind::kSlice) {
      const std::optional<std::int64_t> size = LiteralInt(index->size);
      if (!size.has_value() || (dim.tile != 0 && index->stride != 1)) return false;
      dim.size = *size;
      dim.stride *= index->stride;
    }
    dims.push_back(dim);
  }
  memory.dims = std::move(dims);
  return true;
}

bool Permute(const std::vector<std::int64_t>& order, InMemory& memory) {
  if (order.size() != memory.dims.size()) return false;
  std::vector<InMemory::Dim> dims;
  for (const std::int64_t d : order) dims.push_back(memory.dims[static_cast<std::size_t>(d)]);
  memory.dims = std::move(dims);
  return true;
}

bool Follow(const Transform& transform, InMemory& memory) {
  switch (transform.kind) {
    case Transform::Kind::kAt:
      return Slice(transform, memory);
    case Transform::Kind::kTranspose:
      return Permute(transform.ints, memory);
    case Transform::Kind::kUntile:
      return Untile(transform.ints, memory);
    case Transform::Kind::kUnswizzle:
      if (memory.swizzle != 0 || transform.ints.empty()) return false;
      memory.swizzle = transform.ints[0];
      return true;
    default:
      return false;
  }
}

// ---- the registers of a lane

// What a digit of each of the steps adds to an index of the view.
void Add(absl::Span<const Steps> steps, absl::Span<const std::int64_t> digits, Index* index) {
  for (std::size_t i = 0; i < steps.size(); ++i) (*index)[steps[i].dim] += steps[i].step * digits[i];
}

Index Digits(absl::Span<const Steps> steps, std::int64_t number) {
  Index digits(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    digits[i] = number % steps[i].size;
    number /= steps[i].size;
  }
  return digits;
}

// Steps that pass from tile to tile of memory are two: within a tile, and the tiles.
std::vector<Steps> CutByTiles(const std::vector<Steps>& registers, const InMemory& memory) {
  std::vector<Steps> cut;
  for (const Steps& steps : registers) {
    const std::int64_t tile = memory.dims[steps.dim].tile;
    if (tile > steps.step && tile < steps.step * steps.size && tile % steps.step == 0) {
      cut.push_back({.dim = steps.dim, .step = tile, .size = steps.step * steps.size / tile});
      cut.push_back({.dim = steps.dim, .step = steps.step, .size = tile / steps.step});
    } else {
      cut.push_back(steps);
    }
  }
  return cut;
}

// Half of the lanes, `group` of them in turns, are `stagger` further along one of the steps of registers.
struct Stagger {
  std::size_t along = 0;
  std::int64_t stagger = 0, group = 1;
};

class Transfer {
 public:
  Transfer(const Spread& spread, const InMemory& memory)
      : spread_(spread), memory_(memory), registers_(CutByTiles(spread.registers, memory)) {
    bytes_ = spread.vector * memory.bits / 8;
  }

  bool OnePiece() const {
    if (spread_.vector * memory_.bits % 8 != 0) return false;
    if (spread_.linear &&
        std::any_of(memory_.dims.begin(), memory_.dims.end(), [](const InMemory::Dim& dim) { return dim.tile != 0; }))
      return false;
    if (spread_.vector == 1 || (spread_.linear && Contiguous())) return true;
    const InMemory::Dim& dim = memory_.dims[spread_.vector_dim];
    return dim.stride == 1 && (dim.tile == 0 ? dim.size : dim.tile) % spread_.vector == 0;
  }

  // As JAX counts: narrow transfers have as many narrower banks; lanes with copies are one.
  bool Conflicts(const Stagger& stagger) const {
    const std::int64_t bank = std::min(kBankBytes, bytes_), banks = kJaxBanks * (kBankBytes / bank);
    const std::int64_t waves = std::max<std::int64_t>(1, bytes_ / bank), lanes = kLanesOfWarp / waves;
    std::vector<std::int64_t> taken;
    for (std::int64_t reg = 0; reg < spread_.Registers(); ++reg) {
      for (std::int64_t wave = 0; wave < waves; ++wave) {
        taken.clear();
        for (std::int64_t lane = wave * lanes; lane < (wave + 1) * lanes; ++lane) {
          if (!IsCopy(lane)) taken.push_back(ByteOf(reg, 0, lane, stagger) / bank % banks);
        }
        std::sort(taken.begin(), taken.end());
        if (std::adjacent_find(taken.begin(), taken.end()) != taken.end()) return true;
      }
    }
    return false;
  }

  // JAX cannot show that each vector is in one of the pieces that a swizzle moves.
  bool MayCrossPieces() const {
    constexpr std::int64_t kPieceBits = 128;
    std::int64_t alignment = 0;
    for (const std::vector<Steps>* all : {&registers_, &spread_.warps, &spread_.lanes}) {
      for (const Steps& steps : CutByTiles(*all, memory_)) {
        if (steps.size > 1 && steps.step != 0) alignment = std::gcd(alignment, StrideOf(steps));
      }
    }
    return alignment != 0 && kPieceBits / memory_.bits % alignment != 0 && spread_.vector <= alignment;
  }

  std::optional<Stagger> Search() const {
    const std::int64_t in_row = kJaxBanks * kBankBytes * 8 / memory_.bits;
    for (std::size_t along = 0; along < registers_.size(); ++along) {
      const Steps& steps = registers_[along];
      if (steps.size <= 1 || StrideOf(steps) % in_row == 0) continue;
      for (std::int64_t group = 1; group < kLanesOfWarp; group *= 2) {
        for (std::int64_t by = 1; by < steps.size; ++by) {
          const Stagger stagger{.along = along, .stagger = by, .group = group};
          if (!Conflicts(stagger)) return stagger;
        }
      }
    }
    return std::nullopt;
  }

  SharedTransfer Count(const Stagger& stagger, std::int64_t banks) const {
    const std::int64_t phases = std::max<std::int64_t>(1, bytes_ / kBankBytes);
    const std::int64_t lanes = kLanesOfWarp / phases;
    SharedTransfer transfer{.least = spread_.Registers() * kWarpsOfGroup * phases};
    for (std::int64_t reg = 0; reg < spread_.Registers(); ++reg) {
      for (std::int64_t warp = 0; warp < kWarpsOfGroup; ++warp) {
        for (std::int64_t phase = 0; phase < phases; ++phase)
          transfer.turns += Turns(WordsOf(reg, warp, {phase * lanes, (phase + 1) * lanes}, stagger), banks);
      }
    }
    return transfer;
  }

  std::int64_t WordsOfLane() const { return spread_.Registers() * ((bytes_ + kBankBytes - 1) / kBankBytes); }

 private:
  bool Contiguous() const {
    std::int64_t stride = 1;
    for (std::size_t d = memory_.dims.size(); d-- > 0;) {
      if (memory_.dims[d].size != 1 && memory_.dims[d].stride != stride) return false;
      stride *= memory_.dims[d].size;
    }
    return true;
  }

  struct Lanes {
    std::int64_t first = 0, last = 0;
  };
  std::vector<std::int64_t> WordsOf(std::int64_t reg, std::int64_t warp, const Lanes& lanes,
                                    const Stagger& stagger) const {
    std::vector<std::int64_t> words;
    for (std::int64_t lane = lanes.first; lane < lanes.last; ++lane) {
      const std::int64_t byte = ByteOf(reg, warp, lane, stagger);
      for (std::int64_t at = byte / kBankBytes; at * kBankBytes < byte + bytes_; ++at) words.push_back(at);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
  }

  // The most words that one bank is asked for.
  static std::int64_t Turns(const std::vector<std::int64_t>& words, std::int64_t banks) {
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(banks));
    for (const std::int64_t word : words) ++wanted[static_cast<std::size_t>(word % banks)];
    return *std::max_element(wanted.begin(), wanted.end());
  }

  std::int64_t ByteOf(std::int64_t reg, std::int64_t warp, std::int64_t lane, const Stagger& stagger) const {
    Index digits = Digits(registers_, reg);
    if (stagger.stagger != 0 && lane / stagger.group % 2 == 1) {
      const std::int64_t size = registers_[stagger.along].size;
      digits[stagger.along] = (digits[stagger.along] + stagger.stagger) % size;
    }
    Index index(spread_.linear ? 1 : spread_.shape.size());
    Add(registers_, digits, &index);
    Add(spread_.warps, Digits(spread_.warps, warp), &index);
    Add(spread_.lanes, Digits(spread_.lanes, lane), &index);
    return memory_.ByteOf(spread_.linear ? InOrder(index[0]) : index);
  }

  Index InOrder(std::int64_t element) const {
    Index index(spread_.shape.size());
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = element % spread_.shape[d];
      element /= spread_.shape[d];
    }
    return index;
  }

  // In elements, of one step.
  std::int64_t StrideOf(const Steps& steps) const {
    const InMemory::Dim& dim = memory_.dims[steps.dim];
    return dim.tile != 0 && steps.step >= dim.tile ? steps.step / dim.tile * dim.tile_stride : steps.step * dim.stride;
  }

  bool IsCopy(std::int64_t lane) const {
    const Index digits = Digits(spread_.lanes, lane);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (spread_.lanes[i].step == 0 && digits[i] != 0) return true;
    }
    return false;
  }

  const Spread& spread_;
  const InMemory& memory_;
  const std::vector<Steps> registers_;
  std::int64_t bytes_ = 0;
};

// ---- the accesses of a kernel

class Accesses {
 public:
  Accesses(const Kernel& kernel, std::int64_t banks)
      : kernel_(kernel), banks_(banks), layouts_(LayoutsOf(kernel).values) {}

  absl::flat_hash_map<const Instr*, SharedTransfer> Take() && {
    for (const Body& body : kernel_.bodies) Walk(body.region);
    return std::move(found_);
  }

 private:
  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      if (const std::optional<SharedTransfer> transfer = Of(op)) found_.emplace(&op, *transfer);
      for (const Region& inner : op.regions) Walk(inner);
    }
  }

  std::optional<SharedTransfer> Of(const Instr& op) const {
    const OpRow& row = RowOf(op);
    const bool stores = row.access == RefAccess::kStore;
    if ((!stores && row.access != RefAccess::kLoad) || op.args.empty()) return std::nullopt;
    const Arg& ref = op.args[0];
    if (!IsRefArg(kernel_, ref) || kernel_.values[ref.value.index()].type.space != Space::kSmem) return std::nullopt;
    if (stores && op.args.size() <= row.stored) return std::nullopt;
    const Type type = stores ? TypeOfArg(kernel_, op.args[row.stored]) : op.types[0];
    if (NumElements(type.shape) == 1) return SharedTransfer{.turns = kWarpsOfGroup, .least = kWarpsOfGroup};
    const bool masked = std::any_of(op.args.begin(), op.args.end(),
                                    [](const Arg& arg) { return arg.name == "mask" && arg.kind != Arg::Kind::kNone; });
    const std::optional<InMemory> memory = InMemoryOf(kernel_, ref);
    const RegisterLayout layout = LayoutOf(op, stores);
    const std::optional<Spread> spread = SpreadOf(layout, type);
    if (masked || !memory.has_value() || !spread.has_value() || memory->dims.size() != type.shape.size())
      return std::nullopt;
    return TransferOf(*spread, *memory,
                      {.banks = banks_, .stores = stores, .searches = Searches(op, ref, layout, stores)});
  }

  RegisterLayout LayoutOf(const Instr& op, bool stores) const {
    if (!stores) return op.results[0].valid() ? layouts_[op.results[0].index()] : RegisterLayout{};
    const Arg& value = op.args[RowOf(op).stored];
    return value.kind == Arg::Kind::kValue ? layouts_[value.value.index()] : RegisterLayout{};
  }

  // Stores to refs without tiles do not.
  bool Searches(const Instr& op, const Arg& ref, const RegisterLayout& layout, bool stores) const {
    if (layout.kind == RegisterLayout::Kind::kStrided) return false;
    const Attr* attr = Find(op.attrs, "optimized");
    const bool* given = attr == nullptr ? nullptr : std::get_if<bool>(&attr->value);
    if (given != nullptr) return *given;
    return !stores || !GpuViewOf(kernel_, ref).tile.empty();
  }

  const Kernel& kernel_;
  const std::int64_t banks_;
  const std::vector<RegisterLayout> layouts_;
  absl::flat_hash_map<const Instr*, SharedTransfer> found_;
};

}  // namespace

std::int64_t InMemory::ByteOf(absl::Span<const std::int64_t> index) const {
  constexpr std::int64_t kPiece = 16, kGroup = 128;  // bytes: what a swizzle moves, and by what
  std::int64_t element = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Dim& dim = dims[d];
    element += dim.tile == 0 ? index[d] * dim.stride
                             : index[d] / dim.tile * dim.tile_stride + index[d] % dim.tile * dim.stride;
  }
  const std::int64_t byte = element * bits / 8;
  if (swizzle <= kPiece) return byte;
  return byte ^ (byte / kGroup % (swizzle / kPiece) * kPiece);
}

std::optional<InMemory> InMemoryOf(const Kernel& kernel, const Arg& ref) {
  const Type& type = kernel.values[ref.value.index()].type;
  InMemory memory;
  memory.bits = Info(type.dtype).bits;
  std::int64_t stride = 1;
  memory.dims.resize(type.shape.size());
  for (std::size_t d = type.shape.size(); d-- > 0;) {
    memory.dims[d] = {.size = type.shape[d], .stride = stride};
    stride *= type.shape[d];
  }
  for (const Transform& transform : ref.transforms) {
    if (!Follow(transform, memory)) return std::nullopt;
  }
  return memory;
}

bool HasNoOrder(const Spread& spread, const InMemory& memory) {
  const Transfer transfer(spread, memory);
  if (spread.vector * memory.bits / 8 > kWidestBytes) return true;
  return memory.dims.size() == spread.shape.size() && transfer.OnePiece() &&
         (transfer.MayCrossPieces() || (transfer.Conflicts({}) && !transfer.Search().has_value()));
}

std::optional<SharedTransfer> TransferOf(const Spread& spread, const InMemory& memory, const AccessForm& form) {
  const Transfer transfer(spread, memory);
  if (!transfer.OnePiece() || spread.vector * memory.bits / 8 > kWidestBytes) return std::nullopt;
  const bool conflicts = form.searches && transfer.Conflicts({});
  const std::optional<Stagger> stagger = conflicts ? transfer.Search() : std::nullopt;
  SharedTransfer counted = transfer.Count(stagger.value_or(Stagger{}), form.banks);
  // A store takes one of two registers, a load changes one of two.
  if (stagger.has_value()) counted.selects = transfer.WordsOfLane() * (form.stores ? 1 : 2);
  counted.refused = conflicts && !stagger.has_value();
  return counted;
}

absl::flat_hash_map<const Instr*, SharedTransfer> SharedTransfersOf(const Kernel& kernel, std::int64_t banks) {
  return Accesses(kernel, banks).Take();
}

}  // namespace palladion::layouts
