// The C++ interface: kernel text and arrays in, arrays and a report out.
//
//   auto kernel = palladion::PrepareText(text);                       // parse, verify, prepare: once
//   auto result = palladion::Run(*kernel, {x, y});                    // as often as you like, from any thread
//   result->outputs, result->report.findings
//
// A PreparedKernel is immutable and may be shared; each Run owns all it changes.
#ifndef PALLADION_EMU_EMULATE_H_
#define PALLADION_EMU_EMULATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/export.h"
#include "emu/report.h"
#include "semantics/base/block_ways.h"
#include "semantics/base/dtype.h"
#include "semantics/base/run_control.h"
#include "semantics/tensor/tensor.h"

namespace palladion::kernel {
class PreparedKernelState;  // what a prepared kernel is inside
}  // namespace palladion::kernel

namespace palladion {

class Session;  // emu/session.h

struct PrepareOptions {
  std::string kernel;            // which of several; "" where the text has one
  std::string target;            // "mosaic_tpu/v5e"; "": what the kernel says
  std::string path;              // for messages; "" shows <text>
  bool observable = false;       // every instruction by itself, so that logs can show it; the same results, slower
  std::size_t memory_limit = 0;  // bytes of any one value, whose tables are made here; 0: 7/8 of the host's memory
  BlockWays blocks = BlockWays::kAsItShows;  // for tests: any other is slower, and no report shows it
};

// An input or output of the kernel call. A PRNG key is u32 with a last dimension of its words.
struct OperandDescription {
  std::string name;   // in the text, without %
  std::string label;  // the user's name: "args[0]"
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
};

class PALLADION_EXPORT PreparedKernel {
 public:
  explicit PreparedKernel(std::shared_ptr<const kernel::PreparedKernelState> state) : state_(std::move(state)) {}
  const std::string& name() const;
  std::string target() const;
  const std::vector<OperandDescription>& inputs()
      const;  // grid bounds, prefetched scalars, inputs: in the text's order
  const std::vector<OperandDescription>& outputs() const;
  const kernel::PreparedKernelState& state() const { return *state_; }

 private:
  std::shared_ptr<const kernel::PreparedKernelState> state_;
};

// Whether what the target refuses is found before anything runs (docs/spec/contracts.md): not at all; with what its
// compiler may refuse as a warning; or with that as a defect, and in texts that JAX did not write as well.
enum class LegalityMode : std::uint8_t { kOff, kOn, kCompiler };

struct RunOptions {
  // Iterations of all loops of one program together, one of much work counting several times (docs/spec/control.md),
  // and programs of the grid; 0: no limit. With the default, a loop without an end takes less than a minute.
  std::int64_t loop_budget = std::int64_t{1} << 27;
  std::size_t memory_limit = 0;  // bytes of operands, scratch and values; 0: 7/8 of the host's memory
  std::string_view budget_name = "RunOptions::loop_budget";  // as the user knows it, for messages
  RunControl* control = nullptr;                             // outlives the run: its interrupts, and how far it is
  // What the target refuses and what its chip has no room for is found before anything runs. Of checks too.
  LegalityMode legality = LegalityMode::kOn;
  // On a TPU: an access outside an array's shape but in its tiles is no finding (docs/reference/command.md, --bounds).
  bool padded_bounds = false;
  // Of `Run` and `RunInto`: copies happen as late as they can, at their wait, not as soon as they start.
  bool engines_late = false;
  // What outlives the launch: semaphores that kernels take and give, and their copies in flight.
  // nullptr: nothing does; semaphores that are taken are new, and copies have landed when the launch ends.
  Session* session = nullptr;
};

struct RunResult {
  std::vector<Tensor> outputs;
  Report report;
};

// Arrays that the caller owns: dense, row-major, one storage element each.
struct ConstArray {
  DType dtype;
  absl::Span<const std::int64_t> shape;
  const std::byte* data;
};
struct MutableArray {
  DType dtype;
  absl::Span<const std::int64_t> shape;
  std::byte* data;
};

// The names of the kernels in a text, in order.
PALLADION_EXPORT absl::StatusOr<std::vector<std::string>> KernelNames(std::string_view text,
                                                                      std::string_view path = "");

// InvalidArgument: malformed text, or no such kernel or target. Unimplemented: a feature that is not modelled.
// ResourceExhausted: a value is larger than the memory limit.
PALLADION_EXPORT absl::StatusOr<PreparedKernel> PrepareText(std::string_view text, const PrepareOptions& options = {});

// What a check can say of a text that PrepareText refused, with `status`: why, and what its target refuses in any case,
// which needs the parsed text alone.
PALLADION_EXPORT Report ReportOfRefused(const absl::Status& status, std::string_view text,
                                        const PrepareOptions& options = {});

// The text in canonical form.
PALLADION_EXPORT absl::StatusOr<std::string> CanonicalText(std::string_view text, std::string_view path = "");

// The same as JSON, for programs that read kernels: docs/guides/to-jax.md has its fields.
PALLADION_EXPORT absl::StatusOr<std::string> TextAsJson(std::string_view text, std::string_view path = "");

// Runs every program of the grid in program order. What the kernel does wrong is in the report, and the outputs are
// there all the same. InvalidArgument: inputs that do not fit. ResourceExhausted: memory or the budget.
PALLADION_EXPORT absl::StatusOr<RunResult> Run(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                               const RunOptions& options = {});
PALLADION_EXPORT absl::StatusOr<Report> RunInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                                absl::Span<const MutableArray> outputs, const RunOptions& options = {});

}  // namespace palladion

#endif  // PALLADION_EMU_EMULATE_H_
