#include "semantics/prepare/ring_module.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion {
namespace {

constexpr DType kWord = DType::kU64;

// Scatters move, and combine by what is the ring's own.
bool Moves(const OpRow& row) {
  return row.flow == Flow::kMove || row.flow == Flow::kSelect || row.flow == Flow::kPlace || row.flow == Flow::kCombine;
}

class Rewriter {
 public:
  Rewriter(const Kernel& kernel, const Target& target) : before_(kernel), target_(target) {}

  absl::StatusOr<Kernel> Run() {
    Kernel kernel = before_;
    for (ValueInfo& value : kernel.values) RewriteType(value.type);
    for (Operand& operand : kernel.operands) {
      if (!operand.block.has_value()) continue;
      PALLADION_RETURN_IF_ERROR(RewriteView(operand.block->view));
      PALLADION_RETURN_IF_ERROR(RewriteRegion(operand.block->map));
    }
    for (Body& body : kernel.bodies) PALLADION_RETURN_IF_ERROR(RewriteRegion(body.region));
    return kernel;
  }

  static absl::Status RewriteDense(std::shared_ptr<const Tensor>& tensor) {
    if (tensor == nullptr || !IsFloat(tensor->dtype())) return absl::OkStatus();
    PALLADION_ASSIGN_OR_RETURN(Tensor words, RingTensor(*tensor));
    tensor = std::make_shared<const Tensor>(std::move(words));
    return absl::OkStatus();
  }

 private:
  static void RewriteType(Type& type) {
    if (!IsFloat(type.dtype)) return;
    type.dtype = kWord;
    type.weak = false;
  }

  static void RewriteAttr(Attr& attr) {
    if (auto* ident = std::get_if<AttrIdent>(&attr.value)) {
      const std::optional<DType> dtype = DTypeFromName(ident->name);
      if (dtype.has_value() && IsFloat(*dtype)) ident->name = std::string(Name(kWord));
    } else if (auto* list = std::get_if<AttrList>(&attr.value)) {
      for (Attr& item : *list) RewriteAttr(item);
    } else if (auto* map = std::get_if<AttrMap>(&attr.value)) {
      for (AttrEntry& entry : *map) RewriteAttr(entry.second);
    }
  }

  absl::Status RewriteArg(Arg& arg) {
    if (arg.kind == Arg::Kind::kLiteral && IsFloat(arg.literal.dtype)) {
      const std::uint64_t word = RingWord(arg.literal.dtype, arg.literal.bytes.data());
      arg.literal = {.dtype = kWord};
      std::memcpy(arg.literal.bytes.data(), &word, sizeof(word));
    }
    PALLADION_RETURN_IF_ERROR(RewriteDense(arg.dense));
    PALLADION_RETURN_IF_ERROR(RewriteView(arg.transforms));
    for (Arg& choice : arg.select) PALLADION_RETURN_IF_ERROR(RewriteArg(choice));
    return absl::OkStatus();
  }

  absl::Status RewriteView(std::vector<Transform>& view) {
    for (Transform& transform : view) {
      if (transform.kind == Transform::Kind::kBitcast)
        return absl::UnimplementedError("a view that looks at a float's bits has no form in the ring");
      for (Index& index : transform.indices) {
        PALLADION_RETURN_IF_ERROR(RewriteArg(index.start));
        PALLADION_RETURN_IF_ERROR(RewriteArg(index.size));
      }
    }
    return absl::OkStatus();
  }

  absl::Status RewriteRegion(Region& region) {
    for (Param& param : region.params) PALLADION_RETURN_IF_ERROR(RewriteView(param.view));
    for (Instr& op : region.body) PALLADION_RETURN_IF_ERROR(RewriteInstr(op));
    for (Arg& result : region.results) PALLADION_RETURN_IF_ERROR(RewriteArg(result));
    return absl::OkStatus();
  }

  Type TypeOf(const Arg& arg) const {
    if (arg.kind == Arg::Kind::kLiteral) return Type{.dtype = arg.literal.dtype};
    if (arg.kind == Arg::Kind::kDense) return Type{.dtype = arg.dense->dtype(), .shape = arg.dense->shape()};
    return before_.values[arg.value.index()].type;
  }

  absl::Status RewriteInstr(Instr& op) {
    if (op.row->prepare != nullptr && !(MeansTheSame(op) && WordsWillDo(op))) PALLADION_RETURN_IF_ERROR(ToHash(op));
    for (AttrEntry& entry : op.attrs) RewriteAttr(entry.second);
    for (Type& type : op.types) RewriteType(type);
    for (Arg& arg : op.args) PALLADION_RETURN_IF_ERROR(RewriteArg(arg));
    for (Region& region : op.regions) PALLADION_RETURN_IF_ERROR(RewriteRegion(region));
    return absl::OkStatus();
  }

