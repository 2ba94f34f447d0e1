#include "emu/values.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "emu/kernel/float_environment.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/literal.h"
#include "semantics/tensor/convert.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trim(std::string_view s) {
  while (!s.empty() && IsSpace(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsSpace(s.back())) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> SplitAtCommas(std::string_view s) {
  std::vector<std::string_view> parts;
  s = Trim(s);
  while (!s.empty()) {
    const std::size_t comma = s.find(',');
    parts.push_back(Trim(s.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    s.remove_prefix(comma + 1);
    if (Trim(s).empty()) parts.push_back({});  // nothing after the last comma: an error of the caller's
  }
  return parts;
}

// SplitMix64 (Steele, Lea, Flood, 2014): output number i for the seed.
std::uint64_t SplitMix64(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

absl::StatusOr<std::uint64_t> ParseSeed(std::string_view s) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) {
    return absl::InvalidArgumentError(Cat("expected a seed, a whole number below 2^64; found '", s.substr(0, 40), "'"));
  }
  return value;
}

absl::StatusOr<double> ParseReal(std::string_view s) {
  const bool negative = !s.empty() && s.front() == '-';
  PALLADION_ASSIGN_OR_RETURN(const ElementBytes bytes, ParseNumber(DType::kF64, negative, s.substr(negative ? 1 : 0)));
  double value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// A number of a list: true and false are 1 and 0 of every type, and 1 and 0 are a bool's true and false.
absl::StatusOr<ElementBytes> ParseListed(DType dtype, std::string_view s) {
  const bool negative = !s.empty() && s.front() == '-';
  if (negative) s.remove_prefix(1);
  if (s.empty()) return absl::InvalidArgumentError("expected a number; found none");
  if (IsBool(dtype)) {
    if (s == "1" || s == "0") s = s == "1" ? "true" : "false";
  } else if (s == "true" || s == "false") {
    s = s == "true" ? "1" : "0";
  }
  if (s.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-") !=
      std::string_view::npos) {
    return absl::InvalidArgumentError(Cat("expected a number; found '", s.substr(0, 40), "'"));
  }
  if (!((s[0] >= '0' && s[0] <= '9') || s == "inf" || s == "nan" || s == "true" || s == "false")) {
    return absl::InvalidArgumentError(
        Cat("expected a number, inf, nan, true, false or 0x and bits; found '", s.substr(0, 40), "'"));
  }
  return ParseNumber(dtype, negative, s);
}

absl::Status FillFromList(std::string_view inside, Tensor& tensor) {
  const std::vector<std::string_view> numbers = SplitAtCommas(inside);
  if (static_cast<std::int64_t>(numbers.size()) != tensor.num_elements()) {
    return absl::InvalidArgumentError(Cat("expected ", tensor.num_elements(), " numbers for ",
                                          TypeString(tensor.dtype(), tensor.shape()), "; found ", numbers.size()));
  }
  const std::size_t bytes = StorageBytes(tensor.dtype());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    absl::StatusOr<ElementBytes> number = ParseListed(tensor.dtype(), numbers[i]);
    if (!number.ok()) return absl::InvalidArgumentError(Cat("element ", i, ": ", ToStd(number.status().message())));
    std::memcpy(tensor.bytes() + i * bytes, number->data(), bytes);
  }
  return absl::OkStatus();
}

template <class S>
void FillConverted(const std::vector<S>& source, DType from, Tensor& tensor) {
  FindConvert(from, tensor.dtype())(source.data(), tensor.bytes(), source.size());
}

void FillIota(Tensor& tensor) {
  std::vector<std::int64_t> source(static_cast<std::size_t>(tensor.num_elements()));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::int64_t>(i);
  FillConverted(source, DType::kI64, tensor);
}

void FillRandom(std::uint64_t seed, double lo, double hi, Tensor& tensor) {
  std::vector<double> source(static_cast<std::size_t>(tensor.num_elements()));
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double u = static_cast<double>(SplitMix64(seed, i) >> 11) * 0x1p-53;
    source[i] = lo + (hi - lo) * u;
  }
  FillConverted(source, DType::kF64, tensor);
}

void FillRandomBits(std::uint64_t seed, Tensor& tensor) {
  VisitDType(tensor.dtype(), [&](auto tag) {
    constexpr DType kD = decltype(tag)::value;
    using S = StorageOf<kD>;
    S* data = tensor.data<S>();
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i) {
      const std::uint64_t bits = SplitMix64(seed, static_cast<std::uint64_t>(i));
      if constexpr (kD == DType::kBool) {
        data[i] = static_cast<S>(bits & 1);
      } else if constexpr (Element<kD>::kIsFloat) {
        const std::uint64_t mask =
            Element<kD>::kBits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (Element<kD>::kBits % 64)) - 1;
        const std::uint64_t masked = bits & mask;
        std::memcpy(&data[i], &masked, sizeof(S));
      } else {
        data[i] = Element<kD>::Wrap(bits);
      }
    }
  });
}

absl::Status FillRandomCall(std::string_view inside, Tensor& tensor) {
  const std::vector<std::string_view> parts = SplitAtCommas(inside);
  const std::string_view keys[] = {"seed=", "lo=", "hi="};
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        Cat("expected random(seed=S, lo=A, hi=B); found random(", inside.substr(0, 80), ")"));
  };
  if (parts.size() != 3) return wrong();
  for (std::size_t i = 0; i < 3; ++i) {
    if (!parts[i].starts_with(keys[i])) return wrong();
  }
  PALLADION_ASSIGN_OR_RETURN(const std::uint64_t seed, ParseSeed(parts[0].substr(5)));
  PALLADION_ASSIGN_OR_RETURN(const double lo, ParseReal(parts[1].substr(3)));
  PALLADION_ASSIGN_OR_RETURN(const double hi, ParseReal(parts[2].substr(3)));
  FillRandom(seed, lo, hi, tensor);
  return absl::OkStatus();
}

