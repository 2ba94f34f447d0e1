// What the verifier accepts, and each of its rules broken once, with the place.
#include "semantics/registry/verifier.h"

#include "gtest/gtest.h"
#include "semantics/ir/text_test_util.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

TEST(VerifierTest, AcceptsAKernelAndFindsItsRows) {
  absl::StatusOr<Module> module =
      Parse(KernelText("%v = get(%o) : f32[8]; %w = add(%v, 1.0:f32) : f32[8]; _ = swap(%o, %w) : f32[8];"));
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(module));
  ASSERT_TRUE(verified.ok()) << verified.status();
  const std::vector<Instr>& body = verified->module().kernels[0].bodies[0].region.body;
  EXPECT_EQ(body[0].row, FindOp("", "get"));
  EXPECT_EQ(body[1].row, FindOp("", "add"));
  EXPECT_NE(body[1].row, nullptr);
}

TEST(VerifierTest, AcceptsViewsLoopsCallsAndBlocks) {
  EXPECT_EQ(
      VerifyErrorOf(KernelText(
          "%v = get(%x.at[1, 0 +: 4 : 2]) : f32[4]; %w = get(%x.transpose[1,0].at[*, dense<i32[3][0,1,3]>]) : "
          "f32[8,3];\n"
          "%u = masked_load(%o.at[4 +: 8], mask=true, other=0.0:f32) : f32[8];\n"
          "%n, %s = while(init=0:i32, init=%v) (%i: i32[], %c: f32[4]) { %m = lt(%i, 3:i32) : bool[]; return %m; }\n"
          "  (%i: i32[], %c: f32[4]) { %j = add(%i, 1:i32) : i32[]; return %j, %c; } : i32[], f32[4];\n"
          "jit{name=\"f\"}(%o) (%r: ref<default,f32[8]>) { _ = swap(%r, %u) : f32[8]; return; };")),
      "");
  EXPECT_EQ(
      VerifyErrorOf("pkir 1; kernel @k { bound %n: i32[]; grid [%n,2] names [\"a\",none] vmapped [1]; prefetch %p: "
                    "i32[4] as \"rows\";\n"
                    "in %x: f32[8,8,3] block (sq,4,el(5,1,1)) map (%i: i32[], %j: i32[], %r: ref<smem,i32[4]>) {\n"
                    "%q = get(%r.at[%i]) : i32[]; return %q, %j, 0:i32; };\n"
                    "out %o: f32[8,8,3] alias %x; scratch %s: ref<vmem,f32[2]>;\n"
                    "body @b (%a: ref<smem,i32[4]>, %b: ref<vmem,f32[4,5]>, %c: ref<any,f32[8,8,3]>, %d: "
                    "ref<vmem,f32[2]>) { return; } }"),
      "");
}

TEST(VerifierTest, AcceptsTheLargestDimensionThatAnIndexCounts) {
  const auto error = [](const std::string& n) {
    return VerifyErrorOf(KernelText(
        Cat("%v = broadcast_in_dim{shape=[", n, "], dims=[]}(1:i8) : i8[", n, "]; %w = argmax{axis=0}(%v) : i32[];")));
  };
  EXPECT_EQ(error("2147483647"), "");
  EXPECT_NE(error("2147483648").find("at most 2^31-1 elements"), std::string::npos) << error("2147483648");
}

TEST(VerifierTest, PlacesSayLineKernelInstructionAndTheUsersChain) {
  const std::string text =
      "pkir 1; file #f = \"f.py\"; file #g = \"g.py\"; loc #a = #g:30 fn \"main\"; loc #b = #f:12:3 fn \"kernel\" via "
      "#a;\n"
      "kernel @k {\n  grid [];\n  body @f () {\n    %v = no_such_thing(1:i32) : i32[] #b;\n    return;\n  }\n}\n";
  EXPECT_EQ(VerifyErrorOf(text),
            "t.pkir:5: kernel @k: `no_such_thing`: unknown primitive no_such_thing; docs/reference/operations.md lists "
            "the known ones; "
            "at f.py:12:3 in kernel (called from g.py:30 in main)");
}

