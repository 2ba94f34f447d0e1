// Advice as `palladion advise` and Python report it: text for people, JSON for programs.
#ifndef PALLADION_EMU_TOOLS_ADVICE_ADVICE_FORMAT_H_
#define PALLADION_EMU_TOOLS_ADVICE_ADVICE_FORMAT_H_

#include <string>

#include "emu/tools/advice/advise.h"
#include "semantics/ir/module.h"

namespace palladion::advice {

// `module`: the kernel's, for the places of its text.
std::string AdviceText(const Advice& advice, const Module& module);
std::string AdviceJson(const Advice& advice, const Module& module);  // an object on one line

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_ADVICE_FORMAT_H_
