// The owners of what a GPU kernel allocates: global memory of the kernel's scratch is the grid's, of a collective scope
// the block's, of any other the thread's. And what is never written is equal to nothing, whichever agent stores it.
#include <gtest/gtest.h>

#include <cstring>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

// No chip lets a scope have global memory, so contracts are off.
const CheckOptions kNoContracts = {.seeds = 16, .contracts = false, .threads = 1};
const CheckOptions kRacesOnly = {.seeds = 16, .definedness = false, .contracts = false, .threads = 1};

std::string Cluster(int n) {
  return Cat("grid=[], grid_names=[], cluster=[", n, "], cluster_names=[\"b\"], threads=none, thread_name=none");
}

// The kernel's scratch: the scope is all of its body.
std::string Scratch(const std::string& mesh, const std::string& axes, const std::string& refs,
                    const std::string& body) {
  return ThreadKernel(
      mesh, Cat("    run_scoped{collective_axes=[", axes, "]}() (", refs, ") {\n", body, "      return; };\n"));
}
std::string Inner(const std::string& mesh, const std::string& axes, const std::string& refs, const std::string& body) {
  return Scratch(mesh, axes, "",
                 Cat("    run_scoped{collective_axes=[", axes, "]}() (", refs, ") {\n", body, "      return; };\n"));
}

const std::string kGlobal = "%g: ref<gmem,i32[128]> as \"g\"";
const std::string kBarrier = ", %b: ref<smem,barrier{arrivals=1}[1]> as \"b\"";
const std::string kWrite = "    %v = get(%xr) : i32[128];\n    _ = swap(%g, %v) : i32[128];\n";
const std::string kRead = "    %r = get(%g) : i32[128];\n    _ = swap(%or, %r) : i32[128];\n";
const std::string kArrive = "    barrier_arrive(barrier=%b);\n", kWait = "    barrier_wait(barrier=%b);\n";

// The check's findings but for what of the output is missing, and whether it is the input.
struct Seen {
  Codes codes;
  bool copied = false;
};
Seen Look(const std::string& text, const CheckOptions& options) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {128}, "iota")};
  std::vector<Tensor> outputs;
  const absl::StatusOr<Report> report = Check(*kernel, inputs, options, &outputs);
  EXPECT_TRUE(report.ok()) << report.status() << "\n" << text;
  if (!report.ok()) return {};
  Codes codes = CodesOf(*report);
  codes.erase("OUT_MISSING");
  return {codes, std::memcmp(outputs[0].bytes(), inputs[0].bytes(), inputs[0].num_bytes()) == 0};
}

TEST(GlobalScratch, ThreadsOfABlockShareWhatTheyAllocateTogether) {
  for (const bool inner : {false, true}) {
    const auto kernel = [&](const std::string& body) {
      return inner ? Inner(Threads(2), "\"wg\"", kGlobal + kBarrier, body)
                   : Scratch(Threads(2), "\"wg\"", kGlobal + kBarrier, body);
    };
    const Seen ordered = Look(kernel(EachDoes("wg", {kWrite + kArrive, kWait + kRead})), kNoContracts);
    EXPECT_EQ(Codes{}, ordered.codes);
    EXPECT_TRUE(ordered.copied);
    for (const CheckOptions& options : {kNoContracts, kRacesOnly}) {
      EXPECT_TRUE(Look(kernel(EachDoes("wg", {kWrite + kArrive, kRead + kWait})), options).codes.contains("RACE_RW"));
      EXPECT_TRUE(Look(kernel(kWrite), options).codes.contains("RACE_WW"));
    }
  }
}

TEST(GlobalScratch, OfTheKernelIsTheGrids) {
  const std::string sem = "    %sem = get_global{what=\"sem\"}() : ref<gmem,sem[]>;\n";
  const std::string signal = "    semaphore_signal(ref=%sem, inc=1:i32);\n";
  const std::string wait = "    semaphore_wait(ref=%sem, value=1:i32);\n";
  const auto kernel = [&](const std::string& body) { return Scratch(Grid(2), "", kGlobal, body); };
  const Seen ordered = Look(kernel(sem + EachDoes("b", {kWrite + signal, wait + kRead})), kNoContracts);
  EXPECT_EQ(Codes{}, ordered.codes);
  EXPECT_TRUE(ordered.copied);
  EXPECT_TRUE(Look(kernel(kWrite), kRacesOnly).codes.contains("RACE_WW"));
}

TEST(GlobalScratch, OfAScopeBelongsToNoOther) {
  const std::string own = kWrite + "    %r = get(%g) : i32[128];\n";
  EXPECT_EQ(Codes{}, Look(Inner(Grid(2), "", kGlobal, own), kNoContracts).codes);
  EXPECT_EQ(Codes{}, Look(Inner(Threads(2), "", kGlobal, own), kNoContracts).codes);
  // And of each visit anew.
  EXPECT_TRUE(
      Look(Inner(Threads(2), "\"wg\"", kGlobal, EachDoes("wg", {kRead, ""})), kNoContracts).codes.contains("UNINIT"));
}

