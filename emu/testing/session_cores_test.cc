// Copies of an earlier launch on several cores of a chip, and what those cores do beside them. Spec:
// docs/spec/tpu-sessions.md#copies.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"
#include "emu/session.h"

namespace palladion {
namespace {

// Two cores, each with a copy of its own in flight to its row. In the next kernel one core stores into the other one's
// row, which the other one's copy writes: the race is there whichever core begins first.
TEST(SessionOfCores, ACoreStoresWhereAnotherOnesCopyIsInFlight) {
  const auto kernel = [](std::string_view name, std::string_view sems, std::string_view body) {
    return Cat("pkir 1;\nkernel @", name,
               " {\n  backend mosaic_tpu;\n  in %x: f32[2,128] space any;\n  in %y: f32[2,128] space any;\n  in %s: "
               "ref<semaphore,dma_sem[]>;\n  out %z: f32[2,128] space any alias %y;\n  out %t: "
               "ref<semaphore,dma_sem[]> alias %s;\n  mesh tensorcore {axes=[\"core\"], sizes=[2]};\n  body @",
               name, " (%xr: ref<any,f32[2,128]>, %yr: ref<any,f32[2,128]>, %sr: ref<semaphore,dma_sem[]>, %zr: ",
               "ref<any,f32[2,128]>, %tr: ref<semaphore,dma_sem[]>) {\n", sems, body, "    return;\n  }\n}\n");
  };
  const std::string me = "    %me = axis_index{axis=\"core\"}() : i32[];\n";
  const std::string refs = "(src=%xr.at[%me, *], dst=%yr.at[%me, *], dst_sem=%sr, src_sem=none, device_id=none);\n";
  const std::string start = kernel("start", me, Cat("    dma_start{device_id_type=mesh, priority=0, add=false}", refs));
  const std::string wait = Cat("    dma_wait{device_id_type=mesh, insert_dummy_device=false}", refs);
  const Tensor x = *TensorFromText(DType::kF32, {2, 128}, "iota"), y = *TensorFromText(DType::kF32, {2, 128}, "zeros");
  for (const int core : {0, 1}) {
    const std::string store =
        Cat("    %seven = broadcast_in_dim{shape=[128], dims=[]}(7.0:f32) : f32[128];\n    _ = swap(%yr.at[", 1 - core,
            ", *], %seven) : f32[128];\n    return;\n");
    const std::string body = Cat("    cond(%me) {\n", core == 0 ? store : "    return;\n", "    } {\n",
                                 core == 1 ? store : "    return;\n", "    };\n", wait);
    for (const std::int64_t seeds : {1, 16}) {
      Session session;
      CheckOptions options{.seeds = seeds, .all_seeds = true, .threads = 1};
      options.run.session = &session;
      std::vector<Tensor> left, outputs;
      absl::StatusOr<PreparedKernel> first = PrepareText(start, {.target = "mosaic_tpu/v5p"}),
                                     second = PrepareText(kernel("store", me, body), {.target = "mosaic_tpu/v5p"});
      ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
      const absl::StatusOr<Report> started =
          Check(*first, {x, y, *TensorFromText(DType::kI16, {}, "[0]")}, options, &left);
      ASSERT_TRUE(started.ok()) << started.status();
      const absl::StatusOr<Report> report = Check(*second, {x, left[0], left[1]}, options, &outputs);
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_TRUE(threads::CodesOf(*report).contains("RACE_ASYNC")) << core << seeds << ToText(*report);
    }
  }
}

}  // namespace
}  // namespace palladion
