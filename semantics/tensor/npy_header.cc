#include "semantics/tensor/npy_header.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;  // NumPy's limit
constexpr const char* kRemedy = "; write the file again with numpy.save";

absl::Status Bad(std::string what) { return absl::InvalidArgumentError(absl::StrCat("not a readable .npy: ", what)); }

// At most 40 bytes of text from a file, printable.
std::string Excerpt(std::string_view text) {
  const std::string_view head = text.substr(0, 40);
  return absl::StrCat("'", absl::CHexEscape(std::string(head)), head.size() < text.size() ? "...'" : "'");
}

// A cursor over the one dict literal a header is: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class DictParser {
 public:
  explicit DictParser(std::string_view text) : text_(text) {}

  absl::StatusOr<NpyHeader> Parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!Take('{')) return Expected("'{'");
    while (!Take('}')) {
      PALLADION_ASSIGN_OR_RETURN(const std::string key, String());
      if (!Take(':')) return Expected("':'");
      if (key == "descr" && !has_descr) {
        has_descr = true;
        if (Peek() == '[') return Bad("it holds a structured array; save each field as an array of its own");
        PALLADION_ASSIGN_OR_RETURN(header.descr, String());
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        PALLADION_ASSIGN_OR_RETURN(header.fortran_order, Bool());
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        PALLADION_ASSIGN_OR_RETURN(header.shape, Shape());
      } else {
        return Bad(absl::StrCat("its header has an unknown or repeated key ", Excerpt(key), kRemedy));
      }
      if (!Take(',') && Peek() != '}') return Expected("',' or '}'");
    }
    SkipSpace();
    if (at_ != text_.size()) return Expected("the end of the header");
    if (!has_descr || !has_order || !has_shape) {
      return Bad(absl::StrCat("its header lacks one of descr, fortran_order and shape", kRemedy));
    }
    return header;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  absl::Status Expected(const char* what) const {
    return Bad(absl::StrCat("expected ", what, " at byte ", at_, " of its header, found ",
                            at_ < text_.size() ? Excerpt(text_.substr(at_)) : "its end", kRemedy));
  }
  absl::StatusOr<std::string> String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Expected("a quoted string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return Expected("a string that ends");
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }
  absl::StatusOr<bool> Bool() {
    SkipSpace();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    return Expected("True or False");
  }
  absl::StatusOr<std::vector<std::int64_t>> Shape() {
    std::vector<std::int64_t> shape;
    if (!Take('(')) return Expected("'(' of the shape");
    while (!Take(')')) {
      if (shape.size() == kMaxRank) return Bad(absl::StrCat("its shape has more than ", kMaxRank, " dimensions"));
      PALLADION_ASSIGN_OR_RETURN(const std::int64_t dim, Dimension());
      shape.push_back(dim);
      if (!Take(',') && Peek() != ')') return Expected("',' or ')' in the shape");
    }
    return shape;
  }
  absl::StatusOr<std::int64_t> Dimension() {
    const char first = Peek();
    if (first < '0' || first > '9') return Expected("a dimension of 0 or more");
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return Expected("a dimension below 2^63");
      value = value * 10 + digit;
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool IsMlDtype(DType dtype) {  // a type NumPy itself does not have
  const DTypeInfo& info = Info(dtype);
  return dtype == DType::kBF16 || (IsFloat(dtype) && info.bits <= 8) || (IsInteger(dtype) && info.bits < 8);
}

std::string DescrOf(DType dtype) {
  const DTypeInfo& info = Info(dtype);
  if (IsMlDtype(dtype)) return absl::StrCat("<V", info.storage_bytes);
  const char* kind = IsBool(dtype) ? "b" : IsFloat(dtype) ? "f" : IsSigned(dtype) ? "i" : "u";
  return absl::StrCat(info.storage_bytes == 1 ? "|" : "<", kind, info.storage_bytes);
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic) {
    return Bad(absl::StrCat("it starts with ", Excerpt(file.substr(0, kMagic.size())), ", not with \\x93NUMPY",
                            file.substr(0, 2) == "PK" ? " (a .npz archive: extract its arrays first)" : kRemedy));
  }
  if (file.size() < 8) return Bad(absl::StrCat("it ends within its first 8 bytes", kRemedy));
  const int major = static_cast<unsigned char>(file[6]);
  if (major < 1 || major > 3) {
    return Bad(absl::StrCat("its format version is ", major, "; versions 1, 2 and 3 are known", kRemedy));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (file.size() < start) return Bad(absl::StrCat("it ends within the length of its header", kRemedy));
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(file[8 + i])) << (8 * i);
  }
  if (length > kMaxNpyDataOffset - 12)
    return Bad(absl::StrCat("its header claims ", length, " bytes; the limit is ", kMaxNpyDataOffset - 12));
  if (length > file.size() - start) {
    return Bad(absl::StrCat("its header claims ", length, " bytes and the file has ", file.size() - start,
                            " left: it is truncated", kRemedy));
  }
  PALLADION_ASSIGN_OR_RETURN(NpyHeader header, DictParser(file.substr(start, length)).Parse());
  header.data_offset = start + length;
  return header;
}

