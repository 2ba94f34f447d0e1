// Random kernels over i32 for tests: nested control flow over values and refs, as text and as a tree for an evaluator.
#ifndef PALLADION_EMU_TESTING_RANDOM_PROGRAM_TEST_UTIL_H_
#define PALLADION_EMU_TESTING_RANDOM_PROGRAM_TEST_UTIL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emu/testing/random_tree_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::random_program {

// Makes the tree and the text together.
class Generator {
 public:
  // Vectors have `width` elements, 4 or more. Scratch is written before anything else, or left unwritten.
  Generator(std::uint64_t seed, int width, bool leave_scratch = false)
      : random_(seed),
        leave_scratch_(leave_scratch),
        vector_(Cat("i32[", width, "]")),
        type_text_{"i32[]", vector_, Cat("i32[", kLength, "]"), Cat("i32[", kLength, ",", width, "]")},
        row_(Cat("i32[2,", width, "] block (sq,", width, ") map (%i: i32[]) { return %i, 0:i32; }")) {}

  Body body;
  std::string text;

  void Make() {
    next_ref_ = 4;
    refs_ = {0, 1, 2, 3};  // x's block, y, o's block, scratch; the last two hold poison until they are written
    text =
        Cat("pkir 1;\nkernel @r {\n  grid [2];\n  in %x: ", row_, ";\n  in %y: ", vector_, ";\n  out %o: ", row_,
            ";\n  scratch %s: ref<vmem,", vector_, ">;\n  body @r (%r0: ref<default,", vector_, ">, %r1: ref<default,",
            vector_, ">, %r2: ref<default,", vector_, ">, %r3: ref<vmem,", vector_, ">) {\n");
    body_ = &body;
    const int first = Emit({.op = Op::kGet, .name = "", .args = {}, .refs = {0}}, {kVector});
    for (int ref = 2; ref < (leave_scratch_ ? 3 : 4); ++ref)
      Emit({.op = Op::kSwap, .name = "", .args = {{first}}, .refs = {ref}}, {});
    Instructions(10, 3);
    // Everything that is visible at the end goes into the output.
    Use sum{first};
    const std::vector<std::pair<int, TypeOf>> values = values_;
    for (const auto& [id, type] : values) {
      Use part{id};
      if (type == kColumn) part = {Emit({.op = Op::kSum, .name = "", .args = {part}}, {kScalar})};
      if (type == kMatrix) part = {Emit({.op = Op::kColumnSum, .name = "", .args = {part}}, {kVector})};
      const Use three = {Emit({.op = Op::kBinary, .name = "mul", .args = {sum, {-1, 3}}}, {kVector})};
      sum = {Emit({.op = Op::kBinary, .name = "add", .args = {three, part}}, {kVector})};
    }
    for (int ref : {3, 1}) {
      const Use old = {Emit({.op = Op::kGet, .name = "", .args = {}, .refs = {ref}}, {kVector})};
      sum = {Emit({.op = Op::kBinary, .name = "xor", .args = {sum, old}}, {kVector})};
    }
    Emit({.op = Op::kAddUpdate, .name = "", .args = {sum}, .refs = {2}}, {});
    text += "    return;\n  }\n}\n";
  }

 private:
  std::string Text(Use use) const { return use.id < 0 ? Cat(use.literal, ":i32") : Cat("%v", use.id); }
  static std::string Join(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
    return all;
  }

  Use Pick(TypeOf type) {
    std::vector<int> ids;
    for (const auto& [id, t] : values_) {
      if (t == type) ids.push_back(id);
    }
    if (type == kScalar && (ids.empty() || random_.Below(6) == 0)) return {-1, random_.Below(7) - 2};
    if (!ids.empty()) {
      // The latest more often: short lives and long ones.
      const int n = static_cast<int>(ids.size());
      return {ids[static_cast<std::size_t>(random_.Below(2) == 0 ? n - 1 : random_.Below(n))]};
    }
    return {Emit({.op = Op::kBinary, .name = "add", .args = {{-1, random_.Below(9)}, {-1, 1}}},
                 {type})};  // literals broadcast
  }
  TypeOf PickType() { return static_cast<TypeOf>(random_.Below(kTypes)); }
  int PickRef() { return refs_[static_cast<std::size_t>(random_.Below(static_cast<int>(refs_.size())))]; }

