// One rule about kernels as one row: its name, the rule in a sentence, its source, the fix, and a function that
// describes a violation. Some are judged only in texts that JAX wrote (only_from_jax): those written by hand, as most
// of conformance is, may have arrays of a few elements, smaller than a machine's. Findings, `palladion explain`,
// docs/spec/gpu-limits.md and docs/spec/tpu-limits.md are written from the same rows.
#ifndef PALLADION_EMU_CHECK_LEGALITY_LIMIT_ROW_H_
#define PALLADION_EMU_CHECK_LEGALITY_LIMIT_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "semantics/base/cat.h"

namespace palladion::legality {

// What a rule judges: findings about one shape, or one type, are one mistake (shape_causes.h).
enum class About : std::uint8_t {
  kOther,
  kShape,  // of what is made, read, written or copied; of an operand, of its block
  kType,   // of elements: the same fix for one type is one mistake
  kRows,   // how long the rows of the array are: its own mistake, unless whole rows are copied
};

struct LimitText {
  std::string_view name;    // "copy.minor-bytes"
  std::string_view rule;    // a sentence without its full stop
  std::string_view source;  // where the rule stands
  std::string_view fix;
  bool until_jax_0_10 = false;  // JAX 0.11 has lifted it
  bool only_from_jax = false;   // judged in texts that JAX wrote
  About about = About::kOther;
};

// `Site` is what the rule is about: a copy, an allocation, ...
template <class Site>
struct Limit {
  LimitText text;
  std::optional<std::string> (*found)(const Site& site);  // what breaks the rule, none where nothing does
};

// "rule; found so and so [name]".
inline std::string MessageOf(const LimitText& text, std::string_view found) {
  return Cat(text.rule, "; found ", found, " [", text.name, "]");
}

template <class Site>
void ListLimits(absl::Span<const Limit<Site>> limits, std::vector<LimitText>& texts) {
  for (const Limit<Site>& limit : limits) texts.push_back(limit.text);
}

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_LIMIT_ROW_H_