absl::StatusOr<DType> DTypeFromNpyDescr(std::string_view descr, std::optional<DType> declared) {
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) {
    return Bad(absl::StrCat("its element type ", Excerpt(descr), " is not one of NumPy's", kRemedy));
  }
  const std::string_view code = descr.substr(1);
  if (descr[0] == '>' && code.back() != '1') {
    return Bad(absl::StrCat("its element type ", Excerpt(descr),
                            " is big-endian; save x.astype(x.dtype.newbyteorder('<')) instead"));
  }
  if (code == "V1" || code == "V2") {
    const int bytes = code[1] - '0';
    if (!declared.has_value()) {
      return Bad(absl::StrCat("its element type ", Excerpt(descr),
                              " is raw bytes, as NumPy saves ml_dtypes' types; say which type they are"));
    }
    if (!IsMlDtype(*declared) || Info(*declared).storage_bytes != bytes) {
      return Bad(absl::StrCat("it holds raw elements of ", bytes, " byte(s) and ", std::string(Name(*declared)),
                              " was expected, which is saved as ", DescrOf(*declared), "; convert before saving"));
    }
    return *declared;
  }
  std::optional<DType> named;
  if (code == "f1") {  // what np.save writes for float8_e5m2, and np.load then refuses
    named = DType::kF8E5M2;
  } else {
    for (const DTypeInfo& info : AllDTypes()) {
      if (!IsMlDtype(info.dtype) && DescrOf(info.dtype).substr(1) == code) named = info.dtype;
    }
  }
  if (!named.has_value()) {
    return Bad(absl::StrCat("its element type ", Excerpt(descr),
                            " is not a number or bool of 1 to 8 bytes; convert it with astype before saving"));
  }
  if (declared.has_value() && *declared != *named) {
    return Bad(absl::StrCat("it holds ", std::string(Name(*named)), " (", Excerpt(descr), ") and ",
                            std::string(Name(*declared)), " was expected; convert it with astype before saving"));
  }
  return *named;
}

std::string NpyHeaderFor(DType dtype, absl::Span<const std::int64_t> shape) {
  std::string dict = absl::StrCat("{'descr': '", DescrOf(dtype), "', 'fortran_order': False, 'shape': (");
  for (std::size_t i = 0; i < shape.size(); ++i) absl::StrAppend(&dict, i == 0 ? "" : ", ", shape[i]);
  absl::StrAppend(&dict, shape.size() == 1 ? ",)" : ")", ", }");
  if (!shape.empty()) {  // NumPy leaves room for the first dimension to grow to 21 digits in place
    const std::size_t digits = absl::StrCat(shape[0]).size();
    dict.append(21 - std::min<std::size_t>(digits, 21), ' ');
  }
  constexpr std::size_t kPrefix = 10;  // magic, version, 16-bit length: shapes of 64 dimensions fit version 1.0
  dict.append(64 - (kPrefix + dict.size() + 1) % 64, ' ');
  dict.push_back('\n');
  std::string header(kMagic);
  header.push_back('\x01');
  header.push_back('\x00');
  header.push_back(static_cast<char>(dict.size() & 0xff));
  header.push_back(static_cast<char>(dict.size() >> 8));
  return header + dict;
}

}  // namespace palladion
