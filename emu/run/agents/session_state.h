// The state of a Session, and how a launch takes it over and returns it. A copy on a semaphore that is passed to later
// launches stays in flight between them: its destination holds a poison pattern unique to the copy, so that the array
// is recognised when it comes as an operand, and so that an early read gets nothing that looks like data. The copy's
// bytes are kept here, and land in the launch that waits for the semaphore, at a time that its schedule chooses. Spec:
// docs/spec/tpu-sessions.md. Limits: changes of the source before it has been read are not detected: its bytes are
// taken when its launch ends.
#ifndef PALLADION_EMU_RUN_AGENTS_SESSION_STATE_H_
#define PALLADION_EMU_RUN_AGENTS_SESSION_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/report.h"
#include "semantics/base/finding.h"
#include "semantics/ir/type.h"
#include "semantics/port/async.h"

namespace palladion::agents {

class PreparedKernelState;

// Whose finding it is, if no later kernel resolves it.
struct HeldFinding {
  std::string kernel, target;
  ReportedFinding finding;
};

// A copy in flight between launches.
struct HeldCopy {
  std::string name;          // "DMA #0 of kernel @start"
  AsyncOperand destination;  // its buffer means nothing here
  DType dtype = DType::kF32;
  Shape shape;  // of the array that it is in
  std::vector<std::byte> bytes;
  std::uint32_t number = 0;  // of the session; what its pattern of poison says
  HeldFinding not_awaited;
};

// So much of a semaphore's count is this copy's.
struct HeldCredit {
  std::shared_ptr<const HeldCopy> copy;
  std::int64_t element = 0;  // of the array of semaphores, after those of the cores before this one
  std::int64_t amount = 0;
};

// An array of semaphores that launches hand on: each core of the device has one.
struct HeldSemaphores {
  ElementKind kind = ElementKind::kDmaSem;
  Shape shape;
  std::vector<std::int64_t> counts;  // by core and element, without what is of copies
  std::vector<HeldCredit> copies;    // the oldest first
  HeldFinding leak;
};

// Which operand of a launch, and on which of its devices.
struct OperandPlace {
  std::size_t operand = 0;
  std::int64_t device = 0;
  friend auto operator<=>(const OperandPlace&, const OperandPlace&) = default;
};

// What a launch finds: see Session.
struct ArrivingCopy {
  HeldCredit credit;
  std::optional<OperandPlace> into;  // none of the operands is the array that it writes
};
struct LaunchArrivals {
  struct Semaphores {
    std::vector<std::int64_t> counts;
    std::vector<ArrivingCopy> copies;
  };
  std::map<OperandPlace, Semaphores> semaphores;
  // Copies into operands whose semaphores the launch is not given: no access may touch what they write.
  std::vector<ArrivingCopy> elsewhere;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> barriers;  // by collective id and device

  bool Lands(OperandPlace place) const;  // does a copy write the operand?
};

// What a launch leaves.
struct LeftCopy {
  std::int64_t element = 0, amount = 0;
  std::shared_ptr<const HeldCopy> again;  // it came from an earlier launch
  AsyncOperand destination;
  std::string name;
  CodeSite site;
  std::optional<OperandPlace> into;  // the output that it writes
};
struct LaunchLeft {
  struct Semaphores {
    std::vector<std::int64_t> counts;
    std::vector<LeftCopy> copies;
  };
  std::map<OperandPlace, Semaphores> semaphores;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> barriers;
};

// Is it an array of semaphores, and no numbers?
inline bool IsSemaphore(const Type& operand) { return operand.element != ElementKind::kData; }

class SessionState {
 public:
  // InvalidArgument: a semaphore that is none of the session's, or one of another kind or shape.
  absl::StatusOr<LaunchArrivals> ArrivalsOf(const kernel::PreparedKernelState& kernel,
                                            absl::Span<const ConstArray> inputs);

  // The launch has ended: what it leaves is kept, its outputs get the numbers of semaphores, and the poison of copies
  // under way. `held`: for a copy or an array of semaphores, its finding. ResourceExhausted: too many semaphores.
  struct Launched {
    const kernel::PreparedKernelState& kernel;
    absl::Span<const ConstArray> inputs;
    absl::Span<const MutableArray> outputs;
    const LaunchLeft& left;
  };
  using FindingOf = HeldFinding (*)(const kernel::PreparedKernelState&, const LeftCopy*, const OperandPlace& semaphore);
  absl::Status Take(const Launched& launch, FindingOf held);

  std::vector<HeldFinding> End();

 private:
  absl::StatusOr<std::int16_t> NewTicket();
  absl::StatusOr<std::int16_t> TicketOf(const ConstArray& array, const Type& type, std::int64_t device,
                                        const std::string& operand) const;
  std::optional<OperandPlace> Find(const HeldCopy& copy, const kernel::PreparedKernelState& kernel,
                                   absl::Span<const ConstArray> inputs) const;
  std::shared_ptr<const HeldCopy> Hold(const LeftCopy& copy, const Launched& launch, HeldFinding finding);

  std::mutex mutex_;
  std::map<std::int16_t, HeldSemaphores> semaphores_;  // by ticket
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> barriers_;
  std::int16_t last_ticket_ = 0;
  std::uint32_t copies_ = 0;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_SESSION_STATE_H_
