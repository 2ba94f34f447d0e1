// What came out of a case, held against what the case expects: the rules of docs/spec/cases.md, for our own run and for
// a backend's answer alike. It compares; it runs nothing.
#ifndef PALLADION_CONFORMANCE_CASE_JUDGE_H_
#define PALLADION_CONFORMANCE_CASE_JUDGE_H_

#include <string>
#include <vector>

#include "conformance/case_file.h"
#include "emu/emulate.h"

namespace palladion::conformance {

struct Ran {
  int exit_code = 0;
  std::string error;  // from 3 on
  Report report;
  std::vector<OperandDescription> described;
  std::vector<Tensor> outputs;
};

// Each adds a line for everything that is not as the case expects it.
void CheckExit(const Case& test, const Ran& ran, std::vector<std::string>& failures);
void CheckFindings(const Case& test, const Ran& ran, std::vector<std::string>& failures);
void CheckPrinted(const Case& test, const std::vector<std::string>& found, std::vector<std::string>& failures);
void CheckOutputs(const Case& test, const Ran& ran, std::vector<std::string>& failures);

// How the array differs from the lists of the case, a line for each list; empty: it is one of them. An output that has
// no list has nothing to differ from here.
std::vector<std::string> ListDifferences(const CaseOutput& output, const Tensor& found);

// How its hash differs, "" where it does not or the case has none.
std::string HashDifference(const CaseOutput& output, const Tensor& found);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_JUDGE_H_
