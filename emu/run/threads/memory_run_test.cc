// Atomic updates, loads and stores into other blocks as a check meets them: what races, and what does not.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

const std::string kLoad = "    %v = get(%xr) : i32[128];\n";
const std::string kAdd = "    atomic_store{atomic_type=add}(ref=%or, value=%v);\n";

// The output starts as the input, so that an update of it is defined.
std::string InPlace(const std::string& mesh, const std::string& body) {
  std::string text = ThreadKernel(mesh, body);
  return text.replace(text.find("space gmem;\n  mesh"), 11, "space gmem alias %x;");
}

TEST(AtomicStore, DoesNotRaceWithItselfButWithOthers) {
  const auto check = [&](const std::string& a, const std::string& b) {
    return CodesOf(CheckThreads(
        InPlace(Grid(2), "    %v = iota{shape=[128], dtype=i32, dim=0}() : i32[128];\n" + EachDoes("b", {a, b}))));
  };
  EXPECT_EQ(Codes{}, check(kAdd, kAdd));
  EXPECT_EQ(Codes{"RACE_RW"}, check(kAdd, "    %r = get(%or) : i32[128];\n"));
  EXPECT_TRUE(check(kAdd, "    _ = swap(%or, %v) : i32[128];\n").contains("RACE_WW"));
}

TEST(AtomicStore, OrdersNothing) {
  const std::string text = ThreadKernel(
      Threads(2),
      Cat("    run_scoped{collective_axes=[\"wg\"]}() (%s: ref<smem,i32[128]> as \"s\", %f: ref<smem,i32[1]> as \"f\", "
          "%b: ref<smem,barrier{arrivals=2}[1]> as \"b\") {\n    %one = broadcast_in_dim{shape=[1], dims=[]}(1:i32) : "
          "i32[1];\n",
          kLoad, "    _ = swap(%f, %one) : i32[1];\n    barrier_arrive(barrier=%b);\n    barrier_wait(barrier=%b);\n",
          EachDoes("wg", {"    _ = swap(%s, %v) : i32[128];\n    atomic_store{atomic_type=add}(ref=%f, value=%one);\n",
                          "    atomic_store{atomic_type=add}(ref=%f, value=%one);\n    %w = get(%s) : i32[128];\n"
                          "    _ = swap(%or, %w) : i32[128];\n"}),
          "    return; };\n"));
  EXPECT_TRUE(CodesOf(CheckThreads(text)).contains("RACE_RW"));
}

TEST(AtomicStore, RefusesOtherOperationsAndShapes) {
  const auto refuse = [&](const std::string& instr) {
    return std::string(
        PrepareText(ThreadKernel(Grid(1), kLoad + instr), {.kernel = "", .target = "mosaic_gpu/h100", .path = ""})
            .status()
            .message());
  };
  EXPECT_NE(refuse("    atomic_store{atomic_type=xchg}(ref=%or, value=%v);\n").find("atomic_type must be add, max"),
            std::string::npos);
  EXPECT_NE(refuse("    atomic_store{atomic_type=add}(ref=%or.at[0], value=%v);\n").find("the value"),
            std::string::npos);
  EXPECT_NE(refuse("    atomic_store{atomic_type=add}(ref=%v, value=%v);\n").find("view of a ref"), std::string::npos);
}

std::string Cluster(const std::string& receiver, const std::string& index = "1:i32") {
  return ThreadKernel(
      "grid=[], grid_names=[], cluster=[2], cluster_names=[\"c\"], threads=none, thread_name=none",
      Cat("    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[128]> as \"s\", %b: ref<smem,barrier{arrivals=1}[1]> "
          "as \"there\", %d: ref<smem,cluster_barrier{axes=[\"c\"], arrivals=1}[1]> as \"done\") {\n",
          EachDoes("c", {kLoad +
                             "    async_store_smem{cluster_dim=\"c\", optimized=true, atomic=none}(src=%v, ref=%s, "
                             "barrier=%b, cluster_idx=" +
                             index + ");\n",
                         receiver}),
          "    barrier_arrive(barrier=%d);\n    barrier_wait(barrier=%d);\n    return; };\n"));
}

