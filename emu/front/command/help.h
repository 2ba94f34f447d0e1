// `palladion help`: the table of commands as text for people, as JSON for tools/gen_docs.py, and as scripts that
// complete words in a shell.
#ifndef PALLADION_EMU_FRONT_COMMAND_HELP_H_
#define PALLADION_EMU_FRONT_COMMAND_HELP_H_

#include <string>
#include <string_view>

#include "emu/front/command/command_table.h"

namespace palladion::command {

std::string HelpText();                            // all commands
std::string HelpText(const CommandInfo& command);  // one with its options
std::string HelpJson();

// InvalidArgument's message is the caller's: "" for a shell that is not one of bash, zsh and fish.
std::string CompletionScript(std::string_view shell);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_HELP_H_
