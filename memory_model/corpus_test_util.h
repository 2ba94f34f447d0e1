// A pattern of the corpus in its two forms: the mistake must be found in every schedule tried, and its clean twin must
// have no finding in any.
#ifndef PALLADION_MEMORY_MODEL_CORPUS_TEST_UTIL_H_
#define PALLADION_MEMORY_MODEL_CORPUS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model::concurrency_test {

using Codes = std::set<std::string>;
using Build = std::function<void(Script&, bool racy)>;

inline constexpr std::uint32_t kSeeds = 40;

inline void Expect(const Build& build, const Codes& racy, FencePolicy policy = FencePolicy::kPallas,
                   bool proxies = true) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool is_racy : {true, false}) {
      Script script(policy, proxies);
      build(script, is_racy);
      script.Run(seed);
      EXPECT_EQ(script.Codes(), is_racy ? racy : Codes{}) << (is_racy ? "racy" : "clean") << ", seed " << seed;
      for (const Finding& finding : script.model.findings()) {
        EXPECT_FALSE(finding.message.empty());
        if (!is_racy) ADD_FAILURE() << finding.message << " because " << finding.why;
      }
    }
  }
}

}  // namespace palladion::memory_model::concurrency_test

#endif  // PALLADION_MEMORY_MODEL_CORPUS_TEST_UTIL_H_
