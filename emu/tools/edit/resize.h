// One size of a kernel becomes another. A size is written in many places that do not name each other: a block, its ref,
// the types of what is computed from it, slices. All equal sizes change together, as if the user had changed the number
// that they share; where that makes no kernel (a reshape that folds the size into another one), the verifier says so.
// What it does not know: whether two equal numbers mean the same size.
#ifndef PALLADION_EMU_TOOLS_EDIT_RESIZE_H_
#define PALLADION_EMU_TOOLS_EDIT_RESIZE_H_

#include <cstdint>
#include <functional>

#include "semantics/ir/module.h"

namespace palladion::edit {

struct Resizing {
  std::function<std::int64_t(std::int64_t)> size;  // what a size becomes
  bool arrays = false;                             // whole arrays too, not only blocks, scratch and what bodies compute
  bool numbers = false;  // integer literals and all integers of attributes too, not only those that say a shape
};
void Resize(Kernel& kernel, const Resizing& resizing);

}  // namespace palladion::edit

#endif  // PALLADION_EMU_TOOLS_EDIT_RESIZE_H_
