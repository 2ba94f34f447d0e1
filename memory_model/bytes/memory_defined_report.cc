// Memory: what is said about undefined elements that matter. Rules: docs/spec/definedness.md#reported.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "memory_model/bytes/memory.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element_index.h"

namespace palladion::memory_model {

void Memory::ReportUndefined(DefinedMark mark, std::string_view use, const Site& site) {
  const Origins& origins = tracking_->origins;
  if (origins.IsReported(mark)) return;
  Finding finding =
      origins.FindingOf(mark, Cat(use, AtAgent(naming_, site.program)), origins.MetBy(mark, site.program));
  // A note about a result is one, wherever else the result goes; it counts the elements and uses that depend on it.
  if (origins.Of(mark).kind == OriginKind::kValue) return Report(std::move(finding));
  finding.loc = site.loc;
  finding.text_line = site.text_line;
  finding.second = FindingAccess{.kind = AccessKind::kRead,
                                 .agent = AgentName(naming_, site.program),
                                 .object = std::string(use),
                                 .box = "",
                                 .loc = site.loc,
                                 .text_line = site.text_line};
  Report(std::move(finding));
}

std::int64_t Memory::ReportUndefinedOutput(BufferId id, const Site& site) {
  const Buffer& buffer = Of(id);
  const auto elements = static_cast<std::int64_t>(buffer.bytes / std::max<std::size_t>(1, buffer.element_bytes));
  if (buffer.defined.all_defined()) return elements;
  struct Part {
    std::int64_t first = 0, count = 0;
  };
  std::array<Part, 256> parts{};
  for (std::int64_t e = 0; e < elements; ++e) {
    Part& part = parts[buffer.defined.At(static_cast<std::size_t>(e))];
    if (part.count++ == 0) part.first = e;
  }
  // A place is known by a few bits only: beside bytes of one origin that went elsewhere, those that seem to be back at
  // their own place are no finding of their own.
  const auto elsewhere = [&](DefinedMark mark) {
    if (parts[ComputedMark(mark)].count != 0) return true;
    for (std::size_t m = kMovedMark; m < parts.size(); ++m) {
      const auto other = static_cast<DefinedMark>(m);
      if (parts[m].count != 0 && !IsInPlace(other) && ComputedMark(other) == ComputedMark(mark)) return true;
    }
    return false;
  };
  for (std::size_t m = 1; m < parts.size(); ++m) {
    const auto mark = static_cast<DefinedMark>(m);
    if (mark != kUntouched && IsInPlace(mark) && elsewhere(mark)) continue;
    if (parts[m].count != 0 && !tracking_->origins.IsReported(mark))
      ReportUndefinedElements(buffer, mark, parts[m].first, parts[m].count, site);
  }
  return elements;
}

namespace {

std::string CountText(std::int64_t count, std::int64_t of) {
  return Cat(count, " of its ", of, of == 1 ? " element" : " elements");
}

Finding MissingOutput(const std::string& element, const std::string& count, bool moved) {
  return {.code = FindingCode::kOutMissing,
          .severity = Severity::kWarning,
          .message = moved ? Cat("output ", element, " was never written: it only got its own undefined bytes back (",
                                 count, " did)")
                           : Cat("output ", element, " was never written (", count, " were not)"),
          .first = std::nullopt,
          .second = std::nullopt,
          .why = "",
          .fix = "store to every element of the output, or make the grid cover it"};
}

}  // namespace

// `first` is the first of `count` elements that have the mark, and the one that is named.
void Memory::ReportUndefinedElements(const Buffer& buffer, DefinedMark mark, std::int64_t first, std::int64_t count,
                                     const Site& site) {
  const Origins& origins = tracking_->origins;
  const auto elements = static_cast<std::int64_t>(buffer.bytes / buffer.element_bytes);
  const StoreNumber number = buffer.stored_by.empty() ? 0 : buffer.stored_by[static_cast<std::size_t>(first)];
  const UndefinedStore& store = tracking_->stores.Of(number);
  const std::string element = Cat("'", buffer.name, "'", IndexText(buffer.shape, first));
  const bool is_value = origins.Of(mark).kind == OriginKind::kValue;
  const std::string counted = CountText(count, elements);
  Finding finding = mark == kUntouched ? MissingOutput(element, counted, false)
                                       : origins.FindingOf(mark, Cat("output ", element, " (", counted, ")"),
                                                           number != 0 ? store.met : origins.MetBy(mark, {}));
  if (is_value) {
    finding.count = count;
    return Report(std::move(finding));
  }
  if (IsInPlace(mark) && mark != kUntouched) {
    const std::optional<FindingAccess> read = finding.first;
    finding = MissingOutput(element, counted, true);
    finding.first = read;
  }
  finding.loc = site.loc;
  finding.text_line = site.text_line;
  if (number != 0) {
    finding.loc = store.loc;
    finding.text_line = store.text_line;
    finding.second = FindingAccess{.kind = AccessKind::kWrite,
                                   .agent = AgentName(naming_, store.program),
                                   .object = buffer.name,
                                   .box = IndexText(buffer.shape, first),
                                   .loc = store.loc,
                                   .text_line = store.text_line};
  }
  Report(std::move(finding));
}

}  // namespace palladion::memory_model
