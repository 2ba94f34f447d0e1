// A model of views for tests, written forwards and element by element: an array whose elements are their places in the
// buffer, which every transform of a chain rearranges. It shares nothing with the planner, which goes by boxes, or the
// walk, which goes backwards. Also draws random chains.
#ifndef PALLADION_SEMANTICS_PROGRAM_VIEW_MODEL_TEST_UTIL_H_
#define PALLADION_SEMANTICS_PROGRAM_VIEW_MODEL_TEST_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/ir/module.h"

namespace palladion {

struct ModelView {
  Shape shape;
  std::vector<std::int64_t> places;  // row-major

  static ModelView Whole(const Shape& shape) {
    ModelView view{shape, {}};
    for (std::int64_t i = 0; i < NumElements(shape); ++i) view.places.push_back(i);
    return view;
  }

  static Shape CoordsOf(const Shape& shape, std::int64_t element) {
    Shape coords(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) coords[d] = element % shape[d];
    return coords;
  }

  std::int64_t At(const Shape& coords) const {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + coords[d];
    return places[static_cast<std::size_t>(element)];
  }

  // The view of shape `to` whose element at `c` is this one's at from(c).
  ModelView Moved(const Shape& to, const std::function<Shape(const Shape&)>& from) const {
    ModelView view{to, {}};
    for (std::int64_t e = 0; e < NumElements(to); ++e) view.places.push_back(At(from(CoordsOf(to, e))));
    return view;
  }

  ModelView Transposed(const Shape& perm) const {
    Shape to;
    for (const std::int64_t p : perm) to.push_back(shape[static_cast<std::size_t>(p)]);
    return Moved(to, [&](const Shape& c) {
      Shape from(c.size());
      for (std::size_t i = 0; i < c.size(); ++i) from[static_cast<std::size_t>(perm[i])] = c[i];
      return from;
    });
  }

  ModelView Reshaped(const Shape& to) const { return {to, places}; }

  ModelView Untiled(const Shape& tile) const {
    const std::size_t k = tile.size(), lead = shape.size() - 2 * k;
    Shape to(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = 0; i < k; ++i) to[lead + i] *= tile[i];
    return Moved(to, [&](const Shape& c) {
      Shape from(c);
      for (std::size_t i = 0; i < k; ++i) from[lead + i] = c[lead + i] / tile[i];
      for (std::size_t i = 0; i < k; ++i) from.push_back(c[lead + i] % tile[i]);
      return from;
    });
  }

  ModelView Tiled(const Shape& tile) const {
    const std::size_t k = tile.size(), lead = shape.size() - k;
    Shape to(shape);
    for (std::size_t i = 0; i < k; ++i) to[lead + i] /= tile[i];
    to.insert(to.end(), tile.begin(), tile.end());
    return Moved(to, [&](const Shape& c) {
      Shape from(c.begin(), c.end() - static_cast<std::ptrdiff_t>(k));
      for (std::size_t i = 0; i < k; ++i) from[lead + i] = c[lead + i] * tile[i] + c[lead + k + i];
      return from;
    });
  }

  ModelView Expanded(const Shape& batch) const {
    Shape to(batch);
    to.push_back(shape[0]);
    to.push_back(shape[1] / NumElements(batch));
    return Moved(to, [&](const Shape& c) {
      std::int64_t number = 0;
      for (std::size_t i = 0; i < batch.size(); ++i) number = number * batch[i] + c[i];
      return Shape{c[batch.size()], number * to.back() + c.back()};
    });
  }

  ModelView Collapsed() const {
    const Shape batch(shape.begin(), shape.end() - 2);
    const std::int64_t columns = shape.back();
    return Moved({shape[shape.size() - 2], NumElements(batch) * columns}, [&](const Shape& c) {
      Shape from = CoordsOf(batch, c[1] / columns);
      from.push_back(c[0]);
      from.push_back(c[1] % columns);
      return from;
    });
  }

  // `starts`: of the entries, where they start.
  ModelView Indexed(const std::vector<Index>& entries, const Shape& starts, const Shape& sizes) const {
    Shape to;
    for (std::size_t d = 0; d < entries.size(); ++d) {
      if (entries[d].kind != Index::Kind::kPoint) to.push_back(sizes[d]);
    }
    return Moved(to, [&](const Shape& c) {
      Shape from;
      std::size_t next = 0;
      for (std::size_t d = 0; d < entries.size(); ++d) {
        from.push_back(starts[d]);
        if (entries[d].kind != Index::Kind::kPoint) from.back() += c[next++] * entries[d].stride;
      }
      return from;
    });
  }
};

// A random chain on an array, with the view that it is: `text` is the chain as kernel text, in which a start that is
// only known at run time is %n<i>, with the value starts[i].
struct RandomChain {
  Shape buffer;
  ModelView view;
  std::vector<Transform> transforms;
  std::string text;
  std::vector<std::int64_t> starts;
};

class ChainMaker {
 public:
  explicit ChainMaker(std::uint32_t seed) : random_(seed) {}

  // Of an array of this shape; of a random one where it is empty.
  RandomChain Make(const Shape& buffer = {}) {
    RandomChain chain;
    chain.buffer = buffer.empty() ? Buffer() : buffer;
    chain.view = ModelView::Whole(chain.buffer);
    for (std::int64_t i = Draw(0, 5); i > 0; --i) Extend(chain);
    return chain;
  }

