// Tables in texts for people: columns as wide as their widest cell, two spaces between them and before the first.
#ifndef PALLADION_SEMANTICS_BASE_TEXT_TABLE_H_
#define PALLADION_SEMANTICS_BASE_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace palladion {

using TableRows = std::vector<std::vector<std::string>>;

enum class LastColumn : bool { kNumbers, kWords };

// The first column is aligned left, the others right; a last one of words left, without spaces behind it.
std::string TextTable(const TableRows& rows, LastColumn last = LastColumn::kNumbers);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TEXT_TABLE_H_