absl::Status FillFull(std::string_view inside, Tensor& tensor) {
  PALLADION_ASSIGN_OR_RETURN(const ElementBytes number, ParseListed(tensor.dtype(), Trim(inside)));
  const std::size_t bytes = StorageBytes(tensor.dtype());
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.num_elements()); ++i) {
    std::memcpy(tensor.bytes() + i * bytes, number.data(), bytes);
  }
  return absl::OkStatus();
}

// "name(inside)" -> inside; nullopt when the text is not that call.
std::optional<std::string_view> CallOf(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(")")) return std::nullopt;
  const std::string_view rest = Trim(text.substr(name.size(), text.size() - name.size() - 1));
  if (!rest.starts_with("(")) return std::nullopt;
  return rest.substr(1);
}

absl::Status Fill(std::string_view text, Tensor& tensor) {
  if (text.starts_with("[") && text.ends_with("]")) return FillFromList(text.substr(1, text.size() - 2), tensor);
  if (text == "zeros") return FillFull("0", tensor);
  if (text == "iota") return FillIota(tensor), absl::OkStatus();
  if (const auto inside = CallOf(text, "full")) return FillFull(*inside, tensor);
  if (const auto inside = CallOf(text, "random")) return FillRandomCall(*inside, tensor);
  if (const auto inside = CallOf(text, "random_bits")) {
    PALLADION_ASSIGN_OR_RETURN(const std::uint64_t seed, ParseSeed(Trim(*inside)));
    FillRandomBits(seed, tensor);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      Cat("expected [numbers], zeros, iota, full(v), random(seed=S, lo=A, hi=B) or random_bits(S); found '",
          text.substr(0, 60), "'"));
}

// The place of a value on the line of all values of its type, neighbours one apart; both zeros are 0.
template <DType D>
std::int64_t LinePlace(StorageOf<D> storage) {
  using E = Element<D>;
  if constexpr (!E::kIsFloat) {
    return static_cast<std::int64_t>(storage);
  } else if constexpr (D == DType::kF8E8M0FNU) {
    return static_cast<std::int64_t>(storage);  // no sign
  } else {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &storage, sizeof(storage));
    const auto magnitude = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << (E::kBits - 1)) - 1));
    return (bits >> (E::kBits - 1) & 1) != 0 ? -magnitude : magnitude;
  }
}

}  // namespace

bool LooksLikeValueText(std::string_view text) {
  text = Trim(text);
  return text.starts_with("[") || text == "zeros" || text == "iota" || CallOf(text, "full").has_value() ||
         CallOf(text, "random").has_value() || CallOf(text, "random_bits").has_value();
}

absl::StatusOr<Tensor> TensorFromText(DType dtype, absl::Span<const std::int64_t> shape, std::string_view text) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(dtype, {shape.begin(), shape.end()}));
  PALLADION_RETURN_IF_ERROR(Fill(Trim(text), tensor));
  return tensor;
}

std::uint64_t Fnv1a(const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little, "the storage bytes are hashed as they lie");
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < tensor.num_bytes(); ++i)
    hash = (hash ^ static_cast<std::uint64_t>(tensor.bytes()[i])) * 0x100000001b3u;
  return hash;
}

std::string ElementText(const Tensor& tensor, std::int64_t i) {
  return NumberText(tensor.dtype(), tensor.bytes() + static_cast<std::size_t>(i) * StorageBytes(tensor.dtype()));
}

bool IsNaN(const Tensor& tensor, std::int64_t i) {
  return VisitDType(tensor.dtype(), [&](auto tag) {
    constexpr DType kD = decltype(tag)::value;
    if constexpr (!Element<kD>::kIsFloat) {
      return false;
    } else {
      return static_cast<bool>(std::isnan(Element<kD>::ToDouble(tensor.data<StorageOf<kD>>()[i])));
    }
  });
}

std::optional<std::uint64_t> UlpDistance(const Tensor& a, const Tensor& b, std::int64_t i) {
  return VisitDType(a.dtype(), [&](auto tag) -> std::optional<std::uint64_t> {
    constexpr DType kD = decltype(tag)::value;
    const auto x = a.data<StorageOf<kD>>()[i], y = b.data<StorageOf<kD>>()[i];
    if constexpr (Element<kD>::kIsFloat) {
      const double u = Element<kD>::ToDouble(x), v = Element<kD>::ToDouble(y);
      if (std::isnan(u) || std::isnan(v))
        return std::isnan(u) && std::isnan(v) ? std::optional<std::uint64_t>(0) : std::nullopt;
      if ((std::isinf(u) || std::isinf(v)) && u != v) return std::nullopt;
    }
    const auto p = static_cast<std::uint64_t>(LinePlace<kD>(x)), q = static_cast<std::uint64_t>(LinePlace<kD>(y));
    const bool less = kD == DType::kU64 ? x < y : static_cast<std::int64_t>(p) < static_cast<std::int64_t>(q);
    return less ? q - p : p - q;
  });
}

}  // namespace palladion
