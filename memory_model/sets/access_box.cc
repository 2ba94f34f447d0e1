#include "memory_model/sets/access_box.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

// The inverse of a modulo m, for gcd(a, m) = 1.
std::int64_t Inverse(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  return t0 < 0 ? t0 + m : t0;
}

}  // namespace

std::optional<Progression> Common(const Progression& a, const Progression& b) {
  const std::int64_t low = std::max(a.start, b.start), high = std::min(a.last(), b.last());
  if (low > high) return std::nullopt;
  const auto from = [&](std::int64_t first, std::int64_t step) {
    const auto count = static_cast<std::int32_t>((high - first) / step + 1);
    return Progression{static_cast<std::int32_t>(first), count, count == 1 ? 1 : static_cast<std::int32_t>(step)};
  };
  if (a.step == 1 && b.step == 1) return from(low, 1);
  // a.start + k*a.step = b.start (mod b.step): the Chinese remainder theorem.
  const std::int64_t gcd = std::gcd(a.step, b.step), apart = std::int64_t{b.start} - a.start;
  if (apart % gcd != 0) return std::nullopt;
  const std::int64_t period = a.step / gcd * std::int64_t{b.step}, modulus = b.step / gcd;
  std::int64_t k = 0;
  if (modulus > 1) {
    const std::int64_t target = ((apart / gcd) % modulus + modulus) % modulus;
    k = target * Inverse(a.step / gcd, modulus) % modulus;
  }
  std::int64_t first = a.start + k * a.step;
  if (first < low) first += (low - first + period - 1) / period * period;
  if (first > high) return std::nullopt;
  return from(first, period);
}

bool Covers(const Progression& outer, const Progression& inner) {
  if (inner.start < outer.start || inner.last() > outer.last()) return false;
  if (outer.step == 1) return true;
  return (inner.start - outer.start) % outer.step == 0 && (inner.count == 1 || inner.step % outer.step == 0);
}

AccessBox AccessBox::Whole(absl::Span<const std::int64_t> shape) {
  AccessBox box;
  box.rank = static_cast<std::int32_t>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) box.dim[d] = {0, static_cast<std::int32_t>(shape[d]), 1};
  return box;
}

BoxRelation RelateSlow(const AccessBox& a, const AccessBox& b) {
  bool covers = true;
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.rank); ++d) {
    if (a.dim[d] == b.dim[d]) continue;
    if (covers && Covers(a.dim[d], b.dim[d])) continue;
    covers = false;
    if (!Common(a.dim[d], b.dim[d])) return BoxRelation::kDisjoint;
  }
  return covers ? BoxRelation::kCovers : BoxRelation::kOverlaps;
}

AccessBox Overlap(const AccessBox& a, const AccessBox& b) {
  AccessBox both;
  both.rank = a.rank;
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.rank); ++d) {
    both.dim[d] = Common(a.dim[d], b.dim[d]).value_or(Progression{});
  }
  return both;
}

bool MergeAdjacent(AccessBox* a, const AccessBox& b) {
  std::size_t apart = kMaxHistoryRank;  // the one dimension in which they differ
  for (std::size_t d = 0; d < static_cast<std::size_t>(a->rank); ++d) {
    if (a->dim[d] == b.dim[d]) continue;
    if (apart != kMaxHistoryRank) return false;
    apart = d;
  }
  if (apart == kMaxHistoryRank) return false;
  const Progression& low = a->dim[apart].start < b.dim[apart].start ? a->dim[apart] : b.dim[apart];
  const Progression& high = a->dim[apart].start < b.dim[apart].start ? b.dim[apart] : a->dim[apart];
  const std::int32_t step = high.start - low.last();
  if (step <= 0 || (low.count > 1 && low.step != step) || (high.count > 1 && high.step != step)) return false;
  a->dim[apart] = {low.start, low.count + high.count, step};
  return true;
}

std::string Describe(const AccessBox& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
    const Progression& p = box.dim[d];
    if (d > 0) text += ", ";
    Append(&text, p.start);
    if (p.count > 1) Append(&text, ":", p.last() + 1);
    if (p.step > 1) Append(&text, ":", p.step);
  }
  return text + "]";
}

}  // namespace palladion::memory_model
