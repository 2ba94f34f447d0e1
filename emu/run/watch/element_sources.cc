#include "emu/run/watch/element_sources.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "semantics/base/status.h"
#include "semantics/port/machine.h"

namespace palladion::watch {
namespace {

constexpr std::int64_t kLargestMark = kMovedMark - 1;  // those above stand for one output each

}  // namespace

absl::StatusOr<ElementSources> ElementSources::Of(const Instr& instr, ValueTypes types,
                                                  std::vector<const std::byte*> operand_values) {
  ElementSources sources;
  PALLADION_ASSIGN_OR_RETURN(sources.rule_, PrepareShadow(instr, types));
  for (const Type& type : types.out) sources.out_.emplace_back(static_cast<std::size_t>(NumElements(type.shape)));
  sources.scratch_.resize(sources.rule_.scratch_bytes + 64);
  sources.types_ = std::move(types);
  sources.values_ = std::move(operand_values);
  return sources;
}

std::int64_t ElementSources::elements(std::size_t operand) const { return NumElements(types_.in[operand].shape); }

std::int64_t ElementSources::Count(const Instr& instr) const {
  const std::int64_t in = elements(0), out = std::max<std::int64_t>(1, NumElements(types_.out[0].shape));
  switch (instr.row->flow) {
    case Flow::kReduce:
      return in / out;
    case Flow::kAll:
      return in;
    case Flow::kDot: {
      std::int64_t count = 1;
      const Attr* contract = Find(instr.attrs, "contract");
      for (const Attr& axis : std::get<AttrList>(std::get<AttrList>(contract->value)[0].value))
        count *= types_.in[0].shape[static_cast<std::size_t>(std::get<std::int64_t>(axis.value))];
      return count;
    }
    default:
      return 0;
  }
}

const std::vector<std::uint8_t>& ElementSources::Run(const std::vector<const std::uint8_t*>& marks,
                                                     std::size_t result) {
  std::vector<std::uint8_t*> out;
  for (std::vector<std::uint8_t>& marks_out : out_) out.push_back(marks_out.data());
  void* scratch = scratch_.data();
  std::size_t space = scratch_.size();
  std::align(64, rule_.scratch_bytes, scratch, space);
  rule_.run(rule_.params.get(), {values_.data(), marks.data(), out.data(), static_cast<std::byte*>(scratch)});
  return out_[result];
}

// The elements left are marked by bucket, in order; of several marks the smallest comes out, which is the bucket of the
// first element that matters. That bucket is divided in turn, down to one element.
std::vector<std::int64_t> ElementSources::In(std::size_t operand, std::size_t result, std::int64_t element,
                                             std::size_t limit, std::int64_t from) {
  const std::int64_t n = elements(operand);
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(n));
  std::vector<const std::uint8_t*> in(types_.in.size());
  in[operand] = marks.data();
  std::vector<std::int64_t> found;
  while (found.size() < limit && from < n) {
    std::int64_t begin = from, end = n;
    while (true) {
      const std::int64_t bucket = (end - begin + kLargestMark - 1) / kLargestMark;
      std::fill(marks.begin(), marks.end(), std::uint8_t{0});
      for (std::int64_t i = begin; i < end; ++i)
        marks[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(1 + (i - begin) / bucket);
      const std::uint8_t mark = Run(in, result)[static_cast<std::size_t>(element)];
      if (mark == 0) return found;
      begin += (mark - 1) * bucket;
      end = std::min(end, begin + bucket);
      if (end - begin == 1) break;
    }
    found.push_back(begin);
    from = begin + 1;
  }
  return found;
}

std::vector<std::uint8_t> ElementSources::MadeOf(const std::vector<std::vector<std::uint8_t>>& bad_elements,
                                                 std::size_t result) {
  std::vector<const std::uint8_t*> in;
  bool any = false;
  for (const std::vector<std::uint8_t>& bad : bad_elements) {
    in.push_back(bad.empty() ? nullptr : bad.data());
    any = any || !bad.empty();
  }
  if (!any) return std::vector<std::uint8_t>(out_[result].size());
  return Run(in, result);
}

}  // namespace palladion::watch
