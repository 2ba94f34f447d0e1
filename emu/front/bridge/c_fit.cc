// palladion_fit of the C ABI: the memory use of a text's kernels on their chips.
#include <string>
#include <vector>

#include "emu/front/bridge/c_arrays.h"
#include "emu/tools/fit/fit.h"
#include "semantics/base/status.h"

char* palladion_fit(const char* text, size_t size, const char* kernel, const char* target, char** text_out,
                    palladion_error* error) {
  namespace bridge = palladion::bridge;
  char* json = nullptr;
  const absl::Status status = bridge::Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(
        const std::vector<palladion::fit::KernelFit> fits,
        palladion::fit::FitOf(bridge::TextOf(text, size),
                              {.kernel = kernel == nullptr ? "" : kernel, .target = target == nullptr ? "" : target}));
    json = bridge::CopyText(palladion::fit::FitJson(fits));
    bridge::SetText(text_out, palladion::fit::FitText(fits));
    return absl::OkStatus();
  });
  bridge::SetError(status, error);
  return json;
}
