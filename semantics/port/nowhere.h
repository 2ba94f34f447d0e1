// The position of a block that has no element in its array, after that was reported. It is so far outside that no array
// and no padding reaches it, and near enough that sums with it do not overflow.
#ifndef PALLADION_SEMANTICS_PORT_NOWHERE_H_
#define PALLADION_SEMANTICS_PORT_NOWHERE_H_

#include <cstdint>

namespace palladion {

inline constexpr std::int64_t kNowhere = std::int64_t{1} << 48;

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_NOWHERE_H_
