// What a replay string is bound to: what a kernel computes, not how its source looks.
#include "emu/check/replay_origin.h"

#include <gtest/gtest.h>

#include "emu/values.h"

namespace palladion::check {
namespace {

constexpr const char* kText =
    "pkir 1;\nproducer \"jax 1\";\nfile #f = \"k.py\";\nloc #l = #f:7:3 fn \"k\";\n"
    "kernel @k {\n  in %x: i32[4] as \"args[0]\";\n  grid [2];\n  out %o: i32[4] as \"outputs\";\n"
    "  body @k (%xr: ref<default,i32[4]> as \"x_ref\", %or: ref<default,i32[4]> as \"o_ref\") {\n"
    "    %v = get(%xr.at[1]) : i32[] #l;\n    %w = add(%v, 1:i32) : i32[] #l;\n    _ = swap(%or.at[0], %w) : i32[] "
    "#l;\n"
    "    return;\n  }\n}\n";

std::string With(std::string text, std::initializer_list<std::pair<std::string, std::string>> changes) {
  for (const auto& [from, to] : changes) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

scheduler::ScheduleOrigin Origin(const std::string& text, const std::string& target = "triton/h100",
                                 const std::string& values = "iota", const CheckOptions& options = {}) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, values));
  std::vector<ConstArray> arrays;
  for (const Tensor& input : inputs) arrays.push_back({input.dtype(), input.shape(), input.bytes()});
  return OriginOf(kernel->state(), arrays, options);
}

std::string WhyNot(const scheduler::ScheduleOrigin& then, const scheduler::ScheduleOrigin& now) {
  return std::string(scheduler::ExpectMadeFor({.origin = then}, now).message());
}

TEST(ReplayOrigin, LinesCommentsAndNamesChangeNothing) {
  const std::string text = kText;
  const scheduler::ScheduleOrigin origin = Origin(text);
  for (const std::string& same :
       {With(text, {{"#f:7:3", "#f:90:1"}, {"k.py", "other.py"}, {"fn \"k\"", "fn \"inner\""}}),
        With(text, {{"%v", "%value"}, {"%xr", "%a_ref"}, {"x_ref", "input"}, {"args[0]", "q"}}),
        With(text, {{"@k", "@renamed"}}), With(text, {{" #l;", ";"}}), With(text, {{"jax 1", "jax 2"}}),
        With(text, {{"  grid", "  // a comment\n  grid"}})}) {
    EXPECT_EQ("", WhyNot(origin, Origin(same))) << same;
  }
}

TEST(ReplayOrigin, WhatHasChangedIsSaid) {
  const std::string text = kText;
  const scheduler::ScheduleOrigin origin = Origin(text);
  const auto expect = [&](const std::string& part, const scheduler::ScheduleOrigin& now) {
    EXPECT_NE(WhyNot(origin, now).find(part), std::string::npos) << part << "\n" << WhyNot(origin, now);
  };
  expect("the operations of kernel @k have changed since", Origin(With(text, {{"add(", "mul("}})));
  expect("the operations of kernel @k have changed since", Origin(With(text, {{"1:i32", "2:i32"}})));
  expect("recorded with kernel @k, and this is @m, which", Origin(With(text, {{"add(", "mul("}, {"@k", "@m"}})));
  expect("the grid, or the shapes or types of the operands", Origin(With(text, {{"i32[4]", "i32[8]"}})));
  expect("the grid, or the shapes or types of the operands", Origin(With(text, {{"grid [2]", "grid [3]"}})));
  expect("for the target triton/h100, and this one is generic", Origin(text, "generic"));
  expect("the inputs have other values", Origin(text, "triton/h100", "full(1)"));
  expect("recorded with the default options, and this is with fill=zero,proxy=strict,links=ordered",
         Origin(text, "triton/h100", "iota",
                {.fill = {.kind = Fill::Kind::kZero}, .proxy = ProxyRule::kStrict, .links = LinkOrder::kOrdered}));
  expect("recorded with the default options, and this is with bounds=padded",
         Origin(text, "triton/h100", "iota", {.run = {.padded_bounds = true}}));
  EXPECT_EQ(WhyNot(origin, Origin(text, "triton/h100", "full(1)")).find("operations"), std::string::npos);
}

}  // namespace
}  // namespace palladion::check
