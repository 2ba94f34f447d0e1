// Kernels as plain C++ functions, on the machine of kernels in text: the same memory, barriers and engines, the same
// schedules, findings and reports, whose places are lines of the C++ source. A block of threads runs one function each.
//
//   palladion::FunctionKernel kernel{.name = "double", .grid = {2}, .threads = {[](palladion::KernelContext& ctx) {
//     const palladion::KernelMemory x = ctx.array("x").at(ctx.block()), y = ctx.array("y").at(ctx.block());
//     ctx.store(y, 2 * ctx.load<float>(x));
//   }}, .inputs = {"x"}, .outputs = {{"y", palladion::DType::kF32, {2}}}};
//   auto report = palladion::CheckKernel(kernel, {x}, {.seeds = 64});
//
// A function is called once for each of its threads in every schedule, one at a time, on a stack of its own of 64 KiB.
// Between two requests no other thread runs. It must behave the same whenever it gets the same answers: state outside
// of it is not checked, and breaks replays. A thread that is abandoned while it waits, in a deadlock, leaves by an
// exception; a destructor may store, update, arrive and signal, but not load and not wait. Limits: what is loaded
// becomes a plain C++ value, so loading unwritten memory is a finding by itself; there are no clusters, warps and
// matrix units yet; loops that make no request cannot be interrupted. docs/learn/cpp-kernels.md.
#ifndef PALLADION_EMU_KERNEL_H_
#define PALLADION_EMU_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/export.h"
#include "emu/report.h"
#include "semantics/base/dtype.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

// Where a request stands in the C++ source: std::source_location, which clang 14 has not got.
struct CodePlace {
  const char* file = "";
  int line = 0;
  const char* function = "";
  static constexpr CodePlace Here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                  const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
};

// Thrown into the function by a request that makes no sense: another type than the memory's, an array that there is
// not. The run ends with it, also where the function catches it.
class PALLADION_EXPORT KernelError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// A box of an array or of memory that the kernel has allocated. A value; it stands for memory of one run.
class PALLADION_EXPORT KernelMemory {
 public:
  // What stands at `index` of the first dimension, which goes; a part of a dimension. Indices are looked at when the
  // memory is touched: out of range they are the finding OOB. KernelError: there is no such dimension.
  KernelMemory at(std::int64_t index) const;
  KernelMemory slice(std::int64_t start, std::int64_t size, std::size_t dim = 0) const;

  std::vector<std::int64_t> shape() const;
  DType dtype() const { return dtype_; }

  // For the functions that make and read it.
  struct Dim {
    std::int64_t start = 0, count = 0;
    std::int64_t lower = 0, upper = 0;  // the window that an index must stay in
    bool gone = false;                  // by `at`
  };
  KernelMemory() = default;
  KernelMemory(std::uint64_t run, std::int32_t number, DType dtype, std::vector<Dim> dims)
      : run_(run), number_(number), dtype_(dtype), dims_(std::move(dims)) {}
  std::uint64_t run() const { return run_; }
  std::int32_t number() const { return number_; }  // of the run's memories
  const std::vector<Dim>& dims() const { return dims_; }

 private:
  std::vector<Dim>::iterator Find(std::size_t dim);
  std::uint64_t run_ = 0;
  std::int32_t number_ = -1;
  DType dtype_ = DType::kF32;
  std::vector<Dim> dims_;
};

// One of an array of barriers, or of semaphores. Without `at` the first.
template <class Tag>
struct KernelSync {
  std::uint64_t run = 0;
  std::int32_t number = -1;
  std::int64_t element = 0;
  KernelSync at(std::int64_t index) const { return {run, number, index}; }
};
using KernelBarrier = KernelSync<struct KernelBarrierTag>;
using KernelSemaphore = KernelSync<struct KernelSemaphoreTag>;

