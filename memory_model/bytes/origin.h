// Where undefined data came from. A mark (Definedness in semantics/port/machine.h) is the number of an origin here, so
// the first run already knows it. The numbers 1 to 8 are for unwritten outputs, the next 87 for other memory, the last
// 32 for results that hardware does not define; any more share one number, "several places". A result of several
// origins gets the smallest: unwritten memory comes before undefined results.
//
// Bytes of an output that were never written and only moved have marks of their own (kMovedMark), which hold the place
// that they come from. Places are distinguished by four bits, so two elements collide with a chance of one in fifteen.
#ifndef PALLADION_MEMORY_MODEL_BYTES_ORIGIN_H_
#define PALLADION_MEMORY_MODEL_BYTES_ORIGIN_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "semantics/base/agent_name.h"
#include "semantics/base/finding.h"
#include "semantics/base/units.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

enum class OriginKind : std::uint8_t {
  kNeverWritten,  // scratch
  kOutput,        // an output, or a block of one, that was not written there
  kPadding,       // of a block
  kMaskedLane,    // of a load without `other`
  kOutOfBounds,   // what a load outside gave; a finding of its own
  kValue,         // the result of an operation, for which hardware promises nothing
  kSeveral,       // too many to keep apart
};

// Elements that were never written, where only engines have moved them since.
enum class Carried : std::uint8_t {
  kNot,
  kByEngines,
  kBesideDefined,  // to an output, by a copy that brought it defined elements too (tables of fixed size)
};

struct Origin {
  OriginKind kind = OriginKind::kSeveral;
  std::string object;  // the buffer by the user's name
  LocId made;          // where its memory was asked for
  int made_line = 0;
  bool was_read = false;  // by the kernel: not yet while only an engine has moved it
  LocId loc;              // where it was read; of a kValue, the operation
  int text_line = 0;
  FindingCode code = FindingCode::kUninitialised;  // of a kValue
  Carried carried = Carried::kNot;
};

// The mark of an element of an output that was never written, in its place. In place, too, are bytes that were read and
// stored back: kMovedMark, the output, and this place.
inline constexpr std::uint8_t kUntouched = 0xff;
inline constexpr std::uint8_t kInPlace = 0x0f;
constexpr bool IsInPlace(std::uint8_t mark) { return mark >= kMovedMark && (mark & kInPlace) == kInPlace; }
constexpr std::uint8_t InPlaceOf(std::uint8_t mark) { return mark | kInPlace; }
std::uint8_t MovedFrom(std::uint8_t number, ElementCount element);  // the number of an output's origin

class Origins {
 public:
  using Program = std::vector<std::int64_t>;

  Origins();
  void NameAgents(const AgentNaming& naming) { naming_ = naming; }  // for messages

  // The number of an origin, a new one or an old one's, which this program has met. `told`: what a finding about a
  // kValue says of this program, the first time.
  std::uint8_t Number(Origin origin, absl::Span<const std::int64_t> program, std::string_view said = "");

  // The same undefined data, read by the kernel at a place: where it was first read is part of where it comes from.
  std::uint8_t ReadAt(std::uint8_t mark, const Site& site);
  // The same, by an engine that copies it, and what an engine has carried.
  std::uint8_t CarriedAt(std::uint8_t mark, const Site& site);
  std::uint8_t BesideDefined(std::uint8_t mark, const Site& site);

  // What came of it is stored to `object` by this program: where that is the very memory, it is accumulated into.
  void StoredTo(std::uint8_t mark, const std::string& object, absl::Span<const std::int64_t> program);

  // Those that ReadAt gives another number: that the kernel has not read yet, and that engines alone have.
  const std::vector<std::uint8_t>& unread() const { return unread_; }

  const Origin& Of(std::uint8_t mark) const { return numbers_[ComputedMark(mark)].origin; }

  // The program that met the origin, for data that `program` uses now: itself, or the last that did.
  Program MetBy(std::uint8_t mark, absl::Span<const std::int64_t> program) const;

  // Whether undefined data of this origin was reported when it came to be.
  bool IsReported(std::uint8_t mark) const { return Of(mark).kind == OriginKind::kOutOfBounds; }

  // A finding about it, all but its message and second access; `what` begins the message: "the predicate of a branch".
  // `met` is the program that met it.
  Finding FindingOf(std::uint8_t mark, const std::string& what, const Program& met) const;

 private:
  struct Numbered {
    Origin origin;
    std::map<Program, std::string> met;
    Program last;
    std::vector<bool> accumulates;  // by dimension: programs that differ there read and store what this one began with
  };
  std::vector<std::size_t> AxesOf(const Numbered& numbered) const;
  std::string FixOf(const Numbered& numbered) const;
  Mend MendOf(const Numbered& numbered) const;
  static void Meet(Numbered& numbered, absl::Span<const std::int64_t> program, std::string_view said);
  Finding FindingOfValue(const Numbered& numbered, const std::string& what, const Program& met) const;

  std::array<Numbered, kMovedMark> numbers_;  // [0] is no origin
  std::vector<std::uint8_t> unread_;
  AgentNaming naming_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_ORIGIN_H_
