#include "semantics/ops/gpu/rows.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

// The pieces of the value that lie outside, which become padding.
std::vector<std::size_t> MakePadding(AsyncPoints* points) {
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < points->offset.size(); ++i) {
    if (points->offset[i] >= 0) continue;
    points->offset[i] = PointAccess::kPadding;
    outside.push_back(i);
  }
  return outside;
}

// A place that is named twice; none.
std::optional<std::int64_t> NamedTwice(std::vector<std::int64_t> offset) {
  std::sort(offset.begin(), offset.end());
  const auto first = std::lower_bound(offset.begin(), offset.end(), 0);
  const auto twice = std::adjacent_find(first, offset.end());
  return twice == offset.end() ? std::nullopt : std::optional(*twice);
}

}  // namespace

void FillOutside(Outside outside, AsyncRequest* request) {
  auto* const points = std::get_if<AsyncPoints>(&request->sources[0].where);
  if (points == nullptr || outside == Outside::kError) return;
  std::vector<std::size_t> missing = MakePadding(points);
  if (missing.empty() || outside != Outside::kZero) return;
  request->function = [missing = std::move(missing), piece = points->piece_bytes.size(),
                       per = points->pieces_per_element](const std::vector<AsyncValue>& in,
                                                         std::vector<AsyncValue>* out) {
    AsyncValue& value = (*out)[0] = in[0];
    for (const std::size_t i : missing) {
      std::fill_n(value.bytes.begin() + static_cast<std::ptrdiff_t>(i * piece), piece, std::byte{0});
      if (!value.marks.empty()) value.marks[i / per] = 0;
    }
  };
}

void DropOutside(const ViewPlan& destination, const Step& step, Frame& frame, AsyncRequest* request) {
  auto* const points = std::get_if<AsyncPoints>(&request->destinations[0].where);
  if (points == nullptr) return;
  MakePadding(points);
  const std::optional<std::int64_t> twice = NamedTwice(points->offset);
  if (!twice.has_value()) return;
  const RefInfo& info = frame.program().refs[destination.ref.index()];
  std::int64_t row_bytes = static_cast<std::int64_t>(StorageBytes(info.dtype));
  for (std::size_t d = 1; d < info.buffer_shape.size(); ++d) row_bytes *= info.buffer_shape[d];
  const FindingAccess write{.kind = AccessKind::kWrite,
                            .agent = request->name,
                            .object = info.name,
                            .box = Cat("[", *twice / row_bytes, "]"),
                            .loc = step.loc,
                            .text_line = step.text_line};
  frame.machine().Report({.code = FindingCode::kRaceWriteWrite,
                          .message = Cat(request->name, " writes row ", *twice / row_bytes, " of ", info.name,
                                         " twice: its array of indices names it twice"),
                          .loc = step.loc,
                          .text_line = step.text_line,
                          .first = write,
                          .second = write,
                          .why = "the rows of a copy are written in no order, so either may be the one that stays",
                          .fix = "name each row once; an index outside the array writes nothing"});
}

}  // namespace palladion
