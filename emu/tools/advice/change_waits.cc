// Makes a loop of products wait for those of the previous iteration instead of its own: the next products are issued
// while these still run. Slots of a ring that the loop releases after the wait are released one iteration later; after
// the loop it waits for the last products and releases the last slots.
#include <algorithm>
#include <optional>
#include <utility>

#include "emu/tools/advice/change.h"
#include "emu/tools/advice/made.h"
#include "emu/tools/advice/origins.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::advice {
namespace {

// A wait of its thread for operations that engines do for it, all but so many.
bool WaitsForAll(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  return row.waits == Waits::kEngine && row.effect == Effect::kSynchronises && instr.regions.empty() &&
         instr.args.size() == 1 && instr.args[0].kind == Arg::Kind::kLiteral &&
         instr.args[0].literal.dtype == DType::kI32 && edit::IntOf(instr.args[0].literal) == 0;
}

bool IsProduct(const Instr& instr) { return RowOf(instr).access == RefAccess::kProduct; }

// Arrives at one element of an array of barriers, and does nothing else.
bool IsArrival(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  return row.signals == Signals::kMay && row.waits == Waits::kNever && row.access == RefAccess::kNone &&
         instr.regions.empty() && instr.args.size() == 1;
}

bool IsPure(const Instr& instr) { return RowOf(instr).effect == Effect::kPure && instr.regions.empty(); }

// The index of the barrier that an arrival is at.
Arg* IndexOf(Instr& arrival) {
  Arg& barrier = arrival.args[0];
  if (barrier.transforms.size() != 1 || barrier.transforms[0].kind != Transform::Kind::kAt) return nullptr;
  std::vector<Index>& indices = barrier.transforms[0].indices;
  return indices.size() == 1 && indices[0].kind == Index::Kind::kPoint ? &indices[0].start : nullptr;
}

// A slot that is the remainder of the loop's own turn.
struct Slot {
  std::int64_t offset = 0;  // of the step from the turn
  std::int64_t slots = 1;
};

// One loop with its wait.
struct Place {
  Region* outside = nullptr;
  std::size_t loop = 0;  // in `outside`
  std::size_t wait = 0;  // in the loop's body
  std::size_t products = 0;
  ValueId turn;
  std::int64_t turns = 0;
  std::vector<std::pair<std::size_t, Slot>> arrivals;  // in the loop's body, after the wait
  std::string unsure;
};

class Waits0 {
 public:
  Waits0(Module& module, const Origins& origins) : module_(module), origins_(origins) {}

  std::vector<Place> Find() {
    for (Body& body : module_.kernels[0].bodies) Visit(body.region);
    return std::move(places_);
  }

 private:
  void Visit(Region& region) {
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      Instr& instr = region.body[i];
      if (RowOf(instr).loops == Loops::kTurns && instr.regions.size() == 1) OfLoop(region, i);
      for (Region& inner : instr.regions) Visit(inner);
    }
  }

  void OfLoop(Region& outside, std::size_t at) {
    Region& body = outside.body[at].regions[0];
    Place place{.outside = &outside,
                .loop = at,
                .wait = body.body.size(),
                .products = 0,
                .turn = {},
                .turns = 0,
                .arrivals = {},
                .unsure = ""};
    for (std::size_t i = 0; i < body.body.size(); ++i) {
      if (IsProduct(body.body[i])) ++place.products;
      if (!WaitsForAll(body.body[i]) || !AfterProduct(body, i)) continue;
      if (place.wait != body.body.size()) Unsure(place, body.body[i], "is a second wait for products in one loop");
      place.wait = i;
    }
    if (place.wait == body.body.size()) return;
    for (std::size_t i = place.wait + 1; i < body.body.size(); ++i) After(place, body, i);
    FindTurn(place, body);
    places_.push_back(std::move(place));
  }

  // A wait for copies stands after a copy; only products count here.
  static bool AfterProduct(const Region& body, std::size_t wait) {
    for (std::size_t i = wait; i-- > 0;) {
      if (IsProduct(body.body[i])) return true;
      if (!IsPure(body.body[i])) return false;
    }
    return false;
  }

  void Unsure(Place& place, const Instr& instr, std::string_view why) {
    if (place.unsure.empty())
      place.unsure = Cat(PlaceText(module_, instr.loc, instr.text_line), ": `", instr.name, "` ", why);
  }

