// What the inspectors of one run found (semantics/registry/inspect.h), by place: attached to the frames of a checked
// run. Where a number leaves a result undefined, the result is marked, and the machine reports where it matters.
#ifndef PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_
#define PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/finding.h"
#include "semantics/program/program.h"
#include "semantics/registry/inspect.h"

namespace palladion {

class Inspections {
 public:
  // For frames of this program; frames of one run share it.
  explicit Inspections(const Program& program) : records_(program.inspectors) {}

  // Before a value step that has inspectors, and after it and its rule of definedness.
  void Look(const Step& step, Frame& frame);
  void MarkResults(const Step& step, Frame& frame);

  // Part of an operation: first elements [first, first + n) of each inspected operand, at x, with a mark each where one
  // may be undefined; then the results. Whether there is one to be marked; `results` are the marks of those n.
  struct Part {
    const std::byte* x;
    const std::uint8_t* undefined;
    std::size_t first, n;
  };
  void BeginPart() { broken_.clear(); }
  void Look(const Inspected& op, const Inspector& inspector, const Part& part, Frame& frame);
  bool MarksResults() const { return !broken_.empty(); }
  void MarkResults(std::uint8_t* results, std::size_t n) const;

  std::int64_t looks() const { return looks_; }
  std::vector<Finding> Findings() const;  // in the order of the program; each names its first element, and counts all

 private:
  struct Record {
    std::int64_t elements = 0;
    Finding finding;  // of the first
  };
  // What an operand's elements do to the results of the current operation.
  struct Broken {
    std::uint8_t mark;
    bool every;                          // the operand is one element for all of them
    std::vector<std::int64_t> elements;  // else these
  };
  std::vector<Record> records_;  // by Inspector::site
  std::vector<Broken> broken_;
  std::int64_t looks_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_INSPECTIONS_H_
