#include "emu/run/watch/program_filter.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "semantics/base/cat.h"

namespace palladion::watch {

absl::StatusOr<std::vector<std::int64_t>> ParseProgram(const std::string& text) {
  absl::string_view list = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&list, "(") && !absl::ConsumeSuffix(&list, ")")) list = "(";
  std::vector<std::int64_t> index;
  if (list.empty()) return index;
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    std::int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 0) {
      return absl::InvalidArgumentError(
          Cat("--program must be an index in the grid like 2,0: one number for each dimension; found '", text, "'"));
    }
    index.push_back(number);
  }
  return index;
}

}  // namespace palladion::watch
