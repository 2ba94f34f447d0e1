#include "emu/tools/schedule/picture.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"

namespace palladion::schedule {
namespace {

constexpr std::size_t kAfter = 2;       // operations of an agent after its side of the finding
constexpr std::size_t kOthersEach = 4;  // synchronisations of an agent of the finding with others

// What is not there between the two sides; "": they are only shown.
std::string_view MissingIn(const ReportedFinding& finding, std::size_t circle) {
  switch (finding.code) {
    case FindingCode::kDeadlock:
      return circle > 1 ? "each waits for the next" : "";
    case FindingCode::kBarrierDouble:
    case FindingCode::kBarrierPhaseSkip:
      return "no wait is between the two";
    case FindingCode::kProxy:
    case FindingCode::kProxyWar:
      return "no fence is between the two";
    case FindingCode::kPeerLifetime:
    case FindingCode::kUseAfterScope:
      return "nothing orders the two";
    default:
      return RowOf(finding.code).denies == Denies::kOrder ? "nothing orders the two" : "";
  }
}

class Chooser {
 public:
  Chooser(const FailingRun& failing, const PictureOptions& options)
      : failing_(failing), run_(failing.recording), options_(options), of_actor_(run_.actors.size()) {
    for (std::int64_t number = run_.forgotten; number < run_.end(); ++number)
      of_actor_[run_[number].actor].push_back(number);
    for (std::size_t a = 0; a < run_.actors.size(); ++a) actor_at_[run_.actors[a].id.value] = a;
  }

  // The operations that are shown.
  std::set<std::int64_t> Choose() {
    std::vector<std::int64_t> anchors = failing_.waiting;
    for (const std::int64_t side : {failing_.first, failing_.second, failing_.near}) {
      if (side >= 0) anchors.push_back(side);
    }
    if (!failing_.circle.empty()) anchors = failing_.circle;
    for (const std::int64_t anchor : anchors) AddAnchor(anchor);
    AddSynchronisation();
    KeepLanes();
    return shown_;
  }
  const std::vector<std::size_t>& actors() const { return lanes_; }  // in the order of their first shown operation
  bool Involves(std::size_t actor) const { return involved_.count(AgentOf(actor)) > 0; }
  std::int64_t left_out() const { return left_out_; }
  // The agent itself, or who issued the operation.
  std::size_t AgentOf(std::size_t actor) const {
    if (!run_.actors[actor].is_operation()) return actor;
    const auto found = actor_at_.find(run_.actors[actor].issuer.value);
    return found == actor_at_.end() ? actor : found->second;
  }

 private:
  void AddAnchor(std::int64_t anchor) {
    const std::size_t actor = run_[anchor].actor;
    latest_ = std::max(latest_, anchor);
    involved_.insert(AgentOf(actor));
    AddAround(actor, anchor);
    if (!run_.actors[actor].is_operation()) return;
    for (const Edge& edge : run_.edges) {  // its issue, and what waited for it
      const bool comes = run_.Has(edge.from) && run_.Has(edge.to) && run_[edge.to].actor == actor;
      const bool goes = run_.Has(edge.from) && run_.Has(edge.to) && run_[edge.from].actor == actor;
      if (comes || goes) shown_.insert({edge.from, edge.to});
      if (comes && edge.kind == EdgeKind::kIssue) AddAround(run_[edge.from].actor, edge.from);
    }
  }

  // What the agent did last before it, and next.
  void AddAround(std::size_t actor, std::int64_t number) {
    const std::vector<std::int64_t>& own = of_actor_[actor];
    const auto at = std::lower_bound(own.begin(), own.end(), number);
    const auto from = at - std::min<std::ptrdiff_t>(at - own.begin(), static_cast<std::ptrdiff_t>(options_.before));
    const auto to = at + std::min<std::ptrdiff_t>(own.end() - at, static_cast<std::ptrdiff_t>(kAfter + 1));
    shown_.insert(from, to);
    if (!own.empty()) shown_.insert(own.front());
  }

