#include "emu/tools/golden/checkpoints.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "emu/check/plain_run.h"
#include "emu/run/launch/launch.h"
#include "emu/tools/debug/dump.h"
#include "emu/tools/debug/element_query.h"
#include "emu/tools/golden/error_kernel.h"
#include "emu/tools/golden/tolerance.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"
#include "semantics/tensor/element_index.h"
#include "semantics/tensor/npy.h"

namespace palladion::golden {
namespace {

namespace fs = std::filesystem;

struct Dumped {
  std::string file, what;
  Tensor values;
};

struct Wanted {
  std::string ref, place;
  bool is_text_line = false;
};

absl::StatusOr<std::vector<Dumped>> DumpsOf(const std::string& text, const Bundle& bundle,
                                            absl::Span<const Tensor> inputs, const std::string& refs,
                                            agents::LaunchOptions launch) {
  PALLADION_ASSIGN_OR_RETURN(
      const PreparedKernel kernel,
      PrepareText(text, {.kernel = bundle.kernel, .target = bundle.target, .path = "kernel.pkir", .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(debug::Dump dump, debug::Dump::Parse(kernel.state(), refs));
  std::vector<Dumped> dumps;
  dump.SetKeep([&](const std::string& name, const Tensor& tensor) -> absl::StatusOr<std::string> {
    dumps.push_back({name, "", tensor});
    return name;
  });
  launch.observers = {&dump};
  PALLADION_ASSIGN_OR_RETURN(const RunResult result, check::RunWatched(kernel, inputs, launch));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(result.report));
  PALLADION_RETURN_IF_ERROR(dump.status());
  for (std::size_t i = 0; i < dumps.size(); ++i) dumps[i].what = dump.written()[i].what;
  return dumps;
}

absl::StatusOr<std::vector<Wanted>> WantedOf(const std::string& refs) {
  std::vector<Wanted> all;
  for (absl::string_view part : absl::StrSplit(refs, ',')) {
    const std::size_t at = part.rfind('@');
    if (at == absl::string_view::npos)
      return absl::InvalidArgumentError(Cat("--dump must be REF@LINE; found '", ToStd(part), "'"));
    Wanted one{.ref = std::string(part.substr(0, at)), .place = std::string(part.substr(at + 1))};
    int line = 0;
    one.is_text_line = absl::SimpleAtoi(one.place, &line);
    if (!all.empty() && all[0].is_text_line != one.is_text_line)
      return absl::InvalidArgumentError("--dump: expected lines of the text alone, or FILE:LINE alone; found both");
    all.push_back(std::move(one));
  }
  return all;
}

// The companions of the same refs at the same places; the ref itself where it has none.
absl::StatusOr<std::vector<Dumped>> BoundsOfDumps(const Bundle& bundle, const std::vector<Wanted>& wanted,
                                                  const CheckpointOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel,
                             PrepareText(bundle.text, {.kernel = bundle.kernel, .target = bundle.target}));
  const Places places = wanted[0].is_text_line ? Places::kOfText : Places::kOfUser;
  PALLADION_ASSIGN_OR_RETURN(const ErrorKernel error, MakeErrorKernel(kernel, places));
  std::vector<std::string> refs;
  for (const Wanted& one : wanted) {
    const auto companion = error.companion_refs.find(one.ref);
    refs.push_back(Cat(companion == error.companion_refs.end() ? one.ref : companion->second, "@",
                       one.is_text_line ? Cat(kTextFile, ":") : "", one.place));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ErrorInputs(error, bundle));
  return DumpsOf(error.text, bundle, inputs, absl::StrJoin(refs, ","), {.run = options.run});
}

// What is another value where unwritten memory holds zeros.
Tensor UndefinedOf(const Tensor& a, const Tensor& b) {
  Tensor mask(DType::kBool, a.shape());
  const std::size_t n = StorageBytes(a.dtype());
  for (std::int64_t i = 0; i < a.num_elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * n;
    mask.data<std::uint8_t>()[i] = std::memcmp(a.bytes() + at, b.bytes() + at, n) == 0 ? 0 : 1;
  }
  return mask;
}

Checkpoint Judged(const Dumped& ours, GoldenOutput golden, const std::string& folder) {
  Checkpoint point{.file = ours.file, .what = ours.what};
  const absl::StatusOr<Tensor> found = ReadNpy((fs::path(folder) / ours.file).string(), ours.values.dtype());
  const absl::Status status = found.ok() ? CheckFits(golden, *found) : found.status();
  if (!status.ok()) {
    point.comparison.error = status;
    return point;
  }
  point.comparison = CompareOutput(golden, *found, {});
  const std::int64_t first = point.comparison.first;
  if (first < 0) return point;
  point.element = debug::NamedElement(golden.operand.name, IndexOfElement(golden.operand.shape, first));
  point.expected = ElementText(golden.values, first);
  point.found = ElementText(*found, first);
  point.tolerance = golden.tolerance.has_value() ? ElementText(*golden.tolerance, first) : "0";
  return point;
}

GoldenOutput GoldenOf(const Dumped& ours, const Dumped& zeros, const Dumped* bound) {
  GoldenOutput golden;
  golden.operand = {
      .name = ours.file.substr(0, ours.file.size() - 4), .dtype = ours.values.dtype(), .shape = ours.values.shape()};
  golden.values = ours.values;
  golden.undefined = UndefinedOf(ours.values, zeros.values);
  const bool has_bound = bound != nullptr && IsFloat(ours.values.dtype()) && bound->file != ours.file;
  if (!has_bound) return golden;
  golden.tolerance = bound->values;
  for (double& e : golden.tolerance->span<double>()) e = std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
  return golden;
}

}  // namespace

absl::StatusOr<Checkpoints> CompareCheckpoints(const Bundle& bundle, const CheckpointOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted, WantedOf(options.refs));
  const agents::LaunchOptions launch{.run = options.run};
  agents::LaunchOptions with_zeros = launch;
  with_zeros.fill.kind = Fill::Kind::kZero;
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Dumped> ours,
                             DumpsOf(bundle.text, bundle, bundle.inputs, options.refs, launch));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Dumped> zeros,
                             DumpsOf(bundle.text, bundle, bundle.inputs, options.refs, with_zeros));
  const absl::StatusOr<std::vector<Dumped>> bounds = BoundsOfDumps(bundle, wanted, options);
  if (!bounds.ok() && absl::IsCancelled(bounds.status())) return bounds.status();
  if (zeros.size() != ours.size())
    return absl::InvalidArgumentError(
        "--dump: how often the kernel passes the line depends on unwritten memory; choose another line");
  const bool bounded = bounds.ok() && bounds->size() == ours.size();
  Checkpoints out{.expected = static_cast<std::int64_t>(ours.size())};
  out.bounds = bounded       ? "each is held to its own bound"
               : bounds.ok() ? "held to the bits: the kernel of the bounds passes the line another number of times"
                             : Cat("held to the bits: ", ToStd(bounds.status().message()));
  for (std::size_t i = 0; i < ours.size() && !out.first.has_value(); ++i) {
    std::error_code error;
    if (!fs::exists(fs::path(options.folder) / ours[i].file, error)) {
      ++out.missing;
      continue;
    }
    ++out.compared;
    Checkpoint point = Judged(ours[i], GoldenOf(ours[i], zeros[i], bounded ? &(*bounds)[i] : nullptr), options.folder);
    if (!point.comparison.error.ok() || point.comparison.over > 0) out.first = std::move(point);
  }
  if (out.compared == 0)
    return absl::InvalidArgumentError(Cat(options.folder, ": expected files of the names that --dump gives, such as ",
                                          ours.empty() ? "dump_REF_0.npy" : ours[0].file, "; found none of them"));
  return out;
}