  bool MeansTheSame(const Instr& op) const {
    const auto is_float = [](const Type& type) { return IsFloat(type.dtype); };
    const bool result = std::any_of(op.types.begin(), op.types.end(), is_float);
    const bool operand = std::any_of(op.args.begin(), op.args.end(), [&](const Arg& a) { return is_float(TypeOf(a)); });
    if (!result && !operand) return true;
    switch (op.row->in_ring) {
      case InRing::kSame:
        return true;
      case InRing::kIntoFloats:  // into floats a word is kept; out of them it is hashed
        return result;
      case InRing::kPower: {
        const Attr* power = Find(op.attrs, "y");
        const auto* y = power == nullptr ? nullptr : std::get_if<std::int64_t>(&power->value);
        return y != nullptr && *y >= 0;
      }
      case InRing::kByFlow:
        return Moves(*op.row);
      case InRing::kHash:
        return false;
    }
    return false;
  }

  // A backend may lack the operation on u64: Triton has no maximum of them.
  bool WordsWillDo(const Instr& op) const {
    Instr words = op;
    for (AttrEntry& entry : words.attrs) RewriteAttr(entry.second);
    for (Type& type : words.types) RewriteType(type);
    ValueTypes types{.in = {}, .out = words.types, .target = target_};
    for (const Arg& arg : op.args) {
      types.in.push_back(TypeOf(arg));
      RewriteType(types.in.back());
    }
    return op.row->prepare(words, types).ok();
  }

  absl::Status ToHash(Instr& op) const {
    ValueTypes types{.in = {}, .out = op.types, .target = target_};
    for (const Arg& arg : op.args) {
      if (arg.kind == Arg::Kind::kNone) continue;
      types.in.push_back(TypeOf(arg));
      if (!types.in.back().is_array())
        return absl::UnimplementedError(Cat(op.name, " of ", ToString(types.in.back()), " has no form in the ring"));
    }
    PALLADION_ASSIGN_OR_RETURN(const ValueKernel kernel, op.row->prepare(op, types));
    const std::string name = Cat(op.dialect, ".", op.name, ToString(op.attrs));
    std::erase_if(op.args, [](const Arg& arg) { return arg.kind == Arg::Kind::kNone; });
    for (Arg& arg : op.args) arg.name.clear();
    op.attrs = {{"op", Attr{name}}, {"over", Attr{std::string(kernel.strip != nullptr ? "element" : "all")}}};
    Become(OpId::kRingHash, op);
    op.regions.clear();
    return absl::OkStatus();
  }

  const Kernel& before_;
  const Target& target_;
};

// NOLINTNEXTLINE(misc-no-recursion): once, for the sign
std::uint64_t WordOf(double value) {
  if (value < 0) return 0 - WordOf(-value);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value <= kExact && value == std::floor(value)) return static_cast<std::uint64_t>(value);
  std::uint64_t h = std::bit_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return (h ^ (h >> 31)) | 1;  // odd: a product with it loses no bit
}

}  // namespace

std::uint64_t RingWord(DType dtype, const std::byte* element) {
  return VisitDType(dtype, [&](auto d) -> std::uint64_t {
    using E = Element<decltype(d)::value>;
    typename E::Storage storage;
    std::memcpy(&storage, element, sizeof(storage));
    return WordOf(static_cast<double>(E::ToDouble(storage)));
  });
}

absl::StatusOr<Tensor> RingTensor(const Tensor& tensor) {
  if (!IsFloat(tensor.dtype())) return tensor;
  PALLADION_ASSIGN_OR_RETURN(Tensor words, Tensor::CreateUninitialized(kWord, tensor.shape()));
  const std::size_t bytes = StorageBytes(tensor.dtype());
  for (std::int64_t i = 0; i < tensor.num_elements(); ++i)
    words.data<std::uint64_t>()[i] = RingWord(tensor.dtype(), tensor.bytes() + static_cast<std::size_t>(i) * bytes);
  return words;
}

absl::StatusOr<Module> RingModule(const Module& module, const Kernel& kernel, const Target& target) {
  Module ring = module;
  for (NamedConst& constant : ring.consts) PALLADION_RETURN_IF_ERROR(Rewriter::RewriteDense(constant.value));
  PALLADION_ASSIGN_OR_RETURN(Kernel rewritten, Rewriter(kernel, target).Run());
  ring.kernels.clear();
  ring.kernels.push_back(std::move(rewritten));
  return ring;
}

}  // namespace palladion