// Who has it.
enum class KernelScope : std::uint8_t {
  kBlock,  // the threads of a block; memory: shared memory, which is there while the block runs
  kGrid,   // all blocks; memory: global memory
};

enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareExchange };

// The element type of T: KernelDType<float>() is f32.
template <class T>
constexpr DType KernelDType() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "a number; other types are loaded and stored as Tensor");
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
  constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  constexpr std::size_t kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return std::is_signed_v<T> ? kSigned[kLog] : kUnsigned[kLog];
}

// What one thread of a kernel asks of the machine. Every call but those of the first group is a request: other threads
// and engines may go before it.
class PALLADION_EXPORT KernelContext {
 public:
  virtual ~KernelContext() = default;

  virtual std::int64_t block(std::size_t dim = 0) const = 0;   // its index in the grid
  virtual std::int64_t blocks(std::size_t dim = 0) const = 0;  // the grid's size
  virtual std::int64_t thread() const = 0;                     // in its block
  virtual std::int64_t threads() const = 0;                    // of its block
  virtual KernelMemory array(std::string_view name, CodePlace place = CodePlace::Here()) = 0;
  virtual void print(std::string line) = 0;

  // Memory of the scope. The same name gets the same memory, the k-th time the k-th; the types must agree.
  // The owner releases it when it is no longer needed, or keeps it until its block ends.
  virtual KernelMemory alloc(std::string name, DType dtype, std::vector<std::int64_t> shape,
                             KernelScope scope = KernelScope::kBlock, CodePlace place = CodePlace::Here()) = 0;
  virtual void free(const KernelMemory& memory, CodePlace place = CodePlace::Here()) = 0;

  // All elements of the memory at once. An input is only read.
  virtual Tensor load(const KernelMemory& memory, CodePlace place = CodePlace::Here()) = 0;
  virtual void store(const KernelMemory& memory, const Tensor& value, CodePlace place = CodePlace::Here()) = 0;

