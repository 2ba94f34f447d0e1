// What becomes of single marks: those of an output's own bytes, and those that a defined element of a mask decides
// over.
#include <gtest/gtest.h>

#include "semantics/ops/flow/shadow_test_util.h"
#include "semantics/port/machine.h"
#include "semantics/registry/shadow.h"

namespace palladion {
namespace {

using namespace shadow_testing;

constexpr std::uint8_t kOwn = 0x93, kComputed = ComputedMark(kOwn);

// The mark of the first result element where every operand element has an own byte's.
std::uint8_t ResultOf(const Form& form) {
  const Subject subject = (*SubjectsOf(TextOf(form)))[0];
  Random random(1);
  Operands operands;
  for (const Type& type : subject.types.in) {
    operands.values.push_back(RandomValue(type, random));
    operands.marks.emplace_back(Elements(type), kOwn);
  }
  return Runner::Make(subject)->Undefined(operands)[0][0];
}

TEST(ShadowMarks, AnOutputsOwnBytes) {
  EXPECT_EQ(2, kComputed);
  for (const Form& move : {Form{{"f32[3,4]"}, "transpose{perm=[1,0]}", {"f32[4,3]"}},
                           Form{{"bf16[3]"}, "convert_element_type{to=f32}", {"f32[3]"}},
                           Form{{"f32[3]"}, "bitcast_convert_type{to=i32}", {"i32[3]"}}})
    EXPECT_EQ(kOwn, ResultOf(move)) << move.op;
  for (const Form& computes :
       {Form{{"f32[3]"}, "neg", {"f32[3]"}}, Form{{"f32[3]"}, "convert_element_type{to=i32}", {"i32[3]"}},
        Form{{"f32[4]", "i32[]"}, "dynamic_slice{sizes=[2]}", {"f32[2]"}},  // an own index
        Form{{"i32[3]"}, "bitcast_convert_type{to=u8}", {"u8[3,4]"}}})
    EXPECT_EQ(kComputed, ResultOf(computes)) << computes.op;
}

// The marks of the result where operand 0 has `marks`, the others none, and all values are 0.
Marks ResultOf(const Form& form, const Marks& marks) {
  const Subject subject = (*SubjectsOf(TextOf(form)))[0];
  Operands operands;
  for (const Type& type : subject.types.in) {
    operands.values.emplace_back(Bytes(type));
    operands.marks.push_back(operands.marks.empty() ? marks : Marks{});
  }
  return Runner::Make(subject)->Undefined(operands)[0];
}

TEST(ShadowMarks, APrefixGoesAlongItsAxisOnly) {
  const Marks marks = {0, 7, 0, 0, 0, 0};
  EXPECT_EQ((Marks{0, 7, 7, 0, 0, 0}), ResultOf({{"i16[2,3]"}, "cumsum{axis=1}", {"i16[2,3]"}}, marks));
  EXPECT_EQ((Marks{0, 7, 0, 0, 7, 0}), ResultOf({{"i16[2,3]"}, "cumsum{axis=0}", {"i16[2,3]"}}, marks));
}

TEST(ShadowMarks, PiecesOfAnElementLieWhereTheDialectPutsThem) {
  EXPECT_EQ((Marks{7, 7, 0, 0}), ResultOf({{"i32[2]"}, "bitcast_convert_type{to=i16}", {"i16[2,2]"}}, {7, 0}));
  EXPECT_EQ((Marks{7, 0, 7, 0}), ResultOf({{"i32[1,2]"}, "tpu.bitcast{to=i16}", {"i16[2,2]"}}, {7, 0}));
}

TEST(ShadowMarks, AnUndefinedIndexOfAGather) {
  const Form gather{{"bool[5,4]", "i32[2,1]"},
                    "gather{offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], slice_sizes=[1,4], "
                    "mode=fill, fill_value=none}",
                    {"bool[2,4]"}};
  EXPECT_EQ(kComputed, ResultOf(gather));
}

TEST(ShadowMarks, ADefinedElementDecidesAMask) {
  const auto marks = [](const std::string& op, const std::string& type, const std::vector<std::uint8_t>& defined) {
    const Subject subject = (*SubjectsOf(TextOf({{type, type}, op, {type}})))[0];
    std::vector<std::byte> bytes;
    for (const std::uint8_t byte : defined) bytes.push_back(std::byte{byte});
    const Operands operands{.values = {bytes, std::vector<std::byte>(bytes.size())},
                            .marks = {{}, Marks(Elements(subject.types.out[0]), 7)}};
    return Runner::Make(subject)->Undefined(operands)[0];
  };
  EXPECT_EQ((Marks{0, 7}), marks("and", "bool[2]", {0, 1}));
  EXPECT_EQ((Marks{7, 0}), marks("or", "bool[2]", {0, 1}));
  EXPECT_EQ((Marks{0, 7}), marks("and", "i16[2]", {0, 0, 1, 0}));
  EXPECT_EQ((Marks{7, 0}), marks("or", "i16[2]", {255, 254, 255, 255}));
  EXPECT_EQ((Marks{7, 7}), marks("xor", "i16[2]", {0, 0, 255, 255}));
}

}  // namespace
}  // namespace palladion