  void AddSynchronisation() {
    std::map<std::size_t, std::size_t> with_others;  // by agent of the finding
    std::size_t between = 0;
    for (auto edge = run_.edges.rbegin(); edge != run_.edges.rend(); ++edge) {
      if (edge->kind == EdgeKind::kIssue || edge->to > latest_ || !run_.Has(edge->from) || !run_.Has(edge->to))
        continue;
      const std::size_t from = AgentOf(run_[edge->from].actor), to = AgentOf(run_[edge->to].actor);
      const bool from_in = involved_.count(from) > 0, to_in = involved_.count(to) > 0;
      if (!from_in && !to_in) continue;
      const bool both = from_in && to_in;
      std::size_t& count = both ? between : with_others[from_in ? from : to];
      if (count++ >= (both ? options_.synchronised : kOthersEach)) continue;
      shown_.insert({edge->from, edge->to});
      AddIssue(run_[edge->from].actor);
    }
  }

  void AddIssue(std::size_t actor) {
    if (!run_.actors[actor].is_operation()) return;
    for (const Edge& edge : run_.edges) {
      if (edge.kind == EdgeKind::kIssue && run_.Has(edge.from) && run_.Has(edge.to) && run_[edge.to].actor == actor)
        shown_.insert({edge.from, edge.to});
    }
  }

  // Of too many agents those of the finding, and then those that are shown most.
  void KeepLanes() {
    std::map<std::size_t, std::int64_t> shown_of;  // by agent
    for (const std::int64_t number : shown_) ++shown_of[AgentOf(run_[number].actor)];
    std::vector<std::pair<std::int64_t, std::size_t>> ranked;
    for (const auto& [agent, count] : shown_of)
      ranked.emplace_back(-count - (involved_.count(agent) > 0 ? 1'000'000 : 0), agent);
    std::sort(ranked.begin(), ranked.end());
    if (ranked.size() > options_.lanes) ranked.resize(options_.lanes);
    std::set<std::size_t> kept;
    for (const auto& [rank, agent] : ranked) kept.insert(agent);
    std::set<std::int64_t> shown;
    for (const std::int64_t number : shown_) {
      if (kept.count(AgentOf(run_[number].actor)) > 0) shown.insert(number);
    }
    shown_ = std::move(shown);
    lanes_.assign(kept.begin(), kept.end());
    std::set<std::size_t> all;
    for (std::size_t a = 0; a < run_.actors.size(); ++a) {
      if (!run_.actors[a].is_operation()) all.insert(a);
    }
    for (const std::size_t agent : kept) all.erase(agent);
    left_out_ = static_cast<std::int64_t>(all.size());
  }

  const FailingRun& failing_;
  const Recording& run_;
  const PictureOptions& options_;
  std::vector<std::vector<std::int64_t>> of_actor_;
  std::map<std::int32_t, std::size_t> actor_at_;
  std::set<std::size_t> involved_;
  std::set<std::int64_t> shown_;
  std::vector<std::size_t> lanes_;
  std::int64_t latest_ = -1, left_out_ = 0;
};

class Drawer {
 public:
  Drawer(const FailingRun& failing, const PictureSources& sources, const PictureOptions& options)
      : failing_(failing), run_(failing.recording), sources_(sources), options_(options), chooser_(failing, options) {}

  SchedulePicture Draw() {
    shown_ = chooser_.Choose();
    SayFinding();
    MakeLanes();
    PlaceOthers();
    MakeRows();
    MakeEdges();
    return std::move(picture_);
  }

 private:
  void SayFinding() {
    const ReportedFinding& finding = failing_.finding;
    picture_.title = std::string(Code(finding.code));
    picture_.message = finding.message;
    picture_.severity = std::string(Name(finding.severity));
    picture_.why = finding.why;
    picture_.fix = finding.fix;
    picture_.replay = failing_.replay;
    picture_.kernel = failing_.kernel;
    picture_.target = failing_.target;
    picture_.operations = run_.end() + run_.other_operations;
    picture_.lanes_left_out = chooser_.left_out() + run_.other_actors;
    picture_.missing = std::string(MissingIn(finding, failing_.circle.size()));
  }

  // An agent, and beside it lanes for its asynchronous operations: as many as are shown at once.
  void MakeLanes() {
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> spans;  // of operations that are shown
    for (const std::int64_t number : shown_) {
      const std::size_t actor = run_[number].actor;
      if (run_.actors[actor].is_operation()) spans[actor] = {number, number};
    }
    for (const Edge& edge : run_.edges) {
      if (edge.kind != EdgeKind::kIssue || !run_.Has(edge.to)) continue;
      const auto of = spans.find(run_[edge.to].actor);
      if (of == spans.end()) continue;
      of->second = {std::min(of->second.first, edge.from), std::max(of->second.second, edge.to)};
    }
    for (const std::size_t agent : chooser_.actors()) {
      lane_of_[agent] = picture_.lanes.size();
      const Actor& actor = run_.actors[agent];
      picture_.lanes.push_back({.name = actor.name,
                                .short_name = actor.name,
                                .involved = chooser_.Involves(agent),
                                .all = actor.operations});
      AddTracks(agent, spans);
    }
  }

