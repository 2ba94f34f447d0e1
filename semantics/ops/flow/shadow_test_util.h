// One operation on values and its rule of definedness, run on random operands: what the property tests need.
#ifndef PALLADION_SEMANTICS_OPS_FLOW_SHADOW_TEST_UTIL_H_
#define PALLADION_SEMANTICS_OPS_FLOW_SHADOW_TEST_UTIL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/shadow.h"
#include "semantics/registry/verifier.h"
#include "semantics/tensor/convert.h"
#include "semantics/tensor/normalise.h"

namespace palladion::shadow_testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(Next() % n); }

 private:
  std::uint64_t state_;
};

struct Subject {
  Instr op;  // with its row
  ValueTypes types;
  std::string text;  // for messages: "add(f32[3], f32[]) -> f32[3]"
};

inline Type TypeOf(const Kernel& kernel, const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) return ArrayType(arg.literal.dtype, {});
  if (arg.kind == Arg::Kind::kDense) return ArrayType(arg.dense->dtype(), arg.dense->shape());
  return kernel.values[arg.value.index()].type;
}

inline Subject SubjectOf(const Kernel& kernel, const Instr& op) {
  Subject subject{.op = op, .types = {}, .text = {}};
  for (const Arg& arg : op.args) subject.types.in.push_back(TypeOf(kernel, arg));
  subject.types.out = op.types;
  const auto list = [](const std::vector<Type>& types) {
    return absl::StrJoin(types, ", ", [](std::string* out, const Type& type) { *out += ToString(type); });
  };
  subject.text = Cat(op.dialect, op.dialect.empty() ? "" : ".", op.name, ToString(op.attrs), "(",
                     list(subject.types.in), ") -> ", list(subject.types.out));
  return subject;
}

inline void CollectSubjects(const Kernel& kernel, const Region& region, std::vector<Subject>& subjects) {
  for (const Instr& op : region.body) {
    for (const Region& inner : op.regions) CollectSubjects(kernel, inner, subjects);
    if (op.row->prepare != nullptr) subjects.push_back(SubjectOf(kernel, op));
  }
}

// Every value operation of every kernel in the text, which must parse and verify.
inline absl::StatusOr<std::vector<Subject>> SubjectsOf(const std::string& kernel_text) {
  PALLADION_ASSIGN_OR_RETURN(Module parsed, Parse(kernel_text));
  PALLADION_ASSIGN_OR_RETURN(const VerifiedModule verified, Verify(std::move(parsed)));
  std::vector<Subject> subjects;
  for (const Kernel& kernel : verified.module().kernels) {
    for (const Body& body : kernel.bodies) CollectSubjects(kernel, body.region, subjects);
    for (const Operand& operand : kernel.operands) {
      if (operand.block.has_value()) CollectSubjects(kernel, operand.block->map, subjects);
    }
  }
  return subjects;
}

// An operation in a kernel of its own.
struct Form {
  std::vector<std::string> in;
  std::string op;
  std::vector<std::string> out;
};

inline std::string TextOf(const Form& form) {
  const auto each = [&form](const char* separator, auto text) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < form.in.size(); ++i) parts.push_back(text(i, form.in[i]));
    return absl::StrJoin(parts, separator);
  };
  std::vector<std::string> results;
  for (std::size_t i = 0; i < form.out.size(); ++i) results.push_back(Cat("%o", i));
  return Cat(
      "pkir 1;\nkernel @form {\n  grid [];\n",
      each("", [](std::size_t i, const std::string& type) { return Cat("  in %x", i, ": ", type, ";\n"); }),
      "  body @body (",
      each(", ", [](std::size_t i, const std::string& t) { return Cat("%r", i, ": ref<default,", t, ">"); }), ") {\n",
      each("", [](std::size_t i, const std::string& t) { return Cat("    %v", i, " = get(%r", i, ") : ", t, ";\n"); }),
      "    ", absl::StrJoin(results, ", "), " = ", form.op, "(",
      each(", ", [](std::size_t i, const std::string&) { return Cat("%v", i); }), ") : ", absl::StrJoin(form.out, ", "),
      ";\n    return;\n  }\n}\n");
}

