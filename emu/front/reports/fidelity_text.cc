#include "emu/front/reports/fidelity_text.h"

#include <algorithm>
#include <cstddef>

#include "semantics/base/cat.h"
#include "semantics/base/printable.h"

namespace palladion::reports {
namespace {

// "2 approximate (exp, dot_general)".
std::string Of(const ReportedFidelity& fidelity, FidelityKind kind, std::int64_t count) {
  std::string names;
  for (const FidelityRow& row : fidelity.rows) {
    if (row.kind == kind) Append(&names, names.empty() ? "" : ", ", Printable(row.name));
  }
  return Cat(count, " ", Name(kind), " (", names, ")");
}

}  // namespace

std::string FidelityLine(const Report& report) {
  if (!report.fidelity.has_value()) return "";
  const ReportedFidelity& fidelity = *report.fidelity;
  if (fidelity.approximate + fidelity.refused == 0) return "";
  std::string line =
      Cat(fidelity.exact, fidelity.exact == 1 ? " operation" : " operations", " exact on ", Printable(report.target));
  if (fidelity.approximate > 0) Append(&line, ", ", Of(fidelity, FidelityKind::kApproximate, fidelity.approximate));
  if (fidelity.refused > 0) Append(&line, ", ", Of(fidelity, FidelityKind::kRefused, fidelity.refused));
  if (fidelity.reached.empty()) return line;
  const FidelityReach& first = fidelity.reached[0];
  Append(&line, "; an approximate value may reach ", first.what, ": ", Printable(first.words));
  if (fidelity.reached.size() > 1) Append(&line, ", and ", fidelity.reached.size() - 1, " more");
  return line;
}

std::string FidelityTable(const Report& report) {
  if (!report.fidelity.has_value()) return "";
  std::size_t width = 0;
  for (const FidelityRow& row : report.fidelity->rows) width = std::max(width, Printable(row.name).size());
  std::string text = Cat("fidelity of @", Printable(report.kernel), " on ", Printable(report.target), ":\n");
  for (const FidelityRow& row : report.fidelity->rows) {
    const std::string name = Printable(row.name), count = Cat(row.count);
    constexpr std::size_t kDigits = 6, kKind = 13;
    Append(&text, "  ", name, std::string(width + 2 - name.size(), ' '),
           std::string(kDigits - std::min(kDigits, count.size()), ' '), count, "  ", Name(row.kind));
    if (!row.why.empty()) Append(&text, std::string(kKind - std::min(kKind, Name(row.kind).size()), ' '), row.why);
    text += "\n";
  }
  for (const FidelityReach& reach : report.fidelity->reached)
    Append(&text, "  an approximate value may reach ", reach.what, ": ", Printable(reach.words), "\n");
  if (report.fidelity->reached.empty())
    text += "  no approximate value reaches control flow, an address or a synchronisation\n";
  return text;
}

}  // namespace palladion::reports
