#include "emu/tools/debug/dump.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "emu/values.h"
#include "memory_model/bytes/origin.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"

namespace palladion::debug {
namespace {

constexpr std::size_t kMostDumps = 10000;  // files in one directory
constexpr std::int64_t kShownElements = 8, kShownWithoutFile = 64;

std::string FileName(const std::string& ref, std::size_t number) {
  std::string name = "dump_";
  for (char c : ref) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return Cat(name, "_", number, ".npy");
}

// Instructions of which `fits` holds, but of neighbours only the last: a line is passed when it is done.
void LastOfLine(const Region& region, const std::function<bool(const Instr&)>& fits, std::set<const Instr*>& found) {
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    const Instr& instr = region.body[i];
    const bool next_fits = i + 1 < region.body.size() && fits(region.body[i + 1]);
    if (fits(instr) && !next_fits) found.insert(&instr);
    for (const Region& inner : instr.regions) LastOfLine(inner, fits, found);
  }
}

// The lines of the text that have instructions, with the user's lines.
void ListLines(const Region& region, const Module& module, std::map<int, std::string>& lines) {
  for (const Instr& instr : region.body) {
    std::string& source = lines[instr.text_line];
    if (source.empty() && instr.loc.valid()) {
      const Loc& loc = module.locs[instr.loc.index()];
      source = Cat(std::filesystem::path(module.files[loc.file.index()]).filename().string(), ":", loc.line);
    }
    for (const Region& inner : instr.regions) ListLines(inner, module, lines);
  }
}

// "o.py:17" names o.py and dir/o.py, and so does "dir/o.py:17".
bool IsAtSource(const Module& module, LocId id, const std::string& file, int line) {
  for (; id.valid(); id = module.locs[id.index()].via) {
    const Loc& loc = module.locs[id.index()];
    const std::string& path = module.files[loc.file.index()];
    if (loc.line == line && (file.empty() || path == file || path.ends_with("/" + file))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Dump> Dump::Parse(const kernel::PreparedKernelState& kernel, const std::string& what) {
  Dump dump(kernel);
  for (absl::string_view part : absl::StrSplit(what, ',')) {
    const std::size_t at = part.rfind('@');
    if (at == absl::string_view::npos || at == 0 || at + 1 == part.size()) {
      return absl::InvalidArgumentError(
          Cat("--dump must be REF@LINE, where LINE is one of the kernel text or FILE:LINE; found '", ToStd(part), "'"));
    }
    PALLADION_RETURN_IF_ERROR(dump.Want(std::string(part.substr(0, at)), std::string(part.substr(at + 1))));
  }
  return dump;
}

absl::Status Dump::Want(const std::string& ref, const std::string& place) {
  const Program& program = state_->program();
  const Kernel& kernel = state_->text();
  Wanted wanted{.ref = ref, .place = place, .ids = {}, .after = {}};
  std::set<std::string> names;
  const auto add = [&](RefId id, const std::vector<std::string>& others) {
    const std::string& name = program.refs[id.index()].name;
    names.insert(name);
    if (name == ref || std::count(others.begin(), others.end(), ref) > 0) wanted.ids.push_back(id);
  };
  std::set<std::size_t> of_arrays;
  std::size_t param = 0;
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (info.array.valid()) of_arrays.insert(info.array.index());
    if (!info.ref.valid()) continue;
    of_arrays.insert(info.ref.index());
    const ValueId shown = kernel.bodies[0].region.params[param++].value;
    add(info.ref, {kernel.values[shown.index()].name, kernel.values[kernel.operands[i].value.index()].name,
                   kernel.operands[i].label});
  }
  for (std::size_t i = 0; i < program.refs.size(); ++i) {
    if (!of_arrays.contains(i)) add(RefId{static_cast<std::int32_t>(i)}, {});
  }
  if (wanted.ids.empty()) {
    return absl::InvalidArgumentError(
        Cat("--dump: kernel @", kernel.name, " has no ref '", ref, "'; it has: ", absl::StrJoin(names, ", ")));
  }
  const std::size_t colon = place.rfind(':');
  const std::string file = colon == std::string::npos ? "" : place.substr(0, colon);
  int line = 0;
  const bool is_number = absl::SimpleAtoi(place.substr(colon == std::string::npos ? 0 : colon + 1), &line);
  const Region& body = kernel.bodies[0].region;
  if (is_number && file.empty())
    LastOfLine(
        body, [&](const Instr& instr) { return instr.text_line == line; }, wanted.after);
  if (is_number && wanted.after.empty()) {
    LastOfLine(
        body, [&](const Instr& instr) { return IsAtSource(state_->module(), instr.loc, file, line); }, wanted.after);
  }
  if (wanted.after.empty()) {
    std::map<int, std::string> lines;
    ListLines(body, state_->module(), lines);
    const std::string list = absl::StrJoin(lines, ", ", [](std::string* out, const auto& entry) {
      Append(out, entry.first, entry.second.empty() ? "" : Cat(" (", entry.second, ")"));
    });
    return absl::InvalidArgumentError(Cat("--dump: no instruction of the body of kernel @", kernel.name,
                                          " is on line '", place, "'; lines of the text that have one: ", list));
  }
  wanted_.push_back(std::move(wanted));
  return absl::OkStatus();
}

void Dump::Bound(memory_model::Memory& memory, absl::Span<const BufferId>) { memory_ = &memory; }

void Dump::After(const Step& step, Frame& frame) {
  agents_.After(step, frame, [&](const Mark& mark, const Agent& agent) {
    if (mark.kind != Mark::Kind::kFinish) return;
    for (const Wanted& wanted : wanted_) {
      if (!wanted.after.contains(mark.instr)) continue;
      for (RefId id : wanted.ids) {
        if (frame.ref(id).buffer.valid()) Write(wanted, id, mark, agent, frame);
      }
    }
  });
}

// The ref's window of its buffer, in the ref's own shape.
Tensor Dump::Contents(RefId id, Frame& frame) const {
  const RefInfo& info = frame.program().refs[id.index()];
  const RefState& state = frame.ref(id);
  Shape shape;
  for (int d : info.kept) shape.push_back(info.window[static_cast<std::size_t>(d)]);
  if (info.words_per_element > 1) shape.push_back(static_cast<std::int64_t>(info.words_per_element));
  Tensor tensor(info.dtype, shape);
  const std::size_t bytes = StorageBytes(info.dtype) * info.words_per_element;
  const std::byte* from = memory_->DataOf(state.buffer);
  const std::int64_t elements = NumElements(info.window);
  std::vector<std::int64_t> index(info.window.size());
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t rest = i, offset = 0, stride = 1;
    bool inside = true;
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = state.origin[d] + rest % info.window[d];
      rest /= info.window[d];
      inside = inside && index[d] >= 0 && index[d] < info.buffer_shape[d];
      offset += index[d] * stride;
      stride *= info.buffer_shape[d];
    }
    if (inside) {
      std::memcpy(tensor.bytes() + static_cast<std::size_t>(i) * bytes, from + static_cast<std::size_t>(offset) * bytes,
                  bytes);
    }
  }
  return tensor;
}

void Dump::Write(const Wanted& wanted, RefId id, const Mark& mark, const Agent& agent, Frame& frame) {
  if (!status_.ok()) return;
  if (written_.size() == kMostDumps) {
    ++left_out_;
    return;
  }
  const Tensor tensor = Contents(id, frame);
  const std::string iterations = agent.walk.Iterations();
  Written written{.what = Cat(wanted.ref, " after line ", mark.instr->text_line, " (", watch::OpName(*mark.instr),
                              "), ", watch::NameOfAgent(frame), iterations.empty() ? "" : ", iteration ", iterations),
                  .path = {},
                  .type = TypeString(tensor.dtype(), tensor.shape()),
                  .first = {}};
  const std::int64_t shown = std::min(keep_ ? kShownElements : kShownWithoutFile, tensor.num_elements());
  for (std::int64_t i = 0; i < shown; ++i) Append(&written.first, i == 0 ? "" : " ", ElementText(tensor, i));
  if (tensor.num_elements() > shown) written.first += " ...";
  if (keep_) {
    absl::StatusOr<std::string> path = keep_(FileName(wanted.ref, written_.size()), tensor);
    status_ = path.status();
    if (!path.ok()) return;
    written.path = *std::move(path);
  }
  written_.push_back(std::move(written));
}

std::string Dump::Text() const {
  std::string text = Cat("dumps: ", written_.size(), "\n");
  for (const Written& written : written_)
    Append(&text, "  ", written.what, ": ", written.type, " = ", written.first, "\n",
           written.path.empty() ? "" : Cat("    ", written.path, "\n"));
  if (left_out_ > 0) Append(&text, "  ", left_out_, " more were left out: a run writes at most ", kMostDumps, "\n");
  return text;
}

std::string Dump::Json() const {
  std::string json = "[";
  for (const Written& written : written_) {
    Append(&json, json.size() == 1 ? "" : ", ", "{\"what\": ", JsonString(written.what),
           ", \"path\": ", written.path.empty() ? "null" : JsonString(written.path),
           ", \"type\": ", JsonString(written.type), "}");
  }
  return json + "]";
}

}  // namespace palladion::debug