  // One instruction; `names` are its results'.
  std::string NodeText(const Node& node, const std::vector<TypeOf>& types, const std::vector<std::string>& names,
                       const std::vector<std::string>& type_names, const std::string& bodies) const {
    const std::string ending = types.empty() ? ";\n" : Cat(" : ", Join(type_names), ";\n");
    const std::string ref = node.refs.empty() ? "" : Cat("%r", node.refs[0]);
    std::string start = names.empty() ? "    " : Cat("    ", Join(names), " = ");
    std::vector<std::string> args;
    for (Use use : node.args) args.push_back(Text(use));
    switch (node.op) {
      case Op::kBinary: {
        // A literal of rank 0 makes no vector by itself.
        const bool literals = node.args[0].id < 0 && node.args[1].id < 0 && types[0] != kScalar;
        if (literals) {
          const std::string type = type_text_[types[0]];
          const std::string shape = type.substr(3);
          return Cat("    ", names[0], " = broadcast_in_dim{shape=", shape, ", dims=[]}(",
                     node.args[0].literal + node.args[1].literal, ":i32) : ", type, ";\n");
        }
        return Cat(start, node.name, "(", Join(args), ")", ending);
      }
      case Op::kRev:
        return Cat(start, "rev{dims=[0]}(", args[0], ")", ending);
      case Op::kSum:
        return Cat(start, "reduce_sum{axes=[0]}(", args[0], ")", ending);
      case Op::kColumnSum:
        return Cat(start, "reduce_sum{axes=[0]}(", args[0], ")", ending);
      case Op::kId:
        return Cat(start, "program_id{axis=0}()", ending);
      case Op::kGet:
        return Cat(start, "get(", ref, ")", ending);
      case Op::kGetAt:
        return Cat(start, "get(", ref, ".at[", args[0].substr(0, args[0].find(':')), "])", ending);
      case Op::kSwap:
        return types.empty() ? Cat("    _ = swap(", ref, ", ", args[0], ") : ", vector_, ";\n")
                             : Cat(start, "swap(", ref, ", ", args[0], ")", ending);
      case Op::kSwapAt:
        return Cat("    _ = swap(", ref, ".at[", args[0].substr(0, args[0].find(':')), "], ", args[1], ") : i32[];\n");
      case Op::kAddUpdate:
        return Cat("    addupdate(", ref, ", ", args[0], ");\n");
      case Op::kFreeze:
        return Cat(start, "freeze(", ref, ")", ending);
      case Op::kPrint:
        return Cat("    debug_print{fmt=\"{}\"}(", args[0], ");\n");
      default:
        return Cat(start, bodies, ending);
    }
  }

  // Writes the instruction; the results are new values. Returns the first.
  int Emit(Node node, const std::vector<TypeOf>& types, const std::string& bodies = "", bool may_ignore = false) {
    std::vector<std::string> names, type_names;
    if (!types.empty()) node.type = types[0];
    for (TypeOf type : types) {
      const bool ignore = may_ignore && random_.Below(5) == 0;
      node.results.push_back(ignore ? -1 : next_value_++);
      names.push_back(ignore ? "_" : Cat("%v", node.results.back()));
      type_names.push_back(type_text_[type]);
      if (!ignore) values_.push_back({node.results.back(), type});
    }
    text += NodeText(node, types, names, type_names, bodies);
    body_->nodes.push_back(std::move(node));
    return body_->nodes.back().results.empty() ? -1 : body_->nodes.back().results[0];
  }

