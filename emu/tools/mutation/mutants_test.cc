// Every kind of mutant of one small kernel: the line that changes and what it becomes.
#include "emu/tools/mutation/mutants.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_split.h"
#include "emu/emulate.h"
#include "emu/front/command/command_test_util.h"
#include "gtest/gtest.h"
#include "semantics/base/cat.h"

namespace palladion::mutation {
namespace {

// Rows of x are summed over an ordered grid; the last four rows of a block lie outside.
constexpr std::string_view kKernel = R"(pkir 1;
kernel @sum {
  backend mosaic_tpu;
  params {dimension_semantics=["arbitrary","parallel"]};
  in %x: f32[40,128] as "x" block (16,128) map (%i: i32[], %j: i32[]) { return %i, 0:i32; };
  grid [3,1];
  out %o: f32[8,128] as "o";
  scratch %a: ref<vmem,f32[16,128]> as "a";
  body @sum (%xr: ref<default,f32[16,128]>, %orf: ref<default,f32[8,128]>, %ar: ref<vmem,f32[16,128]>) {
    %i = program_id{axis=0}() : i32[];
    %first = eq(%i, 0:i32) : bool[];
    cond(%first) { return; } {
      %zero = broadcast_in_dim{shape=[16,128], dims=[]}(0.0:f32) : f32[16,128];
      _ = swap(%ar, %zero) : f32[16,128];
      return;
    };
    %k = mul(%i, 16:i32) : i32[];
    %rows = iota{dim=0}() : i32[16,128];
    %row = add(%rows, %k) : i32[16,128];
    %inside = lt(%row, 40:i32) : bool[16,128];
    %v = masked_load(%xr, mask=%inside, other=0.0:f32) : f32[16,128];
    %old = get(%ar) : f32[16,128];
    %sum = add(%old, %v) : f32[16,128];
    %safe = select_n(%inside, %old, %sum) : f32[16,128];
    _ = swap(%ar, %safe) : f32[16,128];
    %top = get(%ar.at[0 +: 8, *]) : f32[8,128];
    _ = swap(%orf, %top) : f32[8,128];
    return;
  }
}
)";

// A thread loads into two slots in turn and stores what it has read.
constexpr std::string_view kSync = R"(pkir 1;
kernel @ring {
  backend mosaic_gpu;
  in %x: f32[4,128] space gmem;
  out %o: f32[4,128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=1, thread_name="wg"};
  body @ring (%xr: ref<gmem,f32[4,128]> as "x", %or: ref<gmem,f32[4,128]> as "o") {
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,f32[2,128]>, %b: ref<smem,barrier{arrivals=1}[2]>, %c: ref<smem,barrier{arrivals=1}[2]>) {
      _ = scan{length=4, reverse=false}(init=0:i32) (%i: i32[]) {
        %slot = rem(%i, 2:i32) : i32[];
        copy_gmem_to_smem(src=%xr.at[%i, *], dst=%s.at[%slot, *], barrier=%b.at[%slot]);
        barrier_wait(barrier=%b.at[%slot]);
        %v = get(%s.at[%slot, *]) : f32[128];
        _ = swap(%s.at[%slot, *], %v) : f32[128];
        commit_smem();
        copy_smem_to_gmem(src=%s.at[%slot, *], dst=%or.at[%i, *]);
        wait_smem_to_gmem{wait_read_only=true}(0:i32);
        %next = add(%i, 1:i32) : i32[];
        return %next;
      } : i32[];
      return;
    };
    return;
  }
}
)";