TEST(GlobalScratch, CopiesOutliveNoScope) {
  const std::string refs = kGlobal + ", %s: ref<smem,i32[128]> as \"s\"";
  const std::string copy =
      "    %v = get(%xr) : i32[128];\n    _ = swap(%s, %v) : i32[128];\n    commit_smem();\n"
      "    copy_smem_to_gmem(src=%s, dst=%g);\n";
  const std::string wait = "    wait_smem_to_gmem{wait_read_only=false}(0:i32);\n";
  EXPECT_EQ(Codes{}, Look(Inner(Grid(1), "", refs, copy + wait), kNoContracts).codes);
  EXPECT_EQ(Codes{}, Look(Inner(Threads(1), "\"wg\"", refs, copy + wait), kNoContracts).codes);
  EXPECT_TRUE(Look(Inner(Threads(1), "\"wg\"", refs, copy), kNoContracts).codes.contains("USE_AFTER_SCOPE"));
}

TEST(SharedScratch, IsTheBlocksWhereAllAllocateIt) {
  const std::string refs = "%g: ref<smem,i32[128]> as \"s\"";
  EXPECT_TRUE(Look(Inner(Threads(2), "\"wg\"", refs, kWrite), kNoContracts).codes.contains("RACE_WW"));
  EXPECT_EQ(Codes{}, Look(Inner(Threads(2), "", refs, kWrite), kNoContracts).codes);
}

// Whatever wrote a byte of a union defined it, and whatever reads it sees that, as an element of any type.
TEST(Union, EachByteIsDefinedOrNot) {
  const std::string refs = "%u: ref<smem,i8[1024]> as \"u\"";
  const auto store = [](const std::string& view) { return Cat("    _ = swap(%u", view, ", %v) : i32[128];\n"); };
  const auto load = [](const std::string& view, const std::string& type) {
    return Cat("    %l = get(%u", view, ") : ", type, "[128];\n    %r = convert_element_type{to=i32}(%l) : i32[128];\n",
               "    _ = swap(%or, %r) : i32[128];\n");
  };
  const auto copy = [](const std::string& view) {
    return Cat("    commit_smem();\n    copy_smem_to_gmem(src=%u", view,
               ", dst=%or);\n    wait_smem_to_gmem{wait_read_only=false}(0:i32);\n");
  };
  const std::string value = "    %v = get(%xr) : i32[128];\n";
  const std::string first = ".alias{dtype=i32, shape=[128], offset=0}",
                    later = ".alias{dtype=i32, shape=[128], offset=4}";
  const std::string halves = ".alias{dtype=i16, shape=[256], offset=0}.at[128 +: 128]";
  const std::string bytes = ".alias{dtype=i8, shape=[1024], offset=0}.at[384 +: 128]";
  const std::string odd = ".alias{dtype=i8, shape=[1024], offset=0}.at[385 +: 128]";
  const auto look = [&](const std::string& body) {
    return Look(Scratch(Threads(1), "\"wg\"", refs, value + body), kNoContracts).codes;
  };
  for (const std::string& read : {load(first, "i32"), copy(first), load(halves, "i16"), load(bytes, "i8")}) {
    EXPECT_EQ(Codes{}, look(store(first) + read)) << read;
  }
  for (const std::string& read : {load(later, "i32"), load(odd, "i8")}) {
    EXPECT_EQ(Codes{"UNINIT"}, look(store(first) + read)) << read;
  }
  // A copy brings the last element beside defined ones: OUT_MISSING, which Look leaves out.
  EXPECT_EQ(Codes{}, look(store(first) + copy(later)));
  EXPECT_EQ(Codes{"UNINIT"}, look(copy(later)));
  EXPECT_EQ(Codes{"UNINIT"}, look(store(later) + load(first, "i32")));
}

// In every view, a copy has as many elements as its member, not as the union has bytes.
TEST(Union, CopiesCountElementsOfTheMember) {
  const std::string refs = "%u: ref<smem,i8[1024]> as \"u\"" + kBarrier;
  const std::string member = "%u.alias{dtype=i32, shape=[128], offset=128}";
  const auto copy = [&](const std::string& mode) {
    return Cat("    copy_gmem_to_smem{oob_mode=zeros", mode, "}(src=%xr, dst=", member, ", barrier=%b);\n");
  };
  const std::string one = "    %one = broadcast_in_dim{shape=[64], dims=[]}(1:i8) : i8[64];\n";
  const auto other = [](int offset) {
    return Cat("    _ = swap(%u.alias{dtype=i8, shape=[64], offset=", offset, "}, %one) : i8[64];\n");
  };
  const std::string read = Cat("    %r = get(", member, ") : i32[128];\n    _ = swap(%or, %r) : i32[128];\n");
  for (CheckOptions options : {kNoContracts, kRacesOnly}) {
    for (const std::int64_t seeds : {1, 16}) {
      options.seeds = seeds;
      const auto look = [&](const std::string& mesh, const std::string& body) {
        return Look(Scratch(mesh, "", refs, one + body), options);
      };
      const Seen ordered = look(Grid(1), copy("") + other(64) + kWait + read);
      EXPECT_EQ(Codes{}, ordered.codes);
      EXPECT_TRUE(ordered.copied);
      for (const int offset : {65, 600, 639}) {
        EXPECT_TRUE(look(Grid(1), copy("") + other(offset) + kWait + read).codes.contains("RACE_ASYNC")) << offset;
      }
      EXPECT_EQ(Codes{}, look(Grid(1), copy("") + other(640) + kWait + read).codes);
      const Seen shared = look(Cluster(2), copy(", collective_axes=[\"b\"]") + kWait + read);
      EXPECT_EQ(Codes{"SAME_VALUE"}, shared.codes);
      EXPECT_TRUE(shared.copied);
    }
  }
}

