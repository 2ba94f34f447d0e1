// The report of how long a kernel takes on a chip: the time, with its uncertainty; utilisation; where the time went, by
// source line; memory traffic. Filled by the models of each family (emu/timing/time_kernel.h), rendered by format.h.
// Limits: each model lists what it leaves out (`left_out`).
#ifndef PALLADION_EMU_TIMING_REPORT_TIMING_H_
#define PALLADION_EMU_TIMING_REPORT_TIMING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/chip/machines/amount.h"
#include "semantics/base/ids.h"

namespace palladion::timing::report {

// A unit of the chip, all of its kind together: "tensor cores", "shared memory port", "DRAM".
struct UnitUse {
  std::string unit;
  double busy = 0;  // share of the time, 0 to 1, averaged over all of the kind
};

// Why threads waited: "a copy into shared memory", "busy issue slots".
struct StallTime {
  std::string reason;
  machines::Cycles waited;
};

// An instruction of the kernel's text, over all agents that ran it.
struct LineTime {
  LocId loc;
  int text_line = 0;
  std::string op;
  std::int64_t runs = 0;
  machines::Cycles busy;               // of the agent: it could not do anything else
  machines::Cycles waited;             // until it could begin, or for its operands
  std::string waited_for;              // "a copy that line 12 starts"; "" where it never waited
  std::vector<StallTime> stalls = {};  // what makes up `waited`, the longest first
};

// Of an operand of the kernel.
struct OperandTraffic {
  std::string operand;
  machines::Bytes read, written;          // through L2, or through main memory where the chip has no L2
  std::optional<machines::Bytes> missed;  // of these, what L2 did not have; nothing where the chip has no L2
};

// The share of the bytes read that L2 had; nothing where the chip has no L2, or nothing was read. What is written is
// always its own.
inline std::optional<double> L2HitRate(const OperandTraffic& of) {
  if (!of.missed.has_value() || of.read.value() == 0) return std::nullopt;
  return 1 - *of.missed / of.read;
}

// Of all operands together.
inline OperandTraffic AllTraffic(const std::vector<OperandTraffic>& traffic) {
  OperandTraffic all{.operand = "all", .read = {}, .written = {}, .missed = {}};
  for (const OperandTraffic& of : traffic) {
    all.read += of.read;
    all.written += of.written;
    if (of.missed.has_value()) all.missed = all.missed.value_or(machines::Bytes()) + *of.missed;
  }
  return all;
}

// Blocks begin as many at a time as the chip holds, later ones in the places of those that have ended. So it is a
// number of rounds only where blocks take equally long.
struct Waves {
  std::int64_t count = 1;
  double last = 1;  // share of the chip's places for which the last wave has a block
};

// What the rows of the table by line add up to: all the places of a chip that had a block, each for all of `time`.
struct Whole {
  struct Part {
    std::string name;  // "launch of the kernel"
    machines::Cycles time;
  };
  std::string of;          // "264 places for blocks"
  machines::Cycles time;   // of all of them together
  std::vector<Part> rest;  // what is of no instruction: with busy and waiting time of all lines it adds up to `time`
};

// A part of the critical path: of what began last and ended last, what that waited for, and so on to the start.
struct PathPart {
  LocId loc;
  int text_line = 0;      // 0: of no instruction
  std::string op;         // ""
  std::string doing;      // "": its thread works; "under way": its engine; "waits for a busy L2"
  machines::Cycles time;  // of all times that it is on the path
};

// How blocks were placed. Of a TPU: programs of the grid, cores.
struct Placement {
  std::int64_t blocks = 0, units = 0;  // units: SMs or cores that had any
  std::optional<std::int64_t> timed;   // of a Triton kernel: blocks that were run; others are taken to be like them
  std::int64_t at_once = 0;            // blocks that one unit held at most
  std::optional<Waves> waves;          // of a GPU
  std::string limit;                   // the limiting resource: "shared memory", "the grid", "one program at a time"
};

// The smallest time that a limit of the chip allows, whatever else happens.
struct Bound {
  std::string limit;  // "bf16 matrix products", "bytes of DRAM"
  machines::Nanoseconds time;
};

// One of several devices that run a kernel together.
struct DeviceTime {
  std::string device;                // "device 1", by its place in the mesh
  machines::Cycles ended;            // its last thread
  machines::Bytes sent, received;    // by its link
  double out_busy = 0, in_busy = 0;  // its link, of the kernel's time
  std::vector<StallTime> stalls;     // of its threads
};

struct Timing {
  std::string machine;
  machines::Hertz clock;
  machines::Cycles cycles;     // from the first block's start to the last one's end
  machines::Nanoseconds time;  // the same, and the launch
  machines::Nanoseconds launch;
  std::optional<double> uncertainty;  // share of `time` by which published figures were missed; nothing: not known
  std::string uncertainty_why;        // which figures these were; or that there are none for such kernels

  double flops = 0;                     // of matrix products and arithmetic; a multiplication and an addition are two
  machines::Bytes memory;               // through main memory
  std::vector<Bound> roofline;          // each limit that the kernel touches, the largest time first
  std::vector<UnitUse> units;           // in the machine's order
  std::vector<LineTime> lines;          // in the text's order, those that took or waited any time
  std::optional<Whole> whole;           // of a GPU, where all blocks have ended
  std::vector<PathPart> critical_path;  // the longest part first; they add up to `cycles`
  std::vector<StallTime> stalls;        // of all lines, and of no line: blocks that begin where others have ended
  std::vector<OperandTraffic> traffic;
  Placement placement;
  std::vector<DeviceTime> devices;    // of a mesh, in its order; else none
  std::vector<std::string> left_out;  // what this kernel does that the model counts as free, or not exactly

  machines::BytesPerSecond memory_peak;  // that main memory of each device allows; 0: not known
};

}  // namespace palladion::timing::report

#endif  // PALLADION_EMU_TIMING_REPORT_TIMING_H_