using Marks = std::vector<std::uint8_t>;

struct Operands {
  std::vector<std::vector<std::byte>> values;
  std::vector<Marks> marks;  // of each operand; an empty list: nothing of it is undefined
};

class Runner {
 public:
  static absl::StatusOr<Runner> Make(const Subject& subject) {
    Runner runner(subject);
    PALLADION_ASSIGN_OR_RETURN(runner.value, subject.op.row->prepare(subject.op, subject.types));
    PALLADION_ASSIGN_OR_RETURN(runner.rule, PrepareShadow(subject.op, subject.types));
    return runner;
  }

  std::vector<std::vector<std::byte>> Values(const Operands& operands) const {
    std::vector<const std::byte*> in;
    for (const auto& bytes : operands.values) in.push_back(bytes.data());
    std::vector<std::vector<std::byte>> results;
    for (const Type& type : subject->types.out) results.emplace_back(Bytes(type));
    std::vector<std::byte*> out;
    for (auto& bytes : results) out.push_back(bytes.data());
    std::vector<std::byte> scratch(value.scratch_bytes + 64);
    value.run(value.params.get(), {.in = in.data(), .out = out.data(), .scratch = AlignedStart(scratch)});
    return results;
  }

  std::vector<Marks> Undefined(const Operands& operands) const {
    std::vector<const std::byte*> in;
    std::vector<const std::uint8_t*> marks;
    for (std::size_t i = 0; i < operands.values.size(); ++i) {
      in.push_back(operands.values[i].data());
      marks.push_back(operands.marks[i].empty() ? nullptr : operands.marks[i].data());
    }
    std::vector<Marks> results = Unwritten();
    std::vector<std::uint8_t*> out;
    for (Marks& result : results) out.push_back(result.data());
    // Nothing else is written: neither before the scratch nor behind it.
    constexpr std::size_t kGuard = 4096;
    std::vector<std::byte> scratch(kGuard + rule.scratch_bytes + 64 + kGuard, kGarbage);
    std::byte* const start = AlignedStart(scratch) + kGuard;
    rule.run(rule.params.get(), {in.data(), marks.data(), out.data(), start});
    const auto untouched = [](std::byte byte) { return byte == kGarbage; };
    EXPECT_TRUE(std::all_of(scratch.data(), start, untouched)) << "wrote before its scratch";
    EXPECT_TRUE(std::all_of(start + rule.scratch_bytes, scratch.data() + scratch.size(), untouched))
        << "wrote behind its scratch";
    return results;
  }

  // The same in strips of a few elements; only of a rule that has strips.
  std::vector<Marks> UndefinedInStrips(const Operands& operands) const {
    constexpr std::size_t kStrip = 3;
    const std::size_t n = Elements(subject->types.out[0]);
    std::vector<Marks> results = Unwritten();
    for (std::size_t first = 0; first < n; first += kStrip) {
      std::vector<const std::byte*> in;
      std::vector<const std::uint8_t*> marks;
      for (std::size_t i = 0; i < operands.values.size(); ++i) {
        const std::size_t skip = IsBroadcast(subject->types, i) ? 0 : first;
        in.push_back(operands.values[i].data() + skip * (Bytes(subject->types.in[i]) / Elements(subject->types.in[i])));
        marks.push_back(operands.marks[i].empty() ? nullptr : operands.marks[i].data() + skip);
      }
      std::vector<std::uint8_t*> out;
      for (Marks& result : results) out.push_back(result.data() + first);
      rule.strip(rule.params.get(), {in.data(), marks.data(), out.data(), nullptr}, std::min(kStrip, n - first));
    }
    return results;
  }

  const Subject* subject;
  ValueKernel value;
  ShadowKernel rule;

 private:
  static constexpr std::byte kGarbage{0xcd};
  explicit Runner(const Subject& s) : subject(&s) {}

