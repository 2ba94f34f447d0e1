// What the tests of kernel text share: small kernels around the line under test.
#ifndef PALLADION_SEMANTICS_IR_TEXT_TEST_UTIL_H_
#define PALLADION_SEMANTICS_IR_TEXT_TEST_UTIL_H_

#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/verifier.h"

namespace palladion {

// Line 6 of the text is the first line of `lines`; visible there: refs %x (f32[4,8], default) and %o (f32[8], default).
inline std::string KernelText(std::string_view lines, std::string_view header = "") {
  return Cat("pkir 1;", header, "\nkernel @k {\n  grid [];\n  in %a: f32[4,8]; out %b: f32[8];\n",
             "  body @f (%x: ref<default,f32[4,8]>, %o: ref<default,f32[8]>) {\n", lines, "\n    return;\n  }\n}\n");
}

// A ref to tensor memory.
inline Type Tmem(DType dtype, Shape shape, std::string attrs = "") {
  Type type = ArrayType(dtype, std::move(shape));
  type.kind = TypeKind::kRef;
  type.space = Space::kTmem;
  type.attrs = std::move(attrs);
  return type;
}

inline std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Module> module = Parse(text, "t.pkir");
  return module.ok() ? "" : std::string(ToStd(module.status().message()));
}

// "" when the verifier accepts the text, which must parse.
inline std::string VerifyErrorOf(std::string_view text) {
  absl::StatusOr<Module> module = Parse(text, "t.pkir");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return "does not parse";
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(module));
  return verified.ok() ? "" : std::string(ToStd(verified.status().message()));
}

// Parses, prints, parses and prints again: the second print must be the first. Returns it.
inline std::string RoundTrip(std::string_view text) {
  const absl::StatusOr<Module> first = Parse(text, "t.pkir");
  EXPECT_TRUE(first.ok()) << first.status() << "\n" << text;
  if (!first.ok()) return "";
  const std::string printed = Print(*first);
  const absl::StatusOr<Module> second = Parse(printed, "printed");
  EXPECT_TRUE(second.ok()) << second.status() << "\n" << printed;
  if (second.ok()) {
    EXPECT_EQ(Print(*second), printed);
  }
  return printed;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TEXT_TEST_UTIL_H_