// A copy to the next of three devices, by one of two semaphores each.
constexpr std::string_view kDevices = R"(pkir 1;
kernel @right {
  backend mosaic_tpu;
  devices {x=3};
  in %x: f32[8] space any;
  out %o: f32[8] space any;
  grid [];
  scratch %send: ref<semaphore,dma_sem[2]>;
  scratch %recv: ref<semaphore,dma_sem[2]>;
  body @right (%xr: ref<any,f32[8]>, %or: ref<any,f32[8]>, %sr: ref<semaphore,dma_sem[2]>, %rr: ref<semaphore,dma_sem[2]>) {
    %me = axis_index{axis="x"}() : i32[];
    %next = add(%me, 1:i32) : i32[];
    %to = rem(%next, 3:i32) : i32[];
    dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr, dst=%or, dst_sem=%rr.at[0], src_sem=%sr.at[1], device_id=%to);
    dma_wait{device_id_type=mesh, insert_dummy_device=true}(src=%or, dst=%xr, dst_sem=%sr.at[1], src_sem=%rr.at[0], device_id=%to);
    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr, dst=%or, dst_sem=%rr.at[0], src_sem=%sr.at[1], device_id=%to);
    return;
  }
}
)";

std::string LineOf(std::string_view text, int line) {
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  return line >= 1 && static_cast<std::size_t>(line) <= lines.size() ? lines[static_cast<std::size_t>(line) - 1] : "";
}

std::map<std::string, Mutant> ByName(std::string_view text, const MutantOptions& options = {}) {
  const absl::StatusOr<std::vector<Mutant>> mutants = Mutants(text, "sum.pkir", options);
  EXPECT_TRUE(mutants.ok()) << mutants.status();
  std::map<std::string, Mutant> by_name;
  if (!mutants.ok()) return by_name;
  for (const Mutant& mutant : *mutants) EXPECT_TRUE(by_name.emplace(mutant.name, mutant).second) << mutant.name;
  return by_name;
}

TEST(Mutants, OfEveryKind) {
  const absl::StatusOr<std::string> original = CanonicalText(kKernel);
  ASSERT_TRUE(original.ok()) << original.status();
  const std::map<std::string, Mutant> found = ByName(kKernel);
  const std::map<std::string, std::string> expected = {
      {"drop_mask_0", "%v = masked_load(%xr) : f32[16,128];"},
      {"drop_mask_1", "%safe = select_n(%inside, %sum, %sum) : f32[16,128];"},
      {"drop_init_0", "return;"},
      {"swap_index_0", "{ return 0:i32, %i; };"},
      {"shrink_block_0", "block (15,128)"},
      {"shrink_block_1", "block (16,120)"},
      {"drop_store_0", "return;"},
      {"read_past_0", "%top = get(%ar.at[1 +: 8, *]) : f32[8,128];"},
  };
  for (const auto& [name, part] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    const Mutant& mutant = found.at(name);
    EXPECT_NE(mutant.text, *original) << name;
    EXPECT_NE(LineOf(mutant.text, mutant.line), LineOf(*original, mutant.line)) << name;
    EXPECT_NE(LineOf(mutant.text, mutant.line).find(part), std::string::npos)
        << name << ": " << LineOf(mutant.text, mutant.line);
    EXPECT_FALSE(mutant.what.empty());
  }
  ASSERT_TRUE(found.contains("make_parallel_0"));
  EXPECT_NE(found.at("make_parallel_0").text.find("dimension_semantics=[\"parallel\",\"parallel\"]"),
            std::string::npos);
  EXPECT_EQ(found.size(), expected.size() + 1);
  std::set<Mutation> kinds;
  for (const auto& [name, mutant] : found) kinds.insert(mutant.mutation);
  for (const auto& [name, mutant] : ByName(kSync)) kinds.insert(mutant.mutation);
  for (const auto& [name, mutant] : ByName(kDevices)) kinds.insert(mutant.mutation);
  EXPECT_EQ(kinds.size(), AllMutations().size());
}

