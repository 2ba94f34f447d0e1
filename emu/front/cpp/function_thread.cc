#include "emu/front/cpp/function_thread.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "emu/front/cpp/atomic_functions.h"
#include "emu/run/threads/footprints.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

FunctionThread::FunctionThread(FunctionMachine& machine, RunningThread& running, const threads::AgentsAround& around,
                               AgentId id, std::vector<std::int64_t> index)
    : machine_(machine), running_(running), id_(id), index_(std::move(index)), wait_(machine.gpu(), around) {
  for (std::size_t d = 0; d + 1 < index_.size(); ++d) block_ = block_ * machine_.kernel().grid[d] + index_[d];
  site_.program = index_;
}

// ---- being scheduled

void FunctionThread::Main(scheduler::AgentContext& agent) {
  agent_ = &agent;
  running_ = {this, &agent};
  gpu().SetCurrent(id_);
  machine_.memory().Running({.id = id_, .index = index_, .begins = true});
  try {
    machine_.kernel().threads[static_cast<std::size_t>(thread())](*this);
  } catch (const scheduler::AgentStopped&) {
    throw;
  } catch (const KernelError& error) {
    machine_.Fail(absl::InvalidArgumentError(error.what()));  // of a handle; others have told it before
  } catch (const std::bad_alloc&) {
    machine_.Fail(absl::ResourceExhaustedError(Cat("out of memory in ", gpu().NameOf(id_))));
  } catch (const std::exception& error) {
    const std::string last =
        site_.loc.valid() ? Cat("; its last request was ", machine_.places().TextOf(site_.loc)) : "";
    machine_.Fail(
        absl::InvalidArgumentError(Cat("the function of ", gpu().NameOf(id_), " threw: ", error.what(), last)));
  }
  if (!machine_.failed().ok()) throw FunctionFailed();
}

// A thread that is given up leaves its function by AgentStopped; what its destructors ask meanwhile is not done. A
// destructor on the way out of a scope must not throw, so what has no answer is passed over in silence, for a while.
bool FunctionThread::GivenUp(Answer answer) {
  constexpr int kMaxSilent = 1000;
  stopped_ = true;
  if (std::uncaught_exceptions() == 0 && (answer == Answer::kMatters || ++silent_ > kMaxSilent))
    throw scheduler::AgentStopped();
  return false;
}

bool FunctionThread::Ask(const scheduler::Operation& operation, Answer answer) {
  if (stopped_) return GivenUp(answer);
  bool stopped = false;
  try {
    agent_->Go(operation);
  } catch (const scheduler::AgentStopped&) {
    stopped = true;
  }
  if (stopped) return GivenUp(answer);
  if (running_.thread != this) machine_.memory().Running({.id = id_, .index = index_});
  running_ = {this, agent_};
  gpu().SetCurrent(id_);
  return true;
}

void FunctionThread::Refuse(const absl::Status& status) {
  const std::string text =
      Cat(machine_.places().TextOf(site_.loc), ": ", ToStd(status.message()), " (", gpu().NameOf(id_), ")");
  machine_.Fail(absl::Status(status.code(), ToAbsl(text)));
  throw KernelError(text);
}

void FunctionThread::Refuse(const std::string& what) { Refuse(absl::InvalidArgumentError(what)); }

// ---- who runs

std::int64_t FunctionThread::block(std::size_t dim) const {
  if (dim + 1 >= index_.size()) throw KernelError(Cat("the grid has ", index_.size() - 1, " dimensions; found ", dim));
  return index_[dim];
}

std::int64_t FunctionThread::blocks(std::size_t dim) const {
  if (dim + 1 >= index_.size()) throw KernelError(Cat("the grid has ", index_.size() - 1, " dimensions; found ", dim));
  return machine_.kernel().grid[dim];
}

// ---- memory

KernelMemory FunctionThread::array(std::string_view name, CodePlace place) {
  At(place);
  const std::optional<KernelMemory> found = machine_.ArrayOf(name);
  if (!found.has_value()) Refuse(Cat("the kernel has no array '", name, "' among its inputs and outputs"));
  return *found;
}

FunctionMachine::Object& FunctionThread::ObjectOf(const KernelMemory& memory) {
  if (memory.number() < 0) Refuse("this memory was never allocated: get it from ctx.array or ctx.alloc");
  if (memory.run() != machine_.run())
    Refuse("this memory is of another run: a function must not keep it from one call to the next");
  Object& object = machine_.objects()[static_cast<std::size_t>(memory.number())];
  if (object.block >= 0 && object.block != block_)
    Refuse(Cat("'", object.name, "' is shared memory of another block: ask ctx.alloc for it in each"));
  return object;
}

