#include "emu/run/agents/session_state.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <variant>

#include "emu/kernel/prepared_kernel.h"
#include "emu/session.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/engine/mover.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"
#include "semantics/tensor/poison.h"

namespace palladion::agents {
namespace {

AsyncOperand In(AsyncOperand operand, BufferId buffer) {
  std::visit([&](auto& where) { where.buffer = buffer; }, operand.where);
  return operand;
}

// One device's part of an array of the caller's, as copies see it.
class PlainArray {
 public:
  PlainArray(const Type& type, std::byte* data)
      : buffer_(memory_.Adopt({.name = "array", .dtype = type.dtype, .shape = type.shape}, data)) {}

  std::vector<std::byte> Load(const AsyncOperand& from) {
    AsyncValue value{std::vector<std::byte>(from.bytes.size()), {}};
    memory_model::MoveHalf({}, In(from, buffer_), {.load = true}, &value, &memory_);
    return std::move(value.bytes);
  }
  void Store(const AsyncOperand& to, std::vector<std::byte> bytes) {
    AsyncValue value{std::move(bytes), {}};
    memory_model::MoveHalf({}, In(to, buffer_), {.load = false}, &value, &memory_);
  }

 private:
  memory_model::Memory memory_;
  BufferId buffer_;
};

// Does the lowest bit of poison make another poison of it? Of a NaN with payload it does, and of the extreme integers.
bool TakesPattern(DType dtype) { return StorageBytes(dtype) > 1 || dtype == DType::kI8 || dtype == DType::kU8; }

// What the array holds where the copy has not landed: poison, whose lowest bits say the copy's number over and over.
std::vector<std::byte> PatternOf(const HeldCopy& copy) {
  const std::size_t each = StorageBytes(copy.dtype), elements = copy.bytes.size() / each;
  std::vector<std::byte> pattern(copy.bytes.size());
  FillPoison(copy.dtype, pattern.data(), elements);
  for (std::size_t i = 0; TakesPattern(copy.dtype) && i < elements; ++i) {
    if ((copy.number >> (i % 32) & 1) != 0) pattern[i * each] ^= std::byte{1};
  }
  return pattern;
}

// By the number of an operand, that of its array among the inputs, or the outputs.
std::size_t ArrayNumber(const Program& program, std::size_t operand) {
  const bool out = program.operand_infos[operand].role == Role::kOut;
  std::size_t number = 0;
  for (std::size_t i = 0; i < operand; ++i) {
    const Role role = program.operand_infos[i].role;
    number += role != Role::kScratch && (role == Role::kOut) == out;
  }
  return number;
}

std::ptrdiff_t PartOf(const OperandInfo& info, std::int64_t device) {
  return device * static_cast<std::ptrdiff_t>(ByteSize(info.type));
}

bool IsAliased(const Program& program, std::size_t input) {
  return std::any_of(program.operand_infos.begin(), program.operand_infos.end(),
                     [&](const OperandInfo& info) { return info.alias == static_cast<int>(input); });
}

// Of a device, that run the kernel.
std::int64_t CoresOf(const Program& program) {
  std::int64_t cores = 1;
  for (std::size_t d = program.device_axes.size(); CountsCores(program) && d < program.grid.size(); ++d)
    cores *= program.grid[d].size;
  return cores;
}

// Of the semaphores of one array: on which core, where there are several.
std::string ElementName(const HeldSemaphores& held, std::size_t i) {
  const std::size_t each = std::max<std::size_t>(1, static_cast<std::size_t>(NumElements(held.shape)));
  const std::string element = held.shape.empty() ? "" : Cat(", element ", i % each, " of it,");
  return held.counts.size() == each ? element : Cat(element, " on core ", i / each);
}

bool IsZero(const HeldSemaphores& all) {
  return all.copies.empty() && std::all_of(all.counts.begin(), all.counts.end(), [](std::int64_t n) { return n == 0; });
}

}  // namespace

bool LaunchArrivals::Lands(OperandPlace place) const {
  const auto here = [&](const ArrivingCopy& copy) { return copy.into == place; };
  return std::any_of(semaphores.begin(), semaphores.end(), [&](const auto& one) {
    return std::any_of(one.second.copies.begin(), one.second.copies.end(), here);
  });
}

absl::StatusOr<std::int16_t> SessionState::NewTicket() {
  constexpr std::int16_t kLast = std::numeric_limits<std::int16_t>::max();
  for (int tried = 0; tried < kLast; ++tried) {
    last_ticket_ = last_ticket_ == kLast ? std::int16_t{1} : static_cast<std::int16_t>(last_ticket_ + 1);
    const auto at = semaphores_.find(last_ticket_);
    if (at != semaphores_.end() && !IsZero(at->second)) continue;
    semaphores_[last_ticket_] = {};
    return last_ticket_;
  }
  return absl::ResourceExhaustedError(Cat("more than ", kLast,
                                          " semaphores are not zero between the kernels of one session; wait for them, "
                                          "or end the session"));
}

// 0: a semaphore that no session knows, which is new.
absl::StatusOr<std::int16_t> SessionState::TicketOf(const ConstArray& array, const Type& type, std::int64_t device,
                                                    const std::string& operand) const {
  const auto elements = static_cast<std::size_t>(NumElements(type.shape));
  std::vector<std::int16_t> tickets(elements);
  std::memcpy(tickets.data(), array.data + device * static_cast<std::ptrdiff_t>(ByteSize(type)), ByteSize(type));
  if (elements == 0 || (tickets[0] == 0 && std::count(tickets.begin(), tickets.end(), 0) == NumElements(type.shape)))
    return std::int16_t{0};
  const std::int16_t ticket = tickets[0];
  const auto at = semaphores_.find(ticket);
  if (std::adjacent_find(tickets.begin(), tickets.end(), std::not_equal_to<>()) != tickets.end()) {
    return absl::InvalidArgumentError(Cat("operand '", operand,
                                          "' has semaphores of several arrays; pass each array of semaphores whole, as "
                                          "the kernel gave it"));
  }
  if (at == semaphores_.end()) {
    return absl::InvalidArgumentError(Cat("operand '", operand, "' is no semaphore of this session (its number is ",
                                          ticket,
                                          "): pass one that a kernel of the same session gave, and that did not fail"));
  }
  const HeldSemaphores& held = at->second;
  if (held.kind == type.element && held.shape == type.shape) return ticket;
  return absl::InvalidArgumentError(Cat("operand '", operand, "' must be ", Name(type.element), ToString(type.shape),
                                        "; found ", Name(held.kind), ToString(held.shape), ", which kernel @",
                                        held.leak.kernel, " gave: let both kernels name the same type"));
}

std::optional<OperandPlace> SessionState::Find(const HeldCopy& copy, const kernel::PreparedKernelState& kernel,
                                               absl::Span<const ConstArray> inputs) const {
  const Program& program = kernel.program();
  const std::vector<std::byte> pattern = PatternOf(copy);
  std::optional<OperandPlace> found;
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    const bool input = info.role == Role::kIn || info.role == Role::kPrefetch;
    if (!input || IsSemaphore(info.type) || info.type.dtype != copy.dtype || info.type.shape != copy.shape) continue;
    for (std::int64_t device = 0; device < program.devices; ++device) {
      const std::byte* data = inputs[ArrayNumber(program, i)].data + PartOf(info, device);
      if (PlainArray(info.type, const_cast<std::byte*>(data)).Load(copy.destination) != pattern) continue;
      // An array may be there twice: what the kernel writes is the one that goes on.
      if (!found.has_value() || (IsAliased(program, i) && !IsAliased(program, found->operand)))
        found = OperandPlace{i, device};
    }
  }
  return found;
}

