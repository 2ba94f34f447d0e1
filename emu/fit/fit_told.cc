// FitText and FitJson of fit.h.
#include "emu/fit/fit.h"
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
  rows.push_back({memory.rows.empty() ? "nothing" : "held", "", "", AmountText(memory.unit, memory.held), ""});
  for (const Estimate& one : memory.estimates)
    rows.push_back({memory.unit == Unit::kBytes ? "estimate" : "of these", "", "", AmountText(memory.unit, one.amount),
                    one.place.empty() ? one.what : Cat(one.what, ", ", Printable(one.place))});
  rows.push_back({"limit", "", "", AmountText(memory.unit, memory.limit.amount), memory.limit.what});
  for (const Limit& other : memory.others)
    rows.push_back({"(another)", "", "", AmountText(memory.unit, other.amount), other.what});
  Append(text, memory.name, ": ", Name(memory.verdict));
  if (memory.verdict == Verdict::kMayNotFit && memory.unit == Unit::kBytes)
    Append(text, ", as between ", AmountText(memory.unit, memory.held), " and ",
           AmountText(memory.unit, memory.held + 2 * memory.estimate), " are needed");
  Append(text, "\n", TextTable(rows, LastColumn::kWords));
}

void AddSearch(const legality::BlockSearch& search, std::string* text) {
  if (!search.tries.empty()) text->append("blocks of other sizes, if the body is written for any:\n");
  TableRows rows;
  for (std::size_t i = 0; i < search.tries.size(); ++i) {
    const legality::BlockTry& one = search.tries[i];
    const bool largest = search.largest == i;
    rows.push_back({one.adds_grid ? Cat("a grid of ", one.programs) : GridText(one), HeldText(one),
                    Cat(Name(one.verdict), largest ? ", the largest" : "", ": ", BlockText(one))});
  }
  text->append(TextTable(rows, LastColumn::kWords));
  for (const std::string& why : search.not_tried) Append(text, "not tried: ", why, "\n");
}

void AddKernel(const KernelFit& fit, std::string* text) {
  Append(text, "kernel @", fit.kernel, " on ", fit.target);
  if (!fit.frames.empty()) Append(text, ", ", Printable(fit.frames[0].file), ":", fit.frames[0].line);
  Append(text, ": ", Name(fit.verdict()), "\n");
  for (const Memory& memory : fit.memories) AddMemory(memory, text);
  if (fit.of_sm.has_value())
    Append(text, "blocks of an SM: ", fit.of_sm->count, fit.of_sm->why.empty() ? "" : "; ", fit.of_sm->why, "\n");
  if (!fit.advice.empty()) Append(text, "to make it fit: ", fit.advice, "\n");
  if (fit.blocks.has_value()) AddSearch(*fit.blocks, text);
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

void AddTry(const legality::BlockTry& one, JsonWriter& json) {
  json.Open('{')
      .Key("adds_grid")
      .Bool(one.adds_grid)
      .Key("grid_dimension")
      .Number(static_cast<std::int64_t>(one.dimension));
  json.Key("programs_now")
      .Number(one.programs_now)
      .Key("programs")
      .Number(one.programs)
      .Key("held")
      .Number(one.exact)
      .Key("estimate")
      .Number(one.estimate);
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

void AddSearch(const legality::BlockSearch& search, JsonWriter& json) {
  json.Open('{').Key("largest");
  if (search.largest.has_value()) {
    json.Number(static_cast<std::int64_t>(*search.largest));
  } else {
    json.Null();
  }
  json.Key("tries").Open('[');
  for (const legality::BlockTry& one : search.tries) AddTry(one, json);
  json.Close(']').Key("not_tried").Open('[');
  for (const std::string& why : search.not_tried) json.String(why);
  json.Close(']').Close('}');
}

void AddKernel(const KernelFit& fit, JsonWriter& json) {
  json.Open('{').Key("kernel").String(fit.kernel).Key("target").String(fit.target);
  json.Key("verdict").String(Name(fit.verdict())).Key("frames").Open('[');
  for (const SourceFrame& frame : fit.frames) {
    json.Open('{').Key("file").String(frame.file).Key("line").Number(frame.line);
    json.Key("function").String(frame.function).Close('}');
  }
  json.Close(']').Key("memories").Open('[');
  for (const Memory& memory : fit.memories) AddMemory(memory, json);
  json.Close(']').Key("blocks_of_sm");
  if (fit.of_sm.has_value()) {
    json.Open('{').Key("count").Number(fit.of_sm->count).Key("why").String(fit.of_sm->why).Close('}');
  } else {
    json.Null();
  }
  json.Key("advice").String(fit.advice).Key("block_search");
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
