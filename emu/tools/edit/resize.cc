#include "emu/tools/edit/resize.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "emu/tools/edit/edit.h"

namespace palladion::edit {
namespace {

constexpr std::string_view kShapes[] = {"shape", "sizes", "limit"};  // attributes that are sizes

class Resizer {
 public:
  Resizer(Kernel& kernel, const Resizing& resizing) : kernel_(kernel), resizing_(resizing) {}

  void Resize() {
    for (Operand& operand : kernel_.operands) {
      if ((resizing_.arrays || operand.role == Role::kScratch) && operand.value.valid()) OfValue(operand.value);
      if (!operand.block.has_value()) continue;
      for (BlockDim& dim : operand.block->dims) Change(dim.size);
      if (resizing_.numbers) OfRegion(operand.block->map);
    }
    for (Body& body : kernel_.bodies) OfBody(body);
  }

 private:
  void OfBody(Body& body) {
    std::size_t param = 0;
    for (const Operand& operand : kernel_.operands) {
      if (operand.role == Role::kBound || param >= body.region.params.size()) continue;
      const ValueId id = body.region.params[param++].value;
      const bool whole = operand.role != Role::kScratch && !operand.block.has_value();
      if (resizing_.arrays || !whole) OfValue(id);
    }
    OfRegion(body.region);
  }

  void OfRegion(Region& region) {
    ForEachInstr(region, [&](Instr& instr) {
      for (Type& type : instr.types) OfShape(type.shape);
      for (const ValueId id : instr.results) OfValue(id);
      for (AttrEntry& entry : instr.attrs) OfAttr(entry);
      for (Region& inner : instr.regions) {
        for (const Param& param : inner.params) OfValue(param.value);
      }
    });
    ForEachArg(region, [&](Arg& arg) { OfArg(arg); });
  }

  void Change(std::int64_t& size) const {
    if (size > 0) size = resizing_.size(size);
  }
  void OfShape(Shape& shape) const {
    for (std::int64_t& size : shape) Change(size);
  }
  void OfValue(ValueId id) const {
    if (id.valid()) OfShape(kernel_.values[id.index()].type.shape);
  }

  void OfAttr(AttrEntry& entry) const {
    const bool shape = std::find(std::begin(kShapes), std::end(kShapes), entry.first) != std::end(kShapes);
    AttrList* list = std::get_if<AttrList>(&entry.second.value);
    if (auto* number = std::get_if<std::int64_t>(&entry.second.value); number != nullptr && resizing_.numbers)
      Change(*number);
    if (list == nullptr || !(shape || resizing_.numbers)) return;
    for (Attr& attr : *list) {
      if (auto* size = std::get_if<std::int64_t>(&attr.value)) Change(*size);
    }
  }

  void OfLiteral(Arg& arg) const {
    if (arg.kind != Arg::Kind::kLiteral || arg.literal.dtype != DType::kI32) return;
    std::int64_t size = IntOf(arg.literal);
    Change(size);
    SetInt(arg.literal, size);
  }

  void OfArg(Arg& arg) const {
    if (resizing_.numbers) OfLiteral(arg);
    for (Transform& transform : arg.transforms) {
      const bool tiles = resizing_.numbers && transform.kind != Transform::Kind::kTranspose;
      if (transform.kind == Transform::Kind::kReshape || tiles) OfShape(transform.ints);
      for (Index& index : transform.indices) {
        if (index.kind == Index::Kind::kSlice && !resizing_.numbers) OfLiteral(index.size);
      }
    }
  }

  Kernel& kernel_;
  const Resizing& resizing_;
};

}  // namespace

void Resize(Kernel& kernel, const Resizing& resizing) { Resizer(kernel, resizing).Resize(); }

}  // namespace palladion::edit
