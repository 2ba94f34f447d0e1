// Where the instructions of a kernel are in its text: nesting, repetition, and which values are visible where. For
// fixes that are changes of the text (mended.h). Based on: docs/spec/kernel-text.md.
#ifndef PALLADION_EMU_RUN_LAUNCH_TEXT_PLACES_H_
#define PALLADION_EMU_RUN_LAUNCH_TEXT_PLACES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::launch {

class TextPlaces {
 public:
  struct Place {
    const Instr* instr;
    const Region* region;  // that it is in
    std::size_t at;        // in the order of the text
  };

  // Of the kernel that has an instruction or an operand on that line; nothing where none has.
  static std::optional<TextPlaces> Of(const Module& module, int line);
  TextPlaces(const Module& module, const Kernel& kernel);

  const Kernel& kernel() const { return *kernel_; }
  const std::vector<Place>& places() const { return places_; }
  const Place* At(int line) const;  // nullptr where no instruction is on the line, or several are

  bool IsIn(const Region* inner, const Region* outer) const;     // or is it
  bool Repeats(const Region* inner, const Region* outer) const;  // is a loop between the two, or several warps?
  bool Decides(const Region* inner, const Region* outer) const;  // is a branch?
  bool IsOfWarp(const Region* region) const;
  const Region* Common(const Region* a, const Region* b) const;  // nullptr: of two bodies

  // The operand, as the text has it: without its name.
  std::string Text(const Arg& arg) const;
  // Are its values there, before the place in the text that is the `at`-th, in the region?
  bool Sees(const Arg& arg, const Region* region, std::size_t at) const;

  // The ref by the user's name that a place sees; an invalid id where there is none, or several.
  ValueId Labelled(std::string_view label, const Region* from) const;
  const Instr* OwnerOf(const Region* region) const;  // nullptr: a body
  const Region* DefinedIn(ValueId value) const;

 private:
  struct Owner {
    const Instr* instr;
    const Region* region;
  };
  struct Defined {
    const Region* region;
    std::size_t at;
  };
  void Add(const Region& region);

  const Module* module_;
  const Kernel* kernel_;
  std::vector<Place> places_;
  std::map<const Region*, Owner> owners_;
  std::map<ValueId, Defined> defined_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_TEXT_PLACES_H_
