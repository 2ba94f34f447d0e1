// The random generator of a TPU core; specified in docs/spec/tpu.md. A TPU's own sequence is
// not documented: here it is Threefry-2x32 over a counter, so that what a kernel draws depends on its seed and on how
// many bits its core has drawn since, as on hardware. Based on: prng_seed, prng_random_bits
// of JAX 0.10.2.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/generator_task.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/threefry.h"

namespace palladion {
namespace {

absl::Status VerifySeed(const Instr& op, const VerifyContext& context) {
  if (context.in.empty()) return absl::InvalidArgumentError("expected at least one integer to seed with, found none");
  for (std::size_t i = 0; i < context.in.size(); ++i) PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kInts));
  return ExpectResults(op, 0);
}

absl::Status VerifyBits(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_ASSIGN_OR_RETURN(Shape shape, IntsAttr(op, "shape"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(DType::kI32, std::move(shape)));
}

struct SeedParams {
  std::vector<Type> types;
};

// tpu.md#prng_seed: the key is folded over the words, one after another.
absl::Status RunSeed(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const SeedParams*>(params);
  simd::U32Pair key = {0, 0};
  for (std::size_t i = 0; i < step.n_in; ++i) {
    const SlotId slot = frame.in(step, i);
    if (frame.shadow() != nullptr) frame.shadow()->Use(slot, "the seed", step, frame);
    for (std::int64_t word = 0; word < NumElements(p.types[i].shape); ++word) {
      const auto low = static_cast<std::uint32_t>(ReadIndex(frame.slot(slot), p.types[i].dtype, word));
      key = simd::Threefry2x32(key.first, key.second, 0, low);
    }
  }
  frame.generator() = {.key = key, .drawn = 0};
  return absl::OkStatus();
}

absl::Status LowerSeed(const Instr& op, Builder& builder) {
  SeedParams params;
  std::vector<SlotId> in;
  for (const Arg& arg : op.args) {
    PALLADION_ASSIGN_OR_RETURN(in.emplace_back(), builder.In(arg));
    params.types.push_back(builder.TypeOf(arg));
  }
  builder.Emit(RunSeed, std::move(params), in);
  return absl::OkStatus();
}

struct BitsParams {
  std::int64_t elements;
};

// What a core draws before it seeds is left over from other kernels, so nothing is known of it. A key of (0, 0) says
// that was not seeded: Threefry makes one of 2^64 keys from a seed.
void MarkUnseeded(const BitsParams& p, const Step& step, Frame& frame) {
  if (frame.shadow() == nullptr) return;
  const bool other_task = IsOfAnotherTask(frame.generator());
  if (!other_task && frame.generator().key != CoreGenerator().key) return;
  const std::string_view why = other_task
                                   ? " draws before prng_seed has seeded the generator of its core: the program that"
                                     " seeded it is not ordered before this one, and may run on another core"
                                   : " draws before prng_seed has seeded this core's generator";
  const Finding finding{.code = FindingCode::kUninitialised,
                        .message = Cat("prng_random_bits", AtAgent(NamingOf(frame.program()), frame.grid_index()), why),
                        .loc = step.loc,
                        .text_line = step.text_line};
  const std::uint8_t mark = frame.machine().MarkOfValue(finding, frame.site(step));
  const SlotId bits = frame.out(step, 0);
  std::fill_n(frame.shadow()->Marks(bits), p.elements, mark);
  frame.shadow()->SetAny(bits, mark != 0 && p.elements != 0);
}

// tpu.md#prng_random_bits: the words of the counter, from where it stands.
absl::Status RunBits(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const BitsParams*>(params);
  std::byte* out = frame.slot(frame.out(step, 0));
  MarkUnseeded(p, step, frame);
  CoreGenerator& generator = frame.generator();
  for (std::int64_t i = 0; i < p.elements; ++i, ++generator.drawn) {
    const std::uint64_t drawn = DrawnSinceSeed(generator);
    const simd::U32Pair words =
        simd::Threefry2x32(generator.key.first, generator.key.second, static_cast<std::uint32_t>(drawn >> 32),
                           static_cast<std::uint32_t>(drawn));
    const std::uint32_t bits = words.first ^ words.second;
    std::memcpy(out + static_cast<std::size_t>(i) * sizeof(bits), &bits, sizeof(bits));
  }
  return absl::OkStatus();
}

absl::Status LowerBits(const Instr& op, Builder& builder) {
  builder.Emit(RunBits, BitsParams{NumElements(op.types[0].shape)}, {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

// What is drawn depends on what the core drew before, in programs too that ran before this one.
constexpr OpRow Draws(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  return {.name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = Effect::kDraws,
          .waits = Waits::kNever,
          .signals = Signals::kNever,
          .decides = Decides::kAlways,
          .backends = kTpu};
}

constexpr OpRow kTpuRandomOps[] = {
    Draws("prng_seed", "tpu.md#prng_seed", VerifySeed, LowerSeed),
    Draws("prng_random_bits", "tpu.md#prng_random_bits", VerifyBits, LowerBits),
};

}  // namespace

absl::Span<const OpRow> TpuRandomOps() { return kTpuRandomOps; }

}  // namespace palladion