TEST(AsyncStoreSmem, IsThereWhenTheOtherBlocksBarrierSays) {
  const std::string wait = "    barrier_wait(barrier=%b);\n";
  const std::string read = "    %r = get(%s) : i32[128];\n    _ = swap(%or, %r) : i32[128];\n";
  const std::string touch = "    %z = get(%xr) : i32[128];\n    _ = swap(%s, %z) : i32[128];\n";
  EXPECT_EQ(Codes{}, CodesOf(CheckThreads(Cluster(wait + read))));
  EXPECT_TRUE(CodesOf(CheckThreads(Cluster(read + wait))).contains("RACE_ASYNC"));
  EXPECT_TRUE(CodesOf(CheckThreads(Cluster(touch + wait + read))).contains("RACE_ASYNC"));
  EXPECT_EQ((Codes{"OUT_MISSING", "PEER_LIFETIME"}), CodesOf(CheckThreads(Cluster("", "2:i32"))));
}

TEST(GridDependencies, InputsAreThereAfterTheWait) {
  const std::string wait = "    griddepcontrol_wait();\n", store = "    _ = swap(%or, %v) : i32[128];\n";
  const auto check = [&](const std::string& body) { return CheckThreads(ThreadKernel(Threads(1), body)); };
  EXPECT_EQ(Codes{}, CodesOf(check(wait + kLoad + store + "    griddepcontrol_launch_dependents();\n")));
  EXPECT_EQ(Codes{}, CodesOf(check(kLoad + store)));  // it begins when the kernel before has ended
  const Report early = check(kLoad + wait + store);
  EXPECT_EQ(Codes{"RACE_RW"}, CodesOf(early));
  EXPECT_EQ("the block reads x_ref[0:128]; the kernel before this one writes it, and nothing orders the two",
            MessageOf(early, "RACE_RW"));
  EXPECT_EQ(8, early.findings[0].text_line);
}

TEST(GridDependencies, OneThreadMayWaitForAll) {
  const auto check = [&](const std::string& first, const std::string& second) {
    return CodesOf(CheckThreads(
        ThreadKernel(Threads(2), Cat("    run_scoped{collective_axes=[\"wg\"]}() (%s: ref<smem,i32[128]> as \"s\", %b: "
                                     "ref<smem,barrier{arrivals=1}[2]> as \"b\") {\n",
                                     EachDoes("wg", {first, second}), "    return; };\n"))));
  };
  const std::string wait = "    griddepcontrol_wait();\n", arrive = "    barrier_arrive(barrier=%b.at[0]);\n";
  const std::string copy =
      "    copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%b.at[1]);\n    barrier_wait(barrier=%b.at[1]);\n"
      "    %w = get(%s) : i32[128];\n    _ = swap(%or, %w) : i32[128];\n";
  const std::string wait_first = "    barrier_wait(barrier=%b.at[0]);\n";
  EXPECT_EQ(Codes{}, check(wait + arrive, wait_first + copy));
  EXPECT_EQ(Codes{"RACE_ASYNC"}, check(wait + arrive, copy + wait_first));
}

// A device's arrays may be allocated again once its blocks have ended, in every schedule of a search too.
TEST(Devices, ASearchFindsWhoReadsWhenADeviceHasEnded) {
  std::string text = ThreadKernel(Grid(1),
                                  "    %d = axis_index{axis=\"d\"}() : i32[];\n    %to = sub(1:i32, %d) : i32[];\n"
                                  "    %v = get(%xr.peer(%to, mesh)) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n");
  text.insert(text.find("  in %x"), "  devices {d=2};\n");
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  const absl::StatusOr<Report> report =
      Check(*kernel, {*TensorFromText(DType::kI32, {2, 128}, "iota")}, {.exhaustive = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Codes{"PEER_LIFETIME"}, CodesOf(*report));
}

}  // namespace
}  // namespace palladion::threads