// Of what a wait names beside its semaphore nothing counts, so no mutant changes it.
TEST(Mutants, OfDevicesAndTheirSemaphores) {
  const std::map<std::string, Mutant> found = ByName(kDevices);
  std::map<Mutation, int> counts;
  for (const auto& [name, mutant] : found) {
    EXPECT_EQ(mutant.refused, "") << name;
    ++counts[mutant.mutation];
  }
  ASSERT_TRUE(found.contains("other_device_0"));
  const Mutant& device = found.at("other_device_0");
  EXPECT_NE(LineOf(device.text, device.line).find("%next_add = add(%to, 1:i32)"), std::string::npos) << device.text;
  EXPECT_EQ(counts[Mutation::kOtherDevice], 1);
  EXPECT_EQ(counts[Mutation::kNextSlot], 4);      // two of the copy, one of each wait
  EXPECT_EQ(counts[Mutation::kOtherBarrier], 4);  // the same
}

TEST(Mutants, OfSynchronisation) {
  const std::map<std::string, Mutant> found = ByName(kSync);
  const std::map<std::string, std::string> expected = {
      {"drop_sync_0", "barrier_wait(barrier=%b.at[%slot]);"},
      {"drop_sync_1", "%v = get("},
      {"drop_sync_2", "copy_smem_to_gmem("},
      {"repeat_sync_1", "barrier_wait("},
      {"swap_sync_0", "barrier_wait(barrier=%b.at[%slot]);"},
      {"swap_sync_1", "%v = get("},
      {"move_sync_0", "%v = get("},
      {"move_sync_1", "= swap("},
      {"next_slot_1", "%next_add = add(%slot, 1:i32)"},
      {"arrivals_0", "%b: ref<smem,barrier{arrivals=2}[2]>"},
      {"arrivals_1", "%c: ref<smem,barrier{arrivals=2}[2]>"},
      {"other_barrier_1", "barrier_wait(barrier=%c.at[%slot]);"},
      {"wait_count_0", "wait_smem_to_gmem{wait_read_only=true}(1:i32);"},
  };
  for (const auto& [name, part] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    const Mutant& mutant = found.at(name);
    EXPECT_EQ(mutant.refused, "") << name;
    // The barriers' types stand on the lines behind the instruction that makes them.
    const bool type = mutant.mutation == Mutation::kArrivals;
    EXPECT_NE((type ? mutant.text : LineOf(mutant.text, mutant.line)).find(part), std::string::npos)
        << name << ": " << LineOf(mutant.text, mutant.line);
  }
  for (const auto& [name, mutant] : found) {
    EXPECT_EQ(CanonicalText(mutant.text).value_or(""), mutant.text) << name;
    EXPECT_NE(mutant.text, CanonicalText(kSync).value_or("")) << name;
  }
}

// What synchronises is asked of the rows, so no signal and no asynchronous store is left out.
constexpr std::string_view kSignals = R"(pkir 1;
kernel @signals {
  backend mosaic_gpu;
  in %x: f32[128] space gmem;
  out %o: f32[128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[2], cluster_names=["c"], threads=none, thread_name=none};
  body @signals (%xr: ref<gmem,f32[128]> as "x", %or: ref<gmem,f32[128]> as "o") {
    run_scoped{collective_axes=[]}() (%s: ref<smem,f32[128]>, %b: ref<smem,barrier{arrivals=1}[1]>) {
      %all = get_global{what="Ref<gmem>{semaphore[]}"}() : ref<gmem,sem[]>;
      %v = get(%xr) : f32[128];
      async_store_smem{cluster_dim="c", optimized=true, atomic=none}(src=%v, ref=%s, barrier=%b.at[0], cluster_idx=0:~i32);
      semaphore_signal_parallel(ref=%all, inc=1:i32, device_id=none);
      semaphore_signal_multicast{collective_axes=["d"]}(ref=%all, inc=1:i32);
      griddepcontrol_wait();
      return;
    };
    return;
  }
}
)";

TEST(Mutants, EverySignalAndAsynchronousStoreIsAPlace) {
  const std::map<std::string, Mutant> found = ByName(kSignals);
  for (const std::string_view op :
       {"async_store_smem", "semaphore_signal_parallel", "semaphore_signal_multicast", "griddepcontrol_wait"}) {
    const bool is_there = std::any_of(found.begin(), found.end(), [&](const auto& one) {
      return one.second.mutation == Mutation::kDropSync && one.second.what.find(op) != std::string::npos;
    });
    EXPECT_TRUE(is_there) << op;
  }
}

