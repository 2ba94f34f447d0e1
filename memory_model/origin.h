// Where undefined data came from. A mark (Definedness in semantics/machine.h) is the number of an origin here, so the
// first run already knows it. 254 origins are told apart; any more are one, "several places".
#ifndef PALLADION_MEMORY_MODEL_ORIGIN_H_
#define PALLADION_MEMORY_MODEL_ORIGIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/finding.h"
#include "semantics/machine.h"

namespace palladion {

enum class OriginKind : std::uint8_t {
  kNeverWritten,  // scratch
  kOutput,        // an output, or a block of one, that nobody wrote there
  kPadding,       // of a block
  kMaskedLane,    // of a load without `other`
  kOutOfBounds,   // what a load outside gave; a finding of its own
  kSeveral,       // too many to tell apart
};

struct Origin {
  OriginKind kind = OriginKind::kSeveral;
  std::string object;  // the buffer by the user's name
  LocId made;          // where its memory was asked for
  int made_line = 0;
  bool was_read = false;  // by the kernel: not yet while only an engine has moved it
  LocId loc;              // where it was read
  int text_line = 0;
  std::vector<std::int64_t> program;  // the last that read it there
};

class Origins {
 public:
  Origins();

  // The number of an origin, a new one or an old one's with the program brought up to date.
  std::uint8_t Number(Origin origin);

  // The same undefined data, read by the kernel at a place: where it was first read is part of where it comes from.
  std::uint8_t ReadAt(std::uint8_t mark, const Site& site);

  // Those that the kernel has not read yet.
  const std::vector<std::uint8_t>& unread() const { return unread_; }

  const Origin& Of(std::uint8_t mark) const { return origins_[mark]; }

  // Whether undefined data of this origin was reported when it came to be.
  bool IsReported(std::uint8_t mark) const { return Of(mark).kind == OriginKind::kOutOfBounds; }

  // A finding about it, all but its message and second access; `what` begins the message: "the predicate of a branch".
  Finding FindingOf(std::uint8_t mark, const std::string& what) const;

 private:
  std::vector<Origin> origins_;  // [0] is no origin
  std::vector<std::uint8_t> unread_;
};

std::string NameOfProgram(absl::Span<const std::int64_t> program);  // "program (3, 0)"

}  // namespace palladion

#endif  // PALLADION_MEMORY_MODEL_ORIGIN_H_
