// The operations that rules are about. A rule about one operation names it here and nowhere else in its code: the name
// is looked up once, and what is compared is the row. What holds of a kind of operation (loads, loops, scopes) is asked
// of the row's facts instead (semantics/registry/op_row.h).
#ifndef PALLADION_SEMANTICS_REGISTRY_RULE_ROWS_H_
#define PALLADION_SEMANTICS_REGISTRY_RULE_ROWS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "semantics/registry/op_row.h"

namespace palladion {

// `name` is "wgmma_ref", or "mgpu.load". A name that the registry does not have ends the process: it is a slip in a
// rule, which every test that asks the rule then shows.
const OpRow* RuleRow(std::string_view name);

// Made once for each rule: static const RuleRows kProducts("wgmma_ref", "wgmma");
template <std::size_t kCount>
class RuleRows {
 public:
  template <class... Names>
  explicit RuleRows(Names... names) : rows_{RuleRow(names)...} {}

  // The verifier may not have seen it.
  bool Has(const Instr& op) const { return std::find(rows_.begin(), rows_.end(), &RowOf(op)) != rows_.end(); }

 private:
  std::array<const OpRow*, kCount> rows_;
};

template <class... Names>
RuleRows(Names...) -> RuleRows<sizeof...(Names)>;

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_RULE_ROWS_H_
