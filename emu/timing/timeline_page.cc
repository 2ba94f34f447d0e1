#include "emu/timing/timeline_page.h"

#include <string_view>

#include "emu/timing/page/timeline_arrows_js.h"
#include "emu/timing/page/timeline_draw_js.h"
#include "emu/timing/page/timeline_model_js.h"
#include "emu/timing/page/timeline_page_html.h"
#include "emu/timing/page/timeline_page_js.h"
#include "emu/timing/page/timeline_panels_js.h"
#include "emu/timing/timeline_data.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::timing {
namespace {

void PutIn(std::string_view place, std::string_view text, std::string* page) {
  page->replace(page->find(place), place.size(), text);
}

}  // namespace

std::string TimelinePage(const TimelineShown& shown) {
  std::string page(kTimelinePageHtml);
  PutIn("{{SCRIPT}}", Cat(kTimelineModelJs, kTimelineDrawJs, kTimelineArrowsJs, kTimelinePanelsJs, kTimelinePageJs),
        &page);
  PutIn("{{DATA}}", ForScript(TimelineData(shown)), &page);
  return page;
}

}  // namespace palladion::timing
