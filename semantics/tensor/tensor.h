// A dense array that owns its bytes: row-major, StorageBytes(dtype) per element, aligned to 64 bytes so that any SIMD
// target may use aligned loads from its start. A value: copies are deep, moves are pointer swaps. Based on: NumPy's
// C-contiguous arrays. Keeps no definedness bits and checks no indices; that is memory_model's work.
#ifndef PALLADION_SEMANTICS_TENSOR_TENSOR_H_
#define PALLADION_SEMANTICS_TENSOR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/dtype.h"

namespace palladion {

inline constexpr std::size_t kTensorAlignment = 64;  // bytes

// The largest array, 1 TiB: a shape beyond it is a mistake, and is refused before the host is asked for the memory.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 40;

// Number of elements of a shape (1 for rank 0). InvalidArgument if a dimension is negative; ResourceExhausted if the
// bytes exceed kMaxTensorBytes.
absl::StatusOr<std::int64_t> CountElements(DType dtype, absl::Span<const std::int64_t> shape);

class Tensor {
 public:
  Tensor() = default;  // f32, shape (0,)

  // A tensor of poison (poison.h). For shapes the program itself made: throws std::length_error where CountElements
  // would fail and std::bad_alloc where memory is short. Shapes that come from outside go through Create.
  Tensor(DType dtype, std::vector<std::int64_t> shape);

  // The same with errors as a status: CountElements' or ResourceExhausted.
  static absl::StatusOr<Tensor> Create(DType dtype, std::vector<std::int64_t> shape);

  // The same without the pass over memory: every byte must be written before it is read. Errors as Create.
  static absl::StatusOr<Tensor> CreateUninitialized(DType dtype, std::vector<std::int64_t> shape);

  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  std::int64_t num_elements() const { return num_elements_; }
  std::size_t num_bytes() const { return static_cast<std::size_t>(num_elements_) * StorageBytes(dtype_); }

  std::byte* bytes() { return bytes_.get(); }
  const std::byte* bytes() const { return bytes_.get(); }

  // The elements as T, which must be the storage type of the dtype (element.h) or an equally wide integer.
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(bytes_.get());
  }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes_.get());
  }
  template <typename T>
  absl::Span<T> span() {
    return {data<T>(), static_cast<std::size_t>(num_elements_)};
  }
  template <typename T>
  absl::Span<const T> span() const {
    return {data<T>(), static_cast<std::size_t>(num_elements_)};
  }

  // The same bytes under another shape of as many elements; throws std::length_error otherwise.
  void Reshape(std::vector<std::int64_t> shape);

  void FillWithPoison();
  void FillWithZeroBytes();  // zero in every type but f8e8m0fnu, whose code 0 is 2^-127

  // Same dtype, shape and bytes: NaNs of equal bits are equal, -0 and +0 are not.
  bool BitwiseEquals(const Tensor& other) const;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  static std::unique_ptr<std::byte[], Free> Allocate(std::size_t n);  // null when memory is short

  DType dtype_ = DType::kF32;
  std::vector<std::int64_t> shape_ = {0};
  std::int64_t num_elements_ = 0;
  std::unique_ptr<std::byte[], Free> bytes_;
};

// "f32[8,128]", as kernel text spells the type.
std::string TypeString(DType dtype, absl::Span<const std::int64_t> shape);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_TENSOR_H_
