// What the findings of the concurrency model say.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "memory_model/concurrency_model.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

std::string_view Does(AccessKind kind) {
  constexpr std::string_view kVerbs[] = {"reads", "writes", "updates", "allocates", "frees"};
  return kVerbs[static_cast<std::size_t>(kind)];
}

std::string At(const CodeSite& site) { return site.text_line > 0 ? Cat(" at line ", site.text_line) : ""; }

// Is the place in the one that the memory belongs to?
bool Inside(const Place& place, const Place& memory) {
  for (std::size_t i = 0; i < kPlaceLevels; ++i) {
    if (memory.number[i] != Place::kNone && memory.number[i] != place.number[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<ConcurrencyModel::Sort> ConcurrencyModel::SortOf(const Tracked& buffer, const AccessEvent& event,
                                                               const AccessConflict& conflict) const {
  const auto sort = [](FindingCode code) { return Sort{code, RowOf(code).severity}; };
  const AccessEvent& earlier = conflict.earlier;
  if (earlier.lifetime() || event.lifetime()) {
    const Place& place = buffer.info.place;
    const bool peer = !Inside(agents_.PlaceOf(earlier.who), place) || !Inside(agents_.PlaceOf(event.who), place);
    return sort(peer ? FindingCode::kPeerLifetime : FindingCode::kUseAfterScope);
  }
  if (conflict.order == Ordering::kUnfenced) {
    const ClockId issuer = agents_.IssuerOf(event.who);
    const bool same = issuer == earlier.who;
    const auto verdict =
        rule_.Judge(earlier, event.kind, buffer.info.space, same, same && agents_.RoundTrip(issuer, earlier.time));
    if (!verdict.has_value()) return std::nullopt;
    return Sort{verdict->code, verdict->severity, verdict->confidence};
  }
  constexpr auto kDevice = PlaceLevel::kDevice;
  if (agents_.PlaceOf(earlier.who).at(kDevice) != agents_.PlaceOf(event.who).at(kDevice)) {
    return sort(FindingCode::kRaceCrossDevice);
  }
  if (AgentTable::IsOperation(earlier.who) != AgentTable::IsOperation(event.who)) return sort(FindingCode::kRaceAsync);
  return sort(earlier.writes() && event.writes() ? FindingCode::kRaceWriteWrite : FindingCode::kRaceReadWrite);
}

std::string ConcurrencyModel::Who(const Tracked& buffer, const AccessEvent& event) const {
  const bool nobody = event.kind == AccessKind::kFree && !buffer.freed_by.empty();
  return nobody ? buffer.freed_by : agents_.NameOf(event.who);
}

const std::string* ConcurrencyModel::PastName(const Tracked& buffer, const AccessEvent& event) {
  const auto at =
      std::find_if(buffer.past.begin(), buffer.past.end(), [&](const auto& of) { return of.first == event; });
  return at == buffer.past.end() ? nullptr : &at->second;
}

std::string ConcurrencyModel::WhyUnordered(const Tracked& buffer, const AccessEvent& event, const Vantage& vantage,
                                           const AccessConflict& conflict) const {
  const ClockId other = conflict.earlier.who;
  const std::string me = Who(buffer, event), you = Who(buffer, conflict.earlier);
  if (conflict.earlier.kind == AccessKind::kFree) return Cat("its life ended with ", you);
  if (conflict.order == Ordering::kUnfenced) {
    return Cat(me, " is ordered after ", you, ", but no fence lies between: policy ", Name(rule_.policy()));
  }
  if (AgentTable::IsOperation(other)) {
    const bool read = vantage.clock[ClockPart::kGeneric].Covers(Epoch{other, 1});
    return Cat(me, read ? " knows that " : " does not know whether ", you,
               read ? " has read its source, not that it has written" : " is complete");
  }
  const AgentTable::Heard heard = agents_.LastHeard(vantage.clock, other);
  if (heard.time == 0) return Cat(me, " has never heard of ", you);
  if (!heard.known) return Cat("what ", me, " last heard of ", you, " is from before that access");
  return Cat("what ", me, " last heard of ", you, " is what it published", At(heard.site), ", before that access");
}

std::string ConcurrencyModel::FixFor(FindingCode code, const AccessEvent& event, const AccessConflict& conflict) const {
  const CodeSite here{event.loc, event.text_line}, there{conflict.earlier.loc, conflict.earlier.text_line};
  switch (code) {
    case FindingCode::kProxy:
    case FindingCode::kProxyWar:
      return Cat("commit_smem after the access", At(there), " and before the one", At(here));
    case FindingCode::kBarrierTensorOrder:
      return "use a barrier with orders_tensor_core";
    case FindingCode::kPeerLifetime:
    case FindingCode::kUseAfterScope:
      if (AgentTable::IsOperation(conflict.earlier.who)) {
        return Cat("wait for the completion of ", agents_.NameOf(conflict.earlier.who),
                   " before the memory's scope ends");
      }
      return "let a barrier or semaphore order the access within the life of the memory";
    default:
      break;
  }
  if (AgentTable::IsOperation(conflict.earlier.who)) {
    return Cat("wait for the completion of ", agents_.NameOf(conflict.earlier.who), " before the access", At(here));
  }
  return Cat("let ", agents_.NameOf(conflict.earlier.who), " signal after its access", At(there),
             ", and wait for that before ", AgentTable::IsOperation(event.who) ? "the issue" : "the access", At(here));
}

void ConcurrencyModel::Report(const Tracked& buffer, BufferId id, const AccessEvent& event, const Vantage& vantage,
                              const AccessConflict& conflict) {
  const AccessEvent& earlier = conflict.earlier;
  const std::optional<Sort> sort = SortOf(buffer, event, conflict);
  if (!sort.has_value()) return;
  if (!log_.IsNew({sort->code, earlier.loc, event.loc, earlier.text_line, event.text_line, id.value})) return;
  Finding finding{.code = sort->code,
                  .severity = sort->severity,
                  .loc = event.loc,
                  .text_line = event.text_line,
                  .confidence = sort->confidence};
  const std::string* const past = PastName(buffer, earlier);
  finding.message = Cat(Who(buffer, event), " ", Does(event.kind), " ", buffer.info.name, conflict.overlap, "; ",
                        Who(buffer, earlier), " ", Does(earlier.kind), " ",
                        past == nullptr ? "it" : Cat("'", *past, "' of an earlier scope, which had the same bytes,"),
                        conflict.order == Ordering::kUnfenced ? " before, with no fence between"
                        : earlier.kind == AccessKind::kFree   ? ""
                                                              : ", and nothing orders the two");
  const auto side = [&](const AccessEvent& access) {
    const std::string* const was = PastName(buffer, access);
    return FindingAccess{.kind = access.kind,
                         .agent = Who(buffer, access),
                         .object = was == nullptr ? buffer.info.name : *was,
                         .box = was == nullptr ? conflict.overlap : "",
                         .loc = access.loc,
                         .text_line = access.text_line};
  };
  finding.first = side(earlier);
  finding.second = side(event);
  finding.why = WhyUnordered(buffer, event, vantage, conflict);
  finding.fix = FixFor(sort->code, event, conflict);
  log_.Add(std::move(finding));
}

void ConcurrencyModel::ReportNotAwaited(const AsyncEngine::Record& operation, const CodeSite& end) {
  const CodeSite& site = operation.site;
  if (!log_.IsNew({FindingCode::kNotAwaited, site.loc, end.loc, site.text_line, end.text_line})) return;
  const std::string name = agents_.NameOf(operation.id);
  const bool read = operation.must_await == Half::kRead;
  Finding finding{.code = FindingCode::kNotAwaited,
                  .message = Cat("the kernel ends, and nobody has waited for ", read ? "the reads of " : "", name),
                  .loc = site.loc,
                  .text_line = site.text_line,
                  .fix = "wait for it before the kernel ends"};
  finding.first = FindingAccess{.kind = read ? AccessKind::kRead : AccessKind::kWrite,
                                .agent = name,
                                .loc = site.loc,
                                .text_line = site.text_line};
  log_.Add(std::move(finding));
}

}  // namespace palladion
