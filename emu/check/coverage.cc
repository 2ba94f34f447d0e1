#include "emu/check/coverage.h"

#include <algorithm>
#include <map>

#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::check {
namespace {

using LineCounts = std::map<int, int>;  // line of the text -> instructions on it

void CountLines(const Region& region, LineCounts& lines) {
  for (const Instr& op : region.body) {
    ++lines[op.text_line];
    for (const Region& inner : op.regions) CountLines(inner, lines);
  }
}

// Finds the regions that no step was in.
class RegionWalk {
 public:
  RegionWalk(const kernel::PreparedKernelState& state, const std::vector<std::uint8_t>& ran) : state_(state) {
    const std::vector<Step>& steps = state.program().steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Line& line = lines_[steps[i].text_line];
      line.has_steps = true;
      line.ran = line.ran || ran[i] != 0;
    }
  }

  std::vector<NeverRan> Missing() {
    for (const Body& body : state_.text().bodies) CountLines(body.region, all_);
    for (const Body& body : state_.text().bodies) Walk(body.region);
    return std::move(missing_);
  }

 private:
  struct Line {
    bool has_steps = false, ran = false;
  };

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      for (std::size_t r = 0; r < op.regions.size(); ++r) {
        const std::string what = WhatIs(op, r);
        if (!what.empty() && NoStepOf(op.regions[r])) {
          missing_.push_back({.what = what,
                              .source = op.loc.valid() ? Describe(state_.module(), op.loc) : "",
                              .text_line = op.text_line,
                              .frames = launch::FramesOf(state_.module(), op.loc)});
        } else {
          Walk(op.regions[r]);
        }
      }
    }
  }

  // "" where the region runs whenever the instruction does.
  static std::string WhatIs(const Instr& op, std::size_t r) {
    const Loops loops = op.row->loops;
    if (loops == Loops::kTurns || (loops == Loops::kWhile && r == 1)) return Cat("body of ", op.name);
    if (loops != Loops::kBranch) return "";
    const bool is_when = op.regions.size() == 2 && op.results.empty() && op.regions[1 - r].body.empty();
    return is_when ? "body of when" : Cat("branch ", r, " of ", op.name);
  }

  // Of the lines that are the region's alone, at least one has steps, and none ran.
  bool NoStepOf(const Region& region) const {
    LineCounts inside;
    CountLines(region, inside);
    bool has_steps = false;
    for (const auto& [number, count] : inside) {
      const auto line = lines_.find(number);
      if (line == lines_.end() || all_.at(number) != count) continue;
      if (line->second.ran) return false;
      has_steps = has_steps || line->second.has_steps;
    }
    return has_steps;
  }

  const kernel::PreparedKernelState& state_;
  std::map<int, Line> lines_;
  LineCounts all_;
  std::vector<NeverRan> missing_;
};

}  // namespace

Coverage::Coverage(const kernel::PreparedKernelState& kernel) : kernel_(kernel), ran_(kernel.program().steps.size()) {}

void Coverage::Attach(agents::LaunchOptions& launch) {
  launch.observers.push_back(this);
  launch.ran = absl::MakeSpan(ran_);
}

void Coverage::LookAt(AccessKind kind, const Mask& mask, std::size_t lanes, const Site& site) {
  if (site.text_line < 0) return;
  const auto number = static_cast<std::size_t>(site.text_line);
  if (number >= masked_.size()) masked_.resize(number + 1);
  MaskedLine& line = masked_[number];
  if (line.active) return;
  if (!line.masked) line = {.kind = kind, .loc = site.loc, .masked = true};
  line.active = std::any_of(mask.lanes, mask.lanes + lanes, [](std::uint8_t lane) { return lane != 0; });
}

void Coverage::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
                   const std::byte*) {
  if (access.mask.lanes == nullptr) return;
  std::int64_t lanes = 1;
  for (int j = 0; j < access.value_rank; ++j) lanes *= access.count[access.order[static_cast<std::size_t>(j)]];
  LookAt(kind, access.mask, static_cast<std::size_t>(lanes), access.site);
}

void Coverage::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (access.mask.lanes == nullptr) return;
  LookAt(kind, access.mask, access.offset.size() / access.pieces_per_element, access.site);
}

std::vector<NeverRan> Coverage::Missing(std::int64_t programs) const {
  if (programs == 0) return {{.what = "any program: the grid is empty"}};
  std::vector<NeverRan> missing = RegionWalk(kernel_, ran_).Missing();
  for (std::size_t number = 0; number < masked_.size(); ++number) {
    const MaskedLine& line = masked_[number];
    if (!line.masked || line.active) continue;
    missing.push_back({.what = Cat("any lane of a masked ", Name(line.kind)),
                       .source = line.loc.valid() ? Describe(kernel_.module(), line.loc) : "",
                       .text_line = static_cast<int>(number),
                       .frames = launch::FramesOf(kernel_.module(), line.loc)});
  }
  std::stable_sort(missing.begin(), missing.end(),
                   [](const NeverRan& a, const NeverRan& b) { return a.text_line < b.text_line; });
  return missing;
}

}  // namespace palladion::check
