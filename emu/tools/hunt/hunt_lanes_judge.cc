// Compares a check's findings about lanes with the rules of places, and with the machine of lanes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "emu/check.h"
#include "emu/check/for_tests.h"
#include "emu/tools/hunt/hunt_lanes.h"
#include "emu/tools/hunt/hunt_related.h"
#include "emu/tools/hunt/reference_lanes.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr int kLayouts = 4;
constexpr std::int64_t kMaxStates = 1'000;  // of one layout, where lanes see each other

std::string TextOf(const LaneLines& at) {
  const auto& [code, first, second] = at;
  return Cat(code, " at lines ", first, " and ", second);
}

class Judgement {
 public:
  Judgement(const LaneKernel& kernel, const HuntOptions& options)
      : kernel_(kernel), options_(options), text_(WriteLanes(kernel)), steps_(StepsOf(kernel, text_)) {
    result_.text = text_.text;
    for (int array = 0; array <= kernel.arrays; ++array) {
      const bool indices = array == kernel.arrays;
      Tensor tensor(DType::kI32, {indices ? 128 : kernel.programs * PartOf(kernel)});
      const auto numbers = tensor.span<std::int32_t>();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const int at = static_cast<int>(i);
        numbers[i] = static_cast<std::int32_t>(indices ? InputOfP(at) : InputOfLanes(array, at));
      }
      inputs_.push_back(std::move(tensor));
    }
  }

  HuntResult Take() {
    absl::StatusOr<PreparedKernel> prepared = PrepareText(text_.text, {.kernel = "", .target = Target(), .path = ""});
    if (!prepared.ok()) {
      result_.Contradict("refused", prepared.status().ToString());
      return std::move(result_);
    }
    const CheckOptions check{.seeds = options_.seeds, .contracts = false, .threads = 1};
    const absl::StatusOr<Report> report = Check(*prepared, inputs_, check, &outputs_);
    if (!report.ok()) {
      result_.Contradict("error", report.status().ToString());
      return std::move(result_);
    }
    proved_ = report->proved || (options_.lie && report->verdict == Verdict::kClean);
    result_.verdict = proved_ ? "proved" : Name(report->verdict);
    for (const ReportedFinding& finding : report->findings) {
      if (result_.codes.find(Code(finding.code)) == std::string::npos)
        Append(&result_.codes, result_.codes.empty() ? "" : " ", Code(finding.code));
    }
    CompareRaces(*report);
    CompareOutputs();
    if (report->verdict != Verdict::kDefect) CompareOrders();
    if (kernel_.programs > 1) CompareByPolicy(*prepared, check, *report);
    if (options_.related_seeds > 0) CompareWithRelated(Target(), inputs_, options_.related_seeds, &result_);
    return std::move(result_);
  }

 private:
  const char* Target() const { return kernel_.thread ? "mosaic_gpu/h100" : "triton/h100"; }

  // The code: RACE_WW for SAME_VALUE too.
  static std::map<LaneLines, FindingCode> RacesOf(const Report& report) {
    std::map<LaneLines, FindingCode> races;
    for (const ReportedFinding& finding : report.findings) {
      if (!finding.first.has_value() || !finding.second.has_value()) continue;
      const bool same = finding.code == FindingCode::kSameValue;
      const std::string code(Code(same ? FindingCode::kRaceWriteWrite : finding.code));
      races[{code, finding.first->text_line, finding.second->text_line}] = finding.code;
    }
    return races;
  }

  void CompareRaces(const Report& report) {
    const std::map<LaneLines, FindingCode> races = RacesOf(report);
    for (const ReportedFinding& finding : report.findings) {
      if (finding.code != FindingCode::kRaceWriteWrite && finding.code != FindingCode::kRaceReadWrite &&
          finding.code != FindingCode::kSameValue)
        result_.Contradict("a finding of another kind", std::string(Code(finding.code)));
    }
    std::map<LaneLines, LaneClash> clashes;
    for (int program = 0; program < kernel_.programs; ++program) {
      for (const auto& [at, clash] : LaneClashes(kernel_, steps_, program, options_.mutation)) {
        clashes[at].equal |= clash.equal;
        clashes[at].differ |= clash.differ;
      }
    }
    ++result_.races_compared;
    result_.racy += !races.empty();
    std::set<std::pair<std::string, int>> later;  // lines at which the second access is
    for (const auto& [at, code] : races) {
      const auto found = clashes.find(at);
      if (found == clashes.end()) result_.Contradict("a race that no order has", TextOf(at));
      const auto& [kind, first, second] = at;
      later.insert({kind, second});
      if (clashes.count({kind, second, first}) > 0) later.insert({kind, first});  // one finding for both ways round
      if (found != clashes.end() && code == FindingCode::kSameValue && !found->second.equal)
        result_.Contradict("two values are called the same", TextOf(at));
    }
    for (const auto& [at, clash] : clashes) {  // which of several earlier ones is named is the check's to choose
      const auto& [code, first, second] = at;
      const bool at_once = code == "RACE_RW" && races.count({"RACE_WW", second, second}) > 0;  // one mistake
      if (later.count({code, second}) == 0 && !at_once) result_.Contradict("a race is missed", TextOf(at));
    }
  }

  LaneMemory Output(int program) const {
    LaneMemory memory;
    for (const Tensor& tensor : outputs_) {
      const auto numbers = tensor.span<std::int32_t>();
      for (int i = 0; i < PartOf(kernel_); ++i)
        memory.push_back(numbers[static_cast<std::size_t>(program * PartOf(kernel_) + i)]);
    }
    return memory;
  }

  void CompareOutputs() {
    for (int program = 0; program < kernel_.programs && !outputs_.empty(); ++program) {
      std::vector<std::vector<std::int64_t>> values;
      if (LanesInOrder(kernel_, steps_, program, &values) != Output(program))
        result_.Contradict("outputs are not those of the text's order", Cat("program ", program));
    }
  }

  void CompareOrders() {
    result_.searched = true;
    bool several = false;
    const bool same_value = result_.codes.find("SAME_VALUE") != std::string::npos;
    for (int layouts = 0; layouts < kLayouts; ++layouts) {
      for (int program = 0; program < kernel_.programs; ++program) {
        const LanesReached reached =
            ExploreLanes(kernel_, steps_, program, layouts, std::min(options_.max_states, kMaxStates));
        result_.searched &= reached.complete;
        const bool clash = !reached.clash.empty() && !same_value, differ = reached.outcomes.size() > 1;
        several |= clash || differ;
        if (proved_ && clash) result_.Contradict("proved, but two lanes have no order", reached.clash);
        if (proved_ && differ)
          result_.Contradict("proved, but orders of lanes differ",
                             Cat(reached.outcomes.size(), " outcomes, layouts ", layouts));
        if (proved_ && !clash && reached.outcomes.size() == 1 && !outputs_.empty() &&
            *reached.outcomes.begin() != Output(program))
          result_.Contradict("outputs are those of no order", Cat("layouts ", layouts));
      }
    }
    result_.missed = !proved_ && several;
  }

  void CompareByPolicy(const PreparedKernel& prepared, CheckOptions check, const Report& report) {
    const check::ForTests how{.by_policy = true};
    check.for_tests = &how;
    const absl::StatusOr<Report> again = Check(prepared, inputs_, check);
    ++result_.again;
    if (!again.ok()) return result_.Contradict("error", again.status().ToString());
    if (again->verdict != report.verdict) result_.Contradict("another verdict under a policy", Name(again->verdict));
    if (RacesOf(*again) != RacesOf(report)) result_.Contradict("other races under a policy", "");
  }

  const LaneKernel& kernel_;
  const HuntOptions& options_;
  const LaneText text_;
  const std::vector<LaneStep> steps_;
  std::vector<Tensor> inputs_, outputs_;
  bool proved_ = false;
  HuntResult result_;
};

}  // namespace

HuntResult JudgeLanes(const LaneKernel& kernel, const HuntOptions& options) {
  return Judgement(kernel, options).Take();
}

}  // namespace palladion::hunt