  // Numbers that may be used as an index of four elements.
  Use Index() {
    if (random_.Below(3) == 0) return {-1, random_.Below(4)};
    return {Emit({.op = Op::kBinary, .name = "and", .args = {Pick(kScalar), {-1, 3}}}, {kScalar})};
  }

  void Instructions(int count, int depth) {
    for (int i = 0; i < count; ++i) Instruction(depth);
  }

  void Instruction(int depth) {
    const int choice = random_.Below(depth > 0 ? 22 : 14);
    if (choice < 4) return Binary();
    switch (choice) {
      case 4:
        Emit({.op = Op::kRev, .name = "", .args = {Pick(kVector)}}, {kVector});
        return;
      case 5:
        Emit({.op = Op::kSum, .name = "", .args = {Pick(random_.Below(2) == 0 ? kVector : kColumn)}}, {kScalar});
        return;
      case 6:
        Emit({.op = Op::kId, .name = ""}, {kScalar});
        return;
      case 7:
      case 8:
        Emit({.op = Op::kGet, .name = "", .args = {}, .refs = {PickRef()}}, {kVector});
        return;
      case 9: {
        const Use at = Index();
        Emit({.op = Op::kGetAt, .name = "", .args = {at}, .refs = {PickRef()}}, {kScalar});
        return;
      }
      case 10:
        Emit({.op = Op::kSwap, .name = "", .args = {Pick(kVector)}, .refs = {PickRef()}},
             random_.Below(2) == 0 ? std::vector<TypeOf>{} : std::vector<TypeOf>{kVector});
        return;
      case 11: {
        const Use at = Index(), value = Pick(kScalar);
        Emit({.op = Op::kSwapAt, .name = "", .args = {at, value}, .refs = {PickRef()}}, {});
        return;
      }
      case 12:
        Emit({.op = Op::kAddUpdate, .name = "", .args = {Pick(kVector)}, .refs = {PickRef()}}, {});
        return;
      case 13:
        if (random_.Below(3) == 0) Emit({.op = Op::kPrint, .name = "", .args = {Pick(kScalar)}}, {});
        return;
      case 14:
      case 15:
        return Cond(depth - 1);
      case 16:
        return While(depth - 1);
      case 17:
      case 18:
        return Scan(depth - 1);
      case 19:
        return Call(depth - 1);
      case 20:
        return Scoped(depth - 1);
      default:
        return random_.Below(2) == 0 ? State(depth - 1) : NewRef(depth - 1);
    }
  }

  void Binary() {
    static const char* const kNames[] = {"add", "sub", "mul", "max", "min", "xor", "or", "and"};
    const TypeOf type = PickType();
    const Use a = Pick(type), b = type != kScalar && random_.Below(3) == 0 ? Pick(kScalar) : Pick(type);
    Emit({.op = Op::kBinary, .name = kNames[random_.Below(8)], .args = {a, b}}, {type});
  }

  // A region: parameters, instructions, results. `start` comes before the instructions, and what it puts into `fixed`
  // are the first results. The text is returned; the tree goes to `out`.
  struct RegionForm {
    std::vector<TypeOf> params = {}, results = {};
    std::vector<int> ref_params = {};
    bool brackets = true;
    std::function<void(std::vector<Use>& fixed)> start = {};
  };
  std::string Region(const RegionForm& form, int depth, Body& out) {
    const auto& [params, results, ref_params, brackets, start] = form;
    const std::string before = std::exchange(text, "");
    const std::size_t values = values_.size();
    Body* const outer = std::exchange(body_, &out);
    const std::vector<int> refs = refs_;
    std::vector<std::string> names, returned;
    for (TypeOf type : params) {
      out.params.push_back(next_value_++);
      values_.push_back({out.params.back(), type});
      names.push_back(Cat("%v", out.params.back(), ": ", type_text_[type]));
    }
    for (int ref : ref_params) {
      out.ref_params.push_back(ref);
      refs_.push_back(ref);
      names.push_back(Cat("%r", ref, ": ref<vmem,", vector_, ">"));
    }
    std::vector<Use> fixed;
    if (start) start(fixed);
    Instructions(random_.Below(5), depth);
    for (std::size_t i = 0; i < results.size(); ++i)
      out.results.push_back(i < fixed.size() ? fixed[i] : Pick(results[i]));
    for (Use use : out.results) returned.push_back(Text(use));
    const std::string inside = std::exchange(text, before);
    values_.resize(values);
    refs_ = refs;
    body_ = outer;
    return Cat(brackets ? Cat(" (", Join(names), ")") : "", " {\n", inside, "    return", returned.empty() ? "" : " ",
               Join(returned), ";\n    }");
  }

