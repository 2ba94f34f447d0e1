#include "memory_model/order/known_operations.h"

#include <algorithm>
#include <array>

namespace palladion::memory_model {

// ---- nodes

void KnownOperations::Ref::Hold() const {
  if (node_ != nullptr && !node_->full) node_->count.fetch_add(1, std::memory_order_relaxed);
}

void KnownOperations::Ref::Drop() const {
  if (node_->full || node_->count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  node_->height == 0 ? delete static_cast<Leaf*>(node_) : delete static_cast<Inner*>(node_);
}

KnownOperations::Ref KnownOperations::Full(int height) {
  struct Constants {
    std::array<Node, kMaxHeight + 1> of;
    Constants() {
      for (std::size_t h = 0; h < of.size(); ++h) of[h].height = static_cast<std::uint8_t>(h), of[h].full = true;
    }
  };
  static Constants constants;
  return Ref(&constants.of[static_cast<std::size_t>(height)]);
}

bool KnownOperations::AllFull(const Inner& inner) {
  return std::all_of(std::begin(inner.child), std::end(inner.child),
                     [](const Ref& child) { return child.get() != nullptr && child.get()->full; });
}

std::size_t KnownOperations::NodesIn(const Node* node) {
  std::size_t all = 1;
  if (node->full || node->height == 0) return all;
  for (const Ref& child : AsInner(node).child) {
    if (child.get() != nullptr) all += NodesIn(child.get());
  }
  return all;
}

std::size_t KnownOperations::nodes() const { return empty() ? 0 : NodesIn(root_.get()); }

// ---- what is known

std::uint32_t KnownOperations::HalvesOf(Number operation) const {
  const Node* node = root_.get();
  if (node == nullptr || operation >= RoomOf(node->height)) return 0;
  while (node != nullptr && !node->full && node->height > 0) {
    const auto each = static_cast<Number>(RoomOf(node->height - 1));
    node = AsInner(node).child[operation / each].get();
    operation %= each;
  }
  if (node == nullptr) return 0;
  if (node->full) return 2;
  const std::uint64_t halves = (AsLeaf(node).word[operation / kOfWord] >> (2 * (operation % kOfWord))) & 3;
  return halves == 3 ? 2 : static_cast<std::uint32_t>(halves);
}

bool KnownOperations::CoversIn(const Node* mine, const Node* theirs) {
  if (mine == theirs || theirs == nullptr) return true;
  if (mine == nullptr || theirs->full) return mine != nullptr && mine->full;
  if (mine->full) return true;
  if (mine->height > 0) {
    for (std::uint32_t i = 0; i < kFan; ++i) {
      if (!CoversIn(AsInner(mine).child[i].get(), AsInner(theirs).child[i].get())) return false;
    }
    return true;
  }
  for (std::uint32_t w = 0; w < kWords; ++w) {
    if ((AsLeaf(theirs).word[w] & ~AsLeaf(mine).word[w]) != 0) return false;
  }
  return true;
}

bool KnownOperations::Covers(const KnownOperations& other) const {
  if (other.empty()) return true;
  if (empty()) return false;
  const int height = std::max(root_.get()->height, other.root_.get()->height);
  if (root_.get()->height == other.root_.get()->height) return CoversIn(root_.get(), other.root_.get());
  KnownOperations mine = *this, theirs = other;
  mine.GrowTo(height);
  theirs.GrowTo(height);
  return CoversIn(mine.root_.get(), theirs.root_.get());
}

// ---- changes

void KnownOperations::GrowTo(int height) {
  while (!empty() && root_.get()->height < height) {
    auto* const above = new Inner;
    above->height = static_cast<std::uint8_t>(root_.get()->height + 1);
    above->child[0] = std::move(root_);
    root_ = Ref(above);
  }
}

// True: it has changed. Nodes that nobody shares change in place.
bool KnownOperations::RaiseIn(Ref& node, int height, Number operation, std::uint64_t halves) {
  if (node.get() != nullptr && node.get()->full) return false;
  const bool own = node.get() != nullptr && node.get()->count.load(std::memory_order_acquire) == 1;
  if (height == 0) {
    const std::uint64_t bits = halves << (2 * (operation % kOfWord));
    if (node.get() != nullptr && (AsLeaf(node.get()).word[operation / kOfWord] & bits) == bits) return false;
    if (!own) {
      auto* const copy = new Leaf;
      if (node.get() != nullptr) std::copy_n(AsLeaf(node.get()).word, kWords, copy->word);
      node = Ref(copy);
    }
    auto& leaf = *static_cast<Leaf*>(node.node_);
    leaf.word[operation / kOfWord] |= bits;
    if (std::all_of(std::begin(leaf.word), std::end(leaf.word), [](std::uint64_t w) { return w == ~std::uint64_t{0}; }))
      node = Full(0);
    return true;
  }
  const auto each = static_cast<Number>(RoomOf(height - 1));
  Ref child = node.get() == nullptr ? Ref() : AsInner(node.get()).child[operation / each];
  if (own) static_cast<Inner*>(node.node_)->child[operation / each] = {};  // so that it may change in place, too
  const bool changed = RaiseIn(child, height - 1, operation % each, halves);
  if (!own) {
    if (!changed) return false;
    auto* const copy = new Inner;
    copy->height = static_cast<std::uint8_t>(height);
    if (node.get() != nullptr) std::copy_n(AsInner(node.get()).child, kFan, copy->child);
    node = Ref(copy);
  }
  auto& inner = *static_cast<Inner*>(node.node_);
  inner.child[operation / each] = std::move(child);
  if (changed && AllFull(inner)) node = Full(height);
  return changed;
}

void KnownOperations::Raise(Number operation, std::uint32_t halves) {
  if (halves == 0) return;
  int height = empty() ? 0 : root_.get()->height;
  while (operation >= RoomOf(height)) ++height;
  GrowTo(height);
  RaiseIn(root_, height, operation, halves == 1 ? 1 : 3);
}

void KnownOperations::JoinLeaf(Ref& mine, const Ref& theirs) {
  const Leaf &a = AsLeaf(mine.get()), &b = AsLeaf(theirs.get());
  std::uint64_t all[kWords];
  bool is_mine = true, is_theirs = true, full = true;
  for (std::uint32_t w = 0; w < kWords; ++w) {
    all[w] = a.word[w] | b.word[w];
    is_mine &= all[w] == a.word[w];
    is_theirs &= all[w] == b.word[w];
    full &= all[w] == ~std::uint64_t{0};
  }
  if (is_theirs) {
    mine = theirs;  // from here on they share it
  } else if (full) {
    mine = Full(0);
  } else if (!is_mine) {
    auto* const joined = new Leaf;
    std::copy_n(all, kWords, joined->word);
    mine = Ref(joined);
  }
}

void KnownOperations::JoinIn(Ref& mine, const Ref& theirs) {
  if (mine.get() == theirs.get() || theirs.get() == nullptr) return;
  if (mine.get() == nullptr || theirs.get()->full) {
    mine = theirs;
    return;
  }
  if (mine.get()->full) return;
  if (mine.get()->height == 0) return JoinLeaf(mine, theirs);
  const Inner &a = AsInner(mine.get()), &b = AsInner(theirs.get());
  auto* const both = new Inner;
  Ref joined(both);
  both->height = a.height;
  bool is_mine = true, is_theirs = true;
  for (std::uint32_t i = 0; i < kFan; ++i) {
    both->child[i] = a.child[i];
    JoinIn(both->child[i], b.child[i]);
    is_mine &= both->child[i].get() == a.child[i].get();
    is_theirs &= both->child[i].get() == b.child[i].get();
  }
  if (is_theirs) {
    mine = theirs;
  } else if (AllFull(*both)) {
    mine = Full(both->height);
  } else if (!is_mine) {
    mine = std::move(joined);
  }
}

void KnownOperations::Join(const KnownOperations& other) {
  if (other.empty() || IsSame(other)) return;
  if (empty()) {
    *this = other;
    return;
  }
  const int height = std::max(root_.get()->height, other.root_.get()->height);
  GrowTo(height);
  if (other.root_.get()->height == height) return JoinIn(root_, other.root_);
  KnownOperations theirs = other;
  theirs.GrowTo(height);
  JoinIn(root_, theirs.root_);
}

}  // namespace palladion::memory_model
