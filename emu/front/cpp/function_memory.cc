#include "emu/front/cpp/function_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "emu/front/cpp/atomic_functions.h"
#include "semantics/base/cat.h"

namespace palladion {

KernelMemory FunctionMemory::ArrayOf(std::string_view name) {
  const std::optional<KernelMemory> found = machine_.ArrayOf(name);
  if (!found.has_value()) requests_.Refuse(Cat("the kernel has no array '", name, "' among its inputs and outputs"));
  return *found;
}

FunctionMemory::Object& FunctionMemory::ObjectOf(const KernelMemory& memory) {
  if (memory.number() < 0) requests_.Refuse("this memory was never allocated: get it from ctx.array or ctx.alloc");
  if (memory.run() != machine_.run())
    requests_.Refuse("this memory is of another run: a function must not keep it from one call to the next");
  Object& object = machine_.objects()[static_cast<std::size_t>(memory.number())];
  if (object.block >= 0 && object.block != requests_.block())
    requests_.Refuse(Cat("'", object.name, "' is shared memory of another block: ask ctx.alloc for it in each"));
  return object;
}

bool FunctionMemory::Usable(const Object& object) {
  if (!object.left.has_value()) return true;
  const std::string agent = requests_.gpu().NameOf(requests_.id());
  machine_.memory().Report({.code = FindingCode::kUseAfterScope,
                            .message = Cat("'", object.name, "' is used by ", agent, " after ctx.free gave it back"),
                            .loc = requests_.site().loc,
                            .first = FindingAccess{AccessKind::kFree, agent, object.name, "", object.left->loc, 0},
                            .fix = "give it back after the last use"});
  return false;
}

BoxAccess FunctionMemory::BoxOf(const KernelMemory& memory, const Object& object) const {
  BoxAccess box;
  box.buffer = object.buffer;
  box.outside = Outside::kError;
  box.site = requests_.site();
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

void FunctionMemory::ExpectOne(const KernelMemory& memory, const Object& object, DType dtype, std::string_view what) {
  if (memory.dtype() != dtype)
    requests_.Refuse(Cat(what, " of ", Name(dtype), " at '", object.name, "', which holds ", Name(memory.dtype())));
  const std::vector<std::int64_t> shape = memory.shape();
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; }))
    requests_.Refuse(Cat(what, " of one element at '", object.name, "', of which this is ", TypeString(dtype, shape)));
}

void FunctionMemory::ExpectWritable(const Object& object, std::string_view what) {
  if (object.is_input)
    requests_.Refuse(
        Cat(what, " to '", object.name, "', an input, which is only read: write an output that starts as it"));
}

KernelMemory FunctionMemory::Alloc(std::string name, DType dtype, std::vector<std::int64_t> shape, KernelScope scope) {
  if (const auto count = CountElements(dtype, shape); !count.ok()) requests_.Refuse(count.status());
  if (shape.size() > static_cast<std::size_t>(kMaxBoxRank))
    requests_.Refuse(Cat("'", name, "' has too many dimensions"));
  const std::string type = Cat(scope == KernelScope::kGrid ? "global " : "shared ", TypeString(dtype, shape));
  if (!requests_.Request(threads::OtherRequest::kAlloc, Answer::kMatters)) return {};
  const FunctionMachine::Named named = machine_.NameOf(name, type, scope);
  if (!named.differs.empty())
    requests_.Refuse(Cat("'", name, "' is ", type, " here and ", named.differs, " elsewhere"));
  const absl::StatusOr<BufferId> buffer = requests_.gpu().Alloc(
      {.name = name, .dtype = dtype, .shape = shape, .loc = requests_.site().loc, .place = named.place});
  if (!buffer.ok()) requests_.Refuse(buffer.status());
  return machine_.HandleOf({.buffer = *buffer,
                            .name = std::move(name),
                            .memory = named.place.memory,
                            .block = scope == KernelScope::kGrid ? std::int64_t{-1} : requests_.block()});
}

void FunctionMemory::Free(const KernelMemory& memory) {
  const Object& object = ObjectOf(memory);
  if (machine_.ArrayOf(object.name).has_value()) requests_.Refuse(Cat("'", object.name, "' is an array of the call"));
  if (object.left.has_value()) requests_.Refuse(Cat("'", object.name, "' was given back before"));
  if (!requests_.Request(threads::OtherRequest::kFree, Answer::kNone)) return;
  Object& left = ObjectOf(memory);
  left.left = CodeSite::Of(requests_.site());
  requests_.gpu().Leave(left.buffer, requests_.site());
}

