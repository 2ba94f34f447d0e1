#include "semantics/ir/module.h"

#include "semantics/base/cat.h"

namespace palladion {

std::string Describe(const Module& module, LocId id) {
  constexpr int kMaxFrames = 20;  // of a deep user stack the rest is "..."
  std::string out;
  int frames = 0;
  // A hand-made module may link frames in a ring or past the table; both end here.
  for (; id.valid() && id.index() < module.locs.size() && frames < kMaxFrames; ++frames) {
    const Loc& loc = module.locs[id.index()];
    if (frames == 1) out += " (called from ";
    if (frames > 1) out += ", from ";
    Append(&out, module.files[loc.file.index()], ":", loc.line);
    if (loc.column > 0) Append(&out, ":", loc.column);
    if (!loc.function.empty()) Append(&out, " in ", loc.function);
    id = loc.via;
  }
  if (id.valid()) out += ", ...";
  if (frames > 1) out += ")";
  return out;
}

}  // namespace palladion
