// What an arrival or a signal of kernel text touches, seen by a search of all orders: of what touches different
// objects one order stands for all.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

enum class Tell { kOwn, kFirst };

// Two threads that signal three times, each its own object of `b` or both the first.
std::string Telling(const std::string& tell, const std::string& rest, Tell whom) {
  std::vector<std::string> threads;
  for (const int thread : {0, 1}) {
    std::string& text = threads.emplace_back();
    for (int i = 0; i < 3; ++i)
      Append(&text, "    ", tell, "=%b.at[", whom == Tell::kOwn ? thread : 0, "]", rest, ");\n");
  }
  return EachDoes("wg", {threads[0], threads[1]});
}

std::int64_t OrdersOf(const std::string& body) {
  return CheckThreads(ThreadKernel(Threads(2), body), {.exhaustive = true}).schedules;
}

TEST(Footprints, ArrivalsAtDifferentBarriersHaveOneOrder) {
  const auto orders = [](Tell whom) {
    return OrdersOf(
        Cat("    run_scoped{collective_axes=[\"wg\"]}() (%b: ref<smem,barrier{arrivals=6}[2]> as \"b\") {\n",
            Telling("barrier_arrive(barrier", "", whom), "    return; };\n"));
  };
  EXPECT_LT(orders(Tell::kOwn), orders(Tell::kFirst));
}

TEST(Footprints, SignalsOfDifferentSemaphoresHaveOneOrder) {
  const auto orders = [](Tell whom) {
    return OrdersOf(Cat("    %b = get_global{what=\"b\"}() : ref<gmem,sem[2]>;\n",
                        Telling("semaphore_signal(ref", ", inc=1:i32", whom)));
  };
  EXPECT_LT(orders(Tell::kOwn), orders(Tell::kFirst));
}

}  // namespace
}  // namespace palladion::threads
