#include "emu/front/reports/part_json.h"

#include <cstdint>
#include <optional>

#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::reports {

std::string PartJson(const CheckPart& part) {
  JsonWriter json;
  json.Open('{').Key("made_for").String(part.made_for).Key("first").Number(part.first).Key("last").Number(part.last);
  json.Key("schedules").Number(part.schedules).Key("checks").Open('{');
  for (const CheckTally& tally : part.checks) json.Key(Name(tally.kind)).Number(tally.times);
  json.Close('}').Key("news").Open('[');
  for (const std::int64_t seed : part.news) json.Number(seed);
  return json.Close(']').Key("stopped").Bool(part.stopped).Close('}').Take();
}

absl::StatusOr<std::vector<CheckPart>> PartsOfJson(std::string_view list) {
  try {
    std::vector<CheckPart> parts;
    const nlohmann::json parsed = nlohmann::json::parse(list.begin(), list.end());
    if (!parsed.is_array()) return absl::InvalidArgumentError(Cat("the parts of a check must be a list; found ", list));
    for (const nlohmann::json& one : parsed) {
      CheckPart part{.made_for = one.at("made_for").get<std::string>(),
                     .first = one.at("first").get<std::int64_t>(),
                     .last = one.at("last").get<std::int64_t>(),
                     .schedules = one.at("schedules").get<std::int64_t>(),
                     .news = one.at("news").get<std::vector<std::int64_t>>(),
                     .stopped = one.at("stopped").get<bool>()};
      for (const auto& [name, times] : one.at("checks").items()) {
        const std::optional<CheckKind> kind = CheckKindFromName(name);
        if (!kind.has_value())
          return absl::InvalidArgumentError(Cat("not the parts of a check: '", name, "' is no kind of check"));
        part.checks.push_back({*kind, times.get<std::int64_t>()});
      }
      parts.push_back(std::move(part));
    }
    return parts;
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(Cat("not the parts of a check: ", error.what()));
  }
}

}  // namespace palladion::reports
