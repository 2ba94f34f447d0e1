// Mosaic TPU's rules. Blocks: `_check_block_mappings`, lower_jaxpr_into_pipelined_module; accesses: the lowerings of
// get, swap and their masked forms. Operations on values: legality_tpu_values.cc.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "emu/legality/legality.h"
#include "emu/legality/rule_rows.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// What a memory space means to a TensorCore.
Space TpuSpace(Space space) {
  switch (space) {
    case Space::kDefault:
      return Space::kVmem;
    case Space::kError:
    case Space::kIndex:
    case Space::kKey:
      return Space::kSmem;
    default:
      return space;
  }
}

bool IsTpuSpace(Space space) { return space != Space::kGmem && space != Space::kTmem && space != Space::kRegs; }

std::string BlockText(const BlockSpec& block) {
  return Cat("(",
             absl::StrJoin(block.dims, ", ",
                           [](std::string* out, const BlockDim& dim) {
                             Append(out, dim.kind == BlockDim::Kind::kSqueezed ? std::string("None") : Cat(dim.size));
                           }),
             ")");
}

// Sizes and array of a block with the words of PRNG keys as a dimension of their own, as the lowering has it.
struct Blocked {
  Shape block, array;
};
Blocked PhysicalShapes(const Operand& operand, const Type& array) {
  Blocked shapes{.block = {}, .array = array.shape};
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    shapes.block.push_back(operand.block.has_value() ? operand.block->dims[d].size : array.shape[d]);
  if (WordsPerElement(array) > 1) {
    shapes.block.push_back(static_cast<std::int64_t>(WordsPerElement(array)));
    shapes.array.push_back(static_cast<std::int64_t>(WordsPerElement(array)));
  }
  return shapes;
}

int MemoryBits(DType dtype) { return IsBool(dtype) ? 32 : Info(dtype).bits; }  // a bool is an i32 in memory

struct Tile {
  std::size_t from_end;
  std::int64_t multiple;
  std::string_view name;
};

void CheckTiles(Legality& legality, const Operand& operand, const Type& array) {
  const auto [block, shape] = PhysicalShapes(operand, array);
  const std::int64_t lanes = legality.chip()->lanes, sublanes = legality.chip()->sublanes;
  const std::string which = Cat(operand.block.has_value() ? Cat("block ", BlockText(*operand.block), " of ") : "",
                                ToString(array), " in vmem: ");
  if (block.size() == 1) {
    const std::int64_t tile = lanes * std::max(1, 32 / MemoryBits(array.dtype)), chunk = sublanes * lanes;
    const std::int64_t n = block[0];
    const bool power = n >= tile && (n & (n - 1)) == 0;
    if (n == shape[0] || n % chunk == 0 || power) return;
    return legality.Illegal(
        operand,
        Cat(which, "a block of rank 1 must be all of its array (", shape[0], "), a multiple of ", chunk,
            ", or a power of two of at least ", tile, " on ", legality.target(), "; found ", n),
        Cat("use a block of ", (n + chunk - 1) / chunk * chunk));
  }
  // The last but one first, as JAX's message has them.
  std::string broken, found, fix;
  for (const auto& [from_end, multiple, name] : {Tile{2, sublanes, "last but one"}, Tile{1, lanes, "last"}}) {
    const std::int64_t n = block[block.size() - from_end], all = shape[shape.size() - from_end];
    if (n == all || n % multiple == 0) continue;
    Append(&broken, broken.empty() ? "the " : ", and the ", name, " dimension of a block must be a multiple of ",
           multiple, " or all of its array's (", all, ")");
    Append(&found, found.empty() ? "" : " and ", n);
    Append(&fix, fix.empty() ? "use " : " and ", (n + multiple - 1) / multiple * multiple, " as its ", name,
           " dimension");
  }
  if (!broken.empty()) legality.Illegal(operand, Cat(which, broken, " on ", legality.target(), "; found ", found), fix);
}

