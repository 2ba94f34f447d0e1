// The user's lines that a kernel was written on, with what is between them: the source that a picture shows beside.
// Lines of JAX's own files are left out: the line that called them is shown.
#ifndef PALLADION_EMU_TOOLS_DEBUG_SOURCE_EXCERPTS_H_
#define PALLADION_EMU_TOOLS_DEBUG_SOURCE_EXCERPTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "semantics/ir/module.h"

namespace palladion::debug {

struct UserPlace {
  std::string file;
  int line = 0;  // 0: none
};

// The innermost frame of the user's own Python.
UserPlace PlaceOf(const Module& module, LocId id);

struct SourceExcerpt {
  std::string file;
  std::vector<std::pair<int, std::string>> lines;
};

using SourceLine = std::function<std::optional<std::string>(const std::string& file, int line)>;

// At most 400 lines. Lines that cannot be read are left out.
std::vector<SourceExcerpt> ExcerptsOf(absl::Span<const UserPlace> places, const SourceLine& source_line);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_SOURCE_EXCERPTS_H_
