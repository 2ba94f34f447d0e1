// Amounts with a unit: what a number of a machine description is once it is read. Cycles cannot be added to
// nanoseconds; bytes over bytes per cycle are cycles. Every amount is a double in the base unit of its dimension
// (cycles, bytes, hertz, seconds as nanoseconds); a file may write it in another (MiB, GHz, us). Not distinguished:
// cycles of different clock domains.
#ifndef PALLADION_EMU_CHIP_MACHINES_AMOUNT_H_
#define PALLADION_EMU_CHIP_MACHINES_AMOUNT_H_

#include <compare>

namespace palladion::machines {

enum class Dimension {
  kCount,           // of things, or a factor
  kCycles,          // of the chip's own clock
  kBytes,           //
  kBytesPerCycle,   //
  kHertz,           //
  kNanoseconds,     //
  kBytesPerSecond,  //
  kFlopsPerCycle,   // a multiplication and an addition are two
  kFlopsPerSecond,  //
  kPerCycle,        // things a cycle: instructions, rows, lanes
};

template <Dimension D>
class Amount {
 public:
  static constexpr Dimension kDimension = D;

  constexpr Amount() = default;
  constexpr explicit Amount(double value) : value_(value) {}

  constexpr double value() const { return value_; }

  constexpr Amount& operator+=(Amount more) {
    value_ += more.value_;
    return *this;
  }
  friend constexpr Amount operator+(Amount a, Amount b) { return Amount(a.value_ + b.value_); }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount(a.value_ - b.value_); }
  friend constexpr Amount operator*(double times, Amount each) { return Amount(times * each.value_); }
  friend constexpr Amount operator/(Amount all, double parts) { return Amount(all.value_ / parts); }
  friend constexpr double operator/(Amount all, Amount each) { return all.value_ / each.value_; }
  friend constexpr auto operator<=>(Amount a, Amount b) = default;

 private:
  double value_ = 0;
};

using Count = Amount<Dimension::kCount>;
using Cycles = Amount<Dimension::kCycles>;
using Bytes = Amount<Dimension::kBytes>;
using BytesPerCycle = Amount<Dimension::kBytesPerCycle>;
using Hertz = Amount<Dimension::kHertz>;
using Nanoseconds = Amount<Dimension::kNanoseconds>;
using BytesPerSecond = Amount<Dimension::kBytesPerSecond>;
using FlopsPerCycle = Amount<Dimension::kFlopsPerCycle>;
using FlopsPerSecond = Amount<Dimension::kFlopsPerSecond>;
using PerCycle = Amount<Dimension::kPerCycle>;

inline constexpr double kNanosecondsPerSecond = 1e9;

// What leads from one unit to another.
constexpr Cycles operator/(Bytes bytes, BytesPerCycle rate) { return Cycles(bytes.value() / rate.value()); }
constexpr Cycles operator/(Count things, PerCycle rate) { return Cycles(things.value() / rate.value()); }
constexpr Nanoseconds operator/(Cycles cycles, Hertz clock) {
  return Nanoseconds(cycles.value() / clock.value() * kNanosecondsPerSecond);
}
constexpr Nanoseconds operator/(Bytes bytes, BytesPerSecond rate) {
  return Nanoseconds(bytes.value() / rate.value() * kNanosecondsPerSecond);
}
constexpr Cycles operator*(Nanoseconds time, Hertz clock) {
  return Cycles(time.value() * clock.value() / kNanosecondsPerSecond);
}
constexpr BytesPerCycle operator/(BytesPerSecond rate, Hertz clock) {
  return BytesPerCycle(rate.value() / clock.value());
}
constexpr BytesPerSecond operator*(BytesPerCycle rate, Hertz clock) {
  return BytesPerSecond(rate.value() * clock.value());
}
constexpr FlopsPerSecond operator*(FlopsPerCycle rate, Hertz clock) {
  return FlopsPerSecond(rate.value() * clock.value());
}

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_AMOUNT_H_
