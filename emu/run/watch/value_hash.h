// The hash of a value in an instruction log: the same on every host, and easy to compute elsewhere, so that a backend
// can write logs too. Definition, with NumPy code: docs/guides/log.md. Not for secrets or hash tables: collisions are
// easy to construct.
#ifndef PALLADION_EMU_RUN_WATCH_VALUE_HASH_H_
#define PALLADION_EMU_RUN_WATCH_VALUE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "semantics/base/dtype.h"

namespace palladion::watch {

// Of n storage elements of the type, row-major. Every NaN counts as the type's one quiet NaN: which bits a NaN has is
// nothing that backends agree on. +0 and -0 differ.
std::uint64_t HashValue(DType dtype, const std::byte* data, std::size_t n);

std::string HashText(std::uint64_t hash);  // 16 hexadecimal digits

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_VALUE_HASH_H_
