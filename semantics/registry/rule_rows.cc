#include "semantics/registry/rule_rows.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace palladion {

const OpRow* RuleRow(std::string_view name) {
  const std::size_t dot = name.find('.');
  const bool has_dialect = dot != std::string_view::npos;
  const OpRow* row =
      FindOp(has_dialect ? name.substr(0, dot) : std::string_view(), has_dialect ? name.substr(dot + 1) : name);
  if (row != nullptr) return row;
  std::fprintf(stderr, "emu/check/legality: a rule is about %s, which the registry does not have\n",
               std::string(name).c_str());
  std::abort();
}

}  // namespace palladion