TEST(VerifierTest, UnsupportedPrimitivesAreUnimplementedWithTheirReason) {
  const OpRow* unsupported = nullptr;
  for (const OpRow& row : AllOps()) {
    if (row.status == OpStatus::kUnsupported && row.dialect.empty()) unsupported = &row;
  }
  ASSERT_NE(unsupported, nullptr);
  absl::StatusOr<Module> module = Parse(KernelText(Cat(unsupported->name, "();")), "t.pkir");
  ASSERT_TRUE(module.ok());
  const absl::Status status = Verify(*std::move(module)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), Cat("t.pkir:6: kernel @k: `", unsupported->name, "()`: ", unsupported->name,
                                  " is not supported: ", unsupported->reason));
}

TEST(VerifierTest, AnUnknownPrimitiveOfOneDialectIsDistinguished) {
  const OpRow* only = nullptr;
  for (const OpRow& row : AllOps()) {
    if (!row.dialect.empty() && FindOp("", row.name) == nullptr) only = &row;
  }
  ASSERT_NE(only, nullptr);
  const std::string error = VerifyErrorOf(KernelText(Cat(only->name, "();")));
  EXPECT_NE(error.find(Cat("unknown primitive ", only->name, "; write ")), std::string::npos) << error;
  EXPECT_NE(error.find(Cat(only->dialect, ".", only->name)), std::string::npos) << error;
}

TEST(DescribeTest, LongChainsAndRingsEnd) {
  Module module;
  module.files = {"a.py"};
  module.locs.resize(2);
  module.locs[0] = {.file = {0}, .line = 3, .column = 0, .function = "", .via = {1}};
  module.locs[1] = {.file = {0}, .line = 9, .column = 2, .function = "g", .via = {}};
  EXPECT_EQ(Describe(module, {0}), "a.py:3 (called from a.py:9:2 in g)");
  EXPECT_EQ(Describe(module, {1}), "a.py:9:2 in g");
  EXPECT_EQ(Describe(module, {}), "");
  module.locs[1].via = {0};
  EXPECT_TRUE(std::string_view(Describe(module, {0})).ends_with(", ...)"));
}

struct Refused {
  std::string_view text;
  std::string_view message;
};

void ExpectRefused(const std::string& text, std::string_view message) {
  const std::string error = VerifyErrorOf(text);
  EXPECT_NE(error.find(message), std::string::npos) << text << "\ngave\n" << error << "\nwanted\n" << message;
  EXPECT_EQ(error.substr(0, 7), "t.pkir:");
  EXPECT_NE(error.find(": kernel @k"), std::string::npos) << error;
}