absl::StatusOr<LaunchArrivals> SessionState::ArrivalsOf(const kernel::PreparedKernelState& kernel,
                                                        absl::Span<const ConstArray> inputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Program& program = kernel.program();
  LaunchArrivals arrivals{.barriers = barriers_};
  std::map<std::int16_t, bool> here;  // tickets
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (!IsSemaphore(info.type) || info.role != Role::kIn) continue;
    for (std::int64_t device = 0; device < program.devices; ++device) {
      PALLADION_ASSIGN_OR_RETURN(const std::int16_t ticket,
                                 TicketOf(inputs[ArrayNumber(program, i)], info.type, device, info.name));
      if (ticket == 0) continue;
      if (std::exchange(here[ticket], true)) {
        return absl::InvalidArgumentError(
            Cat("operand '", info.name, "' is a semaphore that another operand of the kernel is too; pass it once"));
      }
      const HeldSemaphores& held = semaphores_.at(ticket);
      LaunchArrivals::Semaphores& arriving = arrivals.semaphores[{i, device}];
      arriving.counts = held.counts;
      const std::int64_t elements = NumElements(info.type.shape) * CoresOf(program);
      for (const HeldCredit& credit : held.copies) {
        std::optional<OperandPlace> into = Find(*credit.copy, kernel, inputs);
        if (credit.element < elements) {
          arriving.copies.push_back({credit, into});
        } else if (into.has_value()) {  // on a core that does not run the kernel
          arrivals.elsewhere.push_back({credit, into});
        }
      }
    }
  }
  for (const auto& [ticket, held] : semaphores_) {
    for (const HeldCredit& credit : held.copies) {
      if (here.contains(ticket)) break;
      if (std::optional<OperandPlace> into = Find(*credit.copy, kernel, inputs); into.has_value())
        arrivals.elsewhere.push_back({credit, into});
    }
  }
  return arrivals;
}

