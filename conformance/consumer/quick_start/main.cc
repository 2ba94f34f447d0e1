#include <cstdio>
#include <string_view>
#include <vector>

#include "emu/check.h"
#include "emu/emulate.h"

// Four programs double one element each, as palladion.export or a compiler writes it.
constexpr std::string_view kText = R"(pkir 1;
kernel @double {
  backend triton;
  grid [4];
  in %x: f32[4] as "x";
  out %o: f32[4] as "o";
  body @double (%xr: ref<default,f32[4]> as "x_ref", %or: ref<default,f32[4]> as "o_ref") {
    %i = program_id{axis=0}() : i32[];
    %v = get(%xr.at[%i]) : f32[];
    %d = add(%v, %v) : f32[];
    _ = swap(%or.at[%i], %d) : f32[];
    return;
  }
}
)";

int Failed(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

int main() {
  const absl::StatusOr<palladion::PreparedKernel> kernel = palladion::PrepareText(kText, {.target = "h100"});
  if (!kernel.ok()) return Failed(kernel.status());
  std::vector<palladion::Tensor> inputs;
  inputs.emplace_back(palladion::DType::kF32, std::vector<std::int64_t>{4});
  for (float next = 1; float& element : inputs[0].span<float>()) element = next++;

  const absl::StatusOr<palladion::RunResult> result = palladion::Run(*kernel, inputs);
  if (!result.ok()) return Failed(result.status());
  for (const float element : result->outputs[0].span<float>()) std::printf("%g ", element);

  const absl::StatusOr<palladion::Report> report = palladion::Check(*kernel, inputs, {.seeds = 16});
  if (!report.ok()) return Failed(report.status());
  std::printf("\n%s", palladion::ToText(*report).c_str());
  return static_cast<int>(palladion::ExitCodeOf(*report));
}
