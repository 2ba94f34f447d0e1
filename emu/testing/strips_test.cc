// Strips change where values live and in which order elements are computed, never the bits: random elementwise programs
// over 5000 elements, which run in strips, give what the same program gives on five slices of 1000, which do not.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

constexpr std::int64_t kSlice = 1000, kSlices = 5;

// Writes a kernel text for `n` elements; the same seed gives the same program for every n.
class RandomProgram {
 public:
  RandomProgram(unsigned seed, std::int64_t n) : random_(seed), shape_(Cat("[", n, "]")) {
    const std::string f32 = "f32" + shape_, i32 = "i32" + shape_;
    text_ = Cat("pkir 1;\nkernel @k { grid []; in %x: ", f32, "; in %y: ", i32, "; out %o: ", f32, "; out %p: ", i32,
                ";\n", "body @k (%xr: ref<default,", f32, ">, %yr: ref<default,", i32, ">, %or: ref<default,", f32,
                ">, %pr: ref<default,", i32, ">) {\n%x0 = get(%xr) : ", f32, ";\n%y0 = get(%yr) : ", i32, ";\n");
    floats_ = {"%x0"};
    ints_ = {"%y0"};
    Chain(12);
    Loop();
    Chain(8);
    Choice();
    Chain(10);
    text_ += Cat("_ = swap(%or, ", floats_.back(), ") : ", f32, ";\n_ = swap(%pr, ", ints_.back(), ") : ", i32,
                 ";\nreturn; } }\n");
  }

  const std::string& text() const { return text_; }

 private:
  std::string New() { return Cat("%v", next_++); }
  std::string Pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }

  void Float(const std::string& expression) {
    floats_.push_back(New());
    text_ += Cat(floats_.back(), " = ", expression, " : f32", shape_, ";\n");
  }
  void Int(const std::string& expression) {
    ints_.push_back(New());
    text_ += Cat(ints_.back(), " = ", expression, " : i32", shape_, ";\n");
  }

  void Chain(int length) {
    for (int i = 0; i < length; ++i) {
      switch (random_() % 10) {
        case 0:
          Float(Cat("add(", Pick(floats_), ", ", Pick(floats_), ")"));
          break;
        case 1:
          Float(Cat("mul(", Pick(floats_), ", 0.5:f32)"));
          break;
        case 2:
          Float(Cat("max(1.25:f32, ", Pick(floats_), ")"));
          break;
        case 3:
          Float(Cat("tanh(", Pick(floats_), ")"));
          break;
        case 4:
          Float(Cat("convert_element_type{to=f32}(", Pick(ints_), ")"));
          break;
        case 5:
          Int(Cat("xor(", Pick(ints_), ", ", Pick(ints_), ")"));
          break;
        case 6:
          Int(Cat("add(", Pick(ints_), ", 7:i32)"));
          break;
        case 7:
          Int(Cat("convert_element_type{to=i32}(", Pick(floats_), ")"));
          break;
        case 8:
          Scalar();
          break;
        default:
          Select();
      }
    }
  }

  void Select() {
    const std::string less = New();
    text_ += Cat(less, " = lt(", Pick(floats_), ", ", Pick(floats_), ") : bool", shape_, ";\n");
    Float(Cat("select_n(", less, ", ", Pick(floats_), ", 2.0:f32)"));
  }

  // A step between the operations of a chain that does not belong to it.
  void Scalar() {
    const std::string old = scalar_;
    scalar_ = New();
    text_ += Cat(scalar_, " = add(", old, ", 0.25:f32) : f32[];\n");
    Float(Cat("sub(", Pick(floats_), ", ", scalar_, ")"));
  }

  // Carries that swap places, so that a carry's memory is read after its successor is computed.
  void Loop() {
    const std::string a = New(), b = New(), c = New(), d = New();
    const std::vector<std::string> outer_floats = floats_, outer_ints = ints_;
    const std::string outer_scalar = scalar_;
    const std::string f32 = "f32" + shape_;
    text_ += Cat(c, ", ", d, " = scan{length=3, reverse=false}(init=", Pick(floats_), ", init=", Pick(floats_), ") (",
                 a, ": ", f32, ", ", b, ": ", f32, ") {\n");
    floats_ = {a, b, Pick(outer_floats)};
    Chain(9);
    const std::string first = Pick(floats_), second = random_() % 2 == 0 ? a : Pick(floats_);
    text_ += Cat("return ", first, ", ", second, ";\n} : ", f32, ", ", f32, ";\n");
    floats_ = outer_floats;
    ints_ = outer_ints;
    scalar_ = outer_scalar;
    floats_.push_back(c);
    floats_.push_back(d);
  }

  void Choice() {
    const std::string chosen = New();
    const std::vector<std::string> outer_floats = floats_, outer_ints = ints_;
    const std::string outer_scalar = scalar_;
    text_ += Cat(chosen, " = cond(", random_() % 2, ":i32) {\n");
    for (int branch = 0; branch < 2; ++branch) {
      floats_ = outer_floats;
      ints_ = outer_ints;
      scalar_ = outer_scalar;
      Chain(7);
      text_ += Cat("return ", floats_.back(), ";\n}", branch == 0 ? " {\n" : "");
    }
    text_ += Cat(" : f32", shape_, ";\n");
    floats_ = outer_floats;
    ints_ = outer_ints;
    scalar_ = outer_scalar;
    floats_.push_back(chosen);
  }

  std::mt19937 random_;
  std::string shape_, text_;
  std::vector<std::string> floats_, ints_;
  std::string scalar_ = "1.5:f32";
  int next_ = 0;
};

std::vector<Tensor> RunText(const std::string& text, absl::Span<const Tensor> inputs) {
  auto kernel = PrepareText(text);
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  auto result = Run(*kernel, inputs);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? std::move(result->outputs) : std::vector<Tensor>{};
}

Tensor Part(const Tensor& whole, std::int64_t first) {
  Tensor part(whole.dtype(), {kSlice});
  std::memcpy(part.bytes(), whole.bytes() + first * 4, static_cast<std::size_t>(kSlice) * 4);
  return part;
}

TEST(Strips, GiveTheBitsOfWholeOperations) {
  Tensor x(DType::kF32, {kSlice * kSlices}), y(DType::kI32, {kSlice * kSlices});
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < kSlice * kSlices; ++i) {
    x.data<float>()[i] = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 256;
    y.data<std::int32_t>()[i] = static_cast<std::int32_t>(random());
  }
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<Tensor> whole = RunText(RandomProgram(seed, kSlice * kSlices).text(), {x, y});
    const std::string text = RandomProgram(seed, kSlice).text();
    ASSERT_EQ(whole.size(), 2u);
    for (std::int64_t s = 0; s < kSlices; ++s) {
      const std::vector<Tensor> slice = RunText(text, {Part(x, s * kSlice), Part(y, s * kSlice)});
      ASSERT_EQ(slice.size(), 2u);
      for (std::size_t o = 0; o < 2; ++o) {
        EXPECT_TRUE(Part(whole[o], s * kSlice).BitwiseEquals(slice[o]))
            << "seed " << seed << ", slice " << s << ", output " << o << "\n"
            << text;
      }
    }
  }
}

}  // namespace
}  // namespace palladion
