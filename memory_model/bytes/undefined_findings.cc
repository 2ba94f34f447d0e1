#include "memory_model/bytes/undefined_findings.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/tensor/element_index.h"

namespace palladion::memory_model {

namespace {

// The elements of an output that have one mark.
struct Part {
  std::int64_t first = 0, count = 0;  // `first` is the one that is named
};

std::string CountText(std::int64_t count, std::int64_t of) {
  return Cat(count, " of its ", of, of == 1 ? " element" : " elements");
}

// An element that was never written. Some kernels leave a part to a later launch; none leaves all of an output.
Finding MissingOutput(const std::string& what, bool any_written) {
  return {.code = FindingCode::kOutMissing,
          .severity = any_written ? Severity::kWarning : Severity::kDefect,
          .message = Cat("output ", what, any_written ? "" : "; nothing was written to it in the whole launch"),
          .first = std::nullopt,
          .second = std::nullopt,
          .why = "",
          .fix = "store to every element of the output, or make the grid cover it"};
}

// Has anything been written to the output but its own bytes?
bool AnyWritten(const MemoryBuffer& buffer) {
  const std::int64_t elements = buffer.elements().value();
  if (buffer.defined.all_defined()) return true;
  std::int64_t e = 0;
  while (e < elements && IsInPlace(buffer.defined.At(ElementCount(e)))) ++e;
  return e < elements;
}

// Where the output and its elements with one mark are.
struct Where {
  const MemoryBuffer& buffer;
  std::string_view device;
  const Site& site;
  bool any_written;
};

Finding FindingOf(const UndefinedContext& context, const Where& where, DefinedMark mark, const Part& part) {
  const auto& [buffer, device, site, any_written] = where;
  const Origins& origins = context.origins;
  const std::int64_t elements = buffer.elements().value();
  const StoreNumber number = buffer.stored_by.empty() ? 0 : buffer.stored_by[static_cast<std::size_t>(part.first)];
  const UndefinedStore& store = context.stores.Of(number);
  const std::string index = IndexText(buffer.shape, part.first);
  const std::string element = Cat("'", buffer.name, "'", index, device.empty() ? "" : " of ", device);
  const std::string counted = CountText(part.count, elements);
  Finding finding = mark == kUntouched
                        ? MissingOutput(Cat(element, " was never written (", counted, " were not)"), any_written)
                        : origins.FindingOf(mark, Cat("output ", element, " (", counted, ")"),
                                            number != 0 ? store.met : origins.MetBy(mark, {}));
  if (origins.Of(mark).kind == OriginKind::kValue) {
    finding.count = part.count;
    return finding;
  }
  std::string only_got;  // of an element that was never written
  if (IsInPlace(mark) && mark != kUntouched)
    only_got = Cat("it only got its own undefined bytes back (", counted, " did)");
  if (origins.Of(mark).carried == Carried::kBesideDefined) {
    only_got = Cat("a copy that also carried written bytes brought it unwritten bytes of '", origins.Of(mark).object,
                   "' (", counted, " got such bytes)");
  }
  if (!only_got.empty()) {
    const std::optional<FindingAccess> read = finding.first;
    finding = MissingOutput(Cat(element, " was never written: ", only_got), any_written);
    finding.first = read;
  }
  finding.loc = site.loc;
  finding.text_line = site.text_line;
  if (number != 0) {
    finding.loc = store.loc;
    finding.text_line = store.text_line;
    finding.second = FindingAccess{.kind = AccessKind::kWrite,
                                   .agent = AgentName(context.naming, store.program),
                                   .object = buffer.name,
                                   .box = index,
                                   .loc = store.loc,
                                   .text_line = store.text_line};
  }
  return finding;
}

// A place is known by a few bits only: beside bytes of one origin that went elsewhere, those that seem to be back at
// their own place are no finding of their own.
bool Elsewhere(const std::array<Part, 256>& parts, DefinedMark mark) {
  if (parts[ComputedMark(mark)].count != 0) return true;
  for (std::size_t m = kMovedMark; m < parts.size(); ++m) {
    const auto other = static_cast<DefinedMark>(m);
    if (parts[m].count != 0 && !IsInPlace(other) && ComputedMark(other) == ComputedMark(mark)) return true;
  }
  return false;
}

}  // namespace

Finding UndefinedUse(const UndefinedContext& context, DefinedMark mark, std::string_view use, const Site& site) {
  const Origins& origins = context.origins;
  Finding finding =
      origins.FindingOf(mark, Cat(use, AtAgent(context.naming, site.program)), origins.MetBy(mark, site.program));
  // A note about a result is one, wherever else the result goes; it counts the elements and uses that depend on it.
  if (origins.Of(mark).kind == OriginKind::kValue) return finding;
  finding.loc = site.loc;
  finding.text_line = site.text_line;
  finding.second = FindingAccess{.kind = AccessKind::kRead,
                                 .agent = AgentName(context.naming, site.program),
                                 .object = std::string(use),
                                 .box = "",
                                 .loc = site.loc,
                                 .text_line = site.text_line};
  return finding;
}

bool HoldsNothing(const Origins& origins, DefinedMark mark) {
  if (mark == 0) return false;
  const Origin& origin = origins.Of(mark);
  return origin.kind != OriginKind::kValue || RowOf(origin.code).denies == Denies::kDefinedness;
}

bool AnyHoldsNothing(const Origins& origins, const MemoryBuffer& buffer) {
  if (buffer.defined.all_defined()) return false;
  const std::int64_t elements = buffer.elements().value();
  std::int64_t e = 0;
  while (e < elements && !HoldsNothing(origins, buffer.defined.At(ElementCount(e)))) ++e;
  return e < elements;
}

std::vector<Finding> UndefinedOutput(const UndefinedContext& context, const MemoryBuffer& buffer,
                                     std::string_view device, const Site& site) {
  if (buffer.defined.all_defined()) return {};
  const std::int64_t elements = buffer.elements().value();
  std::array<Part, 256> parts{};
  for (std::int64_t e = 0; e < elements; ++e) {
    Part& part = parts[buffer.defined.At(ElementCount(e))];
    if (part.count++ == 0) part.first = e;
  }
  const Where where{buffer, device, site, AnyWritten(buffer)};
  std::vector<Finding> findings;
  for (std::size_t m = 1; m < parts.size(); ++m) {
    const auto mark = static_cast<DefinedMark>(m);
    if (mark != kUntouched && IsInPlace(mark) && Elsewhere(parts, mark)) continue;
    if (parts[m].count != 0 && !context.origins.IsReported(mark))
      findings.push_back(FindingOf(context, where, mark, parts[m]));
  }
  return findings;
}

}  // namespace palladion::memory_model