  void AddTracks(std::size_t agent, const std::map<std::size_t, std::pair<std::int64_t, std::int64_t>>& spans) {
    std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::size_t>> own;
    for (const auto& [actor, span] : spans) {
      if (actor != agent && chooser_.AgentOf(actor) == agent) own.push_back({span, actor});
    }
    std::sort(own.begin(), own.end());
    std::vector<std::int64_t> free_from;
    const std::size_t base = picture_.lanes.size();
    for (const auto& [span, actor] : own) {
      std::size_t track = 0;
      while (track < free_from.size() && free_from[track] > span.first) ++track;
      if (track == free_from.size()) {
        free_from.push_back(0);
        const std::string name =
            Cat("async operations of ", run_.actors[agent].name, track == 0 ? "" : Cat(", ", track + 1));
        picture_.lanes.push_back({.name = name,
                                  .short_name = name,
                                  .operations = true,
                                  .involved = picture_.lanes[lane_of_[agent]].involved});
      }
      free_from[track] = span.second + 1;
      lane_of_[actor] = base + track;
      picture_.lanes[base + track].all += run_.actors[actor].operations;
    }
  }

  // Operations of the agents that are drawn which are not shown themselves: when a reader asks for them, they are where
  // there is room.
  void PlaceOthers() {
    for (std::size_t a = 0; a < run_.actors.size(); ++a) {
      if (!run_.actors[a].is_operation() || lane_of_.count(a) > 0) continue;
      const auto agent = lane_of_.find(chooser_.AgentOf(a));
      if (agent == lane_of_.end()) continue;
      const std::size_t beside = agent->second + 1;
      const bool has_track = beside < picture_.lanes.size() && picture_.lanes[beside].operations;
      lane_of_[a] = has_track ? beside : agent->second;
      picture_.lanes[lane_of_[a]].all += run_.actors[a].operations;
    }
  }

  // All operations of the lanes; of too many those nearest to what is shown last.
  void MakeRows() {
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = run_.forgotten; number < run_.end(); ++number) {
      if (lane_of_.count(run_[number].actor) > 0) numbers.push_back(number);
    }
    const std::int64_t last = shown_.empty() ? 0 : *shown_.rbegin();
    std::size_t kept = 0, after = 0;
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      const bool is_shown = shown_.count(*number) > 0;
      after += *number > last ? 1 : 0;
      if (!is_shown && (kept >= options_.rows || (*number > last && after > options_.rows / 4))) {
        *number = -1;
        ++picture_.not_kept;
      }
      ++kept;
    }
    for (const std::int64_t number : numbers) {
      if (number >= 0) AddRow(number);
    }
    std::vector<PictureRow>& rows = picture_.rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {  // one alone takes no less room when it is collapsed
      const bool before = i == 0 || rows[i - 1].shown, after_it = i + 1 == rows.size() || rows[i + 1].shown;
      if (before && after_it) rows[i].shown = true;
    }
    const auto side = [&](std::int64_t number) {
      if (const auto at = row_of_.find(number); at != row_of_.end()) picture_.sides.push_back(at->second);
    };
    for (const std::int64_t number : failing_.circle.empty() ? failing_.waiting : failing_.circle) side(number);
    side(failing_.first), side(failing_.second);
  }

  void AddRow(std::int64_t number) {
    const Op& op = run_[number];
    const Actor& actor = run_.actors[op.actor];
    PictureRow row{.number = number,
                   .lane = lane_of_.at(op.actor),
                   .kind = op.kind,
                   .mark = number == failing_.first      ? RowMark::kFirst
                           : number == failing_.second   ? RowMark::kSecond
                           : op.kind == OpKind::kWaiting ? RowMark::kWaiting
                                                         : RowMark::kNone,
                   .shown = shown_.count(number) > 0,
                   .blocked = op.blocked,
                   .text = op.text};
    if (actor.is_operation()) row.text = Cat(actor.name.substr(0, actor.name.find(" issued by ")), " ", op.text);
    if (row.blocked && row.kind == OpKind::kWait && row.text.rfind("waits for ", 0) == 0)
      row.text.replace(0, 9, "is blocked on");
    row.line = LineOf(op);
    row_of_[number] = picture_.rows.size();
    picture_.rows.push_back(std::move(row));
  }

