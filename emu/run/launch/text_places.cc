#include "emu/run/launch/text_places.h"

#include <algorithm>

#include "semantics/ir/printer.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

template <class F>
void ForEachValue(const Arg& arg, const F& use) {
  if (arg.kind == Arg::Kind::kValue) use(arg.value);
  for (const Transform& transform : arg.transforms) {
    ForEachValue(transform.peer, use);
    for (const Index& index : transform.indices) {
      ForEachValue(index.start, use);
      ForEachValue(index.size, use);
    }
  }
  for (const Arg& one : arg.select) ForEachValue(one, use);
}

bool RunsOnce(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  return row.loops == Loops::kOnce || row.loops == Loops::kBranch || HasScope(row);
}

}  // namespace

TextPlaces::TextPlaces(const Module& module, const Kernel& kernel) : module_(&module), kernel_(&kernel) {
  for (const Body& body : kernel.bodies) Add(body.region);
}

std::optional<TextPlaces> TextPlaces::Of(const Module& module, int line) {
  for (const Kernel& kernel : module.kernels) {
    TextPlaces places(module, kernel);
    const auto is = [line](const Place& place) { return place.instr->text_line == line; };
    const bool operand = std::any_of(kernel.operands.begin(), kernel.operands.end(),
                                     [line](const Operand& one) { return one.text_line == line; });
    if (line > 0 && (operand || std::any_of(places.places_.begin(), places.places_.end(), is))) return places;
  }
  return std::nullopt;
}

void TextPlaces::Add(const Region& region) {
  for (const Param& param : region.params) defined_[param.value] = {&region, places_.size()};
  for (const Instr& instr : region.body) {
    places_.push_back({&instr, &region, places_.size()});
    for (const Region& inner : instr.regions) {
      owners_[&inner] = {&instr, &region};
      Add(inner);
    }
    for (const ValueId result : instr.results) {
      if (result.valid()) defined_[result] = {&region, places_.size() - 1};
    }
  }
}

const TextPlaces::Place* TextPlaces::At(int line) const {
  const auto is = [line](const Place& place) { return place.instr->text_line == line; };
  const auto found = std::find_if(places_.begin(), places_.end(), is);
  return found == places_.end() || std::any_of(found + 1, places_.end(), is) ? nullptr : &*found;
}

const Instr* TextPlaces::OwnerOf(const Region* region) const {
  const auto found = owners_.find(region);
  return found == owners_.end() ? nullptr : found->second.instr;
}

const Region* TextPlaces::DefinedIn(ValueId value) const {
  const auto found = defined_.find(value);
  return found == defined_.end() ? nullptr : found->second.region;
}

bool TextPlaces::IsIn(const Region* inner, const Region* outer) const {
  while (inner != outer) {
    const auto owner = owners_.find(inner);
    if (owner == owners_.end()) return false;
    inner = owner->second.region;
  }
  return true;
}

bool TextPlaces::Repeats(const Region* inner, const Region* outer) const {
  while (inner != outer) {
    const auto owner = owners_.find(inner);
    if (owner == owners_.end() || !RunsOnce(*owner->second.instr)) return true;
    inner = owner->second.region;
  }
  return false;
}

bool TextPlaces::Decides(const Region* inner, const Region* outer) const {
  while (inner != outer) {
    const auto owner = owners_.find(inner);
    if (owner == owners_.end() || RowOf(*owner->second.instr).loops == Loops::kBranch) return true;
    inner = owner->second.region;
  }
  return false;
}

bool TextPlaces::IsOfWarp(const Region* region) const {
  for (auto owner = owners_.find(region); owner != owners_.end(); owner = owners_.find(owner->second.region)) {
    if (RowOf(*owner->second.instr).loops == Loops::kWarps) return true;
  }
  return false;
}

const Region* TextPlaces::Common(const Region* a, const Region* b) const {
  while (!IsIn(b, a)) {
    const auto owner = owners_.find(a);
    if (owner == owners_.end()) return nullptr;
    a = owner->second.region;
  }
  return a;
}

std::string TextPlaces::Text(const Arg& arg) const {
  Arg unnamed = arg;
  unnamed.name.clear();
  return Print(*module_, *kernel_, unnamed);
}

bool TextPlaces::Sees(const Arg& arg, const Region* region, std::size_t at) const {
  bool sees = true;
  ForEachValue(arg, [&](ValueId value) {
    const auto found = defined_.find(value);
    sees &= found != defined_.end() && found->second.at <= at && IsIn(region, found->second.region);
  });
  return sees;
}

ValueId TextPlaces::Labelled(std::string_view label, const Region* from) const {
  ValueId named;
  std::size_t at = 0;
  for (const auto& [value, defined] : defined_) {
    const ValueInfo& info = kernel_->values[value.index()];
    const std::string& name = info.label.empty() ? info.name : info.label;
    if (name != label || !info.type.is_ref() || !IsIn(from, defined.region)) continue;
    if (named.valid() && at > defined.at) continue;  // the inner one is meant
    named = value;
    at = defined.at;
  }
  return named;
}

}  // namespace palladion::launch
