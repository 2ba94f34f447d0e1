// Harmless operations: what may be put into any right or wrong kernel of a backend without changing what a check must
// say of it. The metamorphic test (docs/develop/hunting.md) puts each into every case and compares the reports.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_HARMLESS_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_HARMLESS_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "emu/report.h"

namespace palladion::conformance {

// Backends, as bits of Harmless::backends.
constexpr unsigned kGeneric = 1, kTriton = 2, kMosaicTpu = 4, kMosaicGpu = 8;
constexpr unsigned kEverywhere = kGeneric | kTriton | kMosaicTpu | kMosaicGpu;

// Where in a body it stands, as bits of Harmless::places: before all else, behind all else, at the start of each turn
// of the first loop.
constexpr unsigned kAtStart = 1, kAtEnd = 2, kInLoop = 4;
constexpr unsigned kAnywhere = kAtStart | kAtEnd | kInLoop;

struct Harmless {
  std::string_view name;
  unsigned backends = 0;
  unsigned places = kAnywhere;
  std::string_view scratch = {};  // the type of a scratch operand of its own, %harmless; "" without one
  // Instructions. $axes is the list with the axis of the threads, empty where there is none; $threads how many there
  // are; $never a condition that is computed, and false; $counter an element of the first operand of i32: a kernel
  // without one does not get it.
  std::string_view text;
  std::string_view why;  // it is harmless, with the rules that say so
  // Facts (docs/explanation/verdicts.md) one of which it denies, by that fact's words: `proved` may become `clean`.
  absl::Span<const Fact> denies = {};
  bool in_clusters = true;
  bool beside_conflicts = true;  // false: not for kernels in which accesses without an order meet
};

absl::Span<const Harmless> AllHarmless();

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_HARMLESS_H_
