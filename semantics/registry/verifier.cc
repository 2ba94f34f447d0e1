#include "semantics/registry/verifier.h"

#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/registry/error_places.h"
#include "semantics/registry/launch_verifier.h"
#include "semantics/registry/region_verifier.h"
#include "semantics/registry/value_scopes.h"

namespace palladion {
namespace {

// A kernel: its operands and launch, then what its index maps and bodies do.
class KernelVerifier {
 public:
  KernelVerifier(const Module& module, Kernel& kernel)
      : kernel_(kernel), places_(module, kernel), values_(kernel), regions_(module, kernel, places_, values_) {}
  KernelVerifier(const KernelVerifier&) = delete;  // its parts look at each other
  KernelVerifier& operator=(const KernelVerifier&) = delete;
  absl::Status Run();

 private:
  absl::Status CheckBodies();

  Kernel& kernel_;
  const ErrorPlaces places_;
  ValueScopes values_;
  RegionVerifier regions_;
  const LaunchVerifier launch_{kernel_, places_};
};

absl::Status KernelVerifier::CheckBodies() {
  if (kernel_.bodies.empty()) {
    return places_.At(kernel_.text_line, {}, "",
                      absl::InvalidArgumentError("expected a `body`, found none; write body @name () { return; }"));
  }
  for (Body& body : kernel_.bodies) {
    std::size_t next = 0;
    const int line = body.region.text_line;
    const std::string what = Cat("body @", body.name);
    std::size_t refs = 0;
    for (const Operand& operand : kernel_.operands) refs += operand.role == Role::kBound ? 0 : 1;
    if (body.region.params.size() != refs) {
      return places_.At(
          line, {}, what,
          absl::InvalidArgumentError(Cat("expected ", refs,
                                         " parameters, one for each prefetch, in, out and scratch operand, found ",
                                         body.region.params.size())));
    }
    for (const Operand& operand : kernel_.operands) {
      if (operand.role == Role::kBound) continue;
      PALLADION_RETURN_IF_ERROR(
          places_.At(line, {}, what, launch_.CheckBodyParam(operand, body.region.params[next++])));
    }
    PALLADION_RETURN_IF_ERROR(regions_.CheckRegion(body.region, {}));
    if (!body.region.results.empty()) {
      return places_.At(line, {}, what,
                        absl::InvalidArgumentError(Cat("expected `return;` without values, found ",
                                                       body.region.results.size(), "; outputs are written with swap")));
    }
  }
  return absl::OkStatus();
}

absl::Status KernelVerifier::Run() {
  for (const Operand& operand : kernel_.operands) {
    PALLADION_RETURN_IF_ERROR(places_.At(operand.text_line, {}, "", values_.DefineOperand(operand.value)));
  }
  PALLADION_RETURN_IF_ERROR(launch_.CheckValues());
  PALLADION_RETURN_IF_ERROR(places_.At(kernel_.text_line, {}, "launch", launch_.CheckLaunch()));
  for (Operand& operand : kernel_.operands) {
    PALLADION_RETURN_IF_ERROR(
        places_.At(operand.text_line, operand.loc, launch_.NameOf(operand), launch_.CheckOperand(operand)));
    if (!operand.block.has_value()) continue;
    PALLADION_RETURN_IF_ERROR(regions_.CheckRegion(operand.block->map, operand.loc));
    PALLADION_RETURN_IF_ERROR(
        places_.At(operand.text_line, operand.loc, launch_.NameOf(operand), launch_.CheckMapResults(operand)));
  }
  return CheckBodies();
}

}  // namespace

absl::StatusOr<VerifiedModule> Verify(Module module) {
  if (module.version != 1)
    return absl::InvalidArgumentError(Cat(module.path, ": expected version 1, found version ", module.version));
  if (module.kernels.empty())
    return absl::InvalidArgumentError(Cat(module.path, ": expected at least one kernel, found none"));
  for (const Loc& loc : module.locs) {
    const bool ok = loc.file.valid() && loc.file.index() < module.files.size() &&
                    (!loc.via.valid() || loc.via.index() < module.locs.size());
    if (!ok)
      return absl::InvalidArgumentError(
          Cat(module.path, ": expected locations in files of this module, found an id out of range"));
  }
  for (Kernel& kernel : module.kernels) {
    const absl::Status status = KernelVerifier(module, kernel).Run();
    if (!status.ok()) return absl::Status(status.code(), status.message());  // the mark of a place is ours alone
  }
  return VerifiedModule(std::move(module));
}

}  // namespace palladion
