// Which operations are exact on a chip, and where an approximate value may decide something.
#include "emu/check/legality/fidelity.h"

#include <gtest/gtest.h>

#include <string>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

ReportedFidelity Of(const std::string& body, const std::string& target = "mosaic_tpu/v5e") {
  const std::string text =
      Cat("pkir 1; kernel @k { grid []; in %x: f32[8,128]; in %s: i32[1] space smem; out %o: f32[8,128]; ",
          "scratch %t: ref<smem,i32[8]>; ",
          "body @k (%xr: ref<default,f32[8,128]>, %sr: ref<smem,i32[1]>, %or: ref<default,f32[8,128]>, "
          "%tr: ref<smem,i32[8]>) { %a = get(%xr) : f32[8,128]; ",
          body, " return; } }");
  const absl::StatusOr<Module> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return {};
  return FidelityOf(*module, module->kernels[0], TargetFromName(target).value(), {}).value_or(ReportedFidelity{});
}

std::string Reached(const ReportedFidelity& fidelity) {
  std::string all;
  for (const FidelityReach& reach : fidelity.reached) Append(&all, reach.what, ";");
  return all;
}

constexpr std::string_view kStore = "_ = swap(%or, %a) : f32[8,128];";
constexpr std::string_view kApproximate = "%e = exp(%a) : f32[8,128]; %m = reduce_max{axes=[0,1]}(%e) : f32[]; ";
constexpr std::string_view kIndex = "%n = convert_element_type{to=i32}(%m) : i32[]; ";

TEST(Fidelity, CountsWhatIsExactAndWhatIsNot) {
  EXPECT_EQ(0, Of(Cat("%b = add(%a, %a) : f32[8,128];", kStore)).approximate);
  EXPECT_EQ(3, Of(Cat("%b = add(%a, %a) : f32[8,128];", kStore)).exact);
  const ReportedFidelity some = Of(Cat("%b = exp(%a) : f32[8,128]; %c = div(%b, %a) : f32[8,128];", kStore));
  EXPECT_EQ(2, some.approximate);
  EXPECT_EQ("div", some.rows[0].name);
  EXPECT_EQ("approximate", Name(some.rows[0].kind));
  EXPECT_FALSE(some.rows[0].why.empty());
  EXPECT_EQ(0, Of(Cat("%n = get(%sr.at[0]) : i32[]; %d = div(%n, 3:i32) : i32[];", kStore)).approximate);
}

TEST(Fidelity, SaysWhereAnApproximateValueMayDecide) {
  EXPECT_EQ("", Reached(Of(Cat(kApproximate, kStore))));
  EXPECT_EQ("control flow;", Reached(Of(Cat(kApproximate, "%p = gt(%m, 1.0:f32) : bool[]; ", "cond(%p) { return; } { ",
                                            kStore, " return; };"))));
  EXPECT_EQ("an address;", Reached(Of(Cat(kApproximate, kIndex, "%v = get(%tr.at[%n]) : i32[]; ", kStore))));
  // Through memory, and through a loop's carry.
  EXPECT_EQ("an address;", Reached(Of(Cat(kApproximate, kIndex, "_ = swap(%tr.at[0], %n) : i32[]; ",
                                          "%l = get(%tr.at[1]) : i32[]; %v = get(%sr.at[%l]) : i32[]; ", kStore))));
  EXPECT_EQ("an address;",
            Reached(Of(Cat(kApproximate, kIndex, "%z = scan{length=2, reverse=false}(init=0:i32) (%c: i32[]) { ",
                           "%v = get(%sr.at[%c]) : i32[]; %d = add(%c, %n) : i32[]; return %d; } : i32[]; ", kStore))));
}

TEST(Fidelity, IsOfAChip) {
  const absl::StatusOr<Module> module =
      Parse("pkir 1; kernel @k { grid []; out %o: f32[8]; body @k (%or: ref<default,f32[8]>) { return; } }");
  ASSERT_TRUE(module.ok());
  EXPECT_FALSE(FidelityOf(*module, module->kernels[0], TargetFromName("generic").value(), {}).has_value());
}

}  // namespace
}  // namespace palladion::legality
