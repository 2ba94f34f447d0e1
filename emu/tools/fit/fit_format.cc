// FitText and FitJson of fit.h.
#include "emu/tools/fit/fit.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/printable.h"
#include "semantics/base/text_table.h"

namespace palladion::fit {
namespace {

std::string AmountText(Unit unit, std::int64_t amount) {
  if (unit == Unit::kBytes) return legality::BytesText(amount);
  const std::string_view several = Name(unit);
  return Cat(amount, " ", amount == 1 ? several.substr(0, several.size() - 1) : several);
}

std::string Words(const Row& row) {
  std::string text = row.kind.empty() || row.kind == "operand" ? "" : row.kind + " ";
  return text + Printable(row.name);
}

// "200 % of it is padding": where tiles make an array more than a tenth larger.
std::string RowNote(const Row& row) {
  std::string note = row.why;
  if (row.unpadded > 0 && row.one * 10 > row.unpadded * 11)
    Append(&note, note.empty() ? "" : "; ", legality::BytesText(row.unpadded), " without padding to tiles");
  return note;
}

void AddMemory(const Memory& memory, std::string* text) {
  TableRows rows;
  for (const Row& row : memory.rows)
    rows.push_back({Words(row), row.array, row.array.empty() ? "" : Cat("x", row.buffers),
                    AmountText(memory.unit, row.amount()), RowNote(row)});
  if (!memory.rows.empty() || memory.estimates.empty())
    rows.push_back({memory.rows.empty() ? "nothing" : "held", "", "", AmountText(memory.unit, memory.held), ""});
  for (const Estimate& one : memory.estimates)
    rows.push_back({memory.unit == Unit::kBytes ? "estimate" : "of these", "", "", AmountText(memory.unit, one.amount),
                    one.place.empty() ? one.what : Cat(one.what, ", ", Printable(one.place))});
  rows.push_back({"limit", "", "", AmountText(memory.unit, memory.limit.amount), memory.limit.what});
  for (const Limit& other : memory.others)
    rows.push_back({"(another)", "", "", AmountText(memory.unit, other.amount), other.what});
  Append(text, memory.name, ": ", Name(memory.verdict));
  if (memory.verdict == Verdict::kMayNotFit && memory.unit == Unit::kBytes && memory.most > memory.held)
    Append(text, ", as between ", AmountText(memory.unit, memory.held), " and ", AmountText(memory.unit, memory.most),
           " are needed");
  Append(text, "\n", TextTable(rows, LastColumn::kWords));
}

// "12.00 MiB, copies 96.00 MiB": the second where blocks of other sizes copy another amount.
std::string CountText(const legality::BlockTry& one, const legality::BlockSearch& search) {
  if (!one.copied.has_value() || one.copied == search.copied) return HeldText(one);
  return Cat(HeldText(one), ", copies ", legality::BytesText(*one.copied));
}

// Of sizes along one dimension the last two are shown, where it fits and where it no longer does: not those before
// them.
bool IsShown(const legality::BlockSearch& search, std::size_t i) {
  const auto along = [&](std::size_t number) {
    const bool one = number < search.tries.size() && search.tries[number].grid.size() == 1;
    return one ? std::optional(search.tries[number].grid[0].dimension) : std::nullopt;
  };
  return search.largest == i || !along(i).has_value() || along(i) != along(i + 2);
}

void AddSearch(const legality::BlockSearch& search, std::string* text) {
  if (!search.tries.empty()) text->append("blocks of other sizes, if the body is written for any:\n");
  TableRows rows;
  for (std::size_t i = 0; i < search.tries.size(); ++i) {
    if (!IsShown(search, i)) continue;
    const legality::BlockTry& one = search.tries[i];
    const bool largest = search.largest == i;
    rows.push_back({one.adds_grid ? Cat("a grid of ", one.grid[0].programs) : GridText(one), CountText(one, search),
                    Cat(Name(one.verdict), largest ? ", the largest" : "", ": ", BlockText(one))});
  }
  text->append(TextTable(rows, LastColumn::kWords));
  if (search.together > 0)
    Append(text, search.together, " sizes were counted along the dimensions of the grid together",
           search.largest.has_value() ? "" : ", and none fits", "\n");
  for (const std::string& why : search.stops) Append(text, "no larger along ", why, "\n");
  for (const std::string& why : search.not_tried) Append(text, "not tried: ", why, "\n");
}

void AddKernel(const KernelFit& fit, std::string* text) {
  Append(text, "kernel @", fit.kernel, " on ", fit.target);
  if (!fit.frames.empty()) Append(text, ", ", Printable(fit.frames[0].file), ":", fit.frames[0].line);
  Append(text, ": ", Name(fit.verdict()), "\n");
  if (fit.programs.has_value() && fit.copied.has_value())
    Append(text, *fit.programs, *fit.programs == 1 ? " program copies " : " programs copy ",
           legality::BytesText(*fit.copied), " of blocks\n");
  for (const Memory& memory : fit.memories) AddMemory(memory, text);
  if (fit.of_sm.has_value())
    Append(text, "blocks of an SM: ", fit.of_sm->count, fit.of_sm->why.empty() ? "" : "; ", fit.of_sm->why, "\n");
  if (!fit.advice.empty()) Append(text, "to make it fit: ", fit.advice, "\n");
  if (fit.blocks.has_value()) AddSearch(*fit.blocks, text);
  for (const std::string& what : fit.not_counted) Append(text, "not counted: ", what, "\n");
  for (const Refusal& one : fit.refusals)
    Append(text, "beside that, ", one.code, " at ", Printable(one.place), ": ", Printable(one.message), "\n");
}

void AddLimit(const Limit& limit, JsonWriter& json) {
  json.Open('{').Key("what").String(limit.what).Key("amount").Number(limit.amount).Close('}');
}

void AddMemory(const Memory& memory, JsonWriter& json) {
  json.Open('{').Key("memory").String(memory.name).Key("unit").String(Name(memory.unit));
  json.Key("verdict").String(Name(memory.verdict)).Key("held").Number(memory.held);
  json.Key("estimate").Number(memory.estimate).Key("limit");
  AddLimit(memory.limit, json);
  json.Key("other_limits").Open('[');
  for (const Limit& other : memory.others) AddLimit(other, json);
  json.Close(']').Key("rows").Open('[');
  for (const Row& row : memory.rows) {
    json.Open('{').Key("kind").String(row.kind).Key("name").String(row.name).Key("array").String(row.array);
    json.Key("buffers").Number(row.buffers).Key("one").Number(row.one).Key("unpadded").Number(row.unpadded);
    json.Key("amount").Number(row.amount()).Key("why").String(row.why).Close('}');
  }
  json.Close(']').Key("estimates").Open('[');
  for (const Estimate& one : memory.estimates) {
    json.Open('{').Key("what").String(one.what).Key("amount").Number(one.amount);
    json.Key("place").String(one.place).Close('}');
  }
  json.Close(']').Close('}');
}

void AddShape(const Shape& shape, JsonWriter& json) {
  json.Open('[');
  for (const std::int64_t size : shape) json.Number(size);
  json.Close(']');
}

void AddNumber(std::string_view key, std::optional<std::int64_t> number, JsonWriter& json) {
  json.Key(key);
  if (number.has_value()) {
    json.Number(*number);
  } else {
    json.Null();
  }
}

void AddTry(const legality::BlockTry& one, JsonWriter& json) {
  json.Open('{').Key("adds_grid").Bool(one.adds_grid).Key("grid").Open('[');
  for (const legality::GridChange& change : one.grid) {
    json.Open('{').Key("dimension").Number(static_cast<std::int64_t>(change.dimension));
    json.Key("programs_now").Number(change.programs_now).Key("programs").Number(change.programs).Close('}');
  }
  json.Close(']').Key("held").Number(one.exact).Key("estimate").Number(one.estimate);
  AddNumber("copied", one.copied, json);
  json.Key("verdict").String(Name(one.verdict)).Key("blocks").Open('[');
  for (const legality::ScaledBlock& block : one.blocks) {
    json.Open('{').Key("name").String(block.name).Key("before");
    AddShape(block.before, json);
    json.Key("after");
    AddShape(block.after, json);
    json.Close('}');
  }
  json.Close(']').Close('}');
}

void AddStrings(std::string_view key, const std::vector<std::string>& strings, JsonWriter& json) {
  json.Key(key).Open('[');
  for (const std::string& one : strings) json.String(one);
  json.Close(']');
}

void AddSearch(const legality::BlockSearch& search, JsonWriter& json) {
  json.Open('{');
  AddNumber("largest",
            search.largest.has_value() ? std::optional(static_cast<std::int64_t>(*search.largest)) : std::nullopt,
            json);
  json.Key("together").Number(static_cast<std::int64_t>(search.together)).Key("tries").Open('[');
  for (const legality::BlockTry& one : search.tries) AddTry(one, json);
  json.Close(']');
  AddStrings("stops", search.stops, json);
  AddStrings("not_tried", search.not_tried, json);
  json.Close('}');
}

void AddKernel(const KernelFit& fit, JsonWriter& json) {
  json.Open('{').Key("kernel").String(fit.kernel).Key("target").String(fit.target);
  json.Key("verdict").String(Name(fit.verdict())).Key("frames").Open('[');
  for (const SourceFrame& frame : fit.frames) {
    json.Open('{').Key("file").String(frame.file).Key("line").Number(frame.line);
    json.Key("function").String(frame.function).Close('}');
  }
  json.Close(']');
  AddNumber("programs", fit.programs, json);
  AddNumber("copied", fit.copied, json);
  json.Key("memories").Open('[');
  for (const Memory& memory : fit.memories) AddMemory(memory, json);
  json.Close(']').Key("blocks_of_sm");
  if (fit.of_sm.has_value()) {
    json.Open('{').Key("count").Number(fit.of_sm->count).Key("why").String(fit.of_sm->why);
    json.Key("lanes").Number(fit.of_sm->lanes).Close('}');
  } else {
    json.Null();
  }
  json.Key("advice").String(fit.advice).Key("refusals").Open('[');
  for (const Refusal& one : fit.refusals)
    json.Open('{')
        .Key("code")
        .String(one.code)
        .Key("place")
        .String(one.place)
        .Key("message")
        .String(one.message)
        .Close('}');
  json.Close(']');
  AddStrings("not_counted", fit.not_counted, json);
  json.Key("block_search");
  if (fit.blocks.has_value()) {
    AddSearch(*fit.blocks, json);
  } else {
    json.Null();
  }
  json.Close('}');
}

}  // namespace

std::string FitText(const std::vector<KernelFit>& kernels) {
  std::string text;
  for (const KernelFit& fit : kernels) {
    if (!text.empty()) text += "\n";
    AddKernel(fit, &text);
  }
  return text;
}

std::string FitJson(const std::vector<KernelFit>& kernels) {
  JsonWriter json;
  json.Open('{').Key("kernels").Open('[');
  for (const KernelFit& fit : kernels) AddKernel(fit, json);
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::fit
