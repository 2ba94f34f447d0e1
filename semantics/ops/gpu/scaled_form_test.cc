// What the verifier says of scales and positions that a product of Blackwell does not take: each rule of
// docs/spec/gpu-tcgen05.md#block-scales and #a-sparse-operand broken once, and the copies that bring them.
#include "semantics/ops/gpu/scaled_form.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "semantics/base/cat.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

std::string InScope(std::string_view refs, std::string_view body) {
  return Cat("pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n",
             "  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};\n",
             "  body @body () {\n    run_scoped{collective_axes=[]}() (", refs, ") {\n", body,
             "      return;\n    };\n    return;\n  }\n}\n");
}

const std::string kScaled = InScope(R"(%acc: ref<tmem,f32[128,96]>, %a: ref<smem,f8e4m3fn[128,128]>,
        %b: ref<smem,f8e4m3fn[128,96]>, %packed: ref<smem,f8e8m0fnu[1,1,32,16]>,
        %of_a: ref<tmem,f8e8m0fnu[128,4] {layout=scales}>, %of_b: ref<tmem,f8e8m0fnu[128,4] {layout=scales}>)",
                                    R"(      async_copy_scales_to_tmem(smem=%packed, tmem=%of_a);
      tcgen05_mma{scaled=true, sparse=false}(acc=%acc, a=%a, b=%b, accumulate=false, a_scale=%of_a, b_scale=%of_b);
)");

const std::string kSparse = InScope(R"(%acc: ref<tmem,f32[128,96]>, %a: ref<smem,f16[128,64]>,
        %b: ref<smem,f16[128,96]>, %packed: ref<smem,u2[1,1,128,64]>,
        %where: ref<tmem,u2[128,64] {layout=sparse_metadata}>)",
                                    R"(      async_copy_sparse_metadata_to_tmem(smem=%packed, tmem=%where);
      tcgen05_mma{scaled=false, sparse=true}(acc=%acc, a=%a, b=%b, accumulate=false, a_sparse_metadata=%where);
)");

// What is said of the text with one part of it replaced.
std::string ErrorAfter(std::string_view text, const std::string& part, const std::string& other) {
  const std::string edited = absl::StrReplaceAll(std::string(text), {{part, other}});
  EXPECT_NE(text, edited) << part;
  return VerifyErrorOf(edited);
}

void ExpectRefused(std::string_view text, const std::string& part, const std::string& other,
                   const std::string& message) {
  const std::string error = ErrorAfter(text, part, other);
  EXPECT_NE(std::string::npos, error.find(message)) << "with " << other << ": " << error;
}

TEST(ScaledForm, TakesWhatTheDocumentationDescribes) {
  EXPECT_EQ("", VerifyErrorOf(kScaled));
  EXPECT_EQ("", VerifyErrorOf(kSparse));
}

TEST(ScaledForm, ScalesAreOfEveryRowAndBlock) {
  ExpectRefused(kScaled, "%a: ref<smem,f8e4m3fn[128,128]>", "%a: ref<smem,f8e4m3fn[128,64]>",
                "expected acc[m,n], a[m,k] and b[k,n]; found");
  ExpectRefused(kScaled, "%of_b: ref<tmem,f8e8m0fnu[128,4]", "%of_b: ref<tmem,f8e8m0fnu[128,8]",
                "expected b_scale[128,4], a row for each of n = 96 columns");
  ExpectRefused(kScaled, "%of_b: ref<tmem,f8e8m0fnu[128,4]", "%of_b: ref<tmem,f8e4m3fn[128,4]",
                "scales of both operands must have one type");
  ExpectRefused(kScaled, "f8e8m0fnu", "f8e4m3fn", "expected a_scale[128,8], a scale for each 16 of k = 128");
}

TEST(ScaledForm, ScalesLieInTheirLayoutOfTensorMemory) {
  const std::string remedy = "allocate it with ";
  ExpectRefused(kScaled, "%of_b: ref<tmem,f8e8m0fnu[128,4] {layout=scales}>", "%of_b: ref<tmem,f8e8m0fnu[128,4]>",
                "b_scale= must have layout=scales; found layout=default of f8e8m0fnu[128,4]: " + remedy);
  ExpectRefused(kScaled, "%of_a: ref<tmem,f8e8m0fnu[128,4] {layout=scales}>", "%of_a: ref<tmem,f8e8m0fnu[128,4]>",
                "tmem= must have layout=scales or layout=scales_m64_collective; found layout=default: " + remedy);
  ExpectRefused(kScaled, "a_scale=%of_a", "a_scale=%packed",
                "a_scale= must be a view of a ref in tmem; found ref<smem");
}

TEST(ScaledForm, OperandsAreThereAsTheAttributesSay) {
  ExpectRefused(kScaled, "scaled=true", "scaled=false", "expected a_scale= and b_scale= with scaled=true");
  ExpectRefused(kScaled, ", b_scale=%of_b", "", "expected an operand b_scale=");
  ExpectRefused(kScaled, "{scaled=true, sparse=false}(acc=%acc, a=%a, b=%b, accumulate=false, a_scale=%of_a,",
                "{scaled=false, sparse=false}(acc=%acc, a=%a, b=%b, accumulate=false,",
                "expected a_scale= and b_scale= with scaled=true");
  ExpectRefused(kSparse, "sparse=true", "sparse=false", "a_sparse_metadata= with sparse=true only");
}

TEST(ScaledForm, PositionsAreOfEveryGroup) {
  ExpectRefused(kSparse, "u2[128,64] {layout=sparse_metadata}", "u2[128,128] {layout=sparse_metadata}",
                "the packed array must have type u2[1,2,128,64]; found u2[1,1,128,64]");
  ExpectRefused(kSparse, "%a: ref<smem,f16[128,64]>", "%a: ref<smem,f16[128,128]>",
                "expected acc[m,n], a[m,k/2] and b[k,n]; found");
  ExpectRefused(kSparse, "a_sparse_metadata=%where)", "a_sparse_metadata=%where.at[*, 0 +: 32])",
                "expected a_sparse_metadata u2[128,64]");
  ExpectRefused(kSparse, "u2[128,64] {layout=sparse_metadata}", "u2[128,64] {packing=16}",
                "tmem= must have layout=sparse_metadata; found layout=default: allocate it with ");
}

TEST(ScaledForm, PackedArraysAreWholeTiles) {
  ExpectRefused(kScaled, "[1,1,32,16]", "[1,1,16,32]",
                "the packed array must have type f8e8m0fnu[1,1,32,16]; found f8e8m0fnu[1,1,16,32]");
  ExpectRefused(kSparse, "u2[128,64] {layout=sparse_metadata}", "u2[128,32] {layout=sparse_metadata}",
                "expected tmem= to be whole tiles of layout=sparse_metadata; found u2[128,32]");
  ExpectRefused(kSparse, "u2[", "u4[", "positions of sparse operands must be u2; found u4[128,64]");
}

}  // namespace
}  // namespace palladion
