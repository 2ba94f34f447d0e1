#include "semantics/program/swizzle_use.h"

#include <algorithm>
#include <limits>

#include "semantics/ir/view_layout.h"

namespace palladion {
namespace {

constexpr std::int64_t kPeriod = 1024;  // what the widest swizzle permutes within

}  // namespace

std::int64_t SwizzleMask(absl::Span<const Transform> transforms) {
  std::int64_t mask = 0;
  for (const Transform& t : transforms) {
    if (t.kind == Transform::Kind::kUnswizzle || t.kind == Transform::Kind::kSwizzle) mask ^= t.ints[0] / 16 - 1;
  }
  return mask;
}

SwizzleUse::SwizzleUse(const Kernel& kernel) : kernel_(kernel) {
  for (std::size_t i = 0; i < kernel.values.size(); ++i) root_.push_back(static_cast<std::int32_t>(i));
  views_.resize(kernel.values.size());
  places_.resize(kernel.values.size(), 1);
  for (const Body& body : kernel.bodies) Collect(body.region);
  for (std::vector<View>& views : views_) joined_.push_back(Join(std::move(views)));
}

void SwizzleUse::Collect(const Region& region) {
  for (const Instr& op : region.body) {
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      const Arg& arg = op.args[i];
      bool passed = false;
      for (const Region& callee : op.regions) {
        if (arg.kind != Arg::Kind::kValue || !arg.transforms.empty() || i >= callee.params.size()) continue;
        const ValueId param = callee.params[i].value;
        if (!param.valid() || !kernel_.values[param.index()].type.is_ref()) continue;
        root_[param.index()] = root_[arg.value.index()];
        passed = true;
      }
      if (!passed) Collect(arg);
    }
    for (const Region& inner : op.regions) Collect(inner);
  }
}

void SwizzleUse::Collect(const Arg& arg) {
  for (const Arg& choice : arg.select) Collect(choice);
  if (arg.kind != Arg::Kind::kValue || !kernel_.values[arg.value.index()].type.is_ref()) return;
  const auto root = static_cast<std::size_t>(root_[arg.value.index()]);
  views_[root].push_back(ViewOf(arg));
  places_[root] = std::max(places_[root], PlacesFor(arg));
}

std::int64_t SwizzleUse::PlacesFor(const Arg& arg) {
  if (arg.transforms.empty() || arg.transforms[0].kind != Transform::Kind::kAlias) return 1;
  const absl::StatusOr<AliasMember> member = ParseAlias(arg.transforms[0].attrs);
  return member.ok() && !member->in_tensor_memory && IsPacked(member->dtype) ? 8 / Info(member->dtype).bits : 1;
}

SwizzleUse::View SwizzleUse::ViewOf(const Arg& arg) const {
  View view{0, std::numeric_limits<std::int64_t>::max(), SwizzleMask(arg.transforms)};
  if (arg.transforms.empty() || arg.transforms[0].kind != Transform::Kind::kAlias) return view;
  const absl::StatusOr<AliasMember> member = ParseAlias(arg.transforms[0].attrs);
  if (!member.ok() || member->in_tensor_memory) return view;
  const std::int64_t bytes = BytesOf(*member);
  view.begin = member->offset / kPeriod * kPeriod;
  view.end = (member->offset + bytes + kPeriod - 1) / kPeriod * kPeriod;
  return view;
}

std::vector<SwizzleUse::Stretch> SwizzleUse::Join(std::vector<View> views) {
  std::sort(views.begin(), views.end(), [](const View& a, const View& b) { return a.begin < b.begin; });
  std::vector<Stretch> joined;
  std::int64_t mask = 0;
  for (const View& view : views) {
    if (joined.empty() || view.begin >= joined.back().end) {
      joined.push_back({view.begin, view.end, false});
      mask = view.mask;
    }
    joined.back().end = std::max(joined.back().end, view.end);
    joined.back().differs |= view.mask != mask;
  }
  return joined;
}

bool SwizzleUse::Differs(const Arg& arg) const {
  const View view = ViewOf(arg);
  const std::vector<Stretch>& joined = joined_[static_cast<std::size_t>(root_[arg.value.index()])];
  return std::any_of(joined.begin(), joined.end(), [&](const Stretch& stretch) {
    return stretch.differs && view.begin < stretch.end && stretch.begin < view.end;
  });
}

}  // namespace palladion
