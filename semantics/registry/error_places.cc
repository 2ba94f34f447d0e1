#include "semantics/registry/error_places.h"

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"

namespace palladion {
namespace {

constexpr absl::string_view kPlaced = "palladion/placed";

// A text that is no file: the line of the user's Python says where, and a line of the text would say it to no one.
bool OnlyInMemory(const Module& module) { return module.path == "<text>"; }

// Of a long instruction its start says enough; the line says the rest.
std::string Shortened(std::string text) {
  constexpr std::size_t kLength = 160;
  if (text.size() > kLength) text = Cat(text.substr(0, kLength), "...");
  return text;
}

}  // namespace

std::string FullName(const Instr& instr) {
  return instr.dialect.empty() ? instr.name : Cat(instr.dialect, ".", instr.name);
}

absl::Status ErrorPlaces::At(int line, LocId loc, const std::string& what, const absl::Status& status) const {
  if (status.ok() || status.GetPayload(kPlaced).has_value()) return status;
  const std::string user = Describe(module_, loc);
  if (OnlyInMemory(module_) && !user.empty()) {
    absl::Status placed(status.code(), Cat("kernel @", kernel_.name, what.empty() ? "" : ": ", what, ": ",
                                           status.message(), "; at ", user));
    placed.SetPayload(kPlaced, absl::Cord());
    return placed;
  }
  absl::Status placed(status.code(), Cat(module_.path, ":", line, ": kernel @", kernel_.name, what.empty() ? "" : ": ",
                                         what, ": ", status.message(), user.empty() ? "" : "; at ", user));
  placed.SetPayload(kPlaced, absl::Cord());
  return placed;
}

// Printing needs ids that are in range, so only what passed CheckArg is printed whole.
absl::Status ErrorPlaces::At(const Instr& instr, const absl::Status& status) const {
  if (status.ok() || status.GetPayload(kPlaced).has_value()) return status;
  const bool printable = instr.row != nullptr;
  if (OnlyInMemory(module_) && instr.loc.valid()) {
    const bool named = ToStd(status.message()).starts_with(FullName(instr));
    return At(instr.text_line, instr.loc, named ? "" : FullName(instr), status);
  }
  return At(instr.text_line, instr.loc,
            Cat("`", printable ? Shortened(Print(module_, kernel_, instr)) : FullName(instr), "`"), status);
}

absl::Status ErrorPlaces::CheckLoc(LocId loc) const {
  if (!loc.valid() || loc.index() < module_.locs.size()) return absl::OkStatus();
  return absl::InvalidArgumentError("expected a location of this module, found an id out of range");
}

}  // namespace palladion