  std::vector<TypeOf> Types(int most) {
    std::vector<TypeOf> types(static_cast<std::size_t>(random_.Below(most + 1)));
    for (TypeOf& type : types) type = PickType();
    return types;
  }
  std::vector<Use> PickAll(const std::vector<TypeOf>& types) {
    std::vector<Use> uses;
    for (TypeOf type : types) uses.push_back(Pick(type));
    return uses;
  }
  std::string Operands(const std::vector<Use>& uses, std::string_view prefix) const {
    std::vector<std::string> parts;
    for (Use use : uses) parts.push_back(Cat(prefix, Text(use)));
    return Join(parts);
  }

  void Cond(int depth) {
    const std::vector<TypeOf> results = Types(3);
    Node node{.op = Op::kCond, .name = "", .args = {Pick(kScalar)}};
    const int branches = 1 + random_.Below(3);
    node.bodies.resize(static_cast<std::size_t>(branches));
    std::string bodies = Cat("cond(", Text(node.args[0]), ")");
    for (Body& branch : node.bodies) bodies += Region({.results = results, .brackets = false}, depth, branch);
    Emit(std::move(node), results, bodies, true);
  }

  // The first carry counts to a limit, so that the loop ends.
  void While(int depth) {
    std::vector<TypeOf> types = Types(3);
    types.insert(types.begin(), kScalar);
    Node node{.op = Op::kWhile, .name = "", .args = PickAll(types)};
    node.args[0] = {-1, 0};
    node.bodies.resize(2);
    std::string bodies = Cat("while(", Operands(node.args, "init="), ")");
    const int limit = random_.Below(4);
    Body& condition = node.bodies[0];
    const std::string before = std::exchange(text, "");
    const std::size_t values = values_.size();
    Body* const outer = std::exchange(body_, &condition);
    std::vector<std::string> names;
    for (TypeOf type : types) {
      condition.params.push_back(next_value_++);
      values_.push_back({condition.params.back(), type});
      names.push_back(Cat("%v", condition.params.back(), ": ", type_text_[type]));
    }
    Instructions(random_.Below(3), 0);
    const int more = next_value_++;
    condition.nodes.push_back({.op = Op::kBinary,
                               .name = "lt",
                               .args = {{condition.params[0]}, {-1, limit}},
                               .refs = {},
                               .bodies = {},
                               .results = {more}});
    condition.results = {{more}};
    const std::string inside = std::exchange(text, before);
    values_.resize(values);
    body_ = outer;
    bodies += Cat(" (", Join(names), ") {\n", inside, "    %v", more, " = lt(%v", condition.params[0], ", ", limit,
                  ":i32) : bool[];\n    return %v", more, ";\n    }");
    Body& loop = node.bodies[1];
    const auto count = [&](std::vector<Use>& fixed) {
      fixed = {{Emit({.op = Op::kBinary, .name = "add", .args = {{loop.params[0]}, {-1, 1}}}, {kScalar})}};
    };
    bodies += Region({.params = types, .results = types, .start = count}, depth, loop);
    Emit(std::move(node), types, bodies, true);
  }

