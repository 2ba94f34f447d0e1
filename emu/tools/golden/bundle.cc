#include "emu/tools/golden/bundle.h"

#include <algorithm>
#include <utility>

#include "emu/check.h"
#include "emu/check/plain_run.h"
#include "emu/run/launch/launch.h"
#include "emu/tools/golden/tolerance.h"
#include "semantics/base/status.h"

namespace palladion::golden {
namespace {

// Which elements of the outputs are undefined at the end of a launch.
class UndefinedOutputs final : public run::Watcher {
 public:
  explicit UndefinedOutputs(const PreparedKernel& kernel) : kernel_(kernel) {
    for (const OperandDescription& output : kernel.outputs()) {
      masks_.emplace_back(DType::kBool, output.shape);
      masks_.back().FillWithZeroBytes();
    }
  }

  memory_model::EventSet wants() const override { return {}; }
  void Finished(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override {
    const std::vector<OperandInfo>& infos = kernel_.state().program().operand_infos;
    for (std::size_t i = 0, output = 0; i < infos.size(); ++i) {
      if (infos[i].role != Role::kOut) continue;
      Tensor& mask = masks_[output++];
      const std::int64_t part = mask.num_elements() / kernel_.state().program().devices;
      std::int64_t elements = 1;
      for (const std::int64_t size : memory.ShapeOf(arrays[i])) elements *= size;
      const std::int64_t words = elements == 0 ? 1 : part / elements;  // of a PRNG key, which is one element
      for (std::int64_t e = 0; e < part; ++e) {
        mask.data<std::uint8_t>()[device_ * part + e] = memory.MarkOf(arrays[i], ElementCount(e / words)) != 0 ? 1 : 0;
      }
    }
    ++device_;
  }

  std::optional<Tensor> MaskOf(std::size_t output) const {
    const absl::Span<const std::uint8_t> mask = masks_[output].span<std::uint8_t>();
    if (std::find(mask.begin(), mask.end(), 1) == mask.end()) return std::nullopt;
    return masks_[output];
  }

 private:
  const PreparedKernel& kernel_;
  std::vector<Tensor> masks_;
  std::int64_t device_ = 0;
};

}  // namespace

std::vector<FindingCode> DefectsOf(const Report& report) {
  std::vector<FindingCode> codes;
  for (const ReportedFinding& finding : report.findings) {
    if (Counts(finding, report) && std::find(codes.begin(), codes.end(), finding.code) == codes.end())
      codes.push_back(finding.code);
  }
  return codes;
}

absl::StatusOr<Bundle> MakeBundle(std::string_view text, const std::vector<Tensor>& inputs,
                                  const GoldenOptions& options, ReportText json_of) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(text, options.prepare));
  UndefinedOutputs undefined(kernel);
  const agents::LaunchOptions launch{.run = options.run, .observers = {&undefined}, .definedness = true};
  PALLADION_ASSIGN_OR_RETURN(RunResult result, check::RunWatched(kernel, inputs, launch));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(result.report));
  CheckOptions check{.seeds = options.seeds};
  check.run = options.run;
  PALLADION_ASSIGN_OR_RETURN(const Report report, Check(kernel, inputs, check));
  Bundle bundle{.text = std::string(text),
                .kernel = kernel.name(),
                .target = kernel.target(),
                .operands = kernel.inputs(),
                .inputs = inputs,
                .outputs = {},
                .report = json_of(report),
                .defect = ExitCodeOf(report) != ExitCode::kClean};
  bundle.defects = DefectsOf(report);
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    bundle.outputs.push_back({.operand = kernel.outputs()[i],
                              .values = std::move(result.outputs[i]),
                              .undefined = undefined.MaskOf(i),
                              .tolerance = std::nullopt,
                              .derivation = ""});
  }
  PALLADION_RETURN_IF_ERROR(AddTolerances(kernel, options.run, bundle));
  return bundle;
}

}  // namespace palladion::golden