  void After(Place& place, Region& body, std::size_t i) {
    Instr& instr = body.body[i];
    if (IsPure(instr)) return;
    if (RowOf(instr).effect == Effect::kSynchronises && RowOf(instr).signals == Signals::kNever &&
        RowOf(instr).waits == Waits::kNever)
      return;  // it ends a group of operations, or the like
    Arg* const index = IsArrival(instr) ? IndexOf(instr) : nullptr;
    if (index == nullptr) {
      Unsure(place, instr, "stands behind the wait, and may need what it waits for");
      return;
    }
    const Instr* giver = index->kind == Arg::Kind::kValue ? origins_.Giver(index->value) : nullptr;
    std::optional<NumberRef> slots;
    std::optional<Affine> step;
    if (giver != nullptr && Is(*giver, OpId::kRem) && giver->args.size() == 2) {
      slots = NumberOf(const_cast<Instr*>(giver)->args[1]);
      step = origins_.AffineOf(giver->args[0]);
    }
    if (!slots.has_value() || !step.has_value() || slots->Get() < 1 ||
        (place.turn.valid() && place.turn != step->root)) {
      Unsure(place, instr, "gives back what is no slot of the loop's own step");
      return;
    }
    place.turn = step->root;
    place.arrivals.emplace_back(i, Slot{step->offset, slots->Get()});
  }

  void FindTurn(Place& place, Region& body) {
    for (std::size_t i = 0; !place.turn.valid() && i < body.params.size(); ++i) {
      if (origins_.CounterOf(body.params[i].value).has_value()) place.turn = body.params[i].value;
    }
    const std::optional<Counter> counter =
        place.turn.valid() ? origins_.CounterOf(place.turn) : std::optional<Counter>();
    Instr& loop = place.outside->body[place.loop];
    if (!counter.has_value() || counter->loop != &loop || counter->first.Get() != 0 || counter->length.Get() < 2) {
      Unsure(place, loop, "does not count its turns from 0");
    } else {
      place.turns = counter->length.Get();
    }
  }

  Module& module_;
  const Origins& origins_;
  std::vector<Place> places_;
};

// The arrival at the slot of the turn before, or behind the loop of the last.
Instr Later(const Instr& arrival, const Arg& slot) {
  Instr later = arrival;
  *IndexOf(later) = slot;
  return later;
}

void Delay(Kernel& kernel, const Place& place) {
  Region& body = place.outside->body[place.loop].regions[0];
  const Instr wait = body.body[place.wait];
  std::vector<Instr> behind = {wait};
  edit::SetInt(body.body[place.wait].args[0].literal, static_cast<std::int64_t>(place.products));
  const Type step = kernel.values[place.turn.index()].type;
  Type truth = step;
  truth.dtype = DType::kBool;
  for (std::size_t i = place.arrivals.size(); i-- > 0;) {
    const auto& [at, slot] = place.arrivals[i];
    const Instr arrival = body.body[at];
    Maker before(kernel, arrival), maker(kernel, arrival);
    const Arg condition = maker.Value(OpId::kGe, {maker.Of(place.turn), edit::LiteralArg(1, step)}, truth);
    const Arg last = before.Value(OpId::kAdd, {before.Of(place.turn), edit::LiteralArg(slot.offset - 1, step)}, step);
    const Arg index = before.Value(OpId::kRem, {last, edit::LiteralArg(slot.slots, step)}, step);
    std::vector<Instr> inside = before.Take();
    inside.push_back(Later(arrival, index));
    maker.If(condition, std::move(inside));
    std::vector<Instr> made = maker.Take();
    const auto where = body.body.begin() + static_cast<std::ptrdiff_t>(at);
    body.body.insert(body.body.erase(where), std::make_move_iterator(made.begin()),
                     std::make_move_iterator(made.end()));
    behind.insert(behind.begin() + 1,
                  Later(arrival, edit::LiteralArg((place.turns - 1 + slot.offset) % slot.slots, step)));
  }
  std::vector<Instr>& outside = place.outside->body;
  outside.insert(outside.begin() + static_cast<std::ptrdiff_t>(place.loop) + 1, std::make_move_iterator(behind.begin()),
                 std::make_move_iterator(behind.end()));
}

std::vector<Place> PlacesIn(Module& module) {
  const Origins origins(module.kernels[0]);
  return Waits0(module, origins).Find();
}

}  // namespace

Found FindProductWaits(const Module& module) {
  Found found;
  Module seen = module;
  const std::vector<Place> places = PlacesIn(seen);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Instr& wait = places[i].outside->body[places[i].loop].regions[0].body[places[i].wait];
    const std::string what = Cat("wait for the products of the turn before, not this turn's");
    if (!places[i].unsure.empty()) {
      found.not_tried.push_back({what, wait.text_line, wait.loc, places[i].unsure});
      continue;
    }
    Candidate candidate{
        .what = what, .text_line = wait.text_line, .loc = wait.loc, .same_traffic = true, .module = module};
    Delay(candidate.module.kernels[0], PlacesIn(candidate.module)[i]);
    found.candidates.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace palladion::advice