void CheckBuffering(Legality& legality, const Operand& operand) {
  const AttrMap& attrs = *operand.block->buffered;
  const auto integer = [&](std::string_view name) -> std::optional<std::int64_t> {
    const Attr* attr = Find(attrs, name);
    const auto* value = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  const std::int64_t count = integer("buffer_count").value_or(2);
  if (count < 1 || count > 2)
    legality.Illegal(operand,
                     Cat("a block of pallas_call has 1 or 2 buffers on ", legality.target(), "; found ", count),
                     "use pl.Buffered(2), or emit_pipeline");
  const Attr* revisit = Find(attrs, "revisit");
  if (revisit != nullptr && revisit->value == Attr{AttrIdent{"any"}}.value && count > 1)
    legality.Illegal(operand,
                     Cat("a block that may be visited again at any time (revisit=any) has 1 buffer on ",
                         legality.target(), "; found ", count),
                     "use pl.Buffered(1, revisit=pl.RevisitMode.ANY)");
  const Attr* lookahead = Find(attrs, "use_lookahead");
  if (lookahead != nullptr && lookahead->value == Attr{true}.value)
    legality.Illegal(operand, Cat("lookahead is for emit_pipeline; pallas_call has none on ", legality.target()));
}

// Says so, too.
bool IsPartOfHbm(Legality& legality, std::size_t i) {
  const Operand& operand = legality.kernel().operands[i];
  const Type& array = legality.kernel().values[operand.value.index()].type;
  const Space space = TpuSpace(legality.SpaceOf(i));
  if ((space != Space::kAny && space != Space::kHbm) || IsTrivialWindow(operand, array)) return false;
  legality.Illegal(operand,
                   Cat("in ", Name(space), " a block must be its whole array with an index map of zeros on ",
                       legality.target(), "; found ", BlockText(*operand.block), " of ", ToString(array)),
                   "leave the block out and copy the part you need");
  return true;
}

void CheckBlock(Legality& legality, std::size_t i) {
  const Operand& operand = legality.kernel().operands[i];
  const Type& array = legality.kernel().values[operand.value.index()].type;
  const Space space = TpuSpace(legality.SpaceOf(i));
  const bool trivial = IsTrivialWindow(operand, array);
  ++legality.blocks;
  if (space == Space::kSemaphore || (space == Space::kSmem && trivial)) return;
  if (array.rank() + (WordsPerElement(array) > 1 ? 1 : 0) < 1)
    return legality.Illegal(operand,
                            Cat("a block in ", Name(space), " must have rank 1 or more on ", legality.target(),
                                "; found ", ToString(array)),
                            "put the scalar into smem");
  if (IsPartOfHbm(legality, i)) return;
  if (!trivial && legality.program().grid.empty())
    legality.Illegal(operand, "a kernel without a grid cannot have a block that is a part of its array");
  CheckTiles(legality, operand, array);
  if (!operand.block.has_value()) return;
  const std::vector<BlockDim>& dims = operand.block->dims;
  const auto is = [&](BlockDim::Kind kind) { return [kind](const BlockDim& dim) { return dim.kind == kind; }; };
  if (std::any_of(dims.begin(), dims.end(), is(BlockDim::Kind::kElement)) &&
      std::any_of(dims.begin(), dims.end(), is(BlockDim::Kind::kBlocked)))
    legality.Illegal(operand,
                     Cat("all dimensions of a block are pl.Element (or None) or none is, on ", legality.target()));
  if (operand.block->buffered.has_value()) CheckBuffering(legality, operand);
}

// ---- accesses

const Arg* MaskOf(const Instr& op) {
  for (const Arg& arg : op.args) {
    if (arg.name == "mask" && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

struct Access {
  const Instr& op;
  const Arg& view;
  Space space;
  Type value;  // of the access
  bool is_store;
  const Arg* mask;
};

bool IsStrided(const Transform& at) {
  return std::any_of(at.indices.begin(), at.indices.end(),
                     [](const Index& index) { return index.kind == Index::Kind::kSlice && index.stride != 1; });
}

void CheckScalarMemory(Legality& legality, const Access& a, std::string_view ref) {
  if (!a.value.shape.empty())
    legality.Illegal(a.op,
                     Cat(a.op.name, " of '", ref, "' in smem must be of a scalar on ", legality.target(), "; found ",
                         ToString(a.value)),
                     "index down to one element, or put the array into vmem");
  if (a.is_store && a.mask != nullptr)
    legality.Illegal(a.op, Cat(a.op.name, " of '", ref, "': a store to smem has no mask on ", legality.target()),
                     "use pl.when");
}

void CheckVectorMemory(Legality& legality, const Access& a, std::string_view ref) {
  const Kernel& kernel = legality.kernel();
  if (legality.BlockRankOf(a.view.value) == 0u && !a.is_store)
    legality.Illegal(a.op, Cat(a.op.name, " of '", ref, "': a ref of rank 0 cannot be in vmem on ", legality.target()),
                     "put it into smem");
  if (a.is_store && a.value.shape.empty())
    legality.Illegal(a.op,
                     Cat(a.op.name, " of '", ref, "' in vmem must be of an array on ", legality.target(),
                         "; found the scalar ", ToString(a.value)),
                     "store a slice of one element, or put the ref into smem");
  if (a.mask == nullptr) return;
  if (!a.is_store)
    return legality.Illegal(a.op, Cat(a.op.name, " of '", ref, "': a load has no mask on ", legality.target()),
                            "load all of it and select with jnp.where");
  if (StorageBytes(a.value.dtype) != 4)
    legality.Illegal(a.op, Cat(a.op.name, " of '", ref, "': a masked store must be of 32-bit elements on ",
                               legality.target(), "; found ", ToString(a.value)));
  if (TypeOfArg(kernel, *a.mask).shape != a.value.shape)
    legality.Illegal(
        a.op, Cat(a.op.name, " of '", ref, "': the mask must have the value's shape ", ToString(a.value.shape), " on ",
                  legality.target(), "; found ", ToString(TypeOfArg(kernel, *a.mask).shape)));
  if (!a.view.transforms.empty() && IsStrided(a.view.transforms.back()))
    legality.Illegal(a.op, Cat(a.op.name, " of '", ref, "': a strided store has no mask on ", legality.target()));
}

void CheckView(Legality& legality, const Access& a, std::string_view ref) {
  for (std::size_t t = 0; t < a.view.transforms.size(); ++t) {
    const Transform& transform = a.view.transforms[t];
    if (transform.kind != Transform::Kind::kAt) continue;
    if (t + 1 < a.view.transforms.size() && IsStrided(transform))
      legality.Illegal(a.op, Cat("a slice with a step of '", ref, "' cannot be sliced again on ", legality.target()),
                       "put all indices into one .at");
    for (const Index& index : transform.indices) {
      if (index.kind != Index::Kind::kPoint || index.start.kind == Arg::Kind::kNone) continue;
      const Type type = TypeOfArg(legality.kernel(), index.start);
      if (type.shape.empty()) continue;
      return legality.Illegal(a.op,
                              Cat(a.op.name, " of '", ref, "' through an index array ", ToString(type),
                                  ": only scalars and slices index a ref on ", legality.target()),
                              "slice the ref and gather from the value, or copy with a loop");
    }
  }
}

// `only_direct`: nothing but that the memory is one that can be loaded and stored.
void CheckAccess(Legality& legality, const Instr& op, bool only_direct) {
  const bool is_load = RowOf(op).access == RefAccess::kLoad;
  if ((!is_load && RowOf(op).access != RefAccess::kStore) || RowOf(op).named_refs) return;
  ++legality.accesses;
  const Kernel& kernel = legality.kernel();
  const Arg& view = op.args[0];
  if (view.kind != Arg::Kind::kValue) return;
  const ValueInfo& info = kernel.values[view.value.index()];
  const std::string_view ref = info.label.empty() ? info.name : info.label;
  const Arg* mask = MaskOf(op);
  const absl::StatusOr<Type> value = ViewType(kernel, info.type, view.transforms, mask != nullptr);
  if (!value.ok() || info.type.element != ElementKind::kData) return;
  const Access access{op, view, TpuSpace(legality.SpaceOf(view.value)), *value, !is_load, mask};
  if (!only_direct) CheckView(legality, access, ref);
  if (access.space == Space::kSmem) {
    if (!only_direct) CheckScalarMemory(legality, access, ref);
  } else if (access.space == Space::kVmem) {
    if (!only_direct) CheckVectorMemory(legality, access, ref);
  } else {
    legality.Illegal(op,
                     Cat(op.name, " of '", ref, "' in ", Name(access.space),
                         ": only vmem and smem can be loaded and stored on ", legality.target()),
                     "copy it to vmem with pltpu.sync_copy or async_copy first");
  }
}

void CheckOperandType(Legality& legality, std::size_t i) {
  const Operand& operand = legality.kernel().operands[i];
  const Type& type = operand.role == Role::kScratch ? legality.program().operand_infos[i].type
                                                    : legality.kernel().values[operand.value.index()].type;
  if (type.element == ElementKind::kData && Info(type.dtype).bits == 64)
    legality.Illegal(operand, Cat("there are no 64-bit numbers on ", legality.target(), "; found ", ToString(type)),
                     "use 32-bit types");
  if (!IsTpuSpace(legality.SpaceOf(i)))
    legality.Illegal(operand, Cat("there is no memory space ", Name(legality.SpaceOf(i)), " on ", legality.target()));
}

}  // namespace

void CheckTpu(Legality& legality) {
  if (legality.backend() != TargetBackend::kMosaicTpu) return;
  const Kernel& kernel = legality.kernel();
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Role role = kernel.operands[i].role;
    if (role == Role::kIn || role == Role::kOut) CheckBlock(legality, i);
    CheckOperandType(legality, i);
  }
  ForEachCompiled(legality, kernel.bodies[0].region, [&](const Instr& op) {
    CheckAccess(legality, op, false);
    CheckTpuValues(legality, op);
  });
}

void CheckTpuDirectAccess(Legality& legality) {
  if (legality.backend() != TargetBackend::kMosaicTpu) return;
  const std::vector<Operand>& operands = legality.kernel().operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == Role::kIn || operands[i].role == Role::kOut) IsPartOfHbm(legality, i);
  }
  ForEachCompiled(legality, legality.kernel().bodies[0].region,
                  [&](const Instr& op) { CheckAccess(legality, op, true); });
}

}  // namespace palladion
