#include "emu/check/legality/tpu/block_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "emu/check/legality/tpu/block_copies.h"
#include "emu/check/legality/tpu/scaled_blocks.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {
namespace {

// Of blocks that fit, what decides: the least is the best.
struct Rank {
  std::int64_t copied = 0, programs = 0, distance = 0;
  bool operator<(const Rank& other) const {
    return std::tie(copied, programs, distance) < std::tie(other.copied, other.programs, other.distance);
  }
};

class Search {
 public:
  using Choice = std::vector<std::size_t>;

  Search(const Legality& legality, const VmemUse& use) : legality_(legality), use_(use), blocks_(legality) {
    constexpr std::size_t kMostChoices = 1024;
    blocks_.LimitChoices(kMostChoices);
  }

  BlockSearch Take() {
    for (std::size_t k = 0; k < blocks_.dims().size(); ++k) Along(k);
    if (blocks_.dims().size() > 1) Together();
    if (best_.has_value()) FindStops();
    found_.not_tried = blocks_.not_scaled();
    found_.copied = BlockBytesCopied(legality_);
    return std::move(found_);
  }

 private:
  // Smaller blocks until they fit, or larger ones until they do not.
  void Along(std::size_t k) {
    const ScaledDim& dim = blocks_.dims()[k];
    const bool shrinks = use_.verdict() != VmemVerdict::kFits;
    Choice choice = blocks_.Now();
    while (shrinks ? choice[k] > 0 : choice[k] + 1 < dim.scales.size()) {
      choice[k] += shrinks ? -1 : 1;
      Add(choice);
      if (shrinks == (found_.tries.back().verdict == VmemVerdict::kFits)) return;
    }
  }

  // Of all sizes along all dimensions the best, where it is none of those.
  void Together() {
    Choice choice(blocks_.dims().size()), best;
    std::optional<Rank> least = rank_;
    do {
      ++found_.together;
      const BlockTry one = Count(choice);
      if (choice == blocks_.Now() || one.verdict != VmemVerdict::kFits) continue;
      const Rank rank = RankOf(one, choice);
      if (least.has_value() && !(rank < *least)) continue;
      least = rank;
      best = choice;
    } while (Next(&choice));
    if (!best.empty()) Add(best);
  }

  bool Next(Choice* choice) const {
    for (std::size_t k = 0; k < choice->size(); ++k) {
      if (++(*choice)[k] < blocks_.dims()[k].scales.size()) return true;
      (*choice)[k] = 0;
    }
    return false;
  }

  void Add(const Choice& choice) {
    found_.tries.push_back(Count(choice));
    BlockTry& one = found_.tries.back();
    AddNames(choice, &one);
    if (one.verdict != VmemVerdict::kFits) return;
    const Rank rank = RankOf(one, choice);
    if (rank_.has_value() && !(rank < *rank_)) return;
    rank_ = rank;
    best_ = choice;
    found_.largest = found_.tries.size() - 1;
  }

  // Without the names of its blocks.
  BlockTry Count(const Choice& choice) {
    const Legality& scaled = blocks_.At(choice);
    BlockTry one{.exact = VmemHeld(scaled), .copied = BlockBytesCopied(scaled)};
    double factor = 1;
    for (std::size_t k = 0; k < choice.size(); ++k) factor *= blocks_.dims()[k].scales[choice[k]].factor();
    for (const SpillEstimate& spill : use_.estimates) {
      const double bytes = static_cast<double>(spill.bytes) * (spill.grows ? factor : 1.0);
      one.estimate =
          SaturatingAdd(one.estimate, (static_cast<std::int64_t>(std::min(bytes, 1e18)) + 1023) / 1024 * 1024);
    }
    const VmemUse judged{
        .parts = {{.one = one.exact}}, .estimates = {{.what = "", .bytes = one.estimate}}, .limit = use_.limit};
    one.verdict = judged.verdict();
    return one;
  }

  Rank RankOf(const BlockTry& one, const Choice& choice) const {
    Rank rank{.copied = one.copied.value_or(0), .programs = 1};
    for (std::size_t k = 0; k < choice.size(); ++k) {
      const auto away = static_cast<std::int64_t>(choice[k]) - static_cast<std::int64_t>(blocks_.dims()[k].now);
      rank.distance += away < 0 ? -away : away;
      rank.programs = SaturatingMultiply(rank.programs, blocks_.ProgramsAt(k, choice[k]));
    }
    return rank;
  }

  void AddNames(const Choice& choice, BlockTry* one) {
    const Kernel& before = legality_.kernel();
    const Kernel& after = blocks_.At(choice).kernel();
    for (std::size_t k = 0; k < choice.size(); ++k) {
      const std::size_t d = blocks_.dims()[k].dimension;
      if (choice[k] != blocks_.dims()[k].now)
        one->grid.push_back({d, before.launch.grid[d].size, after.launch.grid[d].size});
    }
    for (std::size_t i = 0; i < before.operands.size(); ++i) {
      if (!before.operands[i].block.has_value()) continue;
      ScaledBlock block{.name = legality_.NameOf(before.operands[i])};
      for (const BlockDim& dim : before.operands[i].block->dims) block.before.push_back(dim.size);
      for (const BlockDim& dim : after.operands[i].block->dims) block.after.push_back(dim.size);
      if (block.before != block.after) one->blocks.push_back(std::move(block));
    }
  }

