#include "conformance/case_record.h"

#include <array>

#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kOutcomes = {"passed", "failed", "unsupported"};

Outcome OutcomeOf(const std::string& name) {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    if (kOutcomes[i] == name) return static_cast<Outcome>(i);
  }
  throw std::invalid_argument(Cat("'", name, "' is no outcome"));
}

CaseRecord RecordOf(const Json& json) {
  CaseRecord record{.name = json.at("case").get<std::string>(),
                    .hash = json.at("hash").get<std::string>(),
                    .specs = json.at("specs").get<std::vector<std::string>>(),
                    .outcome = OutcomeOf(json.at("outcome").get<std::string>()),
                    .messages = json.at("messages").get<std::vector<std::string>>(),
                    .seconds = json.at("seconds").get<double>()};
  if (const auto codes = json.find("codes"); codes != json.end()) {
    record.judged_findings = true;
    record.codes = {.found = codes->at("found").get<std::vector<std::string>>(),
                    .missed = codes->at("missed").get<std::vector<std::string>>(),
                    .wrong = codes->at("wrong").get<std::vector<std::string>>()};
  }
  return record;
}

}  // namespace

std::string_view Name(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

std::string RecordLine(const CaseRecord& record) {
  Json json = {{"case", record.name},         {"hash", record.hash},
               {"specs", record.specs},       {"outcome", std::string(Name(record.outcome))},
               {"messages", record.messages}, {"seconds", record.seconds}};
  if (record.judged_findings) {
    json["codes"] = {{"found", record.codes.found}, {"missed", record.codes.missed}, {"wrong", record.codes.wrong}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<CaseRecord> ParseRecord(std::string_view line) {
  try {
    return RecordOf(Json::parse(line.begin(), line.end()));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(Cat("no record of a case: ", error.what()));
  }
}

}  // namespace palladion::conformance
