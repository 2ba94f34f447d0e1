// The one sentence of a check: why a clean run is a proof, or how much the schedules that ran cover
// (docs/explanation/verdicts.md). Derived from the runs and the facts that they established; findings are separate.
#ifndef PALLADION_EMU_CHECK_ARGUMENT_H_
#define PALLADION_EMU_CHECK_ARGUMENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/check/evidence.h"
#include "emu/check/trial_runner.h"
#include "scheduler/policies/pct_bound.h"
#include "scheduler/search/explore.h"

namespace palladion::check {

struct WhatRan {
  const CheckOptions& options;
  const TrialRunner& runner;
  FactSet facts;  // that all of it showed
  WhyWithheld why;
  bool forbids_proof = false, livelock = false;  // a finding that does; a schedule that does not end
  std::int64_t agents = 0, steps = 0;            // of program order
  scheduler::Explored explored;                  // of an exhaustive check
  absl::Span<const scheduler::SeedRange> seeds;  // elsewhere, seed 0 among them; empty: the report's schedules
};

// Sets `proved`, `facts` and `argument`, of what else the report says.
void Argue(const WhatRan& ran, Report* report);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_ARGUMENT_H_
