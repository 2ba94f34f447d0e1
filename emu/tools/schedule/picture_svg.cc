// The essential part of a picture as one SVG: lanes as tracks on the left, with a sign for each operation, and its
// words on the right, so that twelve lanes are as legible as two. Colours for light and dark; no script, no font of its
// own.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emu/tools/schedule/picture.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::schedule {
namespace {

constexpr int kWidth = 960, kRow = 24, kMargin = 20, kLine = 19;
constexpr std::size_t kTextWidth = 112;  // characters of a line of text over the whole width

constexpr std::string_view kStyle = R"(<style>
.pls{--bg:#fff;--fg:#1c2430;--dim:#667085;--rule:#e4e7ec;--red:#d92d20;--redbg:#fef3f2;--sync:#475467;font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.pls{--bg:#15181e;--fg:#e6e9ef;--dim:#98a2b3;--rule:#2c323c;--red:#ff7b72;--redbg:#3a1d1d;--sync:#b4bcc9}}
.pls .bg{fill:var(--bg)}.pls text{fill:var(--fg)}.pls .dim,.pls tspan.dim{fill:var(--dim)}.pls .code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}
.pls .h{font-weight:650;font-size:16px}.pls .b{font-weight:600}.pls .redt{fill:var(--red)}.pls .redbg{fill:var(--redbg)}
.pls .rule{stroke:var(--rule)}.pls .sync{stroke:var(--sync);fill:none}.pls .syncf{fill:var(--sync)}
.pls .red{stroke:var(--red);fill:none;stroke-width:2.5;stroke-dasharray:6 4}.pls .redf{fill:var(--red)}
.pls .hole{fill:var(--bg)}
</style>)";

// Legible on white and on black.
constexpr std::array<std::string_view, 12> kColours = {"#2e7cd6", "#e07b00", "#12946a", "#a24fd0",
                                                       "#c2477f", "#7b8f00", "#0f93a8", "#8a6d3b",
                                                       "#5b6ee1", "#d1495b", "#4d9221", "#7f7f7f"};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// At most so many characters, the last one "…" where some are left out.
std::string Cut(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    const std::size_t length = std::max<std::size_t>(1, Utf8Length(text, at));
    if (count + 1 == most && at + length < text.size()) return Cat(text.substr(0, at), "…");
    at += length;
  }
  return std::string(text);
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t width, std::size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    if (text.size() <= width || lines.size() + 1 == most) {
      lines.push_back(Cut(text, width));
      break;
    }
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = width;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

class Svg {
 public:
  explicit Svg(const SchedulePicture& picture) : picture_(picture) {
    const auto lanes = static_cast<int>(picture.lanes.size());
    step_ = lanes <= 3 ? 46 : lanes <= 6 ? 34 : lanes <= 12 ? 25 : 16;
    text_x_ = kMargin + lanes * step_ + 26;
  }

