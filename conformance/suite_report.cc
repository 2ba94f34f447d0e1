#include "conformance/suite_report.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/escapes.h"

namespace palladion::conformance {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 1;

std::string Dumped(const Json& json) { return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Names of files and texts of our own errors may hold what XML and terminals should not get.
std::string Xml(std::string_view text) {
  std::string plain(text);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t'; },
      '?');
  return XmlEscaped(plain);
}

std::string Tool(const SuiteReport& report) { return report.backend.empty() ? "palladion" : report.backend; }

std::string JUnitCase(const CaseRecord& record) {
  const std::size_t slash = std::min(record.name.rfind('/'), record.name.size());
  std::string xml = Cat("    <testcase classname=\"", Xml(record.name.substr(0, slash)), "\" name=\"",
                        Xml(record.name.substr(std::min(slash + 1, record.name.size()))), "\" time=\"",
                        absl::StrFormat("%.3f", record.seconds), "\"");
  const std::string all = absl::StrJoin(record.messages, "\n");
  const std::string first = record.messages.empty() ? "" : record.messages.front();
  if (record.outcome == Outcome::kPassed) return xml + "/>\n";
  if (record.outcome == Outcome::kFailed) {
    Append(&xml, ">\n      <failure message=\"", Xml(first), "\">", Xml(all), "</failure>\n");
  } else {
    Append(&xml, ">\n      <skipped message=\"", Xml(all), "\"/>\n");
  }
  return xml + "    </testcase>\n";
}

Json SarifRules() {
  return {{{"id", "conformance.failed"},
           {"shortDescription", {{"text", "The case's result is not what the specification says."}}},
           {"defaultConfiguration", {{"level", "error"}}}},
          {{"id", "conformance.unsupported"},
           {"shortDescription", {{"text", "The backend does not run the case, or cannot say what it asks for."}}},
           {"defaultConfiguration", {{"level", "none"}}}}};
}

// The file is named from the folder of the cases.
Json SarifResult(const CaseRecord& record) {
  const bool failed = record.outcome == Outcome::kFailed;
  const Json place = {{"artifactLocation", {{"uri", UriOf(record.file)}, {"uriBaseId", "%SRCROOT%"}}},
                      {"region", {{"startLine", record.line}}}};
  return {{"ruleId", failed ? "conformance.failed" : "conformance.unsupported"},
          {"ruleIndex", failed ? 0 : 1},
          {"kind", failed ? "fail" : "notApplicable"},
          {"level", failed ? "error" : "none"},
          {"message", {{"text", Cat(record.name, ": ", absl::StrJoin(record.messages, "\n"))}}},
          {"locations", Json::array({Json{{"physicalLocation", place}}})}};
}

}  // namespace

std::size_t Count(const SuiteReport& report, Outcome outcome) {
  return static_cast<std::size_t>(std::count_if(report.records.begin(), report.records.end(),
                                                [&](const CaseRecord& r) { return r.outcome == outcome; }));
}

std::string CaseText(const CaseRecord& record, const std::string& place) {
  const std::string_view word = record.outcome == Outcome::kPassed   ? "passed  "
                                : record.outcome == Outcome::kFailed ? "FAILED  "
                                                                     : "unsupported  ";
  std::string text = Cat(word, place, "\n");
  for (const std::string& message : record.messages) Append(&text, "    ", message, "\n");
  return text;
}

std::string Summary(const SuiteReport& report) {
  std::string text = Cat(Count(report, Outcome::kPassed), " passed, ", Count(report, Outcome::kFailed), " failed");
  if (!report.backend.empty()) Append(&text, ", ", Count(report, Outcome::kUnsupported), " unsupported");
  if (report.not_run > 0) Append(&text, "; interrupted, ", report.not_run, " did not run");
  return text;
}

std::string ToJson(const SuiteReport& report) {
  Json cases = Json::array();
  for (const CaseRecord& record : report.records) cases.push_back(Json::parse(RecordLine(record)));
  return Dumped({{"palladion_conformance", 1},
                 {"backend", Tool(report)},
                 {"tier", report.tier},
                 {"passed", Count(report, Outcome::kPassed)},
                 {"failed", Count(report, Outcome::kFailed)},
                 {"unsupported", Count(report, Outcome::kUnsupported)},
                 {"not_run", report.not_run},
                 {"cases", cases}});
}

std::string ToJUnit(const SuiteReport& report) {
  std::string cases;
  double seconds = 0;
  for (const CaseRecord& record : report.records) {
    cases += JUnitCase(record);
    seconds += record.seconds;
  }
  if (report.not_run > 0) {
    Append(&cases, "    <testcase classname=\"suite\" name=\"not run\">\n      <error type=\"interrupted\" message=\"",
           report.not_run, " cases did not run\"/>\n    </testcase>\n");
  }
  const std::size_t errors = report.not_run > 0 ? 1 : 0;
  const std::string totals =
      Cat(" tests=\"", report.records.size() + errors, "\" failures=\"", Count(report, Outcome::kFailed),
          "\" errors=\"", errors, "\"", " skipped=\"", Count(report, Outcome::kUnsupported), "\" time=\"",
          absl::StrFormat("%.3f", seconds), "\"");
  return Cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", totals, ">\n  <testsuite name=\"",
             Xml("palladion conformance " + Tool(report)), "\"", totals, ">\n", cases,
             "  </testsuite>\n</testsuites>\n");
}

std::string ToSarif(const SuiteReport& report) {
  Json results = Json::array();
  for (const CaseRecord& record : report.records) {
    if (record.outcome != Outcome::kPassed) results.push_back(SarifResult(record));
  }
  Json run = {{"tool", {{"driver", {{"name", "palladion conformance"}, {"rules", SarifRules()}}}}},
              {"originalUriBaseIds", {{"%SRCROOT%", {{"description", {{"text", "The folder of the cases."}}}}}}},
              {"invocations", Json::array({Json{{"executionSuccessful", report.not_run == 0}}})},
              {"properties", {{"backend", Tool(report)}, {"tier", report.tier}, {"notRun", report.not_run}}},
              {"results", results}};
  return Dumped(
      {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs", Json::array({run})}});
}

}  // namespace palladion::conformance
