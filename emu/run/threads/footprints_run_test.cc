// What an arrival or a signal of kernel text touches, seen by a search of all orders: of what touches different
// objects one order stands for all.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

enum class Target { kOwn, kFirst };

// Two threads that signal three times, each its own object of `b` or both the first.
std::string Signalling(const std::string& signal, const std::string& rest, Target whom) {
  std::vector<std::string> threads;
  for (const int thread : {0, 1}) {
    std::string& text = threads.emplace_back();
    for (int i = 0; i < 3; ++i)
      Append(&text, "    ", signal, "=%b.at[", whom == Target::kOwn ? thread : 0, "]", rest, ");\n");
  }
  return EachDoes("wg", {threads[0], threads[1]});
}

std::int64_t OrdersOf(const std::string& body) {
  return CheckThreads(ThreadKernel(Threads(2), body), {.exhaustive = true}).schedules;
}

TEST(Footprints, ArrivalsAtDifferentBarriersHaveOneOrder) {
  const auto orders = [](Target whom) {
    return OrdersOf(
        Cat("    run_scoped{collective_axes=[\"wg\"]}() (%b: ref<smem,barrier{arrivals=6}[2]> as \"b\") {\n",
            Signalling("barrier_arrive(barrier", "", whom), "    return; };\n"));
  };
  EXPECT_LT(orders(Target::kOwn), orders(Target::kFirst));
}

TEST(Footprints, SignalsOfDifferentSemaphoresHaveOneOrder) {
  const auto orders = [](Target whom) {
    return OrdersOf(Cat("    %b = get_global{what=\"b\"}() : ref<gmem,sem[2]>;\n",
                        Signalling("semaphore_signal(ref", ", inc=1:i32", whom)));
  };
  EXPECT_LT(orders(Target::kOwn), orders(Target::kFirst));
}

}  // namespace
}  // namespace palladion::threads
