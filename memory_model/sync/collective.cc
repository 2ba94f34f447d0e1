#include "memory_model/sync/collective.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void CollectiveLog::Enter(std::size_t member, std::string what, const CodeSite& site, FindingLog* log) {
  const auto k = static_cast<std::size_t>(made_[member]++ - closed_);
  if (k == open_.size()) {
    open_.push_back({member, std::move(what), site, 1});
    for (std::size_t other = 0; other < members_.size(); ++other) CheckEnded(other, log);
  } else {
    Operation& operation = open_[k];
    ++operation.makers;
    if (what != operation.what) {
      Report({operation.first, operation.site}, {member, site},
             Cat(members_[member], " makes ", what, " where ", members_[operation.first], " makes ", operation.what),
             log);
    }
  }
  while (!open_.empty() && open_.front().makers == members_.size()) {
    open_.pop_front();
    ++closed_;
  }
}

void CollectiveLog::MemberEnds(std::size_t member, const CodeSite& site, FindingLog* log) {
  ended_[member] = {true, site};
  CheckEnded(member, log);
}

// Of the operations that it left out, one finding for the first is enough.
void CollectiveLog::CheckEnded(std::size_t member, FindingLog* log) const {
  const auto next = static_cast<std::size_t>(made_[member] - closed_);
  if (!ended_[member].ended || next >= open_.size()) return;
  const Operation& operation = open_[next];
  const CodeSite& end = ended_[member].site;  // for a member without one the operation's own place
  Report({operation.first, operation.site}, {member, end.text_line > 0 ? end : operation.site},
         Cat(members_[member], " ends after ", made_[member], " of the ", name_, ", and ", members_[operation.first],
             " makes one more: ", operation.what),
         log);
}

void CollectiveLog::Report(const Side& first, const Side& second, std::string message, FindingLog* log) const {
  if (!log->IsNew({FindingCode::kCollectiveMismatch,
                   {first.site.loc, first.site.text_line},
                   {second.site.loc, second.site.text_line},
                   (std::int64_t{1} << 35) + id_.value})) {
    return;
  }
  Finding finding{.code = FindingCode::kCollectiveMismatch,
                  .message = std::move(message),
                  .loc = second.site.loc,
                  .text_line = second.site.text_line,
                  .fix = Cat("let all of them make the same ", name_, ", in the same order")};
  const auto side = [&](const Side& of) {
    return FindingAccess{.kind = AccessKind::kAtomic,
                         .agent = members_[of.member],
                         .object = name_,
                         .loc = of.site.loc,
                         .text_line = of.site.text_line};
  };
  finding.first = side(first);
  finding.second = side(second);
  log->Add(std::move(finding));
}

}  // namespace palladion::memory_model
