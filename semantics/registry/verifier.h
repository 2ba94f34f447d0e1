// The check between a parsed text and everything that runs it. Based on: docs/spec/kernel-text.md and the rules of
// JAX's pallas_call (GridMapping, BlockMapping). Checks structure, names, types and limits, and asks each operation's
// own verify. Does not catch what depends on values (an index out of range at run time, a race) nor what only a target
// forbids.
#ifndef PALLADION_SEMANTICS_REGISTRY_VERIFIER_H_
#define PALLADION_SEMANTICS_REGISTRY_VERIFIER_H_

#include <memory>
#include <utility>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// A module that Verify accepted: ids are in range, every value is defined where it is used, every instruction has its
// row and passed its row's verify. Immutable; copies share it.
class VerifiedModule {
 public:
  const Module& module() const { return *module_; }

 private:
  friend absl::StatusOr<VerifiedModule> Verify(Module module);
  explicit VerifiedModule(Module module) : module_(std::make_shared<const Module>(std::move(module))) {}
  std::shared_ptr<const Module> module_;
};

// Errors say "path:line: kernel @k: `instruction`: expected ..., found ...; at file.py:12:3 in f (called from ...)".
// InvalidArgument: the text breaks a rule or names an unknown primitive; Unimplemented: a primitive or form that this
// release does not run, with the reason; ResourceExhausted: an array past the limits. A hand-made module is checked
// too: ids out of range are Invalid.
absl::StatusOr<VerifiedModule> Verify(Module module);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_VERIFIER_H_