bool FunctionThread::Usable(const Object& object) {
  if (!object.left.has_value()) return true;
  const std::string agent = gpu().NameOf(id_);
  machine_.memory().Report({.code = FindingCode::kUseAfterScope,
                            .message = Cat("'", object.name, "' is used by ", agent, " after ctx.free gave it back"),
                            .loc = site_.loc,
                            .first = FindingAccess{AccessKind::kFree, agent, object.name, "", object.left->loc, 0},
                            .fix = "give it back after the last use"});
  return false;
}

BoxAccess FunctionThread::BoxOf(const KernelMemory& memory, const Object& object) const {
  BoxAccess box;
  box.buffer = object.buffer;
  box.outside = Outside::kError;
  box.site = site_;
  for (const KernelMemory::Dim& dim : memory.dims()) {
    const auto d = static_cast<std::size_t>(box.rank++);
    box.start[d] = dim.start;
    box.count[d] = dim.count;
    box.step[d] = 1;
    box.lower[d] = dim.lower;
    box.upper[d] = dim.upper;
    if (!dim.gone) box.order[static_cast<std::size_t>(box.value_rank++)] = static_cast<std::uint8_t>(d);
  }
  return box;
}

void FunctionThread::ExpectOne(const KernelMemory& memory, const Object& object, DType dtype, std::string_view what) {
  if (memory.dtype() != dtype)
    Refuse(Cat(what, " of ", Name(dtype), " at '", object.name, "', which holds ", Name(memory.dtype())));
  const std::vector<std::int64_t> shape = memory.shape();
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; }))
    Refuse(Cat(what, " of one element at '", object.name, "', of which this is ", TypeString(dtype, shape)));
}

void FunctionThread::ExpectWritable(const Object& object, std::string_view what) {
  if (object.is_input)
    Refuse(Cat(what, " to '", object.name, "', an input, which is only read: write an output that starts as it"));
}

KernelMemory FunctionThread::alloc(std::string name, DType dtype, std::vector<std::int64_t> shape, KernelScope scope,
                                   CodePlace place) {
  At(place);
  if (const auto count = CountElements(dtype, shape); !count.ok()) Refuse(count.status());
  if (shape.size() > static_cast<std::size_t>(kMaxBoxRank)) Refuse(Cat("'", name, "' has too many dimensions"));
  const std::string type = Cat(scope == KernelScope::kGrid ? "global " : "shared ", TypeString(dtype, shape));
  if (!Ask(threads::OtherRequest::kAlloc, Answer::kMatters)) return {};
  const FunctionMachine::Named named = machine_.NameOf(name, type, scope);
  if (!named.differs.empty()) Refuse(Cat("'", name, "' is ", type, " here and ", named.differs, " elsewhere"));
  const absl::StatusOr<BufferId> buffer =
      gpu().Alloc({.name = name, .dtype = dtype, .shape = shape, .loc = site_.loc, .place = named.place});
  if (!buffer.ok()) Refuse(buffer.status());
  return machine_.HandleOf({.buffer = *buffer,
                            .name = std::move(name),
                            .memory = named.place.memory,
                            .block = scope == KernelScope::kGrid ? std::int64_t{-1} : block_});
}

void FunctionThread::free(const KernelMemory& memory, CodePlace place) {
  At(place);
  const Object& object = ObjectOf(memory);
  if (machine_.ArrayOf(object.name).has_value()) Refuse(Cat("'", object.name, "' is an array of the call"));
  if (object.left.has_value()) Refuse(Cat("'", object.name, "' was given back before"));
  if (!Ask(threads::OtherRequest::kFree, Answer::kNone)) return;
  Object& left = ObjectOf(memory);
  left.left = CodeSite::Of(site_);
  gpu().Leave(left.buffer, site_);
}

// A plain C++ value carries no marks: what is undefined matters here.
void FunctionThread::LookAtMarks(const Definedness& defined, std::int64_t elements, const std::string& name) {
  if (!defined.any) return;
  const std::uint8_t* const end = defined.undefined + elements;
  const std::uint8_t* const mark = std::find_if(defined.undefined, end, [](std::uint8_t m) { return m != 0; });
  if (mark != end) machine_.memory().ReportUndefined(*mark, Cat("what is loaded from '", name, "'"), site_);
}

