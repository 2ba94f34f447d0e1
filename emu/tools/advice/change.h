// Changes of a kernel's text that keep what it means, for `palladion advise` to run in virtual time: each finds in a
// kernel the places where it applies, and gives the kernel with the change. Based on: the text alone (emu/tools/edit),
// and the facts of the registry's rows. What they do not prove: that the changed kernel computes the same; advise.h
// runs and checks each. Where the meaning of a number is ambiguous, a change does not apply and says so.
#ifndef PALLADION_EMU_TOOLS_ADVICE_CHANGE_H_
#define PALLADION_EMU_TOOLS_ADVICE_CHANGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "semantics/ir/module.h"

namespace palladion::advice {

// The kernel with one change.
struct Candidate {
  std::string what;  // "one more slot of ring a_smem, b_smem"
  int text_line = 0;
  LocId loc;
  bool same_traffic = false;  // it asks for the same bytes of each operand; else it is not what it is meant to be
  // Of candidates with the same, which follow each other and go further and further, the rest is left once one is not
  // faster than the one before; "": it stands alone.
  std::string series;
  Module module;
};

// Where a change might apply, and why it was not tried.
struct NotTried {
  std::string what;  // "slots of ring a_smem"
  int text_line = 0;
  LocId loc;
  std::string why;
};

struct Found {
  std::vector<Candidate> candidates;  // in the order of the text
  std::vector<NotTried> not_tried;
};

struct ChangeRow {
  std::string_view name;  // "slots"
  std::string_view does;  // for people
  std::string_view none;  // what is said where a kernel has no place for it
  Found (*find)(const Module& module);
};
// Every change, in the order in which they are tried. `module` has one kernel, which the verifier accepted.
absl::Span<const ChangeRow> AllChanges();

// The changes themselves.
Found FindSlots(const Module& module);         // change_slots.cc
Found FindGridOrder(const Module& module);     // change_grid.cc
Found FindProductWaits(const Module& module);  // change_waits.cc
Found FindBlocks(const Module& module);        // change_blocks.cc

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_CHANGE_H_