  void FindStops() {
    for (std::size_t k = 0; k < blocks_.dims().size(); ++k) {
      const ScaledDim& dim = blocks_.dims()[k];
      Choice larger = *best_;
      std::string why;
      if (++larger[k] < dim.scales.size()) {
        const BlockTry one = Count(larger);
        why = one.verdict == VmemVerdict::kFits
                  ? "a larger block saves no copies"
                  : Cat("the next larger block ", Name(one.verdict), " (", HeldText(one), ")");
      } else {
        why = dim.whole ? "the block is all of its array"
                        : "twice as large reaches over the array, or does not divide it";
      }
      found_.stops.push_back(Cat("grid dimension ", dim.dimension, ": ", why));
    }
  }

  const Legality& legality_;
  const VmemUse& use_;
  ScaledBlocks blocks_;
  BlockSearch found_;
  std::optional<Rank> rank_;  // of the best try
  std::optional<Choice> best_;
};

// "8", "2 and 4", "2, 4 and 1".
std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    Append(&text, i == 0 ? "" : i + 1 == words.size() ? " and " : ", ", words[i]);
  return text;
}

// The same kernel with a grid of one step, whose index is that of the first dimension of its outputs and of operands
// that are as long. Nothing where the outputs differ in that.
std::optional<Kernel> WithGrid(const Legality& legality) {
  Kernel kernel = legality.kernel();
  std::optional<std::int64_t> rows;
  for (const Operand& operand : kernel.operands) {
    if (operand.role == Role::kPrefetch || operand.role == Role::kBound) return std::nullopt;
    if (operand.role != Role::kOut) continue;
    const Shape& shape = kernel.values[operand.value.index()].type.shape;
    if (shape.empty() || (rows.has_value() && *rows != shape[0])) return std::nullopt;
    rows = shape[0];
  }
  if (!rows.has_value() || !kernel.launch.mesh.empty()) return std::nullopt;
  const ValueId index{static_cast<std::int32_t>(kernel.values.size())};
  kernel.values.push_back({.name = "i", .type = ArrayType(DType::kI32, {}), .label = ""});
  kernel.launch.grid.emplace_back();
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    Operand& operand = kernel.operands[i];
    const Type& type = kernel.values[operand.value.index()].type;
    const Space space = legality.SpaceOf(i);
    const bool is_moved = space == Space::kVmem || space == Space::kDefault;
    if (operand.role == Role::kScratch || !is_moved || type.shape.empty() || type.shape[0] != *rows) continue;
    BlockSpec& block = operand.block.emplace();
    block.map.params.push_back({index, {}});
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      block.dims.emplace_back().size = type.shape[d];
      Arg& at = block.map.results.emplace_back();
      at.kind = d == 0 ? Arg::Kind::kValue : Arg::Kind::kLiteral;
      if (d == 0) at.value = index;
    }
  }
  return kernel;
}

}  // namespace

BlockSearch LargestBlocks(const Legality& legality, const VmemUse& use) {
  if (!legality.kernel().launch.grid.empty()) return Search(legality, use).Take();
  const std::optional<Kernel> kernel = WithGrid(legality);
  if (!kernel.has_value() || use.verdict() == VmemVerdict::kFits) return {};
  const Legality with = legality.Of(*kernel);
  BlockSearch search = Search(with, use).Take();
  for (BlockTry& one : search.tries) one.adds_grid = true;
  search.not_tried.clear();
  return search;
}

std::string GridText(const BlockTry& one) {
  if (one.adds_grid)
    return Cat("a grid of ", one.grid[0].programs,
               " over the first dimension, if its rows do not depend on each other");
  std::vector<std::string> programs, dimensions, now;
  for (const GridChange& change : one.grid) {
    programs.push_back(Cat(change.programs));
    dimensions.push_back(Cat(change.dimension));
    now.push_back(Cat(change.programs_now));
  }
  return Cat(Listed(programs), " along grid dimension", one.grid.size() == 1 ? " " : "s ", Listed(dimensions),
             " instead of ", Listed(now));
}

std::string BlockText(const BlockTry& one) {
  std::string text;
  std::vector<bool> said(one.blocks.size());
  for (std::size_t i = 0; i < one.blocks.size(); ++i) {
    if (said[i]) continue;
    Append(&text, text.empty() ? "" : ", ", ToString(one.blocks[i].after), " of '", one.blocks[i].name, "'");
    for (std::size_t j = i + 1; j < one.blocks.size(); ++j) {
      if (one.blocks[j].after != one.blocks[i].after) continue;
      Append(&text, ", '", one.blocks[j].name, "'");
      said[j] = true;
    }
  }
  return text;
}

std::string HeldText(const BlockTry& one) {
  return Cat(BytesText(one.exact), one.estimate == 0 ? "" : Cat(" and an estimated ", BytesText(one.estimate)));
}

}  // namespace palladion::legality