  std::string Draw() {
    Head();
    Sides();
    Lanes();
    const int top = y_;
    Rows();
    const std::string rows = std::move(body_);
    body_.clear();
    Tracks(top);
    Bars();
    Edges();
    body_ += rows;
    const std::string drawn = std::move(body_);
    body_.clear();
    Foot();
    const int height = y_ + 12;
    return Cat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pls\" viewBox=\"0 0 ", kWidth, " ", height,
               "\" width=\"", kWidth, "\" height=\"", height,
               "\" style=\"max-width:100%;height:auto\" role=\"img\" aria-label=\"",
               Escaped(Cat(picture_.title, ": the failing schedule of ", picture_.kernel)), "\">", kStyle,
               "<rect class=\"bg\" width=\"", kWidth, "\" height=\"", height, "\" rx=\"8\"/>", head_, drawn, body_,
               "</svg>\n");
  }

 private:
  std::string_view Colour(std::size_t lane) const { return kColours[colour_of_.at(lane) % kColours.size()]; }
  int X(std::size_t lane) const { return kMargin + 10 + static_cast<int>(lane) * step_; }

  void Text(std::string* to, int x, std::string_view classes, std::string_view text) const {
    Append(to, "<text x=\"", x, "\" y=\"", y_, "\" class=\"", classes, "\" xml:space=\"preserve\">", Escaped(text),
           "</text>");
  }

  void Head() {
    y_ = 30;
    Text(&head_, kMargin, "h redt", picture_.title);
    Append(&head_, "<text x=\"", kWidth - kMargin, "\" y=\"", y_, "\" text-anchor=\"end\" class=\"dim\">",
           Escaped(Cat("@", picture_.kernel, " on ", picture_.target)), "</text>");
    for (const std::string& line : Wrapped(picture_.message, kTextWidth + 20, 4)) {
      y_ += kLine;
      Text(&head_, kMargin, "", line);
    }
    y_ += 12;
  }

  // The two lines of the source, as a data-race detector's stacks.
  void Sides() {
    std::size_t shown = 0;
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (const std::size_t side : picture_.sides) {
      const PictureRow& row = picture_.rows[side];
      if (!seen.insert({row.lane, row.line}).second || ++shown > 4) continue;
      const ShownLine& line = picture_.lines[row.line];
      y_ += kLine;
      Append(&head_, "<text x=\"", kMargin, "\" y=\"", y_, "\"><tspan class=\"b redt\">",
             Escaped(picture_.lanes[row.lane].name), "</tspan><tspan class=\"dim\" dx=\"12\">", Escaped(line.place),
             "</tspan></text>");
      y_ += kLine - 2;
      Text(&head_, kMargin + 14, "code", Cut(line.text, kTextWidth));
    }
    y_ += 10;
    Append(&head_, "<line class=\"rule\" x1=\"", kMargin, "\" x2=\"", kWidth - kMargin, "\" y1=\"", y_, "\" y2=\"", y_,
           "\"/>");
  }

  void Lanes() {
    std::size_t agents = 0;
    for (std::size_t lane = 0; lane < picture_.lanes.size(); ++lane)
      colour_of_.push_back(picture_.lanes[lane].operations && agents > 0 ? agents - 1 : agents++);
    y_ += 22;
    Text(&head_, kMargin, "dim",
         "Downwards: the order of this schedule, not time.   ◆ starts   ● async reads or writes   ▶ arrives or signals "
         "  ○ waits   ■ accesses");
    int x = kMargin;
    y_ += 24;
    for (std::size_t lane = 0; lane < picture_.lanes.size(); ++lane) {
      const std::string name = Cut(picture_.lanes[lane].name, 60);
      const int width = 34 + static_cast<int>(name.size()) * 7;
      if (x + width > kWidth - kMargin && x > kMargin) x = kMargin, y_ += 22;
      Chip(&head_, lane, x, y_ - 5);
      Text(&head_, x + 22, "", name);
      x += width + 12;
    }
    y_ += 26;
    for (std::size_t lane = 0; lane < picture_.lanes.size(); ++lane) Chip(&head_, lane, X(lane) - 8, y_ - 5);
    y_ += 12;
  }

  void Chip(std::string* to, std::size_t lane, int x, int middle) const {
    const bool hollow = picture_.lanes[lane].operations;
    Append(to, "<rect x=\"", x, "\" y=\"", middle - 9, "\" width=\"17\" height=\"17\" rx=\"", hollow ? 8 : 4,
           "\" fill=\"", Colour(lane), "\"/><text x=\"", x + 8, "\" y=\"", middle + 4,
           "\" text-anchor=\"middle\" style=\"fill:#fff;font-size:11px;font-weight:650\">", lane + 1, "</text>");
  }

  // Those of a lane that are collapsed between two that are shown are one row.
  void Rows() {
    std::size_t collapsed = 0;
    y_of_.assign(picture_.rows.size(), -1);
    const auto gap = [&] {
      if (collapsed == 0) return;
      y_ += kRow;
      Text(&body_, text_x_, "dim", Cat("… ", collapsed, collapsed == 1 ? " operation" : " operations"));
      gaps_.push_back(y_ - 4);
      collapsed = 0;
    };
    for (std::size_t i = 0; i < picture_.rows.size(); ++i) {
      if (!picture_.rows[i].shown) {
        ++collapsed;
        continue;
      }
      gap();
      y_ += kRow;
      y_of_[i] = y_ - 4;
      Row(picture_.rows[i]);
    }
    gap();
    bottom_ = y_ + 8;
  }

  void Row(const PictureRow& row) {
    const bool red = row.mark != RowMark::kNone;
    const int y = y_ - 4;
    if (red)
      Append(&head_, "<rect class=\"redbg\" x=\"", kMargin - 6, "\" y=\"", y - kRow / 2, "\" width=\"",
             kWidth - 2 * kMargin + 12, "\" height=\"", kRow, "\" rx=\"4\"/>");
    Sign(row, X(row.lane), y);
    const std::string place = picture_.lines[row.line].place;
    const auto room =
        static_cast<std::size_t>((kWidth - kMargin - text_x_ - 24) / (red ? 7.8 : 6.9)) - place.size() - 3;
    Append(&body_, "<text x=\"", text_x_, "\" y=\"", y_, "\" style=\"fill:", Colour(row.lane), ";font-weight:650\">",
           row.lane + 1, "</text>");
    Text(&body_, text_x_ + 24, red ? "b redt" : "", Cut(row.text, room));
    Append(&body_, "<text x=\"", kWidth - kMargin, "\" y=\"", y_, "\" text-anchor=\"end\" class=\"dim\">",
           Escaped(place), "</text>");
  }

  // Each kind of operation has a shape of its own.
  void Sign(const PictureRow& row, int x, int y) {
    const std::string_view colour = Colour(row.lane);
    const std::string fill = row.mark != RowMark::kNone ? "class=\"redf\"" : Cat("fill=\"", colour, "\"");
    switch (row.kind) {
      case OpKind::kArrive:  // points out
        Append(&body_, "<path d=\"M", x - 5, " ", y - 6, "L", x + 7, " ", y, "L", x - 5, " ", y + 6, "Z\" ", fill,
               "/>");
        break;
      case OpKind::kBegin:
        Append(&body_, "<line x1=\"", x - 6, "\" x2=\"", x + 6, "\" y1=\"", y, "\" y2=\"", y, "\" stroke=\"",
               row.mark != RowMark::kNone ? "var(--red)" : colour, "\" stroke-width=\"3\"/>");
        break;
      case OpKind::kWait:
      case OpKind::kWaiting:
        Append(&body_, "<circle cx=\"", x, "\" cy=\"", y, "\" r=\"6\" class=\"hole\" stroke=\"",
               row.mark != RowMark::kNone ? "var(--red)" : colour, "\" stroke-width=\"2.5\"/>");
        break;
      case OpKind::kIssue:
        Append(&body_, "<path d=\"M", x, " ", y - 7, "L", x + 7, " ", y, "L", x, " ", y + 7, "L", x - 7, " ", y, "Z\" ",
               fill, "/>");
        break;
      default:
        Append(&body_, "<rect x=\"", x - 5, "\" y=\"", y - 5, "\" width=\"10\" height=\"10\" rx=\"",
               row.kind == OpKind::kPhase ? 5 : 2, "\" ", fill, "/>");
    }
  }

  void Tracks(int top) {
    for (std::size_t lane = 0; lane < picture_.lanes.size(); ++lane)
      Append(&body_, "<line x1=\"", X(lane), "\" x2=\"", X(lane), "\" y1=\"", top, "\" y2=\"", bottom_, "\" stroke=\"",
             Colour(lane), "\" stroke-opacity=\".35\" stroke-width=\"", picture_.lanes[lane].operations ? 1 : 2,
             picture_.lanes[lane].operations ? "\" stroke-dasharray=\"2 4" : "", "\"/>");
    for (const int y : gaps_)
      Append(&body_, "<rect class=\"bg\" x=\"", kMargin - 4, "\" y=\"", y - 5, "\" width=\"",
             static_cast<int>(picture_.lanes.size()) * step_ + 12, "\" height=\"9\"/>");
  }

  // An asynchronous operation is in flight from its issue to its last phase.
  void Bars() {
    std::map<std::size_t, int> from;
    for (const PictureEdge& edge : picture_.edges) {
      if (edge.kind != EdgeKind::kIssue || y_of_[edge.from] < 0 || y_of_[edge.to] < 0) continue;
      const std::size_t lane = picture_.rows[edge.to].lane;
      const int y = y_of_[edge.from];
      Append(&body_, "<line x1=\"", X(lane), "\" x2=\"", X(lane), "\" y1=\"", y, "\" y2=\"", y_of_[edge.to],
             "\" stroke=\"", Colour(lane), "\" stroke-opacity=\".45\" stroke-width=\"8\" stroke-linecap=\"round\"/>");
      Append(&body_, "<line x1=\"", X(picture_.rows[edge.from].lane), "\" x2=\"", X(lane), "\" y1=\"", y, "\" y2=\"", y,
             "\" stroke=\"", Colour(lane), "\" stroke-opacity=\".6\" stroke-width=\"2\"/>");
    }
  }

  void Arrow(const PictureEdge& edge, std::string_view line, std::string_view head) {
    const int x1 = X(picture_.rows[edge.from].lane), x2 = X(picture_.rows[edge.to].lane);
    const int y1 = y_of_[edge.from], y2 = y_of_[edge.to];
    const int side = x2 > x1 ? -1 : x2 < x1 ? 1 : 0, end = x2 + side * 9;
    const int bend = y1 > y2 ? 26 : 0;  // what goes up does not lie on what goes down
    Append(&body_, "<path class=\"", line, "\" d=\"M", x1, " ", y1, "C", x1 - side * step_ / 2, " ", y1 + bend, " ",
           end + side * step_ / 2, " ", y2 + bend, " ", end, " ", y2, "\"/>");
    Append(&body_, "<path class=\"", head, "\" d=\"M", x2 + side * 7, " ", y2, "l", side * 7, " -4l0 8Z\"/>");
  }

  void Edges() {
    for (const PictureEdge& edge : picture_.edges) {
      if (edge.kind != EdgeKind::kIssue && y_of_[edge.from] >= 0 && y_of_[edge.to] >= 0) Arrow(edge, "sync", "syncf");
    }
    for (const PictureEdge& edge : picture_.red) {
      if (y_of_[edge.from] < 0 || y_of_[edge.to] < 0) continue;
      Arrow(edge, "red", "redf");
    }
  }

  void Foot() {
    y_ += 16;
    Append(&body_, "<line class=\"rule\" x1=\"", kMargin, "\" x2=\"", kWidth - kMargin, "\" y1=\"", y_, "\" y2=\"", y_,
           "\"/>");
    const auto say = [&](std::string_view classes, std::string_view text, std::size_t most) {
      for (const std::string& line : Wrapped(text, kTextWidth + 20, most)) {
        y_ += kLine;
        Text(&body_, kMargin, classes, line);
      }
    };
    y_ += 3;
    if (!picture_.red.empty() && !picture_.missing.empty())
      say("b redt", Cat("Red, dashed: ", picture_.missing, "."), 1);
    if (!picture_.why.empty()) say("", Cat("Why: ", picture_.why), 4);
    if (!picture_.fix.empty()) say("", Cat("Fix: ", picture_.fix), 3);
    const std::string left =
        picture_.lanes_left_out == 0 ? "" : Cat(" Agents that are not drawn: ", picture_.lanes_left_out, ".");
    say("dim", Cat(picture_.operations, " operations ran until here.", left), 1);
  }

  const SchedulePicture& picture_;
  int step_ = 0, text_x_ = 0, y_ = 0, bottom_ = 0;
  std::string head_, body_;
  std::vector<std::size_t> colour_of_;
  std::vector<int> y_of_, gaps_;
};

}  // namespace

std::string SvgOf(const SchedulePicture& picture) { return Svg(picture).Draw(); }

}  // namespace palladion::schedule