std::string ToText(const Checkpoints& checkpoints) {
  std::string out = Cat("dumps: ", checkpoints.compared, " of ", checkpoints.expected, " compared",
                        checkpoints.missing == 0 ? "" : Cat(", ", checkpoints.missing, " are not there"), "; ",
                        checkpoints.bounds, "\n");
  if (!checkpoints.first.has_value()) return out + "  none differs by more\n";
  const Checkpoint& first = *checkpoints.first;
  Append(&out, "  the first that differs is ", first.file, ": ", first.what, ": ");
  if (!first.comparison.error.ok()) return out + std::string(ToStd(first.comparison.error.message())) + "\n";
  Append(&out, first.comparison.over, " of ", first.comparison.elements, " elements over tolerance; the first is ",
         first.element, ": expected ", first.expected, ", found ", first.found, ", tolerance ", first.tolerance, "\n");
  return out;
}

std::string ToJson(const Checkpoints& checkpoints) {
  JsonWriter json;
  json.Open('{').Key("expected").Number(checkpoints.expected).Key("compared").Number(checkpoints.compared);
  json.Key("missing").Number(checkpoints.missing).Key("bounds").String(checkpoints.bounds).Key("first");
  if (!checkpoints.first.has_value()) return json.Null().Close('}').Take();
  const Checkpoint& first = *checkpoints.first;
  json.Open('{').Key("file").String(first.file).Key("what").String(first.what);
  json.Key("error").String(ToStd(first.comparison.error.message()));
  json.Key("over_tolerance").Number(first.comparison.over).Key("element").String(first.element);
  json.Key("expected").String(first.expected).Key("found").String(first.found);
  json.Key("tolerance").String(first.tolerance).Close('}');
  return json.Close('}').Take();
}

}  // namespace palladion::golden
