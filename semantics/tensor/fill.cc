#include "semantics/tensor/fill.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/tensor/normalise.h"
#include "semantics/tensor/poison.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion {

absl::StatusOr<Fill> ParseFill(std::string_view text) {
  if (text == "nan") return Fill{};
  if (text == "zero") return Fill{.kind = Fill::Kind::kZero};
  if (text == "intmax") return Fill{.kind = Fill::Kind::kIntMax};
  constexpr std::string_view kRandom = "random:";
  if (text.starts_with(kRandom)) {
    Fill fill{.kind = Fill::Kind::kRandom};
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + kRandom.size(), end, fill.seed);
    if (parsed.ec == std::errc() && parsed.ptr == end) return fill;
  }
  return absl::InvalidArgumentError(
      Cat("fill must be nan, zero, intmax or random:SEED with a number below 2^64; found '", text, "'"));
}

void Filler::Random(std::byte* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; i += sizeof(std::uint64_t)) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    std::memcpy(dst + i, &z, std::min(n - i, sizeof(z)));
  }
}

void Filler::operator()(DType dtype, void* dst, std::size_t n) {
  auto* bytes = static_cast<std::byte*>(dst);
  switch (fill_.kind) {
    case Fill::Kind::kPoison:
      return FillPoison(dtype, dst, n);
    case Fill::Kind::kZero:
      std::memset(dst, 0, n * StorageBytes(dtype));
      return;
    case Fill::Kind::kRandom:
      Random(bytes, n * StorageBytes(dtype));
      if (dtype == DType::kBool) {
        for (std::size_t i = 0; i < n; ++i) bytes[i] &= std::byte{1};
      } else {
        Normalise(dtype, bytes, n);
      }
      return;
    case Fill::Kind::kIntMax:
      VisitDType(dtype, [dst, n](auto tag) {
        constexpr DType kD = decltype(tag)::value;
        using E = Element<kD>;
        if constexpr (kD == DType::kBool || E::kIsFloat) {
          std::fill_n(static_cast<StorageOf<kD>*>(dst), n, PoisonOf<kD>());
        } else {
          std::fill_n(static_cast<StorageOf<kD>*>(dst), n, static_cast<StorageOf<kD>>(E::kMax));
        }
      });
      return;
  }
}

void Filler::Bytes(void* dst, std::size_t n) {
  if (fill_.kind == Fill::Kind::kRandom) return Random(static_cast<std::byte*>(dst), n);
  std::memset(dst, fill_.kind == Fill::Kind::kZero ? 0 : 0xff, n);
}

}  // namespace palladion
