#include "emu/run/launch/mended.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

using Where = TextEdit::Where;
using Kind = Mend::Kind;

TextEdit Set(int line, std::string name, std::string value, std::string of = "") {
  return {.where = Where::kSet,
          .line = line,
          .insert = {},
          .name = std::move(name),
          .value = std::move(value),
          .of = std::move(of)};
}

// "sem" and ".at[1]" of "sem.at[1]" or "sem[1]".
std::pair<std::string, std::string> Parts(const std::string& object) {
  const std::size_t at = object.find(".at["), element = object.find('[');
  if (at != std::string::npos) return {object.substr(0, at), object.substr(at)};
  return {object.substr(0, element), ""};
}

const AttrList* Semantics(const Kernel& kernel) {
  const Attr* const attr = Find(kernel.params, "dimension_semantics");
  return attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
}

// The word of a dimension of the grid; those in front that vmap or a mesh of devices has added have none.
std::optional<std::size_t> WordOf(const Kernel& kernel, std::int64_t dim) {
  const AttrList* const words = Semantics(kernel);
  if (words == nullptr || dim < 0) return std::nullopt;
  const std::size_t grid = kernel.launch.grid.size(), skip = grid - std::min(grid, words->size());
  const auto at = static_cast<std::size_t>(dim);
  if (at < skip || at - skip >= words->size()) return std::nullopt;
  return at - skip;
}

bool IsSaidParallel(const Kernel& kernel, std::int64_t dim) {
  const std::optional<std::size_t> at = WordOf(kernel, dim);
  const auto* const word = at.has_value() ? std::get_if<std::string>(&(*Semantics(kernel))[*at].value) : nullptr;
  return word != nullptr && word->ends_with("parallel");
}

std::vector<TextEdit> Arbitrary(const Kernel& kernel, std::int64_t dim) {
  const std::optional<std::size_t> at = WordOf(kernel, dim);
  if (!at.has_value() || !IsSaidParallel(kernel, dim)) return {};
  AttrList words = *Semantics(kernel);
  words[*at].value = std::string("arbitrary");
  return {Set(kernel.text_line, "dimension_semantics", ToString(Attr{std::move(words)}))};
}

// The barrier is declared at its scope, or by the kernel.
std::vector<TextEdit> TensorOrder(const Finding& finding, const TextPlaces& text) {
  const std::string label = Parts(finding.mend.object).first;
  const TextPlaces::Place* const place = text.At(finding.text_line);
  const ValueId barrier = place == nullptr ? ValueId() : text.Labelled(label, place->region);
  if (!barrier.valid()) return {};
  const Instr* const scope = text.OwnerOf(text.DefinedIn(barrier));
  return {Set(scope == nullptr ? text.kernel().text_line : scope->text_line, "orders_tensor_core", "true", label)};
}

std::vector<TextEdit> SystemScope(const TextPlaces& text) {
  const Instr* only = nullptr;
  for (const TextPlaces::Place& place : text.places()) {
    const Attr* const scope = Find(place.instr->attrs, "memory_scope");
    if (scope == nullptr || RowOf(*place.instr).waits != Waits::kSignal || ToString(*scope) != "\"gpu\"") continue;
    if (only != nullptr) return {};
    only = place.instr;
  }
  if (only == nullptr) return {};
  return {Set(only->text_line, "memory_scope", "\"sys\"")};
}

// Zeros in a ref that the body is given, before its first instruction.
std::vector<TextEdit> Zeros(const Mend& mend, const TextPlaces& text) {
  if (text.kernel().bodies.size() != 1 || text.places().empty()) return {};
  const Region& body = text.kernel().bodies[0].region;
  const ValueId ref = text.Labelled(mend.object, &body);
  const bool given = std::any_of(body.params.begin(), body.params.end(),
                                 [ref](const Param& param) { return ref.valid() && param.value == ref; });
  if (!given) return {};
  const ValueInfo& info = text.kernel().values[ref.index()];
  const Type& type = info.type;
  if (type.element != ElementKind::kData || IsBool(type.dtype)) return {};
  // A TPU's scalar memory is stored number by number.
  if (text.kernel().backend != "mosaic_gpu" && type.space == Space::kSmem && !type.shape.empty()) return {};
  const Type values = ArrayType(type.dtype, type.shape);
  const std::string_view zero = IsFloat(type.dtype) ? "0.0:" : "0:";
  std::vector<std::string> lines = {Cat("%fix_zero = broadcast_in_dim{shape=", ToString(type.shape), ", dims=[]}(",
                                        zero, Name(type.dtype), ") : ", ToString(values), ";"),
                                    Cat("_ = swap(%", info.name, ", %fix_zero) : ", ToString(values), ";")};
  if (mend.amount >= 0) {
    lines.insert(lines.begin(), {Cat("%fix_at = program_id{axis=", mend.amount, "}() : i32[];"),
                                 "%fix_first = eq(%fix_at, 0:i32) : bool[];", "cond(%fix_first) { return; } {"});
    lines.insert(lines.end(), {"return;", "};"});
  }
  return {Inserted(Where::kBefore, body.body.front().text_line, std::move(lines))};
}

bool IsOne(const Attr* sizes) {
  if (sizes == nullptr || std::holds_alternative<AttrNone>(sizes->value)) return true;
  if (const auto* const size = std::get_if<std::int64_t>(&sizes->value)) return *size == 1;
  const auto* const list = std::get_if<AttrList>(&sizes->value);
  return list != nullptr && std::all_of(list->begin(), list->end(), [](const Attr& size) { return IsOne(&size); });
}

