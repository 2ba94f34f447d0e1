#include "emu/operations.h"

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/shadow.h"

namespace palladion {
namespace {

std::string_view NameOf(Effect effect) {
  switch (effect) {
    case Effect::kPure:
      return "pure";
    case Effect::kReads:
      return "reads";
    case Effect::kWrites:
      return "writes";
    case Effect::kReadsWrites:
      return "reads and writes";
    case Effect::kAllocates:
      return "allocates";
    case Effect::kPrints:
      return "prints";
    case Effect::kDraws:
      return "draws";
    case Effect::kControl:
      return "control";
    case Effect::kSynchronises:
      return "synchronises";
  }
  return "?";
}

std::string_view NameOf(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "none";
    case Unit::kScalar:
      return "scalar";
    case Unit::kVector:
    case Unit::kLarger:
      return "vector";
    case Unit::kDivision:
      return "division";
    case Unit::kTranscendental:
      return "transcendental";
    case Unit::kMatrix:
      return "matrix";
    case Unit::kMemory:
      return "memory";
    case Unit::kControl:
      return "control";
  }
  return "?";
}

// Only operations on values have a rule.
std::string_view FlowOf(const OpRow& row) {
  return row.prepare == nullptr ? "" : AllFlows()[static_cast<std::size_t>(row.flow)].name;
}

std::vector<std::string> NamesOf(Backends backends) {
  std::vector<std::string> names;
  if (backends.accepts(Backend::kMosaicTpu)) names.push_back("mosaic_tpu");
  if (backends.accepts(Backend::kMosaicGpu)) names.push_back("mosaic_gpu");
  if (backends.accepts(Backend::kTriton)) names.push_back("triton");
  return names;
}

}  // namespace

std::vector<OperationDescription> Operations() {
  std::vector<OperationDescription> operations;
  for (const OpRow& row : AllOps()) {
    operations.push_back({.dialect = std::string(row.dialect),
                          .name = std::string(row.name),
                          .spec = std::string(row.spec),
                          .backends = NamesOf({static_cast<std::uint8_t>(row.backends.bits | row.later.bits)}),
                          .effect = std::string(NameOf(row.effect)),
                          .unit = std::string(NameOf(row.unit)),
                          .flow = std::string(FlowOf(row)),
                          .implemented = row.status == OpStatus::kImplemented,
                          .reason = std::string(row.reason)});
  }
  return operations;
}

std::string OperationsJson() {
  std::string json = "[";
  for (const OperationDescription& op : Operations()) {
    Append(&json, json.size() == 1 ? "\n" : ",\n", "{\"dialect\": ", JsonString(op.dialect),
           ", \"name\": ", JsonString(op.name), ", \"spec\": ", JsonString(op.spec), ", \"backends\": [",
           absl::StrJoin(op.backends, ", ", [](std::string* out, const std::string& b) { *out += JsonString(b); }),
           "], \"effect\": ", JsonString(op.effect), ", \"unit\": ", JsonString(op.unit),
           ", \"flow\": ", JsonString(op.flow), ", \"status\": \"", op.implemented ? "implemented" : "unsupported",
           "\", \"reason\": ", JsonString(op.reason), "}");
  }
  return json + "\n]\n";
}

std::string OperationsText() {
  std::string text;
  for (const OperationDescription& op : Operations()) {
    Append(&text, op.dialect, op.dialect.empty() ? "" : ".", op.name, "  ",
           op.implemented ? "implemented" : Cat("unsupported: ", op.reason), "  [", absl::StrJoin(op.backends, " "),
           "]\n");
  }
  return text;
}

}  // namespace palladion