  std::size_t LineOf(const Op& op) {
    const auto [at, added] = line_at_.try_emplace({op.loc.value, op.text_line}, picture_.lines.size());
    if (!added) return at->second;
    ShownLine line;
    const std::vector<SourceFrame> frames = launch::FramesOf(sources_.module, op.loc);
    if (!frames.empty()) {
      const std::string& file = frames[0].file;
      line.place = Cat(file.substr(file.rfind('/') + 1), ":", frames[0].line);
      if (sources_.source_line) line.text = sources_.source_line(file, frames[0].line).value_or("");
    }
    if (line.text.empty() && op.text_line > 0) {
      if (frames.empty())
        line.place = Cat(sources_.kernel_path.substr(sources_.kernel_path.rfind('/') + 1), ":", op.text_line);
      line.text = LineOfText(sources_.kernel_text, op.text_line).value_or("");
    }
    const std::size_t begin = line.text.find_first_not_of(" \t");
    line.text = begin == std::string::npos ? "" : line.text.substr(begin);
    picture_.lines.push_back(std::move(line));
    return at->second;
  }

  void MakeEdges() {
    std::set<std::pair<std::int64_t, std::int64_t>> drawn;
    for (const Edge& edge : run_.edges) {
      const auto from = row_of_.find(edge.from), to = row_of_.find(edge.to);
      if (from == row_of_.end() || to == row_of_.end() || !drawn.insert({edge.from, edge.to}).second) continue;
      if (picture_.rows[from->second].lane == picture_.rows[to->second].lane) continue;
      picture_.edges.push_back({from->second, to->second, edge.kind});
    }
    const std::vector<std::int64_t>& circle = failing_.circle;
    for (std::size_t i = 0; i < circle.size() && circle.size() > 1; ++i)
      picture_.red.push_back({row_of_.at(circle[i]), row_of_.at(circle[(i + 1) % circle.size()])});
    const auto first = row_of_.find(failing_.first), second = row_of_.find(failing_.second);
    if (picture_.missing.empty() || first == row_of_.end() || second == row_of_.end()) return;
    picture_.red.push_back({std::min(first->second, second->second), std::max(first->second, second->second)});
  }

  const FailingRun& failing_;
  const Recording& run_;
  const PictureSources& sources_;
  const PictureOptions& options_;
  Chooser chooser_;
  std::set<std::int64_t> shown_;
  std::map<std::size_t, std::size_t> lane_of_;  // by actor
  std::map<std::int64_t, std::size_t> row_of_;  // by operation
  std::map<std::pair<std::int32_t, int>, std::size_t> line_at_;
  SchedulePicture picture_;
};

}  // namespace

std::string_view Name(RowMark mark) {
  constexpr std::string_view kNames[] = {"", "first", "second", "waiting"};
  return kNames[static_cast<std::size_t>(mark)];
}

SchedulePicture DrawSchedule(const FailingRun& run, const PictureSources& sources, const PictureOptions& options) {
  return Drawer(run, sources, options).Draw();
}

std::string TextOf(const SchedulePicture& picture) {
  std::string text = Cat(picture.title, ": ", picture.message, "\n");
  std::size_t collapsed = 0;
  const auto gap = [&] {
    if (collapsed > 0) Append(&text, "        … ", collapsed, collapsed == 1 ? " operation\n" : " operations\n");
    collapsed = 0;
  };
  for (const PictureRow& row : picture.rows) {
    if (!row.shown) {
      ++collapsed;
      continue;
    }
    gap();
    const bool marked = row.mark != RowMark::kNone;
    const std::string number = Cat(row.number), place = picture.lines[row.line].place;
    Append(&text, marked ? "> " : "  ", std::string(number.size() < 5 ? 5 - number.size() : 0, ' '), number, " ",
           picture.lanes[row.lane].short_name, "  ", row.text, place.empty() ? "" : Cat("  (", place, ")"), "\n");
  }
  gap();
  return text;
}

}  // namespace palladion::schedule
