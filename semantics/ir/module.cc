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

namespace {

// Python that JAX writes into kernels for its users.
bool IsJax(const std::string& file) { return file.find("/jax/_src/") != std::string::npos; }

std::string FileAndLine(const Module& module, const Loc& loc) {
  const std::string& file = module.files[loc.file.index()];
  return Cat(file.substr(file.rfind('/') + 1), ":", loc.line);
}

}  // namespace

std::string PlaceText(const Module& module, LocId id, int text_line) {
  if (!id.valid() || id.index() >= module.locs.size()) {
    // Instructions around the user's own, such as the scope of a kernel's scratch, have no line of Python.
    return module.locs.empty() ? Cat("line ", text_line, " of the kernel text")
                               : "a step that JAX put around the kernel";
  }
  const Loc& innermost = module.locs[id.index()];
  std::size_t frames = 0;  // a hand-made module may link frames in a ring
  for (; id.valid() && id.index() < module.locs.size() && frames < module.locs.size(); ++frames) {
    const Loc& loc = module.locs[id.index()];
    if (!IsJax(module.files[loc.file.index()]))
      return Cat(FileAndLine(module, loc), frames == 0 ? "" : Cat(" (in JAX's ", FileAndLine(module, innermost), ")"));
    id = loc.via;
  }
  return Cat("JAX's ", FileAndLine(module, innermost));
}

}  // namespace palladion
