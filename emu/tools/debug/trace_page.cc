#include "emu/tools/debug/trace_page.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "emu/tools/debug/page/trace_page_html.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::debug {
namespace {

std::string Numbers(absl::Span<const std::int64_t> numbers) { return Cat("[", absl::StrJoin(numbers, ","), "]"); }

std::string BlockText(const OperandInfo& info) {
  if (info.mode == BlockMode::kWhole) return "";
  std::string text = "(";
  for (std::size_t d = 0; d < info.block.size(); ++d) {
    Append(&text, d == 0 ? "" : ", ");
    if (info.block[d].kind == BlockDim::Kind::kSqueezed) {
      text += "squeezed";
    } else {
      Append(&text, info.block[d].size);
    }
  }
  return text + ")" + (info.mode == BlockMode::kResident ? ", copied in and out" : "");
}

class PageData {
 public:
  PageData(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel) : trace_(trace), kernel_(kernel) {}

  std::string Json(const Report* report) {
    const Program& program = kernel_.program();
    std::string json =
        Cat("{\"kernel\":", JsonString(program.kernel_name), ",\"target\":", JsonString(ToString(program.target)),
            ",\"order\":\"program order\",\"grid\":", Grid(), ",\"operands\":[");
    for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
      const OperandInfo& info = program.operand_infos[i];
      Append(&json, i == 0 ? "" : ",", "{\"name\":", JsonString(info.name), ",\"role\":\"", Name(info.role),
             "\",\"type\":", JsonString(TypeString(info.type.dtype, info.type.shape)),
             ",\"block\":", JsonString(BlockText(info)),
             ",\"ref\":", JsonString(info.ref.valid() ? program.refs[info.ref.index()].name : ""),
             ",\"resident\":", info.mode == BlockMode::kResident ? "true" : "false",
             ",\"shape\":", Numbers(info.type.shape), "}");
    }
    const std::size_t shown = std::min(trace_.programs().size(), kPagePrograms);
    json += "],\"programs\":[";
    for (std::size_t p = 0; p < shown; ++p) AppendProgram(p, &json);
    Append(&json, "],\"dropped\":", trace_.dropped() + static_cast<std::int64_t>(trace_.programs().size() - shown),
           ",\"locs\":[");
    for (std::size_t i = 0; i < locs_.size(); ++i)
      Append(&json, i == 0 ? "" : ",", JsonString(Describe(kernel_.module(), locs_[i])));
    json += "],\"findings\":[";
    if (report != nullptr) {
      for (std::size_t i = 0; i < report->findings.size(); ++i) AppendFinding(report->findings[i], i == 0, &json);
    }
    return Cat(json, "],\"verdict\":", JsonString(report == nullptr ? "" : Name(report->verdict)), "}");
  }

 private:
  // The size of the grid as it ran: a dimension may be an operand's value.
  std::string Grid() const {
    std::vector<std::int64_t> size(kernel_.program().grid.size(), 0);
    for (const TraceProgram& program : trace_.programs()) {
      for (std::size_t d = 0; d < program.index.size(); ++d) size[d] = std::max(size[d], program.index[d] + 1);
    }
    return Numbers(size);
  }

  std::int64_t LocNumber(LocId loc) {
    if (!loc.valid()) return -1;
    const auto found = std::find(locs_.begin(), locs_.end(), loc);
    if (found != locs_.end()) return found - locs_.begin();
    locs_.push_back(loc);
    return static_cast<std::int64_t>(locs_.size()) - 1;
  }

  void AppendProgram(std::size_t p, std::string* json) {
    const TraceProgram& program = trace_.programs()[p];
    Append(json, p == 0 ? "" : ",", "{\"i\":", Numbers(program.index), ",\"a\":[");
    bool first = true;
    for (const TraceAccess& access : program.accesses) {
      if (access.operand < 0) continue;
      const int kind = access.kind == AccessKind::kRead ? 0 : access.kind == AccessKind::kAtomic ? 2 : 1;
      Append(json, first ? "" : ",", "[", kind, ",", access.operand, ",", access.by_engine ? 1 : 0, ",",
             access.exact ? 1 : 0, ",", Numbers(access.start), ",", Numbers(access.count), ",", Numbers(access.step),
             ",", access.text_line, ",", LocNumber(access.loc), "]");
      first = false;
    }
    *json += "]}";
  }

  static void AppendSide(std::string_view name, const std::optional<ReportedAccess>& side, std::string* json) {
    if (!side.has_value()) return;
    Append(json, ",\"", name, "\":{\"kind\":", JsonString(Name(side->kind)), ",\"agent\":", JsonString(side->agent),
           ",\"object\":", JsonString(side->object), ",\"box\":", JsonString(side->box),
           ",\"source\":", JsonString(side->source), ",\"text_line\":", side->text_line, "}");
  }

  static void AppendFinding(const ReportedFinding& finding, bool first, std::string* json) {
    Append(json, first ? "" : ",", "{\"code\":", JsonString(Code(finding.code)),
           ",\"severity\":", JsonString(Name(finding.severity)), ",\"message\":", JsonString(finding.message),
           ",\"source\":", JsonString(finding.source), ",\"text_line\":", finding.text_line);
    AppendSide("first", finding.first, json);
    AppendSide("second", finding.second, json);
    *json += "}";
  }

  const TraceRecorder& trace_;
  const kernel::PreparedKernelState& kernel_;
  std::vector<LocId> locs_;
};

}  // namespace

std::string TracePage(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel, const Report* report) {
  constexpr std::string_view kPlace = "{{DATA}}";
  std::string page(kTracePageHtml);
  page.replace(page.find(kPlace), kPlace.size(), ForScript(PageData(trace, kernel).Json(report)));
  return page;
}

}  // namespace palladion::debug
