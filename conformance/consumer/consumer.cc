// A stranger's program: it sees the installed headers and the shared library, nothing of the source tree. It exits
// nonzero when a kernel does not give what it must, through the C++ interface and through the C ABI.
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "emu/c_api.h"
#include "emu/emulate.h"
#include "emu/operations.h"

namespace {

constexpr std::string_view kText = R"(pkir 1;
kernel @add {
  in %x: f32[4];
  in %y: f32[4];
  out %o: f32[4];
  grid [];
  body @add_kernel (%xr: ref<default,f32[4]>, %yr: ref<default,f32[4]>, %or: ref<default,f32[4]>) {
    %a = get(%xr) : f32[4];
    %b = get(%yr) : f32[4];
    %c = add(%a, %b) : f32[4];
    _ = swap(%or, %c) : f32[4];
    return;
  }
}
)";

constexpr float kX[] = {1, 2, 3, 4}, kY[] = {0.5F, 0.25F, -3, 1e9F}, kSum[] = {1.5F, 2.25F, 0, 1e9F};

palladion::Tensor MakeTensor(const float (&values)[4]) {
  palladion::Tensor tensor(palladion::DType::kF32, {4});
  std::memcpy(tensor.bytes(), values, sizeof(values));
  return tensor;
}

bool CppInterfaceAdds() {
  absl::StatusOr<palladion::PreparedKernel> kernel = palladion::PrepareText(kText);
  if (!kernel.ok()) {
    std::fprintf(stderr, "prepare: %s\n", kernel.status().ToString().c_str());
    return false;
  }
  const std::vector<palladion::Tensor> inputs = {MakeTensor(kX), MakeTensor(kY)};
  absl::StatusOr<palladion::RunResult> result = palladion::Run(*kernel, inputs);
  if (!result.ok()) {
    std::fprintf(stderr, "run: %s\n", result.status().ToString().c_str());
    return false;
  }
  return result->report.findings.empty() && result->outputs.size() == 1 &&
         result->outputs[0].BitwiseEquals(MakeTensor(kSum));
}

bool MalformedTextIsAnError() { return !palladion::PrepareText("pkir 1; kernel @k {").ok(); }

bool CInterfaceAdds() {
  palladion_error error = {};
  palladion_program* program = palladion_prepare(kText.data(), kText.size(), nullptr, nullptr, &error);
  if (program == nullptr) {
    std::fprintf(stderr, "palladion_prepare: %d: %s\n", static_cast<int>(error.code), error.message);
    palladion_free_string(error.message);
    return false;
  }
  const std::int64_t shape[] = {4};
  std::vector<float> x(kX, kX + 4), y(kY, kY + 4), sum(4);
  const palladion_array inputs[] = {{x.data(), shape, 1, "f32"}, {y.data(), shape, 1, "f32"}};
  palladion_array output = {sum.data(), shape, 1, "f32"};
  const palladion_code code = palladion_run(program, inputs, 2, &output, 1, nullptr, &error);
  if (code != PALLADION_CLEAN) std::fprintf(stderr, "palladion_run: %d: %s\n", static_cast<int>(code), error.message);
  palladion_free_string(error.message);
  palladion_free_program(program);
  return code == PALLADION_CLEAN && std::memcmp(sum.data(), kSum, sizeof(kSum)) == 0;
}

}  // namespace

int main() {
  const bool right =
      CppInterfaceAdds() && MalformedTextIsAnError() && CInterfaceAdds() && !palladion::Operations().empty();
  std::puts(right ? "the installed library works" : "the installed library does NOT work");
  return right ? 0 : 1;
}
