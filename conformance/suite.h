// Runs cases, several at a time, by our own interpreter or by a backend.
#ifndef PALLADION_CONFORMANCE_SUITE_H_
#define PALLADION_CONFORMANCE_SUITE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "conformance/backend_case.h"
#include "conformance/case_record.h"
#include "conformance/case_runner.h"
#include "conformance/case_selection.h"

namespace palladion::conformance {

struct SuiteOptions {
  Forms forms = Forms::kAll;  // of our own runs
  std::size_t jobs = 1;
  std::optional<BackendOptions> backend;  // nothing: our own interpreter
};

// Fills in where the case stands.
void SetPlace(const SelectedCase& selected, CaseRecord& record);

// Called for each case that is done, in the order in which they end; one call at a time. An error ends the run.
using OnDone = std::function<absl::Status(std::size_t index, const CaseRecord& record)>;

// Runs cases[i] where records[i] has nothing, and fills that in. Records stay empty after an interrupt or an error.
absl::Status RunSuite(const std::vector<SelectedCase>& cases, const SuiteOptions& options,
                      const std::atomic<bool>& interrupted, std::vector<std::optional<CaseRecord>>& records,
                      const OnDone& on_done);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_SUITE_H_
