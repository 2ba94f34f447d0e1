#include "semantics/registry/others_work.h"

#include <cstddef>

#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

std::size_t CountIn(const Region& region, OthersWork what) {
  std::size_t count = 0;
  for (const Instr& op : region.body) {
    count += RowOf(op).others_work == what ? 1 : 0;
    for (const Region& inner : op.regions) count += CountIn(inner, what);
  }
  return count;
}

std::size_t CountIn(const Kernel& kernel, OthersWork what) {
  std::size_t count = 0;
  for (const Body& body : kernel.bodies) count += CountIn(body.region, what);
  return count;
}

}  // namespace

bool TakesWork(const Kernel& kernel) { return CountIn(kernel, OthersWork::kAsks) > 0; }

bool ReadsAnswersTwice(const Kernel& kernel) { return CountIn(kernel, OthersWork::kReads) > 1; }

}  // namespace palladion
