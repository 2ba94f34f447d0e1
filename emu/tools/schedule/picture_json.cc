// A picture as JSON, and the page that shows it.
#include <string>
#include <string_view>

#include "emu/tools/schedule/page/schedule_page_html.h"
#include "emu/tools/schedule/picture.h"
#include "semantics/base/json.h"

namespace palladion::schedule {
namespace {

void WriteEdges(std::string_view name, const std::vector<PictureEdge>& edges, JsonWriter* json) {
  json->Key(name).Open('[');
  for (const PictureEdge& edge : edges) {
    json->Open('{').Key("from").Number(static_cast<std::int64_t>(edge.from));
    json->Key("to").Number(static_cast<std::int64_t>(edge.to)).Key("kind").String(Name(edge.kind)).Close('}');
  }
  json->Close(']');
}

void WriteRows(const SchedulePicture& picture, JsonWriter* json) {
  json->Key("rows").Open('[');
  for (const PictureRow& row : picture.rows) {
    json->Open('{').Key("number").Number(row.number).Key("lane").Number(static_cast<std::int64_t>(row.lane));
    json->Key("kind").String(Name(row.kind)).Key("mark").String(Name(row.mark)).Key("shown").Bool(row.shown);
    json->Key("blocked").Bool(row.blocked).Key("text").String(row.text);
    json->Key("line").Number(static_cast<std::int64_t>(row.line)).Close('}');
  }
  json->Close(']');
}

}  // namespace

std::string JsonOf(const SchedulePicture& picture) {
  JsonWriter json;
  json.Open('{').Key("code").String(picture.title).Key("severity").String(picture.severity);
  json.Key("message").String(picture.message).Key("why").String(picture.why).Key("fix").String(picture.fix);
  json.Key("kernel").String(picture.kernel).Key("target").String(picture.target).Key("replay").String(picture.replay);
  json.Key("order").String("the order of the schedule, not time").Key("missing").String(picture.missing);
  json.Key("operations").Number(picture.operations).Key("agents_left_out").Number(picture.lanes_left_out);
  json.Key("operations_left_out").Number(picture.not_kept);
  json.Key("lanes").Open('[');
  for (const PictureLane& lane : picture.lanes) {
    json.Open('{').Key("name").String(lane.name).Key("asynchronous").Bool(lane.operations);
    json.Key("involved").Bool(lane.involved).Key("operations").Number(lane.all).Close('}');
  }
  json.Close(']');
  WriteRows(picture, &json);
  WriteEdges("edges", picture.edges, &json);
  WriteEdges("red", picture.red, &json);
  json.Key("lines").Open('[');
  for (const ShownLine& line : picture.lines)
    json.Open('{').Key("place").String(line.place).Key("text").String(line.text).Close('}');
  json.Close(']');
  json.Key("sides").Open('[');
  for (const std::size_t side : picture.sides) json.Number(static_cast<std::int64_t>(side));
  return json.Close(']').Close('}').Take();
}

std::string PageOf(const SchedulePicture& picture) {
  constexpr std::string_view kPlace = "{{DATA}}";
  std::string page(kSchedulePageHtml);
  page.replace(page.find(kPlace), kPlace.size(), ForScript(JsonOf(picture)));
  return page;
}

}  // namespace palladion::schedule
