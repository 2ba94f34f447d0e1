// Lines of source that a caller of the C ABI gives, of files that are on no disk (a notebook's cells); those of others
// are read.
#ifndef PALLADION_EMU_FRONT_BRIDGE_C_LINES_H_
#define PALLADION_EMU_FRONT_BRIDGE_C_LINES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "emu/c_api.h"
#include "emu/front/bridge/c_arrays.h"
#include "semantics/base/source_lines.h"

namespace palladion::bridge {

class SourceLines {
 public:
  SourceLines(const palladion_source_line* lines, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      given_[{std::string(TextOf(lines[i].file)), lines[i].line}] = TextOf(lines[i].text);
  }

  std::optional<std::string> Line(const std::string& file, int line) {
    if (const auto found = given_.find({file, line}); found != given_.end()) return found->second;
    return files_.Line(file, line);
  }

 private:
  std::map<std::pair<std::string, int>, std::string> given_;
  SourceFiles files_;
};

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_C_LINES_H_
