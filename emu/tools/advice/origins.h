// Where the values of a kernel come from: an instruction, or a parameter of one of its regions; and scalars as a base
// value plus a constant.
#ifndef PALLADION_EMU_TOOLS_ADVICE_ORIGINS_H_
#define PALLADION_EMU_TOOLS_ADVICE_ORIGINS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::advice {

struct Origin {
  Instr* instr = nullptr;    // that gives it, or whose region has it as a parameter; nullptr: the kernel's own
  Region* region = nullptr;  // nullptr: a result
  std::size_t number = 0;    // of the results or the parameters
};

// A number in the text: a literal or an attribute.
struct NumberRef {
  Literal* literal = nullptr;
  std::int64_t* attribute = nullptr;

  std::int64_t Get() const;
  void Set(std::int64_t to) const;
  friend bool operator==(const NumberRef&, const NumberRef&) = default;
};

// A scalar: `root` plus `offset`. Only one literal that is not 0 may make the offset: what two mean together is
// ambiguous.
struct Affine {
  ValueId root;
  std::int64_t offset = 0;
  std::optional<NumberRef> number;  // of the offset
  bool negated = false;             // offset == -number
};

// A counter of a loop: from `first` on, one more each turn.
struct Counter {
  Instr* loop = nullptr;
  NumberRef length;
  NumberRef first;
  ValueId value;  // in the body
};

// Of a kernel whose instructions stay where they are while this is used.
class Origins {
 public:
  explicit Origins(Kernel& kernel);

  const Origin& Of(ValueId id) const { return origins_[id.index()]; }
  const Instr* Giver(ValueId id) const;  // the instruction whose result it is; nullptr: none is
  // Nothing for what is no i32 scalar, and literals.
  std::optional<Affine> AffineOf(const Arg& arg) const;
  std::optional<Counter> CounterOf(ValueId id) const;

 private:
  void Visit(Region& region, Instr* of);

  const Kernel& kernel_;
  std::vector<Origin> origins_;
};

// The literal of an i32 argument; nothing where it is none.
std::optional<NumberRef> NumberOf(Arg& arg);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_ORIGINS_H_
