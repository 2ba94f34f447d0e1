// --dump REF@LINE: the contents of a ref after each execution of a line, as a line of text each, and as arrays for the
// caller. Elements outside the array are poison. Needs an observable program.
#ifndef PALLADION_EMU_TOOLS_DEBUG_DUMP_H_
#define PALLADION_EMU_TOOLS_DEBUG_DUMP_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/run/watch/agent_states.h"
#include "emu/run/watch/observed.h"
#include "semantics/tensor/tensor.h"

namespace palladion::debug {

class Dump final : public run::Watcher {
 public:
  // `what` is REF@LINE or REF@FILE:LINE, several with commas. REF is a ref's name, the user's or the text's. LINE is
  // one of the kernel text, or, where no instruction stands on it there, of the user's Python. InvalidArgument: another
  // form, no such ref or line; what there is is listed.
  static absl::StatusOr<Dump> Parse(const kernel::PreparedKernelState& kernel, const std::string& what);

  // Keeps an array under a name and says where it will be. Without one the text shows more of each array.
  using Keep = std::function<absl::StatusOr<std::string>(const std::string& name, const Tensor& tensor)>;
  void SetKeep(Keep keep) { keep_ = std::move(keep); }

  // An array as the text and the JSON have it, in the order in which they were kept.
  struct Written {
    std::string what, path, type, first;  // path: "" where no file keeps it; first: its first elements
  };
  const std::vector<Written>& written() const { return written_; }

  // Of writing the files; the run goes on without them.
  const absl::Status& status() const { return status_; }

  std::string Text() const;
  std::string Json() const;  // a list

  memory_model::EventSet wants() const override { return {memory_model::EventKind::kStep}; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step&, Frame& frame) override { agents_.Before(frame); }
  void After(const Step& step, Frame& frame) override;

 private:
  struct Wanted {
    std::string ref, place;
    std::vector<RefId> ids;  // those of that name; the one that has memory is meant
    std::set<const Instr*> after;
  };
  struct Agent {
    watch::MarkWalk walk;
  };

  explicit Dump(const kernel::PreparedKernelState& kernel) : state_(&kernel) {}
  absl::Status Want(const std::string& ref, const std::string& place);
  void Write(const Wanted& wanted, RefId id, const Mark& mark, const Agent& agent, Frame& frame);
  Tensor Contents(RefId id, Frame& frame) const;

  const kernel::PreparedKernelState* state_;
  Keep keep_;
  std::vector<Wanted> wanted_;
  memory_model::Memory* memory_ = nullptr;
  watch::AgentStates<Agent> agents_;
  std::vector<Written> written_;
  std::int64_t left_out_ = 0;
  absl::Status status_;
};

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_DUMP_H_