// A plain C++ value carries no marks: what is undefined matters here.
void FunctionMemory::LookAtMarks(const Definedness& defined, std::int64_t elements, const std::string& name) {
  if (!defined.any) return;
  const std::uint8_t* const end = defined.undefined + elements;
  const std::uint8_t* const mark = std::find_if(defined.undefined, end, [](std::uint8_t m) { return m != 0; });
  if (mark != end) machine_.memory().ReportUndefined(*mark, Cat("what is loaded from '", name, "'"), requests_.site());
}

void FunctionMemory::LoadBytes(const KernelMemory& memory, const Object& object, std::byte* value) {
  BoxAccess box = BoxOf(memory, object);
  Definedness defined;
  if (machine_.definedness()) box.defined = &defined;
  machine_.memory().Load(box, value);
  std::int64_t elements = 1;
  for (const std::int64_t size : memory.shape()) elements *= size;
  LookAtMarks(defined, elements, object.name);
}

Tensor FunctionMemory::Load(const KernelMemory& memory) {
  absl::StatusOr<Tensor> value = Tensor::Create(memory.dtype(), memory.shape());
  if (!value.ok()) requests_.Refuse(value.status());
  const BufferId buffer = ObjectOf(memory).buffer;
  if (!requests_.Request(threads::MemoryRequest{buffer, /*only_reads=*/true}, Answer::kMatters))
    return *std::move(value);
  const Object object = ObjectOf(memory);
  if (Usable(object)) LoadBytes(memory, object, value->bytes());
  return *std::move(value);
}

void FunctionMemory::LoadOne(const KernelMemory& memory, DType dtype, void* value) {
  ExpectOne(memory, ObjectOf(memory), dtype, "a load");
  if (!requests_.Request(threads::MemoryRequest{ObjectOf(memory).buffer, /*only_reads=*/true}, Answer::kMatters))
    return;
  const Object object = ObjectOf(memory);
  if (Usable(object)) LoadBytes(memory, object, static_cast<std::byte*>(value));
}

void FunctionMemory::Store(const KernelMemory& memory, const Tensor& value) {
  const Object& object = ObjectOf(memory);
  ExpectWritable(object, "a store");
  if (value.dtype() != memory.dtype() || value.shape() != memory.shape())
    requests_.Refuse(Cat("a store of ", TypeString(value.dtype(), value.shape()), " at '", object.name,
                         "', of which this is ", TypeString(memory.dtype(), memory.shape())));
  if (!requests_.Request(threads::MemoryRequest{object.buffer}, Answer::kNone)) return;
  const Object now = ObjectOf(memory);
  if (Usable(now)) machine_.memory().Store(BoxOf(memory, now), value.bytes());
}

void FunctionMemory::StoreOne(const KernelMemory& memory, DType dtype, const void* value) {
  ExpectWritable(ObjectOf(memory), "a store");
  ExpectOne(memory, ObjectOf(memory), dtype, "a store");
  if (!requests_.Request(threads::MemoryRequest{ObjectOf(memory).buffer}, Answer::kNone)) return;
  const Object object = ObjectOf(memory);
  if (Usable(object)) machine_.memory().Store(BoxOf(memory, object), static_cast<const std::byte*>(value));
}

void FunctionMemory::Update(const KernelMemory& memory, const AtomicUpdate& update) {
  ExpectWritable(ObjectOf(memory), "an atomic update");
  ExpectOne(memory, ObjectOf(memory), update.dtype, "an atomic update");
  const AtomicFn function = AtomicFunction(update.op, update.dtype);
  if (function == nullptr) requests_.Refuse(Cat("there is no such atomic update of ", Name(update.dtype)));
  if (!requests_.Request(threads::MemoryRequest{ObjectOf(memory).buffer}, Answer::kNone)) return;
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
  offset = inside ? offset * static_cast<std::int64_t>(StorageBytes(update.dtype)) : PointAccess::kOutOfBounds;
  Definedness defined;
  const PointAccess access{.buffer = object.buffer,
                           .offset = {&offset, 1},
                           .piece_bytes = StorageBytes(update.dtype),
                           .mask = {},
                           .defined = machine_.definedness() ? &defined : nullptr,
                           .site = requests_.site()};
  machine_.memory().Atomic(access, function, static_cast<const std::byte*>(update.value),
                           static_cast<const std::byte*>(update.expected), static_cast<std::byte*>(update.old));
  LookAtMarks(defined, 1, object.name);
}

}  // namespace palladion
