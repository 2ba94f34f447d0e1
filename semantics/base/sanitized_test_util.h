// How much of a repetition a sanitized build runs, where each round takes ten to forty times as long. It is for rounds
// that go the same ways through the code with other contents or in another order: random values of one operation,
// schedules of one kernel. The release build runs them all. Not for random kernels, each of which goes ways of its own.
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
