// What happened to a whole output after the kernel: a factor, an offset, its sign, a transposition, two exchanged
// tiles. These are computed from the golden output; a factor and an offset are medians.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "emu/tools/golden/compare.h"
#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element.h"

namespace palladion::golden {
namespace {

using Shape = std::vector<std::int64_t>;

double Middle(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

void SetNumber(Tensor& tensor, std::int64_t i, double x) {
  VisitDType(tensor.dtype(), [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    tensor.data<typename E::Storage>()[i] = E::FromDouble(x);
  });
}

// Element i is element from(i).
template <class From>
Tensor Moved(const Tensor& values, const From& from) {
  Tensor moved = values;
  const std::size_t bytes = StorageBytes(values.dtype());
  for (std::int64_t i = 0; i < values.num_elements(); ++i) {
    const std::byte* source = values.bytes() + static_cast<std::size_t>(from(i)) * bytes;
    std::copy(source, source + bytes, moved.bytes() + static_cast<std::size_t>(i) * bytes);
  }
  return moved;
}

// Elements of an output that are numbers on both sides, the golden one the nearest to zero first.
struct Pairs {
  std::vector<double> golden, found;

  Pairs(const GoldenOutput& output, const Tensor& given) {
    std::vector<std::pair<double, double>> all;
    for (std::int64_t i = 0; i < given.num_elements(); ++i) {
      if (output.undefined.has_value() && output.undefined->data<std::uint8_t>()[i] != 0) continue;
      const double a = NumberAt(output.values, i), b = NumberAt(given, i);
      if (std::isfinite(a) && std::isfinite(b)) all.emplace_back(a, b);
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return std::abs(a.first) < std::abs(b.first); });
    for (const auto& [a, b] : all) golden.push_back(a), found.push_back(b);
  }

  // Of the larger half, where a rounding counts least; 1: there is nothing to compare it with.
  double Factor() const {
    std::vector<double> ratios;
    for (std::size_t i = golden.size() / 2; i < golden.size(); ++i) {
      if (golden[i] != 0) ratios.push_back(found[i] / golden[i]);
    }
    return ratios.empty() ? 1 : Middle(std::move(ratios));
  }

  // Of the smaller half.
  double Offset() const {
    std::vector<double> differences;
    for (std::size_t i = 0; i < (golden.size() + 1) / 2; ++i) differences.push_back(found[i] - golden[i]);
    return differences.empty() ? 0 : Middle(std::move(differences));
  }
};

// The short decimal, or the inverse of a whole number, that x is up to rounding: 0.125 for 0.12500001.
double AsWritten(double x) {
  for (const int digits : {1, 2, 3, 4}) {
    if (x == 0 || !std::isfinite(x)) return x;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(x))) - digits + 1);
    const double short_of = std::round(x / unit) * unit;
    if (std::abs(short_of - x) <= 1e-6 * std::abs(x)) return short_of;
    const double inverse = std::round(1 / x);
    if (inverse != 0 && std::abs(1 / inverse - x) <= 1e-6 * std::abs(x)) return 1 / inverse;
  }
  return x;
}

class OutputHypotheses : public std::enable_shared_from_this<OutputHypotheses> {
 public:
  OutputHypotheses(const SeenOutputs& seen, std::size_t output, std::vector<Hypothesis>& to)
      : seen_(seen), output_(output), golden_(seen.golden[output]), found_(*seen.found[output]), to_(to) {
    name_ = golden_.operand.label.empty() || golden_.operand.label.find('[') != std::string::npos
                ? golden_.operand.name
                : golden_.operand.label;
  }

  void Add(const Kernel& kernel) {
    if (golden_.values.num_elements() == 0 || golden_.values.dtype() == DType::kBool) return;
    AddArithmetic();
    AddTransposed();
    for (const Shape& tile : Tiles(kernel)) AddExchanged(tile);
  }

 private:
  void AddComputed(const char* kind, std::string what, const std::function<Tensor()>& compute, double scale = 1) {
    const auto outputs = [golden = seen_.golden, output = output_, compute] {
      std::vector<Tensor> all;
      for (std::size_t i = 0; i < golden.size(); ++i) all.push_back(i == output ? compute() : golden[i].values);
      return all;
    };
    to_.push_back({.kind = kind, .what = std::move(what), .edit = {}, .computed = outputs, .scale = scale});
  }

  Tensor Linear(double factor, double offset) const {
    Tensor values = golden_.values;
    for (std::int64_t i = 0; i < values.num_elements(); ++i) {
      const double x = NumberAt(values, i);
      if (std::isfinite(x)) SetNumber(values, i, factor * x + offset);
    }
    return values;
  }

