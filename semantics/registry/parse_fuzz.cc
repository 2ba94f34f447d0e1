// Any bytes as kernel text: no crash, no hang, no unbounded memory; and what parses prints to a text that parses to the
// same print and is judged by the verifier in the same way. Finds nothing about what a kernel computes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/verifier.h"

namespace palladion {
namespace {

[[noreturn]] void Fail(const char* what, const std::string& first, const std::string& second) {
  std::fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, first.c_str(), second.c_str());
  std::abort();
}

void CheckText(std::string_view text) {
  absl::StatusOr<Module> module = Parse(text, "input");
  if (!module.ok()) return;
  const std::string printed = Print(*module);
  absl::StatusOr<Module> again = Parse(printed, "input");
  if (!again.ok()) Fail("a printed text does not parse", printed, again.status().ToString());
  const std::string reprinted = Print(*again);
  if (reprinted != printed) Fail("a printed text prints differently once it is parsed", printed, reprinted);
  const absl::Status first = Verify(*std::move(module)).status();
  const absl::Status second = Verify(*std::move(again)).status();
  // Messages name lines of different texts, so only the kinds of error are compared.
  if (first.code() != second.code())
    Fail("a printed text is verified differently", first.ToString(), second.ToString());
}

}  // namespace
}  // namespace palladion

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  palladion::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
