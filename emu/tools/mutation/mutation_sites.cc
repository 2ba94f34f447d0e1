// The places inside a kernel's body: masks, stores and reads. Equal places give equal edits, so what is found in one
// copy of a kernel is found in every other in the same order.
#include "emu/tools/mutation/mutation_sites.h"

#include <algorithm>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::mutation {
namespace {

bool IsStore(const Instr& instr) {
  const RefAccess access = RowOf(instr).access;
  return access == RefAccess::kStore || access == RefAccess::kAdd;
}

// Of a ref that is its first operand.
bool IsRead(const Instr& instr) { return RowOf(instr).access == RefAccess::kLoad && !RowOf(instr).named_refs; }

Arg* NamedArg(Instr& instr, std::string_view name) {
  for (Arg& arg : instr.args) {
    if (arg.name == name && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

class Finder {
 public:
  Finder(const Module& module, Kernel& kernel) : module_(module), kernel_(kernel) {
    constants_.assign(kernel.values.size(), false);
    outputs_.assign(kernel.values.size(), false);
    for (const Body& body : kernel.bodies) MarkOutputs(body);
  }

  void Find(std::vector<MutationSite>& sites) {
    sites_ = &sites;
    for (Body& body : kernel_.bodies) VisitRegion(body.region, false);
  }

 private:
  void MarkOutputs(const Body& body) {
    std::size_t param = 0;
    for (const Operand& operand : kernel_.operands) {
      if (operand.role == Role::kBound || param >= body.region.params.size()) continue;
      const ValueId id = body.region.params[param++].value;
      if (operand.role == Role::kOut && id.valid()) outputs_[id.index()] = true;
    }
  }

  void VisitRegion(Region& region, bool in_branch) {
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      Instr& instr = region.body[i];
      MarkConstant(instr);
      FindMask(instr);
      if (IsStore(instr) && !edit::HasResult(instr)) FindStore(region, i, in_branch);
      if (IsRead(instr)) FindRead(region, i);
      for (Region& inner : instr.regions) VisitRegion(inner, in_branch || RowOf(instr).loops == Loops::kBranch);
    }
  }

  // Made of literals alone, as the first value of an accumulator is.
  void MarkConstant(const Instr& instr) {
    const bool pure =
        instr.regions.empty() && !instr.args.empty() &&
        std::all_of(instr.args.begin(), instr.args.end(), [&](const Arg& arg) { return IsConstant(arg); });
    if (!pure) return;
    for (const ValueId id : instr.results) {
      if (id.valid()) constants_[id.index()] = true;
    }
  }

  bool IsConstant(const Arg& arg) const {
    return arg.kind == Arg::Kind::kLiteral || arg.kind == Arg::Kind::kDense ||
           (arg.kind == Arg::Kind::kValue && arg.transforms.empty() && arg.value.valid() &&
            constants_[arg.value.index()]);
  }

  void Add(Mutation mutation, const Instr& instr, std::string_view what, std::function<void()> apply) {
    sites_->push_back({.mutation = mutation,
                       .line = instr.text_line,
                       .what = Cat("`", Print(module_, kernel_, instr), "` ", what),
                       .apply = std::move(apply)});
  }

  void FindMask(Instr& instr) {
    if (NamedArg(instr, "mask") != nullptr) {
      Add(Mutation::kDropMask, instr, "loses its mask", [&instr] {
        std::erase_if(instr.args, [](const Arg& arg) { return arg.name == "mask" || arg.name == "other"; });
      });
    }
    if (RowOf(instr).flow != Flow::kSelect || instr.args.size() != 3) return;
    // The side that the mask guards is the one that is no constant; both cases may be values.
    const std::size_t kept = IsConstant(instr.args[2]) ? 1 : 2;
    Add(Mutation::kDropMask, instr, Cat("always takes case ", kept - 1),
        [&instr, kept] { instr.args[3 - kept] = instr.args[kept]; });
  }

  void FindStore(Region& region, std::size_t at, bool in_branch) {
    Instr& instr = region.body[at];
    if (instr.args.size() < 2 || instr.args[0].kind != Arg::Kind::kValue) return;
    const auto drop = [&region, at] { region.body.erase(region.body.begin() + static_cast<std::ptrdiff_t>(at)); };
    if (in_branch && IsConstant(instr.args[1])) {
      Add(Mutation::kDropInit, instr, "is gone", drop);
    } else if (outputs_[instr.args[0].value.index()]) {
      Add(Mutation::kDropStore, instr, "is gone", drop);
    }
  }

  // One site for each entry of the view that has a start.
  void FindRead(Region& region, std::size_t at) {
    Instr& instr = region.body[at];
    if (instr.args.empty()) return;
    for (Transform& transform : instr.args[0].transforms) {
      if (transform.kind != Transform::Kind::kAt) continue;
      for (std::size_t d = 0; d < transform.indices.size(); ++d) {
        Index& index = transform.indices[d];
        if (index.kind != Index::Kind::kPoint && index.kind != Index::Kind::kSlice) continue;
        const std::string what = Cat("starts one later in entry ", d, " of its view");
        if (index.start.kind == Arg::Kind::kLiteral && index.start.literal.dtype == DType::kI32) {
          Add(Mutation::kReadPast, instr, what, [&index] { AddOne(index.start.literal); });
        } else if (index.start.kind == Arg::Kind::kValue && index.start.transforms.empty()) {
          Add(Mutation::kReadPast, instr, what,
              [&kernel = kernel_, &region, at, &index] { InsertAddOne(kernel, region, at, index.start); });
        }
      }
    }
  }

  static Literal One(DType dtype, bool weak) {
    Literal one{.dtype = dtype, .weak = weak};
    one.bytes[0] = std::byte{1};
    return one;
  }

  static void AddOne(Literal& literal) {
    for (std::size_t i = 0; i < StorageBytes(literal.dtype); ++i) {
      literal.bytes[i] = static_cast<std::byte>(std::to_integer<unsigned>(literal.bytes[i]) + 1U);
      if (literal.bytes[i] != std::byte{0}) break;
    }
  }

  static void InsertAddOne(Kernel& kernel, Region& region, std::size_t at, Arg& start) {
    const ValueInfo old = kernel.values[start.value.index()];
    const ValueId past{static_cast<std::int32_t>(kernel.values.size())};
    Arg one;
    one.kind = Arg::Kind::kLiteral;
    one.literal = One(old.type.dtype, old.type.weak);
    Instr add = MakeInstr(OpId::kAdd, {start, one}, region.body[at].loc);
    add.results = {past};
    add.types = {old.type};
    kernel.values.push_back({.name = "one_past", .type = old.type, .label = ""});
    start.value = past;  // before the insertion, which moves the instruction
    region.body.insert(region.body.begin() + static_cast<std::ptrdiff_t>(at), std::move(add));
  }

  const Module& module_;
  Kernel& kernel_;
  std::vector<bool> constants_, outputs_;  // by value
  std::vector<MutationSite>* sites_ = nullptr;
};

}  // namespace

std::vector<MutationSite> MutationSites(const Module& module, Kernel& kernel) {
  std::vector<MutationSite> sites;
  Finder(module, kernel).Find(sites);
  AddBlockSites(kernel, sites);
  AddSyncSites(module, kernel, sites);
  std::stable_sort(sites.begin(), sites.end(),
                   [](const MutationSite& a, const MutationSite& b) { return a.mutation < b.mutation; });
  return sites;
}

}  // namespace palladion::mutation