  static std::byte* AlignedStart(std::vector<std::byte>& scratch) {
    return scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  }
  std::vector<Marks> Unwritten() const {
    std::vector<Marks> results;
    for (const Type& type : subject->types.out)
      results.emplace_back(Elements(type), std::to_integer<std::uint8_t>(kGarbage));
    return results;
  }
};

inline std::size_t StoredSize(const Type& type) { return Bytes(type) / std::max<std::size_t>(Elements(type), 1); }

// One element of any kind that its type has: random bits, a small number, a special one. In memory's form.
inline void FillElement(const Type& type, int kind, Random& random, std::byte* element) {
  const std::size_t words = type.is_key() ? 2 : 1;
  for (std::size_t w = 0; w < words; ++w, element += StorageBytes(type.dtype)) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kSpecial[] = {0, -0.0f, 1, -1, kInf, -kInf, NAN, 1e30f, -1e30f, 1e-40f};
    const float small = static_cast<float>(static_cast<int>(random.Below(17)) - 8) / 4;
    const float integer = static_cast<float>(static_cast<int>(random.Below(9)) - 4);
    const float special = kSpecial[random.Below(std::size(kSpecial))];
    const std::uint64_t bits = random.Next();
    if (kind == 0) {
      std::memcpy(element, &bits, StorageBytes(type.dtype));
    } else {
      const float number = kind == 1 ? (IsFloat(type.dtype) ? small : integer) : special;
      FindConvert(DType::kF32, type.dtype)(&number, element, 1);
    }
    Normalise(type.dtype, element, 1);
  }
}

inline constexpr int kKinds = 3;

inline std::vector<std::byte> RandomValue(const Type& type, Random& random) {
  std::vector<std::byte> bytes(Bytes(type));
  const std::size_t mixed = random.Below(2);
  const int kind = static_cast<int>(random.Below(kKinds));
  for (std::size_t i = 0; i < Elements(type); ++i) {
    FillElement(type, mixed != 0 ? static_cast<int>(random.Below(kKinds)) : kind, random,
                bytes.data() + i * StoredSize(type));
  }
  return bytes;
}

// Other contents for the elements that are undefined.
inline void RefillUndefined(const Subject& subject, Random& random, Operands& operands) {
  for (std::size_t i = 0; i < operands.values.size(); ++i) {
    const Type& type = subject.types.in[i];
    const int kind = static_cast<int>(random.Below(kKinds));
    for (std::size_t e = 0; e < operands.marks[i].size(); ++e) {
      if (operands.marks[i][e] != 0) FillElement(type, kind, random, operands.values[i].data() + e * StoredSize(type));
    }
  }
}

// A few different marks on none, one, some or all elements of each operand, and on one element at least.
inline std::vector<Marks> RandomMarks(const Subject& subject, Random& random) {
  std::vector<Marks> all;
  bool any = false;
  for (const Type& type : subject.types.in) {
    const std::size_t n = Elements(type);
    Marks marks;
    const std::size_t how = n == 0 ? 0 : random.Below(5);
    if (how != 0) marks.resize(n);
    const auto mark = [&] { return static_cast<std::uint8_t>(1 + random.Below(4) * 42); };  // 1, 43, 85, 127
    if (how == 1 || how == 2) marks[random.Below(n)] = mark();
    for (std::size_t e = 0; e < n && how > 2; ++e) {
      if (how == 4 || random.Below(3) == 0) marks[e] = mark();
    }
    any = any || std::any_of(marks.begin(), marks.end(), [](std::uint8_t m) { return m != 0; });
    all.push_back(std::move(marks));
  }
  return any ? all : RandomMarks(subject, random);
}

inline bool HasElements(const Subject& subject) {
  return std::any_of(subject.types.in.begin(), subject.types.in.end(),
                     [](const Type& type) { return Elements(type) != 0; });
}

}  // namespace palladion::shadow_testing

#endif  // PALLADION_SEMANTICS_OPS_FLOW_SHADOW_TEST_UTIL_H_
