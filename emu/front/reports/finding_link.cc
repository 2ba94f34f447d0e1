#include "emu/front/reports/finding_link.h"

#include <cctype>
#include <string_view>

#include "semantics/base/cat.h"

namespace palladion::reports {
namespace {

constexpr std::string_view kUri = PALLADION_FINDINGS_URI;

std::string AnchorOf(FindingCode code) {
  std::string anchor(Code(code));
  for (char& c : anchor) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

}  // namespace

std::string LinkOf(FindingCode code) {
  return Cat(kUri.starts_with("http") ? kUri : "docs/reference/findings.md#", AnchorOf(code));
}

std::string HelpUriOf(FindingCode code) { return Cat(kUri, AnchorOf(code)); }

}  // namespace palladion::reports
