#include "emu/timing/timeline/page.h"

#include <string_view>

#include "absl/status/status.h"
#include "emu/timing/timeline/data.h"
#include "emu/timing/timeline/page/arrows_js.h"
#include "emu/timing/timeline/page/compare_js.h"
#include "emu/timing/timeline/page/draw_js.h"
#include "emu/timing/timeline/page/measure_js.h"
#include "emu/timing/timeline/page/model_js.h"
#include "emu/timing/timeline/page/page_html.h"
#include "emu/timing/timeline/page/page_js.h"
#include "emu/timing/timeline/page/panels_js.h"
#include "emu/timing/timeline/page/views_js.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::timing::timeline {
namespace {

void PutIn(std::string_view place, std::string_view text, std::string* page) {
  page->replace(page->find(place), place.size(), text);
}

}  // namespace

std::string TimelinePage(const TimelineShown& shown) {
  std::string page(kTimelinePageHtml);
  PutIn("{{SCRIPT}}",
        Cat(kTimelineModelJs, kTimelineDrawJs, kTimelineArrowsJs, kTimelineMeasureJs, kTimelinePanelsJs,
            kTimelineViewsJs, kTimelineCompareJs, kTimelinePageJs),
        &page);
  PutIn("{{OTHER}}", ForScript(shown.compared.empty() ? "null" : shown.compared), &page);
  PutIn("{{DATA}}", ForScript(TimelineData(shown)), &page);
  return page;
}

absl::StatusOr<std::string> DataOfPage(std::string_view page) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">", kEnd = "</script>";
  const std::size_t at = page.find(kBegin), begin = at + kBegin.size();
  const std::size_t end = at == std::string_view::npos ? at : page.find(kEnd, begin);
  if (end == std::string_view::npos || !page.substr(begin).starts_with("{\"kernel\": "))
    return absl::InvalidArgumentError("this is not a page of `palladion time --page`, which has a timeline's data");
  return std::string(page.substr(begin, end - begin));
}

}  // namespace palladion::timing::timeline