// Does one agent go through the kernel, once?
bool RunsAlone(const Kernel& kernel) {
  const Launch& launch = kernel.launch;
  const bool gpu = launch.mesh.empty() || launch.mesh == "gpu";
  return gpu && Find(kernel.other, "devices") == nullptr && kernel.bodies.size() == 1 &&
         std::all_of(launch.grid.begin(), launch.grid.end(),
                     [](const GridDim& dim) { return dim.size == 1 && !dim.bound.valid(); }) &&
         IsOne(Find(launch.mesh_attrs, "grid")) && IsOne(Find(launch.mesh_attrs, "cluster")) &&
         IsOne(Find(launch.mesh_attrs, "threads"));
}

// What is left of a semaphore, or of a barrier, at the end of where it was given. Of several agents one has to take it,
// and the text does not say which.
std::vector<TextEdit> Rest(const Mend& mend, const TextPlaces& text) {
  const auto [label, element] = Parts(mend.object);
  const TextPlaces::Place* const place = text.At(mend.line);
  if (!RunsAlone(text.kernel()) || (place != nullptr && text.Repeats(place->region, &text.kernel().bodies[0].region)))
    return {};
  const ValueId ref = place == nullptr ? ValueId() : text.Labelled(label, place->region);
  if (!ref.valid()) return {};
  const std::string of = Cat("%", text.kernel().values[ref.index()].name, element);
  const std::string line = mend.kind == Kind::kTakeRest
                               ? Cat("semaphore_wait(ref=", of, ", value=", mend.amount, ":i32, decrement=true);")
                               : Cat("barrier_wait(barrier=", of, ");");
  return {Inserted(Where::kEnd, mend.line, {line})};
}

// Along a parallel dimension there is no first program.
Mended MendedByZeros(const Finding& finding, const TextPlaces& text) {
  const std::int64_t dim = finding.mend.amount;
  Mended mended{finding.fix, Zeros(finding.mend, text)};
  if (!IsSaidParallel(text.kernel(), dim)) return mended;
  Append(&mended.fix, ", and \"arbitrary\" for that dimension in dimension_semantics");
  const std::vector<TextEdit> arbitrary = Arbitrary(text.kernel(), dim);
  if (!mended.edits.empty()) mended.edits.insert(mended.edits.end(), arbitrary.begin(), arbitrary.end());
  return mended;
}

// A fence after the first access, or before the second one. A warp has none: its thread makes it once the warps have
// ended.
Mended MendedByFence(const Module& module, const Finding& finding, const TextPlaces& text) {
  const Mend& mend = finding.mend;
  const std::vector<std::string> fence = {"commit_smem();"};
  const TextPlaces::Place *const first = text.At(mend.issue), *const second = text.At(mend.line);
  const bool warp = first != nullptr && text.IsOfWarp(first->region);
  if (first != nullptr && !warp) return {finding.fix, {Inserted(Where::kAfter, mend.issue, fence)}};
  if (second == nullptr || text.IsOfWarp(second->region)) {
    if (!warp) return {finding.fix, {}};
    return {"let the warps end between the two, and their thread fence shared memory: a warp has no fence of its own",
            {}};
  }
  Mended mended{finding.fix, {Inserted(Where::kBefore, mend.line, fence)}};
  if (warp)
    mended.fix = Cat("plgpu.commit_smem() before the issue at ",
                     PlaceText(module, second->instr->loc, second->instr->text_line), ", once the warps have ended");
  return mended;
}

std::vector<TextEdit> EditsOf(const Finding& finding, const TextPlaces& text) {
  const Mend& mend = finding.mend;
  switch (mend.kind) {
    case Kind::kAwaitEarlier:
      return {Inserted(Where::kAfter, mend.issue, {"wgmma_wait(1:i32);"})};
    case Kind::kLanes:
      return {Inserted(Where::kBefore, mend.line, {"debug_barrier();"})};
    case Kind::kTensorOrder:
      return TensorOrder(finding, text);
    case Kind::kSystemScope:
      return SystemScope(text);
    case Kind::kArbitrary:
      return Arbitrary(text.kernel(), mend.amount);
    case Kind::kTakeRest:
    case Kind::kAwaitCompletion:
      return Rest(mend, text);
    default:
      return {};
  }
}

}  // namespace

TextEdit Inserted(TextEdit::Where where, int line, std::vector<std::string> lines) {
  return {.where = where, .line = line, .insert = std::move(lines), .name = {}, .value = {}, .of = {}};
}

Mended MendedIn(const Module& module, const Finding& finding) {
  const Mend& mend = finding.mend;
  Mended mended{finding.fix, {}};
  if (mend.kind == Kind::kNone) return mended;
  const int line = mend.issue > 0 ? mend.issue : mend.line > 0 ? mend.line : finding.text_line;
  const std::optional<TextPlaces> text = TextPlaces::Of(module, line);
  if (!text.has_value()) return mended;
  if (mend.kind == Kind::kZeros) return MendedByZeros(finding, *text);
  if (mend.kind == Kind::kFence) return MendedByFence(module, finding, *text);
  if (mend.kind == Kind::kAwait || mend.kind == Kind::kAwaitAtEnd) {
    const TextPlaces::Place* const issue = text->At(mend.issue);
    return issue == nullptr ? mended : MendedByWait({module, finding, *text, *issue});
  }
  mended.edits = EditsOf(finding, *text);
  return mended;
}

}  // namespace palladion::launch
