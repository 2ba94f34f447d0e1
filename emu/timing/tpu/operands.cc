#include "emu/timing/tpu/operands.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "emu/chip/layouts/windows.h"
#include "emu/run/watch/access_text.h"
#include "semantics/base/cat.h"
#include "semantics/prepare/block_mode.h"

namespace palladion::timing::tpu {

using machines::Bytes;

TpuOperands::TpuOperands(const kernel::PreparedKernelState& kernel) : state_(kernel), kernel_(kernel.text()) {
  const Region& body = kernel_.bodies[0].region;
  std::size_t param = 0;
  for (std::size_t i = 0; i < kernel.program().operand_infos.size(); ++i) {
    if ((*this)[i].role == Role::kBound) continue;
    if (param < body.params.size() && kernel_.operands[i].block.has_value())
      block_of_.emplace(body.params[param].value.value, i);
    ++param;
  }
}

void TpuOperands::Bound(const memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Role role = (*this)[i].role;
    if (!arrays[i].valid() || role == Role::kScratch || IsWholeInCore(i)) continue;
    read_as_.emplace(arrays[i].value, i);
    if (role == Role::kOut) written_as_[arrays[i].value] = i;
    written_as_.emplace(arrays[i].value, i);
  }
}

std::int64_t TpuOperands::BuffersOf(std::size_t operand) const {
  return palladion::BuffersOf(kernel_.operands[operand]);
}

bool TpuOperands::IsWholeInCore(std::size_t operand) const {
  const OperandInfo& info = (*this)[operand];
  if (info.mode != BlockMode::kWhole || info.role == Role::kBound || info.role == Role::kScratch) return false;
  if (info.type.element != ElementKind::kData) return false;
  const Space space = layouts::SpaceOf(kernel_, operand);
  return space == Space::kDefault || space == Space::kVmem || space == Space::kSmem;
}

const std::size_t* TpuOperands::At(const AsyncOperand& side, bool written) const {
  const auto& as = written ? written_as_ : read_as_;
  const auto found = as.find(side.buffer().value);
  return found == as.end() ? nullptr : &found->second;
}

const std::size_t* TpuOperands::OfBlock(ValueId value) const {
  const auto found = block_of_.find(value.value);
  return found == block_of_.end() ? nullptr : &found->second;
}

Type TpuOperands::TypeOfCopy(const AsyncOperand& side) const {
  const auto* box = std::get_if<BoxAccess>(&side.where);
  const DType dtype = memory_->DTypeOf(side.buffer());
  if (box == nullptr) {
    return ArrayType(dtype, {side.bytes.value() / static_cast<std::int64_t>(StorageBytes(dtype))});
  }
  Shape shape;
  const absl::Span<const std::int64_t> array = memory_->ShapeOf(box->buffer);
  for (int d = 0; d < box->rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t first = std::max<std::int64_t>(0, box->start[at]);
    const std::int64_t last = box->start[at] + (box->count[at] - 1) * box->step[at];
    const std::int64_t inside = std::min(last, array[at] - 1) - first;
    shape.push_back(inside < 0 ? 0 : inside / std::max<std::int64_t>(1, box->step[at]) + 1);
  }
  return ArrayType(dtype, std::move(shape));
}

// ---- in words

std::string BytesText(Bytes bytes) {
  constexpr double kKi = 1024;
  const double size = bytes.value();
  if (size >= kKi * kKi) return Cat(machines::PrintValue(std::round(size / kKi / kKi * 10) / 10), " MiB");
  if (size >= kKi) return Cat(machines::PrintValue(std::round(size / kKi * 10) / 10), " KiB");
  return Cat(machines::PrintValue(size), " B");
}

std::string TpuOperands::BlockText(std::size_t operand, const AsyncOperand* box, Bytes bytes) const {
  const auto* places = box == nullptr ? nullptr : std::get_if<BoxAccess>(&box->where);
  return Cat((*this)[operand].name, places == nullptr ? "" : watch::BoxText(*places), ", ", BytesText(bytes));
}

std::string TpuOperands::SideText(const AsyncOperand& side, bool written) const {
  const std::size_t* operand = At(side, written);
  const std::string name = operand != nullptr ? (*this)[*operand].name : std::string(memory_->NameOf(side.buffer()));
  const auto* places = std::get_if<BoxAccess>(&side.where);
  return places == nullptr ? name : name + watch::BoxText(*places);
}

}  // namespace palladion::timing::tpu
