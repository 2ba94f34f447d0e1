// Predicted times for programs.
#include "semantics/base/json.h"

#include <optional>
#include <string>
#include <vector>

#include "emu/run/launch/launch.h"
#include "emu/timing/report/format.h"

namespace palladion::timing::report {
namespace {

void AddStalls(const std::vector<StallTime>& stalls, JsonWriter& json) {
  json.Key("stalls").Open('[');
  for (const StallTime& stall : stalls)
    json.Open('{').Key("reason").String(stall.reason).Key("cycles").Real(stall.waited.value()).Close('}');
  json.Close(']');
}

void AddFrames(const Module& module, LocId loc, JsonWriter& json) {
  json.Key("frames").Open('[');
  for (const SourceFrame& frame : launch::FramesOf(module, loc)) {
    json.Open('{').Key("file").String(frame.file).Key("line").Number(frame.line);
    json.Key("function").String(frame.function).Close('}');
  }
  json.Close(']');
}

void AddPath(const Timing& timing, const Module& module, JsonWriter& json) {
  json.Key("critical_path").Open('[');
  for (const PathPart& part : timing.critical_path) {
    json.Open('{').Key("text_line").Number(part.text_line).Key("op").String(part.op).Key("doing").String(part.doing);
    json.Key("cycles").Real(part.time.value());
    AddFrames(module, part.loc, json);
    json.Close('}');
  }
  json.Close(']');
}

void AddLines(const Timing& timing, const Module& module, JsonWriter& json) {
  json.Key("lines").Open('[');
  for (const LineTime& line : timing.lines) {
    json.Open('{').Key("text_line").Number(line.text_line).Key("op").String(line.op).Key("runs").Number(line.runs);
    json.Key("busy_cycles").Real(line.busy.value()).Key("waited_cycles").Real(line.waited.value());
    json.Key("waited_for").String(line.waited_for);
    AddStalls(line.stalls, json);
    AddFrames(module, line.loc, json);
    json.Close('}');
  }
  json.Close(']');
}

void AddWhole(const std::optional<Whole>& whole, JsonWriter& json) {
  if (!whole.has_value()) return;
  json.Key("whole").Open('{').Key("of").String(whole->of).Key("cycles").Real(whole->time.value());
  json.Key("rest").Open('[');
  for (const Whole::Part& part : whole->rest)
    json.Open('{').Key("name").String(part.name).Key("cycles").Real(part.time.value()).Close('}');
  json.Close(']').Close('}');
}

void AddPlacement(const Placement& placement, JsonWriter& json) {
  json.Key("placement").Open('{').Key("blocks").Number(placement.blocks).Key("units").Number(placement.units);
  if (placement.timed.has_value()) json.Key("timed").Number(*placement.timed);
  json.Key("at_once").Number(placement.at_once).Key("limit").String(placement.limit);
  const std::optional<Waves>& waves = placement.waves;
  json.Key("waves").OptionalReal(waves.has_value() ? std::optional(static_cast<double>(waves->count)) : std::nullopt);
  json.Key("last_wave").OptionalReal(waves.has_value() ? std::optional(waves->last) : std::nullopt).Close('}');
}

void AddDevices(const std::vector<DeviceTime>& devices, JsonWriter& json) {
  json.Key("devices").Open('[');
  for (const DeviceTime& device : devices) {
    json.Open('{').Key("device").String(device.device).Key("ended_cycles").Real(device.ended.value());
    json.Key("sent_bytes").Real(device.sent.value()).Key("received_bytes").Real(device.received.value());
    json.Key("out_busy").Real(device.out_busy).Key("in_busy").Real(device.in_busy);
    AddStalls(device.stalls, json);
    json.Close('}');
  }
  json.Close(']');
}

}  // namespace

std::string TimingJson(const Timing& timing, const Module& module) {
  JsonWriter json;
  json.Open('{').Key("machine").String(timing.machine).Key("clock_hz").Real(timing.clock.value());
  json.Key("cycles").Real(timing.cycles.value()).Key("ns").Real(timing.time.value());
  json.Key("launch_ns").Real(timing.launch.value()).Key("uncertainty").OptionalReal(timing.uncertainty);
  json.Key("uncertainty_why").String(timing.uncertainty_why).Key("flops").Real(timing.flops);
  json.Key("memory_bytes").Real(timing.memory.value()).Key("roofline").Open('[');
  for (const Bound& bound : timing.roofline)
    json.Open('{').Key("limit").String(bound.limit).Key("ns").Real(bound.time.value()).Close('}');
  json.Close(']').Key("units").Open('[');
  for (const UnitUse& use : timing.units)
    json.Open('{').Key("unit").String(use.unit).Key("busy").Real(use.busy).Close('}');
  json.Close(']').Key("l2_hit_rate").OptionalReal(L2HitRate(AllTraffic(timing.traffic)));
  json.Key("traffic").Open('[');
  for (const OperandTraffic& of : timing.traffic) {
    json.Open('{').Key("operand").String(of.operand).Key("read_bytes").Real(of.read.value());
    json.Key("written_bytes").Real(of.written.value());
    json.Key("missed_bytes").OptionalReal(of.missed.has_value() ? std::optional(of.missed->value()) : std::nullopt);
    json.Key("l2_hit_rate").OptionalReal(L2HitRate(of)).Close('}');
  }
  json.Close(']');
  AddPlacement(timing.placement, json);
  AddDevices(timing.devices, json);
  AddPath(timing, module, json);
  AddStalls(timing.stalls, json);
  AddLines(timing, module, json);
  AddWhole(timing.whole, json);
  json.Key("left_out").Open('[');
  for (const std::string& left_out : timing.left_out) json.String(left_out);
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::timing::report