// Two i4 share a byte; of i32 members beside them each element has its four bytes.
TEST(Union, OfMembersNarrowerThanAByte) {
  const std::string refs = "%u: ref<smem,i8[2048]> as \"u\"";
  const std::string narrow = "%u.alias{dtype=i4, shape=[16,64], offset=1024}";  // bytes 1024 to 1535
  const std::string value =
      "    %v = get(%xr) : i32[128];\n    %n = convert_element_type{to=i4}(%v) : i4[128];\n"
      "    %m = reshape{shape=[2,64]}(%n) : i4[2,64];\n";
  const auto wide = [](int offset) { return Cat("%u.alias{dtype=i32, shape=[128], offset=", offset, "}"); };
  const auto both = [&](const std::string& a, const std::string& b) {
    const std::string one = Cat("    _ = swap(", narrow, a, ", %m) : i4[2,64];\n");
    const std::string other = Cat("    _ = swap(", b, ", %v) : i32[128];\n    %r = get(", b,
                                  ") : i32[128];\n    _ = swap(%or, %r) : i32[128];\n");
    return Look(Scratch(Threads(2), "\"wg\"", refs, value + EachDoes("wg", {one, other})), kNoContracts);
  };
  const Seen apart = both(".at[0 +: 2, *]", wide(0));
  EXPECT_EQ(Codes{}, apart.codes);
  EXPECT_TRUE(apart.copied);
  EXPECT_TRUE(both(".at[0 +: 2, *]", wide(1024)).codes.contains("RACE_WW"));
  EXPECT_EQ(Codes{}, both(".at[0 +: 2, *]", wide(1024 + 64)).codes);  // the two rows are 64 bytes
  EXPECT_TRUE(both(".at[14 +: 2, *]", wide(1024 + 508)).codes.contains("RACE_WW"));
  EXPECT_EQ(Codes{}, both(".at[14 +: 2, *]", wide(1024 + 512)).codes);
  const std::string kept =
      Cat("    _ = swap(", narrow, ".at[3 +: 2, *], %m) : i4[2,64];\n    %g = get(", narrow,
          ".at[3 +: 2, *]) : i4[2,64];\n    %h = reshape{shape=[128]}(%g) : i4[128];\n"
          "    %w = convert_element_type{to=i32}(%h) : i32[128];\n    "
          "    %e = convert_element_type{to=i32}(%n) : i32[128];\n    %f = sub(%w, %e) : i32[128];\n"
          "    %s = add(%v, %f) : i32[128];\n    _ = swap(%or, %s) : i32[128];\n");
  const Seen stored = Look(Scratch(Threads(1), "\"wg\"", refs, value + kept), kNoContracts);
  EXPECT_EQ(Codes{}, stored.codes);
  EXPECT_TRUE(stored.copied);
}

TEST(NeverWritten, IsEqualToNothing) {
  const std::string shared = "%s: ref<smem,i32[128]> as \"s\"";
  const std::string fill =
      "    %z = broadcast_in_dim{shape=[128], dims=[]}(7:i32) : i32[128];\n"
      "    _ = swap(%s, %z) : i32[128];\n    commit_smem();\n";
  const std::string plain = "    %v = get(%s) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";
  const std::string copy =
      "    copy_smem_to_gmem(src=%s, dst=%or);\n    wait_smem_to_gmem{wait_read_only=false}(0:i32);\n";
  for (const std::string& mesh : {Grid(2), Cluster(2)}) {
    for (const std::string& store : {plain, copy}) {
      const std::string never = Scratch(mesh, "", shared, store);
      for (const Fill fill_of :
           {Fill{}, Fill{.kind = Fill::Kind::kZero}, Fill{.kind = Fill::Kind::kRandom, .seed = 3}}) {
        for (const bool definedness : {false, true}) {
          CheckOptions options = {.seeds = 4, .fill = fill_of, .definedness = definedness, .threads = 1};
          const Codes codes = CodesOf(CheckThreads(never, options));
          EXPECT_TRUE(codes.contains("RACE_WW")) << never << static_cast<int>(fill_of.kind);
          EXPECT_FALSE(codes.contains("SAME_VALUE")) << never << static_cast<int>(fill_of.kind);
        }
      }
      EXPECT_FALSE(CodesOf(CheckThreads(Scratch(mesh, "", shared, fill + store))).empty());
    }
  }
}

}  // namespace
}  // namespace palladion::threads