  // Memory of one element.
  template <class T>
  T load(const KernelMemory& memory, CodePlace place = CodePlace::Here()) {
    T value{};
    LoadOne(memory, KernelDType<T>(), &value, place);
    return value;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  void store(const KernelMemory& memory, T value, CodePlace place = CodePlace::Here()) {
    StoreOne(memory, KernelDType<T>(), &value, place);
  }

  // An update of one element that nothing comes between, and what it held before. An update acquires what earlier
  // ones of the element released, and releases what its thread did before (at the device's scope): a lock, a flag.
  template <class T>
  T atomic_add(const KernelMemory& memory, T value, CodePlace place = CodePlace::Here()) {
    return Update(AtomicOp::kAdd, memory, value, T{}, place);
  }
  template <class T>
  T atomic_exchange(const KernelMemory& memory, T value, CodePlace place = CodePlace::Here()) {
    return Update(AtomicOp::kExchange, memory, value, T{}, place);
  }
  // `value` is stored where `expected` was there: where that is what it returns.
  template <class T>
  T atomic_compare_exchange(const KernelMemory& memory, T expected, T value, CodePlace place = CodePlace::Here()) {
    return Update(AtomicOp::kCompareExchange, memory, value, expected, place);
  }
  // The others of AtomicOp; kAnd, kOr and kXor of integers only.
  template <class T>
  T atomic(AtomicOp op, const KernelMemory& memory, T value, CodePlace place = CodePlace::Here()) {
    return Update(op, memory, value, T{}, place);
  }

  // An engine copies, some time later. Into shared memory: then the barrier gets one arrival. From there to global
  // memory: as one of the thread's current group of copies, which commit_copies ends.
  virtual void copy_async(const KernelMemory& from, const KernelMemory& to, KernelBarrier arrives,
                          CodePlace place = CodePlace::Here()) = 0;
  virtual void copy_async(const KernelMemory& from, const KernelMemory& to, CodePlace place = CodePlace::Here()) = 0;
  virtual void commit_copies(CodePlace place = CodePlace::Here()) = 0;
  // Until at most so many of its groups are in flight; `read_only`: until those have read their source.
  virtual void wait_copies(std::int64_t may_remain = 0, bool read_only = false,
                           CodePlace place = CodePlace::Here()) = 0;
  // What the thread knows of shared memory is visible to engines from here on: between its stores and a copy.
  virtual void commit_smem(CodePlace place = CodePlace::Here()) = 0;

  // Barriers of the block. A wait is for the next completion that the thread has not waited for yet: `arrivals`
  // arrivals are one completion. `test` is a wait that does not wait: did it go?
  virtual KernelBarrier make_barrier(std::string name, std::int64_t arrivals = 1, std::int64_t count = 1,
                                     CodePlace place = CodePlace::Here()) = 0;
  virtual void arrive(KernelBarrier barrier, CodePlace place = CodePlace::Here()) = 0;
  virtual void wait(KernelBarrier barrier, CodePlace place = CodePlace::Here()) = 0;
  virtual bool test(KernelBarrier barrier, CodePlace place = CodePlace::Here()) = 0;
  // All threads of the block come here before one goes on.
  virtual void sync_block(CodePlace place = CodePlace::Here()) = 0;

  // Counting semaphores: a wait takes `value` of what was signalled.
  virtual KernelSemaphore make_semaphore(std::string name, KernelScope scope, std::int64_t count = 1,
                                         CodePlace place = CodePlace::Here()) = 0;
  virtual void signal(KernelSemaphore semaphore, std::int64_t value = 1, CodePlace place = CodePlace::Here()) = 0;
  virtual void wait(KernelSemaphore semaphore, std::int64_t value = 1, CodePlace place = CodePlace::Here()) = 0;
  virtual std::int64_t read(KernelSemaphore semaphore, CodePlace place = CodePlace::Here()) = 0;

 protected:
  virtual void LoadOne(const KernelMemory& memory, DType dtype, void* value, CodePlace place) = 0;
  virtual void StoreOne(const KernelMemory& memory, DType dtype, const void* value, CodePlace place) = 0;
  // `operands`: the value, what is expected, and room for what was there, of one type.
  struct AtomicOperands {
    DType dtype;
    const void* value;
    const void* expected;
    void* old;
  };
  virtual void UpdateOne(AtomicOp op, const KernelMemory& memory, const AtomicOperands& operands, CodePlace place) = 0;

 private:
  template <class T>
  T Update(AtomicOp op, const KernelMemory& memory, T value, T expected, CodePlace place) {
    T old{};
    UpdateOne(op, memory, {KernelDType<T>(), &value, &expected, &old}, place);
    return old;
  }
};

using KernelFunction = std::function<void(KernelContext&)>;

struct KernelOutput {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::string starts_as = {};  // the input whose contents it begins with; "": undefined
};

struct FunctionKernel {
  std::string name = "kernel";
  std::vector<std::int64_t> grid = {1};  // blocks
  std::vector<KernelFunction> threads;   // of each block
  std::vector<std::string> inputs;       // names
  std::vector<KernelOutput> outputs;
};

// One schedule, program order, with what a plain run meets. InvalidArgument: a kernel or inputs that do not fit, a
// KernelError, another exception that a function throws. ResourceExhausted: memory. An error after something was found
// is Report::error.
PALLADION_EXPORT absl::StatusOr<RunResult> RunKernel(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                                     const RunOptions& options = {});

// Its seeds or one replay, one after another, with everything that the options ask for. Never `proved`: what a C++
// function decides by is not known. `outputs`: those of program order. InvalidArgument also for options.exhaustive.
PALLADION_EXPORT absl::StatusOr<Report> CheckKernel(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                                    const CheckOptions& options = {},
                                                    std::vector<Tensor>* outputs = nullptr);

}  // namespace palladion

#endif  // PALLADION_EMU_KERNEL_H_
