// Loops over rows of marks (see Definedness in semantics/port/machine.h), without branches, so that the compiler makes
// vectors of them.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MARK_ROWS_H_
#define PALLADION_MEMORY_MODEL_BYTES_MARK_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "semantics/port/machine.h"

namespace palladion::memory_model {

using DefinedMark = std::uint8_t;  // 0: defined

// How many of n marks are not 0.
std::size_t CountMarks(const DefinedMark* marks, std::size_t n);

// Stores n lanes' marks at `to`. Lanes that do not take part keep what is there, `unsure` ones are undefined whatever
// is stored; each of the last three may be nullptr: all defined, all lanes, all sure.
void StoreMarks(DefinedMark* to, const DefinedMark* value, const std::uint8_t* lanes, const DefinedMark* unsure,
                std::size_t n);

// Masked-off lanes take the mark of their other, `other_of_all` where `other` is nullptr; unsure ones their mask's.
struct MaskedLanes {
  const std::uint8_t* lanes = nullptr;
  const DefinedMark* other = nullptr;
  DefinedMark other_of_all = 0;
  const DefinedMark* unsure = nullptr;  // may be nullptr: all are sure
};
void MaskMarks(DefinedMark* marks, const MaskedLanes& masked, std::size_t n);

// Replaces `from` by `to`. Was there one?
bool ReplaceMarks(DefinedMark* marks, DefinedMark from, DefinedMark to, std::size_t n);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MARK_ROWS_H_
