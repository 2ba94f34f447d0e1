// How many rounds of a repeated test a sanitized build runs, where each round takes ten to forty times as long. For
// rounds that take the same paths through the code with other contents or in another order: random values of one
// operation, schedules of one kernel, cases that run once more to be compared, random programs of the same few
// operations. The release build runs all of them.
#ifndef PALLADION_SEMANTICS_BASE_SANITIZED_TEST_UTIL_H_
#define PALLADION_SEMANTICS_BASE_SANITIZED_TEST_UTIL_H_

namespace palladion {

#ifdef PALLADION_SANITIZED
constexpr int Rounds(int all) { return all / 4; }
#else
constexpr int Rounds(int all) { return all; }
#endif

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_SANITIZED_TEST_UTIL_H_