  void AddArithmetic() {
    if (!IsFloat(golden_.values.dtype())) return;
    AddComputed(kSign, Cat("'", name_, "' has the other sign"),
                [self = shared_from_this()] { return self->Linear(-1, 0); });
    const Pairs pairs(golden_, found_);
    const double factor = AsWritten(pairs.Factor()), offset = AsWritten(pairs.Offset());
    if (std::isfinite(factor) && factor != 0 && std::abs(factor) != 1) {
      AddComputed(
          kFactor, Cat("'", name_, "' is ", absl::StrFormat("%.6g", factor), " times what it should be"),
          [self = shared_from_this(), factor] { return self->Linear(factor, 0); }, std::max(1.0, std::abs(factor)));
    }
    if (std::isfinite(offset) && offset != 0) {
      AddComputed(kOffset,
                  Cat("'", name_, "' is ", absl::StrFormat("%.6g", std::abs(offset)), " too ",
                      offset > 0 ? "large" : "small", " everywhere"),
                  [self = shared_from_this(), offset] { return self->Linear(1, offset); });
    }
  }

  // Rows for columns, in memory: an output that is not square has the transposed one's elements under its own shape.
  void AddTransposed() {
    const Shape& shape = golden_.values.shape();
    if (shape.size() < 2 || shape.back() < 2 || shape[shape.size() - 2] < 2) return;
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    AddComputed(kTransposedOutput, Cat("all of '", name_, "' is transposed"),
                [self = shared_from_this(), rows, columns] {
                  return Moved(self->golden_.values, [rows, columns](std::int64_t i) {
                    const std::int64_t matrix = i / (rows * columns), at = i % (rows * columns);
                    return matrix * rows * columns + at % rows * columns + at / rows;
                  });
                });
  }

  // Blocks, panels of whole rows and columns of them, and parts of a block.
  std::vector<Shape> Tiles(const Kernel& kernel) const {
    const Shape &shape = golden_.values.shape(), block = TileOf(kernel, output_, shape);
    std::vector<Shape> tiles = {block};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Shape panel = block;
      panel[d] = shape[d];
      tiles.push_back(panel);
    }
    for (const std::int64_t rows : {8, 16, 32, 64, 128}) {
      for (const std::int64_t columns : {16, 32, 64, 128}) {
        Shape tile(shape.size(), 1);
        if (shape.size() < 2) break;
        tile[shape.size() - 2] = rows, tile.back() = columns;
        tiles.push_back(tile);
      }
    }
    std::vector<Shape> fitting;
    for (const Shape& tile : tiles) {
      bool fits = tile != shape;
      for (std::size_t d = 0; d < shape.size(); ++d) fits = fits && tile[d] > 0 && shape[d] % tile[d] == 0;
      if (fits && std::find(fitting.begin(), fitting.end(), tile) == fitting.end()) fitting.push_back(tile);
    }
    return fitting;
  }

  // Where exactly two tiles have wrong elements.
  void AddExchanged(const Shape& tile) {
    const Shape& shape = golden_.values.shape();
    const auto tile_of = [shape, tile](std::int64_t i) {
      Shape at(shape.size());
      for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d] / tile[d];
      return at;
    };
    std::vector<Shape> wrong;
    for (std::int64_t i = 0; i < golden_.values.num_elements(); ++i) {
      if (seen_.held[output_][static_cast<std::size_t>(i)] != Held::kOver) continue;
      const Shape at = tile_of(i);
      if (std::find(wrong.begin(), wrong.end(), at) == wrong.end()) wrong.push_back(at);
      if (wrong.size() > 2) return;
    }
    if (wrong.size() != 2) return;
    std::int64_t distance = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      distance = distance * shape[d] + (wrong[1][d] - wrong[0][d]) * tile[d];
    AddComputed(kExchanged,
                Cat("the tiles ", PlaceText(wrong[0]), " and ", PlaceText(wrong[1]), " of '", name_, "', of (",
                    absl::StrJoin(tile, ", "), ") elements each, have changed places"),
                [self = shared_from_this(), tile_of, wrong, distance] {
                  return Moved(self->golden_.values, [&](std::int64_t i) {
                    const Shape at = tile_of(i);
                    return at == wrong[0] ? i + distance : at == wrong[1] ? i - distance : i;
                  });
                });
  }

  const SeenOutputs& seen_;
  const std::size_t output_;
  const GoldenOutput& golden_;
  const Tensor& found_;
  std::vector<Hypothesis>& to_;
  std::string name_;
};

}  // namespace

Shape TileOf(const Kernel& kernel, std::size_t output, const Shape& shape) {
  for (const Operand& operand : kernel.operands) {
    if (operand.role != Role::kOut || output-- != 0) continue;
    if (!operand.block.has_value() || operand.block->dims.size() != shape.size()) break;
    Shape block;
    for (const BlockDim& dim : operand.block->dims)
      block.push_back(dim.kind == BlockDim::Kind::kBlocked ? dim.size : 1);
    return block;
  }
  return shape;
}

void AddOutputHypotheses(const Module& module, const SeenOutputs& seen, std::vector<Hypothesis>& to) {
  for (std::size_t i = 0; i < seen.found.size(); ++i) {
    if (seen.found[i] != nullptr) std::make_shared<OutputHypotheses>(seen, i, to)->Add(module.kernels[0]);
  }
}

}  // namespace palladion::golden
