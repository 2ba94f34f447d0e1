// Places of C++ code as places of findings: a table that grows while kernels run, in the form in which reports read the
// places of a kernel text. And the texts of findings: names of Pallas' Python calls are replaced by calls of
// KernelContext. Limits: a place is a line, without its callers; one table serves consecutive runs.
#ifndef PALLADION_EMU_FRONT_CPP_CODE_PLACES_H_
#define PALLADION_EMU_FRONT_CPP_CODE_PLACES_H_

#include <map>
#include <string>
#include <tuple>

#include "emu/kernel.h"
#include "semantics/base/finding.h"
#include "semantics/ir/module.h"

namespace palladion {

class CodePlaces {
 public:
  LocId IdOf(const CodePlace& place);
  std::string TextOf(LocId loc) const;  // "lock.cc:17"
  const Module& module() const { return module_; }

 private:
  Module module_;  // of which only the places are used
  std::map<std::string, FileId> files_;
  std::map<std::tuple<std::int32_t, int, std::string>, LocId> ids_;
};

void SayInCpp(Finding& finding);

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_CODE_PLACES_H_
