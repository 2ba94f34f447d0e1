// What `PrepareText` refuses before it makes tables: found by fuzzing, as a request for 2^35 bytes.
#include <gtest/gtest.h>

#include "emu/emulate.h"

namespace palladion {
namespace {

TEST(PrepareLimits, AValueLargerThanTheLimitIsRefusedBeforeItsTablesAreMade) {
  const char* text =
      "pkir 1;\nkernel @k { grid []; in %x: f32[8,65536]; in %y: f32[65536,8]; out %o: f32[8,8];\n"
      "  body @b (%a: ref<default,f32[8,65536]>, %b: ref<default,f32[65536,8]>, %c: ref<default,f32[8,8]>) {\n"
      "    %0 = get(%a) : f32[8,65536];\n    %1 = get(%b) : f32[65536,8];\n"
      "    %2 = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=none}(%0, %1) : f32[8,8];\n"
      "    _ = swap(%c, %2) : f32[8,8];\n    return; } }\n";
  PrepareOptions options;
  EXPECT_TRUE(PrepareText(text, options).ok()) << PrepareText(text, options).status();
  options.memory_limit = std::size_t{1} << 20;
  const absl::Status status = PrepareText(text, options).status();
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, status.code()) << status;
  EXPECT_NE(
      std::string::npos,
      std::string(status.message()).find("needs 2097152 bytes for '%0' of type f32[8,65536]; the limit is 1048576"))
      << status;
}

}  // namespace
}  // namespace palladion
