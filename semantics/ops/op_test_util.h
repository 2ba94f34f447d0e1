// Runs one value operation in a test: verify, prepare, run, as an evaluator would, on arrays given as C++ vectors.
#ifndef PALLADION_SEMANTICS_OPS_OP_TEST_UTIL_H_
#define PALLADION_SEMANTICS_OPS_OP_TEST_UTIL_H_

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"

namespace palladion {

struct TestArray {
  Type type;
  std::vector<std::byte> bytes;

  template <class T>
  std::vector<T> As() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

template <class T>
TestArray ArrayOf(DType dtype, const std::vector<T>& values, std::optional<Shape> shape = std::nullopt) {
  TestArray array{.type = ArrayType(dtype, shape ? *shape : Shape{static_cast<std::int64_t>(values.size())}),
                  .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}
inline TestArray F32(const std::vector<float>& values) { return ArrayOf(DType::kF32, values); }
inline TestArray I32(const std::vector<std::int32_t>& values) { return ArrayOf(DType::kI32, values); }
inline TestArray U32(const std::vector<std::uint32_t>& values) { return ArrayOf(DType::kU32, values); }
inline TestArray Bools(const std::vector<std::uint8_t>& values) { return ArrayOf(DType::kBool, values); }
template <class T>
TestArray Scalar(DType dtype, T value) {
  return ArrayOf(dtype, std::vector<T>{value}, Shape{});
}

inline Attr Word(std::string name) { return {AttrIdent{std::move(name)}}; }

struct TestCall {
  std::string name;  // "add", "tpu.reciprocal"
  std::vector<TestArray> in;
  std::vector<Type> out;
  std::vector<std::pair<std::string, Attr>> attrs = {};
  TargetBackend backend = TargetBackend::kGeneric;
};

inline absl::StatusOr<std::vector<TestArray>> RunOp(const TestCall& call) {
  const std::size_t dot = call.name.find('.');
  Instr op;
  op.dialect = dot == std::string::npos ? "" : call.name.substr(0, dot);
  op.name = dot == std::string::npos ? call.name : call.name.substr(dot + 1);
  for (const auto& [name, value] : call.attrs) op.attrs.emplace_back(name, value);
  op.types = call.out;
  const OpRow* row = FindOp(op.dialect, op.name);
  if (row == nullptr) return absl::NotFoundError(call.name);
  const Module module;
  const Kernel kernel;
  VerifyContext context{.module = module, .kernel = kernel, .in = {}};
  ValueTypes types;
  types.out = call.out;
  types.target.backend = call.backend;
  std::vector<const std::byte*> in;
  for (const TestArray& array : call.in) {
    context.in.push_back(array.type);
    types.in.push_back(array.type);
    in.push_back(array.bytes.data());
  }
  PALLADION_RETURN_IF_ERROR(row->verify(op, context));
  PALLADION_ASSIGN_OR_RETURN(const ValueKernel kernel_fn, row->prepare(op, types));
  std::vector<TestArray> results;
  std::vector<std::byte*> out;
  for (const Type& type : call.out) {
    const std::size_t words = type.is_key() ? 2 : 1;
    const std::size_t n = static_cast<std::size_t>(NumElements(type.shape));
    results.push_back({.type = type, .bytes = std::vector<std::byte>(n * StorageBytes(type.dtype) * words)});
  }
  for (TestArray& result : results) out.push_back(result.bytes.data());
  std::vector<std::byte> scratch(kernel_fn.scratch_bytes + 64);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(scratch.data()) % 64;
  kernel_fn.run(kernel_fn.params.get(),
                {.in = in.data(), .out = out.data(), .scratch = scratch.data() + (64 - misaligned) % 64});
  return results;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_OP_TEST_UTIL_H_