std::shared_ptr<const HeldCopy> SessionState::Hold(const LeftCopy& copy, const Launched& launch, HeldFinding finding) {
  const Program& program = launch.kernel.program();
  const OperandInfo& info = program.operand_infos[copy.into->operand];
  std::byte* const data =
      launch.outputs[ArrayNumber(program, copy.into->operand)].data + PartOf(info, copy.into->device);
  HeldCopy held{.name = Cat(copy.name, " of kernel @", program.kernel_name),
                .destination = In(copy.destination, {}),
                .dtype = info.type.dtype,
                .shape = info.type.shape,
                .bytes = PlainArray(info.type, data).Load(copy.destination),
                .number = copies_++,
                .not_awaited = std::move(finding)};
  return std::make_shared<const HeldCopy>(std::move(held));
}

absl::Status SessionState::Take(const Launched& launch, FindingOf held) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Program& program = launch.kernel.program();
  for (const auto& [barrier, count] : launch.left.barriers) barriers_[barrier] = count;
  std::map<OperandPlace, std::int16_t> tickets;
  std::vector<std::pair<OperandPlace, std::shared_ptr<const HeldCopy>>> poisoned;
  for (const auto& [place, left] : launch.left.semaphores) {
    const OperandInfo& info = program.operand_infos[place.operand];
    std::int16_t ticket = 0;
    if (info.role == Role::kIn) {
      PALLADION_ASSIGN_OR_RETURN(
          ticket, TicketOf(launch.inputs[ArrayNumber(program, place.operand)], info.type, place.device, info.name));
    }
    if (ticket == 0) {
      PALLADION_ASSIGN_OR_RETURN(ticket, NewTicket());
    }
    HeldSemaphores& all = semaphores_[tickets[place] = ticket];
    if (all.leak.kernel.empty()) all.leak = held(launch.kernel, nullptr, place);
    all.kind = info.type.element;
    all.shape = info.type.shape;
    // What cores hold that did not run the kernel stays.
    if (all.counts.size() < left.counts.size()) all.counts.resize(left.counts.size());
    std::copy(left.counts.begin(), left.counts.end(), all.counts.begin());
    const auto of_the_launch = static_cast<std::int64_t>(left.counts.size());
    std::erase_if(all.copies, [&](const HeldCredit& credit) { return credit.element < of_the_launch; });
    for (const LeftCopy& copy : left.copies) {
      const auto kept = copy.again != nullptr ? copy.again : Hold(copy, launch, held(launch.kernel, &copy, place));
      all.copies.push_back({kept, copy.element, copy.amount});
      if (copy.into.has_value()) poisoned.emplace_back(*copy.into, kept);
    }
  }
  for (const auto& [place, copy] : poisoned) {
    const OperandInfo& info = program.operand_infos[place.operand];
    std::byte* const data = launch.outputs[ArrayNumber(program, place.operand)].data + PartOf(info, place.device);
    PlainArray(info.type, data).Store(copy->destination, PatternOf(*copy));
  }
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (info.role != Role::kOut || !IsSemaphore(info.type)) continue;
    const std::size_t from = info.alias >= 0 ? static_cast<std::size_t>(info.alias) : i;
    for (std::int64_t device = 0; device < program.devices; ++device) {
      const std::vector<std::int16_t> filled(static_cast<std::size_t>(NumElements(info.type.shape)),
                                             tickets[{from, device}]);
      std::memcpy(launch.outputs[ArrayNumber(program, i)].data + PartOf(info, device), filled.data(),
                  ByteSize(info.type));
    }
  }
  return absl::OkStatus();
}

std::vector<HeldFinding> SessionState::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<HeldFinding> findings;
  for (const auto& [ticket, held] : semaphores_) {
    for (const HeldCredit& credit : held.copies) findings.push_back(credit.copy->not_awaited);
    for (std::size_t i = 0; i < held.counts.size(); ++i) {
      if (held.counts[i] == 0) continue;
      findings.push_back(held.leak);
      std::string& message = findings.back().finding.message;
      message = Cat(message, ElementName(held, i), " is ", held.counts[i], " when the session ends, not 0");
    }
  }
  semaphores_.clear();
  barriers_.clear();
  last_ticket_ = 0;
  copies_ = 0;
  return findings;
}

}  // namespace palladion::agents

namespace palladion {

Session::Session() : state_(std::make_unique<agents::SessionState>()) {}
Session::~Session() = default;

std::vector<Report> Session::End() {
  std::vector<Report> reports;
  for (agents::HeldFinding& held : state_->End()) {
    const auto same = [&](const Report& report) {
      return report.kernel == held.kernel && report.target == held.target;
    };
    auto at = std::find_if(reports.begin(), reports.end(), same);
    if (at == reports.end()) {
      Report& made = reports.emplace_back();
      made.kernel = held.kernel;
      made.target = held.target;
      at = std::prev(reports.end());
    }
    at->findings.push_back(std::move(held.finding));
  }
  for (Report& report : reports) report.verdict = VerdictOf(report);
  return reports;
}

}  // namespace palladion