TEST(Mutants, WhatIsAcceptedCanBePreparedAndTheRestSaysWhy) {
  for (const auto& [name, mutant] : ByName(kKernel)) {
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(mutant.text);
    EXPECT_EQ(kernel.ok(), mutant.refused.empty()) << name << ": " << kernel.status();
    const absl::StatusOr<std::string> canonical = CanonicalText(mutant.text);
    if (!mutant.refused.empty()) continue;
    EXPECT_EQ(canonical.value_or(""), mutant.text) << name;
  }
  // The slice of the output's eight columns does not shrink with the block of 128.
  EXPECT_NE(ByName(kKernel).at("shrink_block_1").refused, "");
}

TEST(Mutants, ADynamicIndexGetsAnAddition) {
  std::string text(kKernel);
  const std::string from = "%ar.at[0 +: 8, *]", to = "%ar.at[%k +: 8, *]";
  text.replace(text.find(from), from.size(), to);
  const Mutant mutant = ByName(text).at("read_past_0");
  EXPECT_NE(LineOf(mutant.text, mutant.line).find("%one_past = add(%k, 1:i32) : i32[];"), std::string::npos);
  EXPECT_NE(LineOf(mutant.text, mutant.line + 1).find("%top = get(%ar.at[%one_past +: 8, *])"), std::string::npos);
  EXPECT_TRUE(PrepareText(mutant.text).ok());
}

TEST(Mutants, AtMostSoManyOfAKind) {
  std::set<Mutation> seen;
  for (const std::string_view kernel : {kKernel, kSync, kDevices}) {
    const std::map<std::string, Mutant> few = ByName(kernel, {.per_kind = 1});
    std::set<Mutation> kinds;
    for (const auto& [name, mutant] : few) {
      EXPECT_EQ(mutant.text, ByName(kernel).at(name).text) << name;
      EXPECT_TRUE(kinds.insert(mutant.mutation).second) << name;
    }
    seen.merge(kinds);
  }
  EXPECT_EQ(seen.size(), AllMutations().size());
}

TEST(Mutants, OfSeveralKernelsOneIsNamed) {
  const std::string one(kKernel);
  std::string two = one.substr(one.find("kernel @sum"));
  two.replace(two.find("@sum"), 4, "@sum.1");
  EXPECT_FALSE(Mutants(one + two, "t").ok());
  EXPECT_FALSE(Mutants(one, "t", {.kernel = "other"}).ok());
  EXPECT_EQ(ByName(one + two, {.kernel = "sum.1"}).size(), ByName(one).size());
  EXPECT_FALSE(Mutants("pkir 1; nonsense", "t").ok());
}

class MutateCommand : public command::CommandTest {};

TEST_F(MutateCommand, WritesFilesAndTheirList) {
  const std::string file = Write("sum.pkir", std::string(kKernel));
  ASSERT_EQ(Run({"mutate", file, "--out", Path("mutants")}), 0) << err_;
  const auto read = [&](const std::string& name) {
    std::stringstream text;
    text << std::ifstream(Path("mutants/" + name)).rdbuf();
    return text.str();
  };
  for (const auto& [name, mutant] : ByName(kKernel)) {
    EXPECT_NE(read("mutants.json").find(Cat("\"", name, ".pkir\"")), std::string::npos);
    EXPECT_EQ(read(name + ".pkir"), mutant.text);
  }
  ExpectError(4, {"mutate", file}, "--out DIR");
  ExpectError(4, {"mutate", file, "--out", file}, "cannot be made");
  ExpectError(4, {"mutate", file, "--out", Path("mutants"), "--per-kind", "0"}, "--per-kind");
  ExpectError(4, {"mutate", Path("none.pkir"), "--out", Path("mutants")}, "none.pkir");
}

}  // namespace
}  // namespace palladion::mutation
