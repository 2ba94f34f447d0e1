// Any bytes as a machine description: an error or a machine whose text reads back as the same text. It is seeded with
// the shipped files by emu/CMakeLists.txt.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emu/chip/machines/description.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using palladion::machines::Machine;
  const absl::StatusOr<Machine> machine =
      Machine::Parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.machine");
  if (!machine.ok()) return 0;
  const std::string text = machine->Print();
  const absl::StatusOr<Machine> again = Machine::Parse(text, "again.machine");
  if (!again.ok() || again->Print() != text) std::abort();
  return 0;
}
