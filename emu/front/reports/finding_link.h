// Where the page of a finding's code is: docs/reference/findings.md has a section for each, whose anchor is the code in
// lower case. A build for a published site names it by -DPALLADION_FINDINGS_URI=https://.../findings.html#.
#ifndef PALLADION_EMU_FRONT_REPORTS_FINDING_LINK_H_
#define PALLADION_EMU_FRONT_REPORTS_FINDING_LINK_H_

#include <string>

#include "semantics/base/finding.h"

namespace palladion::reports {

// "docs/reference/findings.md#race_ww", from the root of this repository; of a site, its URI.
std::string LinkOf(FindingCode code);
// An absolute URI, as SARIF demands: a URN where there is no site.
std::string HelpUriOf(FindingCode code);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_FINDING_LINK_H_
