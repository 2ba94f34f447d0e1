// What the inspectors of one run found (semantics/ops/inspect.h), by place: attached to the frames of a checked run.
#ifndef PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_
#define PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/finding.h"
#include "semantics/ops/inspect.h"
#include "semantics/program/program.h"

namespace palladion {

class Inspections {
 public:
  // For frames of this program; frames of one run share it.
  explicit Inspections(const Program& program) : records_(program.inspectors) {}

  // Before a value step that has inspectors.
  void Look(const Step& step, Frame& frame);

  // Elements [first, first + n) of one operand of an operation.
  void Look(const Inspected& op, const Inspector& inspector, const std::byte* x, const std::uint8_t* undefined,
            std::size_t first, std::size_t n, const Frame& frame);

  std::int64_t looks() const { return looks_; }
  std::vector<Finding> Findings() const;  // in the order of the program; each names its first element, and counts all

 private:
  struct Record {
    std::int64_t elements = 0;
    Finding finding;  // of the first
  };
  std::vector<Record> records_;  // by Inspector::site
  std::int64_t looks_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_