  void Scan(int depth) {
    const std::vector<TypeOf> carries = Types(3), stacked_in = Types(2), stacked_out = Types(2);
    std::vector<TypeOf> params = carries, inner = carries, outer = carries, xs;
    for (TypeOf type : stacked_in)
      xs.push_back(type % 2 == 0 ? kColumn : kMatrix), params.push_back(type % 2 == 0 ? kScalar : kVector);
    for (TypeOf type : stacked_out)
      outer.push_back(type % 2 == 0 ? kColumn : kMatrix), inner.push_back(type % 2 == 0 ? kScalar : kVector);
    const std::vector<Use> init = PickAll(carries), whole = PickAll(xs);
    Node node{.op = Op::kScan, .name = "", .args = init};
    node.args.insert(node.args.end(), whole.begin(), whole.end());
    node.carries = carries.size();
    node.reverse = random_.Below(2) == 0;
    node.bodies.resize(1);
    const std::string comma = init.empty() || whole.empty() ? "" : ", ";
    std::string bodies = Cat("scan{length=", kLength, ", reverse=", node.reverse ? "true" : "false", "}(",
                             Operands(init, "init="), comma, Operands(whole, "xs="), ")");
    bodies += Region({.params = params, .results = inner}, depth, node.bodies[0]);
    Emit(std::move(node), outer, bodies, true);
  }

  void Call(int depth) {
    const std::vector<TypeOf> types = Types(2), results = Types(2);
    Node node{.op = Op::kCall, .name = "", .args = PickAll(types)};
    node.bodies.resize(1);
    const RegionForm form{.params = types, .results = results};
    const std::string bodies = Cat("closed_call(", Operands(node.args, ""), ")", Region(form, depth, node.bodies[0]));
    Emit(std::move(node), results, bodies, true);
  }

  void Scoped(int depth) {
    const std::vector<TypeOf> results = Types(2);
    Node node{.op = Op::kScoped, .name = "", .args = {}};
    node.bodies.resize(1);
    const int ref = next_ref_++;
    const Use first = Pick(kVector);
    const auto store = [&](std::vector<Use>&) {
      if (!leave_scratch_) Emit({.op = Op::kSwap, .name = "", .args = {first}, .refs = {ref}}, {});
    };
    const RegionForm form{.results = results, .ref_params = {ref}, .start = store};
    const std::string bodies = Cat("run_scoped()", Region(form, depth, node.bodies[0]));
    Emit(std::move(node), results, bodies, true);
  }

  void State(int depth) {
    Node node{.op = Op::kState, .name = "", .args = {Pick(kVector), Pick(kVector)}};
    node.bodies.resize(1);
    const RegionForm form{.ref_params = {next_ref_, next_ref_ + 1}};
    next_ref_ += 2;
    const std::string bodies = Cat("run_state(", Operands(node.args, ""), ")", Region(form, depth, node.bodies[0]));
    Emit(std::move(node), {kVector, kVector}, bodies, true);
  }

  void NewRef(int depth) {
    Node node{.op = Op::kNewRef, .name = "", .args = {Pick(kVector)}, .refs = {next_ref_++}};
    const int ref = node.refs[0];
    text += Cat("    %r", ref, " = new_ref(", Text(node.args[0]), ") : ref<vmem,", vector_, ">;\n");
    body_->nodes.push_back(node);
    refs_.push_back(ref);
    Instructions(2, depth);
    refs_.pop_back();
    Emit({.op = Op::kFreeze, .name = "", .args = {}, .refs = {ref}}, {kVector});
  }

  Random random_;
  bool leave_scratch_;
  std::string vector_, type_text_[kTypes], row_;
  std::vector<std::pair<int, TypeOf>> values_;
  std::vector<int> refs_;
  int next_value_ = 0, next_ref_ = 0;
  Body* body_ = nullptr;
};

}  // namespace palladion::random_program

#endif  // PALLADION_EMU_TESTING_RANDOM_PROGRAM_TEST_UTIL_H_
