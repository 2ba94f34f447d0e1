// What a kernel of hunt_lanes.h does, access by access: in the order of its text, and which accesses clash by the rules
// that speak of places (docs/spec/races.md#lanes).
#ifndef PALLADION_EMU_TOOLS_HUNT_LANE_STEPS_H_
#define PALLADION_EMU_TOOLS_HUNT_LANE_STEPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "emu/tools/hunt/hunt_lanes.h"

namespace palladion::hunt {

// An access, as often as it is made.
struct LaneStep {
  const LaneOp* op = nullptr;
  int line = 0;         // of the text
  int turn = 0;         // of its loop
  int phase = 0;        // barriers before it
  int value_of = -1;    // the step whose result it takes
  int part = 0;         // elements of an array
  bool slopes = false;  // is there something of the number of the element in what it stores?
  std::string spread;   // its index expression, or layout: equal ones are spread over the lanes alike
};
inline bool IsAtomic(const LaneOp& op) { return op.what == LaneOp::What::kAdd || op.what == LaneOp::What::kExchange; }
inline bool TakesPart(const LaneOp& op, int i) { return op.keep == 0 || i < op.keep; }
int CellOf(const LaneStep& step, int i);                                // of memory, that element i has
std::int64_t ValueOf(const LaneStep& step, int i, std::int64_t taken);  // what it stores or adds
// What becomes of a cell, and what the lane has then: of a load and an update what was there, else what it stores.
std::int64_t Act(const LaneOp& op, std::int64_t value, std::int64_t* cell);

std::vector<LaneStep> StepsOf(const LaneKernel& kernel, const LaneText& text);

using LaneMemory = std::vector<std::int64_t>;  // all arrays' parts of one program
LaneMemory LanesBefore(const LaneKernel& kernel, int program);
// In the order of the text, elements in theirs; `values` has what each step loaded or stored.
LaneMemory LanesInOrder(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program,
                        std::vector<std::vector<std::int64_t>>* values);

// What the rules say of places: two accesses of an element that are at another place, or of another number of elements,
// one of which writes, with no barrier between.
struct LaneClash {
  bool equal = false, differ = false;  // of two stores: of one value, of two
};
using LaneLines = std::tuple<std::string, int, int>;  // RACE_WW or RACE_RW, the earlier line, the later one
std::map<LaneLines, LaneClash> LaneClashes(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program,
                                           Mutation mutation);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_LANE_STEPS_H_
