// Random kernels of cluster launch control for the hunt, which have a machine of their own: blocks request the work of
// blocks that have not begun, and do it or lose it. Rules: docs/spec/gpu-cluster-cancel.md. Limits: a cluster is one
// block of one thread; every block does the same; each request has an answer and a barrier of its own.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_CANCEL_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_CANCEL_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_oracle.h"

namespace palladion::hunt {

struct CancelOp {
  enum class What : std::uint8_t {
    kOwn,    // its own work
    kAsk,    // for more, answered in `slot`
    kWait,   // for the answer
    kQuery,  // `body` where the answer has work
    kTaken,  // that work, of `slot`
  };
  What what = What::kOwn;
  int slot = 0;
  std::vector<CancelOp> body = {};
};

struct CancelKernel {
  int blocks = 2, slots = 0;
  bool names_doer = false;  // is what is written another number by another block?
  std::vector<CancelOp> ops;
};

CancelKernel RandomCancel(std::uint64_t seed);
std::string CancelText(const CancelKernel& kernel);

// What may come of it, in every order.
struct CancelReached {
  std::set<std::string> outputs;  // of orders that end
  bool lost = false, twice = false, after_no = false;
  bool early = false;  // an answer is read without a wait for it
};
CancelReached ExploreCancel(const CancelKernel& kernel, Mutation mutation = Mutation::kNone);

HuntResult JudgeCancel(const CancelKernel& kernel, const HuntOptions& options);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_CANCEL_H_
