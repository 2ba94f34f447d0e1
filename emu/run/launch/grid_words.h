// The texts of findings about two unordered programs, or cores, that access one element: the code, why nothing orders
// the two, what it means on each backend, and the fix. Shared by both checkers of such conflicts: the sweep
// (grid_checks.h) and the clocks of atomics (emu/check/clock_races.h). It does not know which accesses conflict.
#ifndef PALLADION_EMU_RUN_LAUNCH_GRID_WORDS_H_
#define PALLADION_EMU_RUN_LAUNCH_GRID_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "memory_model/sweep/sweep.h"
#include "memory_model/sweep/witness.h"
#include "semantics/base/finding.h"
#include "semantics/program/program.h"

namespace palladion::launch {

// One of the two: its access, by the user's names, and its program's index.
struct MeetingSide {
  FindingAccess access;
  std::vector<std::int64_t> program;
};

struct Meeting {
  memory_model::ConflictRule rule = memory_model::ConflictRule::kWriteWrite;
  const OperandInfo* operand = nullptr;
  std::string element;               // "[0, 3]"
  std::optional<MeetingSide> first;  // nullopt: it could not be asked for
  MeetingSide second;
  std::int64_t count = 1;
  bool one_value = false;  // every write stores the same bytes
  std::string missing;     // what a chain of atomics would have to order, where the kernel has some; else ""
};

class GridWords {
 public:
  // `kernel` outlives the object; `dims` are those of its grid.
  GridWords(const kernel::PreparedKernelState& kernel, std::vector<memory_model::TaskDim> dims);

  // Nothing orders the two: they are named in the order of their programs, whichever came first in the run at hand.
  // What is left in scratch came first.
  Finding Of(Meeting meeting) const;

  std::string NameOf(const OperandInfo& operand) const;  // the user's
  static FindingAccess Describe(const memory_model::WitnessAccess& access, const std::string& object);
  MeetingSide SideOf(const memory_model::WitnessAccess& access, const OperandInfo& operand) const;
  std::string WhyUnordered(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const;

 private:
  bool generic() const { return program_.target.backend == TargetBackend::kGeneric; }
  bool tpu() const { return program_.target.backend == TargetBackend::kMosaicTpu; }
  bool AreApart(const Meeting& meeting) const;
  bool IsOfLeftBlock(const Meeting& meeting) const;
  std::string MessageOf(const Meeting& meeting) const;
  std::string OnEachBackend(const Meeting& meeting) const;
  std::string FixFor(const Meeting& meeting) const;
  Mend MendFor(const Meeting& meeting) const;
  std::vector<std::size_t> ParallelDims(const Meeting& meeting) const;
  std::string ElementsOfItsOwn(const Meeting& meeting, std::string_view else_words) const;

  const kernel::PreparedKernelState& kernel_;
  const Program& program_;
  const std::vector<memory_model::TaskDim> dims_;
  const bool atomics_;  // its programs may be ordered by some
};

// Of one launch. One pair of places is one finding, whichever of the two came later and whatever else is wrong between
// them; but that one task comes back to a block is another mistake than that two of them have it. Where no backend is
// named, that an array depends on the order at all may be one (`one_of_array`).
class GridFindings {
 public:
  explicit GridFindings(bool one_of_array) : one_of_array_(one_of_array) {}

  void Add(Finding finding);
  void AddApart(Finding finding) { findings_.push_back(std::move(finding)); }  // one that is like no other
  const std::vector<Finding>& all() const { return findings_; }

 private:
  bool IsKnown(const Finding& known, const Finding& finding) const;

  const bool one_of_array_;
  std::vector<Finding> findings_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_GRID_WORDS_H_