TEST(VerifierTest, RefusesInstructionsThatBreakARule) {
  const Refused cases[] = {
      {"%v = add(%o, 1.0:f32) : f32[8];",
       "t.pkir:6: kernel @k: `%v = add(%o, 1.0:f32) : f32[8]`: expected an array as operand 0, found the ref %o: "
       "ref<default,f32[8]>; read it with get first"},
      {"_ = swap(%o, %o) : f32[8];", "expected an array as operand 1, found the ref %o"},
      {"%v = get(%a) : f32[4,8];", "found the kernel's operand %a; use the parameter that stands for it"},
      {"%v = get(%o) : f32[8]; %w = get(%v.at[0]) : f32[];", "expected a ref before .at, found %v: f32[8]"},
      {"%v = get(%o) : f32[9];", "`%v = get(%o) : f32[9]`"},
      {"%v = get(%x.at[0]) : f32[8];", "expected 2 entries in .at, one for each dimension of [4,8], found 1"},
      {"%v = get(%x.at[0, *].at[*, *]) : f32[8];", "expected 1 entries in .at, one for each dimension of [8], found 2"},
      {"%v = get(%x.at[dense<i32[2][0,1]>, dense<i32[3][0,1,2]>]) : f32[2];",
       "expected index arrays that broadcast together, found [3] and [2]"},
      {"%v = get(%x.at[dense<f32[1][0.0]>, *]) : f32[1,8];",
       "expected an integer or an array of integers as index 0 of .at, found f32[1]"},
      {"%v = get(%x.at[dense<i32[1][0]> +: 2, *]) : f32[2,8];",
       "expected an integer scalar as index 0 of .at, found i32[1]"},
      {"%n = eq(1:i32, 1:i32) : bool[]; %v = get(%x.at[%n, *]) : f32[8];", "as index 0 of .at, found bool[]"},
      {"%v = get(%x.at[0 +: dense<i32[][1]>, *]) : f32[1,8];", "a slice whose size is known only at run time"},
      {"%v = get(%x.at[%o, *]) : f32[8];", "a ref as an index needs SparseCore"},
      {"%v = get(%x.transpose[0,0]) : f32[4,4];",
       "expected a permutation of the 2 dimensions in .transpose, found [0,0]"},
      {"%v = get(%x.reshape[5,8]) : f32[5,8];",
       "expected as many elements after .reshape as before, found [4,8] to [5,8]"},
      {"%v = get(%x.reshape[-4,-8]) : f32[4,8];", "expected sizes 0 or more in .reshape, found [-4,-8]"},
      {"%v = get(%o.bitcast(bf16)) : bf16[16];",
       "expected at least two dimensions for a bitcast to another width, found [8]"},
      {"%v = get(%x.at[0 +: 3, *].bitcast(f64)) : f64[1,8];",
       "expected a second-minor dimension that f32 fills whole f64 with, found 3"},
      {"%v = get(%x.untile[8]) : f32[4];", "result 0 must have type f32[32]; found f32[4]"},
      {"%v = get(%x.untile[4]) : f32[32];", "expected a ref of at least 2 dimensions that end in the tile [4]"},
      {"%v = get(select(0:i32, %x, %x)) : f32[4,8];", "a choice among refs (select)"},
      {"%w = cond(true) { return %o; } : f32[8];",
       "expected an array to return, found the ref %o; read it with get first"},
      {"%w = run_scoped{collective_axes=[]}() (%r: ref<vmem,f32[2]>) { return 1:i32; } : f32[2];",
       "must have type f32[2]; found i32[]"},
      {"_ = run_state(none) (%r: ref<vmem,f32[2]>) { return 1:i32; } : f32[2];",
       "the region of run_state returns nothing"},
      {"%w = cond(true) { return none; } : f32[8];", "expected `return` with values, numbers and constants only"},
      {"%w = atomic_rmw{op=\"nand\"}(%o.at[0], 1.0:f32) : f32[];", "no atomic 'nand' on f32"},
      {"%v = get(%o) : f32[8]; %w = triton.elementwise_inline_asm(%v) : f32[8];", "'asm'"},
      {"%s = get_barrier_semaphore() : ref<semaphore,dma_sem[]>;", "expected a ref of one barrier semaphore; found"},
      {"run_scoped{collective_axes=[]}() (%s: ref<smem,f32[8]>) { %v = get(%o) : f32[8];\n"
       "async_store_smem{cluster_dim=\"c\", optimized=true, atomic=none}(src=%v, ref=%s, barrier=%s, "
       "cluster_idx=0:i32); return; };",
       "one barrier"},
      {"%w = jit(1:i32) (%i: i32[] view .at[]) { return %i; } : i32[];",
       "a view of a region's parameter is not modelled"},
  };
  for (const Refused& refused : cases) {
    ExpectRefused(KernelText(refused.text), refused.message);
  }
}