void FunctionThread::Load(const KernelMemory& memory, const Object& object, std::byte* value) {
  BoxAccess box = BoxOf(memory, object);
  Definedness defined;
  if (machine_.definedness()) box.defined = &defined;
  machine_.memory().Load(box, value);
  std::int64_t elements = 1;
  for (const std::int64_t size : memory.shape()) elements *= size;
  LookAtMarks(defined, elements, object.name);
}

Tensor FunctionThread::load(const KernelMemory& memory, CodePlace place) {
  At(place);
  absl::StatusOr<Tensor> value = Tensor::Create(memory.dtype(), memory.shape());
  if (!value.ok()) Refuse(value.status());
  const BufferId buffer = ObjectOf(memory).buffer;
  if (!Ask(threads::MemoryRequest{buffer, /*only_reads=*/true}, Answer::kMatters)) return *std::move(value);
  const Object object = ObjectOf(memory);
  if (Usable(object)) Load(memory, object, value->bytes());
  return *std::move(value);
}

void FunctionThread::LoadOne(const KernelMemory& memory, DType dtype, void* value, CodePlace place) {
  At(place);
  ExpectOne(memory, ObjectOf(memory), dtype, "a load");
  if (!Ask(threads::MemoryRequest{ObjectOf(memory).buffer, /*only_reads=*/true}, Answer::kMatters)) return;
  const Object object = ObjectOf(memory);
  if (Usable(object)) Load(memory, object, static_cast<std::byte*>(value));
}

void FunctionThread::store(const KernelMemory& memory, const Tensor& value, CodePlace place) {
  At(place);
  const Object& object = ObjectOf(memory);
  ExpectWritable(object, "a store");
  if (value.dtype() != memory.dtype() || value.shape() != memory.shape())
    Refuse(Cat("a store of ", TypeString(value.dtype(), value.shape()), " at '", object.name, "', of which this is ",
               TypeString(memory.dtype(), memory.shape())));
  if (!Ask(threads::MemoryRequest{object.buffer}, Answer::kNone)) return;
  const Object now = ObjectOf(memory);
  if (Usable(now)) machine_.memory().Store(BoxOf(memory, now), value.bytes());
}

void FunctionThread::StoreOne(const KernelMemory& memory, DType dtype, const void* value, CodePlace place) {
  At(place);
  ExpectWritable(ObjectOf(memory), "a store");
  ExpectOne(memory, ObjectOf(memory), dtype, "a store");
  if (!Ask(threads::MemoryRequest{ObjectOf(memory).buffer}, Answer::kNone)) return;
  const Object object = ObjectOf(memory);
  if (Usable(object)) machine_.memory().Store(BoxOf(memory, object), static_cast<const std::byte*>(value));
}

void FunctionThread::UpdateOne(AtomicOp op, const KernelMemory& memory, const AtomicOperands& operands,
                               CodePlace place) {
  At(place);
  ExpectWritable(ObjectOf(memory), "an atomic update");
  ExpectOne(memory, ObjectOf(memory), operands.dtype, "an atomic update");
  const AtomicFn update = AtomicFunction(op, operands.dtype);
  if (update == nullptr) Refuse(Cat("there is no such atomic update of ", Name(operands.dtype)));
  if (!Ask(threads::MemoryRequest{ObjectOf(memory).buffer}, Answer::kNone)) return;
  const Object object = ObjectOf(memory);
  if (!Usable(object)) return;
  const absl::Span<const std::int64_t> shape = machine_.memory().ShapeOf(object.buffer);
  std::int64_t offset = 0;
  bool inside = true;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const KernelMemory::Dim& dim = memory.dims()[d];
    inside = inside && dim.start >= dim.lower && dim.start < dim.upper;
    offset = offset * shape[d] + dim.start;
  }
  offset = inside ? offset * static_cast<std::int64_t>(StorageBytes(operands.dtype)) : PointAccess::kOutOfBounds;
  Definedness defined;
  const PointAccess access{.buffer = object.buffer,
                           .offset = {&offset, 1},
                           .piece_bytes = StorageBytes(operands.dtype),
                           .mask = {},
                           .defined = machine_.definedness() ? &defined : nullptr,
                           .site = site_};
  machine_.memory().Atomic(access, update, static_cast<const std::byte*>(operands.value),
                           static_cast<const std::byte*>(operands.expected), static_cast<std::byte*>(operands.old));
  LookAtMarks(defined, 1, object.name);
}

}  // namespace palladion
