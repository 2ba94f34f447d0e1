#include "emu/tools/debug/trace_page.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/run/watch/observed.h"
#include "emu/tools/debug/index_map_text.h"
#include "emu/tools/debug/page/trace_page_html.h"
#include "emu/tools/debug/page/trace_program_js.h"
#include "emu/tools/debug/source_excerpts.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/program/agent_naming.h"

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

std::string Texts(absl::Span<const std::string> texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(JsonString(text));
  return Cat("[", absl::StrJoin(quoted, ","), "]");
}

int KindNumber(AccessKind kind) { return kind == AccessKind::kRead ? 0 : kind == AccessKind::kAtomic ? 2 : 1; }

class PageData {
 public:
  explicit PageData(const PageContents& contents)
      : contents_(contents), trace_(contents.trace), kernel_(contents.kernel) {}

  std::string Json() {
    const Program& program = kernel_.program();
    std::string json =
        Cat("{\"kernel\":", JsonString(program.kernel_name), ",\"target\":", JsonString(ToString(program.target)),
            ",\"order\":", contents_.replayed ? "\"a schedule, replayed\"" : "\"program order\"", ",\"grid\":", Grid(),
            ",\"axes\":", Texts(Axes()), ",\"operands\":[");
    for (std::size_t i = 0; i < program.operand_infos.size(); ++i) AppendOperand(i, &json);
    const std::size_t ran = NoneRan() ? 0 : trace_.programs().size(), shown = std::min(ran, kPagePrograms);
    json += "],\"programs\":[";
    for (std::size_t p = 0; p < shown; ++p) AppendProgram(p, &json);
    json += "]";
    if (contents_.replayed) AppendSchedule(shown, &json);
    Append(&json, ",\"dropped\":", trace_.dropped() + static_cast<std::int64_t>(ran - shown),
           ",\"left\":", contents_.steps == nullptr ? 0 : contents_.steps->dropped(), ",\"instrs\":[",
           absl::StrJoin(instrs_, ","), "],\"locs\":[");
    std::vector<UserPlace> places;
    for (std::size_t i = 0; i < locs_.size(); ++i) {
      Append(&json, i == 0 ? "" : ",", JsonString(Describe(kernel_.module(), locs_[i])));
      places.push_back(PlaceOf(kernel_.module(), locs_[i]));
    }
    json += "],\"places\":[";
    for (std::size_t i = 0; i < places.size(); ++i)
      Append(&json, i == 0 ? "" : ",", "[", JsonString(places[i].file), ",", places[i].line, "]");
    Append(&json, "],\"sources\":[");
    if (contents_.source_line) AppendSources(ExcerptsOf(places, contents_.source_line), &json);
    json += "],\"findings\":[";
    const Report* report = contents_.report;
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

  // The one that the recorder has is what came before the first, which never began.
  bool NoneRan() const { return trace_.programs()[0].index.empty() && !kernel_.program().grid.empty(); }

  std::vector<std::string> Axes() const {
    const std::optional<ThreadMesh>& mesh = kernel_.program().mesh;
    return mesh.has_value() && mesh->names.size() == kernel_.program().grid.size() ? mesh->names
                                                                                   : AxisNames(kernel_.text());
  }

  void AppendOperand(std::size_t i, std::string* json) {
    const Program& program = kernel_.program();
    const OperandInfo& info = program.operand_infos[i];
    Append(json, i == 0 ? "" : ",", "{\"name\":", JsonString(info.name), ",\"role\":\"", Name(info.role),
           "\",\"type\":", JsonString(TypeString(info.type.dtype, info.type.shape)),
           ",\"block\":", JsonString(BlockText(info)),
           ",\"ref\":", JsonString(info.ref.valid() ? program.refs[info.ref.index()].name : ""),
           ",\"resident\":", info.mode == BlockMode::kResident ? "true" : "false", ",\"sizes\":[");
    for (std::size_t d = 0; d < info.block.size(); ++d) Append(json, d == 0 ? "" : ",", info.block[d].size);
    Append(json, "],\"shape\":", Numbers(info.type.shape));
    const std::vector<Operand>& operands = kernel_.text().operands;
    if (i < operands.size() && operands[i].block.has_value()) {
      const IndexMapText map = TextOfMap(kernel_.text(), operands[i].block->map);
      Append(json, ",\"map\":[", Texts(map.parameters), ",", Texts(map.results),
             "],\"loc\":", LocNumber(operands[i].loc));
    }
    *json += "}";
  }

  std::int64_t LocNumber(LocId loc) {
    if (!loc.valid()) return -1;
    const auto [found, is_new] = number_of_loc_.try_emplace(loc.index(), static_cast<std::int64_t>(locs_.size()));
    if (is_new) locs_.push_back(loc);
    return found->second;
  }

  void AppendProgram(std::size_t p, std::string* json) {
    const TraceProgram& program = trace_.programs()[p];
    Append(json, p == 0 ? "" : ",", "{\"i\":", Numbers(program.index),
           ",\"n\":", JsonString(AgentName(NamingOf(kernel_.program()), program.index)), ",\"a\":[");
    bool first = true;
    for (const TraceAccess& access : program.accesses) {
      if (access.operand < 0) continue;
      Append(json, first ? "" : ",", "[", KindNumber(access.kind), ",", access.operand, ",", access.by_engine ? 1 : 0,
             ",", access.exact ? 1 : 0, ",", Numbers(access.start), ",", Numbers(access.count), ",",
             Numbers(access.step), ",", access.text_line, ",", LocNumber(access.loc), "]");
      first = false;
    }
    *json += "]";
    const std::vector<RecordedStep>* steps =
        contents_.steps == nullptr ? nullptr : contents_.steps->StepsOf(program.index);
    if (steps != nullptr) {
      *json += ",\"s\":[";
      for (std::size_t s = 0; s < steps->size(); ++s) AppendStep((*steps)[s], s == 0, json);
      *json += "]";
    }
    *json += "}";
  }

  // The steps of all programs that are shown in the order in which they began, each as its program and its number
  // there.
  void AppendSchedule(std::size_t shown, std::string* json) const {
    std::vector<std::tuple<std::int64_t, std::size_t, std::size_t>> order;
    for (std::size_t p = 0; p < shown; ++p) {
      const std::vector<RecordedStep>* steps =
          contents_.steps == nullptr ? nullptr : contents_.steps->StepsOf(trace_.programs()[p].index);
      for (std::size_t s = 0; steps != nullptr && s < steps->size(); ++s) order.emplace_back((*steps)[s].at, p, s);
    }
    std::sort(order.begin(), order.end());
    *json += ",\"schedule\":[";
    for (std::size_t i = 0; i < order.size(); ++i)
      Append(json, i == 0 ? "" : ",", "[", std::get<1>(order[i]), ",", std::get<2>(order[i]), "]");
    *json += "]";
  }

  std::int64_t InstrNumber(const RecordedStep& step) {
    const std::string name = step.instr == nullptr ? step.name : watch::OpName(*step.instr);
    const auto [found, is_new] =
        number_of_instr_.try_emplace({step.text_line, name}, static_cast<std::int64_t>(instrs_.size()));
    if (is_new) {
      std::string made;
      if (step.instr != nullptr && !step.instr->types.empty()) made = ToString(step.instr->types[0]);
      instrs_.push_back(Cat("[", JsonString(name), ",", step.text_line, ",", LocNumber(step.loc), ",", JsonString(made),
                            ",", step.by_engine || step.instr == nullptr ? 1 : 0, "]"));
    }
    return found->second;
  }

  void AppendStep(const RecordedStep& step, bool first, std::string* json) {
    Append(json, first ? "" : ",", "[", InstrNumber(step), ",", step.depth, ",[");
    for (std::size_t a = 0; a < step.accesses.size(); ++a) {
      const StepAccess& access = step.accesses[a];
      Append(json, a == 0 ? "" : ",", "[", KindNumber(access.kind), ",", JsonString(access.name), ",",
             JsonString(access.box), "]");
    }
    *json += "]";
    if (!step.values.empty()) {
      *json += ",[";
      for (std::size_t v = 0; v < step.values.size(); ++v) {
        const ShownValue& value = step.values[v];
        Append(json, v == 0 ? "" : ",", "[", JsonString(value.name), ",", JsonString(value.type), ",", value.rows, ",",
               value.columns, ",", Texts(value.elements), "]");
      }
      *json += "]";
    }
    *json += "]";
  }

  static void AppendSources(absl::Span<const SourceExcerpt> excerpts, std::string* json) {
    for (std::size_t i = 0; i < excerpts.size(); ++i) {
      Append(json, i == 0 ? "" : ",", "[", JsonString(excerpts[i].file), ",[");
      for (std::size_t k = 0; k < excerpts[i].lines.size(); ++k)
        Append(json, k == 0 ? "" : ",", "[", excerpts[i].lines[k].first, ",", JsonString(excerpts[i].lines[k].second),
               "]");
      *json += "]]";
    }
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

  const PageContents& contents_;
  const TraceRecorder& trace_;
  const kernel::PreparedKernelState& kernel_;
  std::vector<LocId> locs_;
  std::map<std::size_t, std::int64_t> number_of_loc_;
  std::vector<std::string> instrs_;  // as JSON
  std::map<std::pair<int, std::string>, std::int64_t> number_of_instr_;
};

}  // namespace

std::string TraceData(const PageContents& contents) { return PageData(contents).Json(); }

std::string TracePage(const std::string& data) {
  std::string page(kTracePageHtml);
  for (const auto& [place, text] :
       {std::pair("{{PROGRAM}}", std::string(kTraceProgramJs)), std::pair("{{DATA}}", ForScript(data))})
    page.replace(page.find(place), std::string_view(place).size(), text);
  return page;
}

}  // namespace palladion::debug