TEST(VerifierTest, RefusesOperandsAndResultsThatDoNotFit) {
  const Refused cases[] = {
      {"get(%o);", "expected a result of type f32[8]; found none"},
      {"%v = sort{dim=0, num_keys=1}() : f32[8];", "expected 1 operands; found 0"},
      {"named_barrier_arrive{lanes=128}(1.0:f32);", "the number of a barrier must be an integer; found f32[]"},
      {"named_barrier_arrive{lanes=128}(dense<i32[2][1,2]>);",
       "the number of a barrier must be an integer; found i32[2]"},
  };
  for (const Refused& refused : cases) ExpectRefused(KernelText(refused.text), refused.message);
}

// As JAX does (docs/spec/gpu-barriers.md).
TEST(VerifierTest, RefusesSeveralBarriersWhereOneIsMeant) {
  for (const std::string_view which : {"", ".at[0 +: 2]"}) {
    const std::string wait = Cat("barrier_wait(barrier=%two", which, ")");
    ExpectRefused(KernelText(Cat("run_scoped{collective_axes=[]}() (%two: ref<smem,barrier{arrivals=1, "
                                 "orders_tensor_core=false}[2]>) { barrier_arrive(barrier=%two.at[0]); ",
                                 wait, "; return; };")),
                  Cat("`", wait, "`: expected one of the 2 that the ref holds; index it with .at[...]"));
  }
}