  std::int64_t Pick(const std::vector<std::int64_t>& of) {
    return of[static_cast<std::size_t>(Draw(0, static_cast<std::int64_t>(of.size()) - 1))];
  }

 private:
  Shape Buffer() {
    if (Draw(0, 1) == 0) {  // as Mosaic GPU lays out memory
      return {Draw(1, 3), Draw(1, 3), Draw(1, 3), Pick({1, 2, 4}), Pick({2, 4, 8})};
    }
    Shape buffer;
    for (std::int64_t rank = Draw(1, 4); rank > 0; --rank) buffer.push_back(Pick({1, 2, 3, 4, 6, 8}));
    return buffer;
  }

  std::int64_t Draw(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::int64_t Divisor(std::int64_t n) {
    std::int64_t d = Draw(1, n);
    while (n % d != 0) --d;
    return d;
  }

  static Arg Literal32(std::int64_t value) {
    Arg arg;
    arg.kind = Arg::Kind::kLiteral;
    const auto narrow = static_cast<std::int32_t>(value);
    std::memcpy(arg.literal.bytes.data(), &narrow, sizeof(narrow));
    return arg;
  }

  void Add(RandomChain& chain, Transform::Kind kind, const Shape& ints, ModelView view) {
    Transform& t = chain.transforms.emplace_back();
    t.kind = kind;
    t.ints = ints;
    chain.text += Cat(".", Name(kind), kind == Transform::Kind::kCollapseBatch ? "" : ToString(ints));
    chain.view = std::move(view);
  }

  void Extend(RandomChain& chain) {
    const Shape shape = chain.view.shape;
    switch (Draw(0, 8)) {
      case 0: {
        Shape perm;
        for (std::size_t d = 0; d < shape.size(); ++d) perm.push_back(static_cast<std::int64_t>(d));
        std::shuffle(perm.begin(), perm.end(), random_);
        return Add(chain, Transform::Kind::kTranspose, perm, chain.view.Transposed(perm));
      }
      case 1: {
        Shape to;
        std::int64_t left = NumElements(shape);
        for (std::int64_t d = Draw(0, 4); d > 0; --d) {
          to.push_back(Divisor(left));
          left /= to.back();
        }
        if (left > 1) to.push_back(left);
        return Add(chain, Transform::Kind::kReshape, to, chain.view.Reshaped(to));
      }
      case 2:
      case 3: {
        const std::size_t tiled = std::min<std::size_t>(shape.size() / 2, static_cast<std::size_t>(Draw(1, 2)));
        const Shape tile(shape.end() - static_cast<std::ptrdiff_t>(tiled), shape.end());
        return Add(chain, Transform::Kind::kUntile, tile, chain.view.Untiled(tile));
      }
      case 4: {
        Shape tile;
        const std::size_t tiled = std::min<std::size_t>(shape.size(), static_cast<std::size_t>(Draw(1, 2)));
        for (std::size_t i = shape.size() - tiled; i < shape.size(); ++i) tile.push_back(Divisor(shape[i]));
        return Add(chain, Transform::Kind::kTile, tile, chain.view.Tiled(tile));
      }
      case 5: {
        if (shape.size() != 2) return;
        const std::int64_t outer = Divisor(shape[1]);
        const Shape batch = {outer, Divisor(shape[1] / outer)};
        return Add(chain, Transform::Kind::kExpandBatch, batch, chain.view.Expanded(batch));
      }
      case 6:
        if (shape.size() < 2) return;
        return Add(chain, Transform::Kind::kCollapseBatch, {}, chain.view.Collapsed());
      default:
        return AddAt(chain);
    }
  }

  void AddAt(RandomChain& chain) {
    Transform t;
    Shape starts, sizes;
    std::string text;
    for (const std::int64_t dim : chain.view.shape) {
      Index& entry = t.indices.emplace_back();
      const std::int64_t kind = Draw(0, 9);
      starts.push_back(0);
      sizes.push_back(dim);
      text += text.empty() ? "" : ", ";
      if (kind < 4) {
        text += "*";
        continue;
      }
      entry.kind = kind < 6 ? Index::Kind::kPoint : Index::Kind::kSlice;
      sizes.back() = entry.kind == Index::Kind::kPoint ? 1 : Divisor(dim);
      const std::int64_t blocks = dim / sizes.back();
      starts.back() = Draw(0, 2) > 0 ? Draw(0, blocks - 1) * sizes.back() : Draw(0, dim - sizes.back());
      if (entry.kind == Index::Kind::kSlice && Draw(0, 5) == 0 && starts.back() + 2 * (sizes.back() - 1) < dim) {
        entry.stride = 2;
      }
      if (Draw(0, 1) == 0) {
        entry.start.kind = Arg::Kind::kValue;
        entry.start.value = ValueId{static_cast<std::int32_t>(chain.starts.size())};
        text += Cat("%n", chain.starts.size());
        chain.starts.push_back(starts.back());
      } else {
        entry.start = Literal32(starts.back());
        text += Cat(starts.back());
      }
      entry.size = Literal32(sizes.back());
      if (entry.kind == Index::Kind::kSlice) text += Cat(" +: ", sizes.back());
      if (entry.stride == 2) text += " : 2";
    }
    chain.text += Cat(".at[", text, "]");
    chain.view = chain.view.Indexed(t.indices, starts, sizes);
    chain.transforms.push_back(std::move(t));
  }

  std::mt19937 random_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VIEW_MODEL_TEST_UTIL_H_
