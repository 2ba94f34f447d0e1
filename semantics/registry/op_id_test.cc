// Ids of operations: each is of a row of the registry, and what is made by id verifies.
#include "semantics/registry/op_id.h"

#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/verifier.h"

namespace palladion {
namespace {

TEST(OpId, EachIsOfARow) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::size(kOpNames); ++i) {
    const OpName& op = kOpNames[i];
    EXPECT_EQ(op.id, static_cast<OpId>(i)) << op.name;
    EXPECT_NE(FindOp(op.dialect, op.name), nullptr) << op.dialect << "." << op.name;
    EXPECT_TRUE(names.insert(Cat(op.dialect, ".", op.name)).second) << op.name;
    const Instr made = MakeInstr(op.id, {}, {});
    EXPECT_TRUE(Is(made, op.id));
    EXPECT_EQ(IdOf(made), op.id);
  }
}

TEST(OpId, AnotherDialectIsAnotherOperation) {
  Instr load = MakeInstr(OpId::kSwap, {}, {});
  load.dialect = "sc";
  EXPECT_FALSE(Is(load, OpId::kSwap));
  EXPECT_EQ(IdOf(load), std::nullopt);
}

TEST(OpId, WhatBecomesAnotherOperationIsVerifiedAnew) {
  constexpr std::string_view kText = R"(pkir 1;
kernel @k {
  backend generic;
  grid [];
  in %x: i32[4];
  out %o: i32[4];
  body @k (%xr: ref<any,i32[4]>, %or: ref<any,i32[4]>) {
    %v = get(%xr) : i32[4];
    %w = add(%v, %v) : i32[4];
    _ = swap(%or, %w) : i32[4];
    return;
  }
}
)";
  auto module = Parse(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  Instr& add = module->kernels[0].bodies[0].region.body[1];
  ASSERT_TRUE(Is(add, OpId::kAdd));
  Become(OpId::kMul, add);
  const auto verified = Verify(*std::move(module));
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ(verified->module().kernels[0].bodies[0].region.body[1].row, FindOp("", "mul"));
}

}  // namespace
}  // namespace palladion