TEST(VerifierTest, RefusesKernelsThatBreakARule) {
  const auto kernel = [](std::string_view items, std::string_view params) {
    return Cat("pkir 1;\nkernel @k {\n", items, "\nbody @b (", params, ") { return; } }");
  };
  const auto block = [&](std::string_view dims_and_map) {
    return kernel(Cat("grid [2]; in %x: f32[8,8] block ", dims_and_map, ";"), "%r: ref<any,f32[8]>");
  };
  ExpectRefused("pkir 1; kernel @k { grid []; }", "expected a `body`, found none");
  ExpectRefused(kernel("grid []; in %x: f32[2];", ""),
                "body @b: expected 1 parameters, one for each prefetch, in, out and scratch operand, found 0");
  ExpectRefused(kernel("grid []; in %x: f32[2] as \"args[0]\";", "%r: f32[2]"),
                "expected ref<default,f32[2]> as parameter %r, which stands for in %x (args[0]), found f32[2]");
  ExpectRefused(kernel("grid []; in %x: f32[2];", "%r: ref<any,f32[3]>"), "found ref<any,f32[3]>");
  ExpectRefused(kernel("grid []; in %x: f32[2];", "%r: ref<any,i32[2]>"), "found ref<any,i32[2]>");
  ExpectRefused(kernel("grid []; scratch %x: ref<smem,f32[2]>;", "%r: ref<any,f32[2]>"), "expected ref<smem,f32[2]>");
  ExpectRefused(kernel("grid []; scratch %x: f32[2];", "%r: ref<any,f32[2]>"),
                "t.pkir:3: kernel @k: scratch %x: expected a ref as scratch");
  ExpectRefused(kernel("grid []; in %x: ref<any,f32[2]>;", "%r: ref<any,f32[2]>"),
                "expected an array, found ref<any,f32[2]>");
  ExpectRefused(kernel("bound %n: f32[]; grid [%n];", ""),
                "expected one integer as a bound of the grid, i32[] or i32[1], found f32[]");
  ExpectRefused(kernel("bound %n: i32[]; in %x: f32[%n]; grid [%n];", "%r: ref<any,i32[]>"),
                "arrays of a size known only at run time");
  ExpectRefused(kernel("in %n: i32[]; in %x: f32[%n]; grid [];", ""),
                "expected a dimension that names a `bound` operand");
  ExpectRefused(kernel("grid [2] names [\"a\",\"b\"];", ""),
                "launch: expected 1 grid names, one for each dimension, found 2");
  ExpectRefused(kernel("grid [2] vmapped [1];", ""),
                "expected different grid dimensions in `vmapped`, each in [0, 1), found 1");
  ExpectRefused(kernel("grid [2] vmapped [0,0];", ""), "found 0");
  ExpectRefused(kernel("grid []; in %x: f32[2]; out %o: f32[3] alias %x;", ""),
                "expected the type of the input that it shares memory with, f32[2], found f32[3]");
  ExpectRefused(kernel("grid []; out %p: f32[2]; out %o: f32[2] alias %p;", ""),
                "expected `alias` on an out operand with the name of an in");
  ExpectRefused(kernel("grid []; in %x: f32[2]; out %p: f32[2] alias %x; out %o: f32[2] alias %x;", ""),
                "found out %p there too");
  ExpectRefused(block("(8) map (%i: i32[]) { return %i; }"),
                "expected 2 block dimensions, one for each of f32[8,8], found 1");
  ExpectRefused(block("(0,8) map (%i: i32[]) { return %i, %i; }"),
                "expected a block size of 1 or more in dimension 0 of f32[8,8], found 0");
  ExpectRefused(block("(sq,8) map () { return 0:i32, 0:i32; }"),
                "expected an index map with 1 grid indices and 0 prefetch refs as parameters, found 0");
  ExpectRefused(block("(sq,8) map (%i: f32[]) { return 0:i32, 0:i32; }"),
                "expected i32[] as parameter 0 of the index map, found f32[]");
  ExpectRefused(block("(sq,8) map (%i: i32[]) { return 0:i32; }"),
                "expected an index map with 2 results, one for each dimension of the array, found 1");
  ExpectRefused(block("(sq,8) map (%i: i32[]) { return 0:i32, 0.0:f32; }"),
                "expected an integer scalar as result 1 of the index map, found f32[]");
  ExpectRefused(block("(sq,4) map (%i: i32[]) { return 0:i32, %i; }"),
                "expected ref<any,f32[4]> as parameter %r, which stands for in %x and its block");
  ExpectRefused(block("(sq,8) map (%i: i32[]) { return 0:i32, %x; }"), "found the kernel's operand %x");
  ExpectRefused(block("(sq,8) map (%i: i32[]) { return 0:i32, 0:i32; } view .untile[8]"),
                "a block with a view is not modelled");
  ExpectRefused(
      kernel("grid []; scratch %s: ref<any,f32[2]> block (2) map () { return 0:i32; };", "%r: ref<any,f32[2]>"),
      "expected `block` on an in or out operand only");
}

TEST(VerifierTest, RefusesHandMadeModulesWithIdsOutOfRange) {
  const auto module = [] { return *Parse(KernelText("%v = get(%o) : f32[8]; _ = add(%v, %v) : f32[8];")); };
  EXPECT_TRUE(Verify(module()).ok());
  Module m = module();
  m.kernels[0].bodies[0].region.body[1].args[0].value = {99};
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
  m = module();
  m.kernels[0].bodies[0].region.body[1].args[0].value = {};
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
  m = module();
  m.kernels[0].bodies[0].region.body[0].results[0] = {99};
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
  m = module();
  std::swap(m.kernels[0].bodies[0].region.body[0], m.kernels[0].bodies[0].region.body[1]);
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
  m = module();
  m.kernels[0].bodies[0].region.body[0].loc = {5};
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
  m = *Parse(
      "pkir 1; kernel @k { bound %n: i32[]; grid [%n]; in %x: i32[]; body @b (%r: ref<any,i32[]>) { return; } }");
  m.kernels[0].launch.grid[0].bound = m.kernels[0].operands[1].value;
  EXPECT_NE(std::string::npos, Verify(m).status().ToString().find("a grid dimension that names a `bound` operand"));
  m = module();
  m.kernels.clear();
  EXPECT_EQ(Verify(m).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace palladion
