#include "semantics/tensor/tensor.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "semantics/base/status.h"
#include "semantics/tensor/poison.h"

namespace palladion {

std::string TypeString(DType dtype, absl::Span<const std::int64_t> shape) {
  return absl::StrCat(std::string(Name(dtype)), "[", absl::StrJoin(shape, ","), "]");
}

absl::StatusOr<std::int64_t> CountElements(DType dtype, absl::Span<const std::int64_t> shape) {
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) {
      return absl::InvalidArgumentError(absl::StrCat(TypeString(dtype, shape), ": dimension ", dim,
                                                     " is negative; every dimension of an array is 0 or more"));
    }
    if (dim == 0) empty = true;
  }
  if (empty) return 0;
  const std::int64_t limit = kMaxTensorBytes / Info(dtype).storage_bytes;
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) {
    if (count > limit / dim) {
      return absl::ResourceExhaustedError(absl::StrCat(TypeString(dtype, shape), ": an array holds at most ",
                                                       kMaxTensorBytes, " bytes; check the shape"));
    }
    count *= dim;
  }
  return count;
}

void Tensor::Free::operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{kTensorAlignment}); }

std::unique_ptr<std::byte[], Tensor::Free> Tensor::Allocate(std::size_t n) {
  // Whole cache lines, and one at least: vector loops may read the line their last element is in.
  const std::size_t lines = n / kTensorAlignment + 1;
  return std::unique_ptr<std::byte[], Free>(static_cast<std::byte*>(
      ::operator new (lines* kTensorAlignment, std::align_val_t{kTensorAlignment}, std::nothrow)));
}

absl::StatusOr<Tensor> Tensor::CreateUninitialized(DType dtype, std::vector<std::int64_t> shape) {
  Tensor t;
  PALLADION_ASSIGN_OR_RETURN(t.num_elements_, CountElements(dtype, shape));
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  t.bytes_ = Allocate(t.num_bytes());
  if (t.bytes_ == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(TypeString(dtype, t.shape_), ": no memory for ", t.num_bytes(),
                                                     " bytes; use smaller shapes or free memory on this host"));
  }
  return t;
}

absl::StatusOr<Tensor> Tensor::Create(DType dtype, std::vector<std::int64_t> shape) {
  absl::StatusOr<Tensor> t = CreateUninitialized(dtype, std::move(shape));
  if (t.ok()) t->FillWithPoison();
  return t;
}

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape) {
  const absl::StatusOr<std::int64_t> count = CountElements(dtype, shape);
  if (!count.ok()) throw std::length_error(std::string(count.status().message()));
  dtype_ = dtype;
  shape_ = std::move(shape);
  num_elements_ = *count;
  bytes_ = Allocate(num_bytes());
  if (bytes_ == nullptr) throw std::bad_alloc();
  FillWithPoison();
}

Tensor::Tensor(const Tensor& other) : dtype_(other.dtype_), shape_(other.shape_), num_elements_(other.num_elements_) {
  if (other.bytes_ == nullptr) return;
  bytes_ = Allocate(num_bytes());
  if (bytes_ == nullptr) throw std::bad_alloc();
  std::memcpy(bytes_.get(), other.bytes_.get(), num_bytes());
}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

Tensor::Tensor(Tensor&& other) noexcept
    : dtype_(other.dtype_),
      shape_(std::exchange(other.shape_, {0})),
      num_elements_(std::exchange(other.num_elements_, 0)),
      bytes_(std::move(other.bytes_)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  dtype_ = other.dtype_;
  shape_ = std::exchange(other.shape_, {0});
  num_elements_ = std::exchange(other.num_elements_, 0);
  bytes_ = std::move(other.bytes_);
  return *this;
}

void Tensor::Reshape(std::vector<std::int64_t> shape) {
  const absl::StatusOr<std::int64_t> count = CountElements(dtype_, shape);
  if (!count.ok() || *count != num_elements_) {
    throw std::length_error(
        absl::StrCat("reshape of ", TypeString(dtype_, shape_), " to ", TypeString(dtype_, shape), ": sizes differ"));
  }
  shape_ = std::move(shape);
}

void Tensor::FillWithPoison() {
  if (bytes_ != nullptr) FillPoison(dtype_, bytes_.get(), static_cast<std::size_t>(num_elements_));
}

void Tensor::FillWithZeroBytes() {
  if (bytes_ != nullptr) std::memset(bytes_.get(), 0, num_bytes());
}

bool Tensor::BitwiseEquals(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_ || num_elements_ != other.num_elements_) return false;
  return num_bytes() == 0 || std::memcmp(bytes_.get(), other.bytes_.get(), num_bytes()) == 0;
}

}  // namespace palladion
