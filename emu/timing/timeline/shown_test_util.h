// A timeline as a model could give it, for tests and pictures of what shows it: one block of a matrix product with a
// warpgroup that copies into a ring and two that multiply. A small simulation, of no chip: its numbers mean nothing.
#ifndef PALLADION_EMU_TIMING_TIMELINE_SHOWN_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_TIMELINE_SHOWN_TEST_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "emu/timing/timeline/shown.h"
#include "semantics/base/cat.h"

namespace palladion::timing::timeline {

class ToyMatmul {
 public:
  ToyMatmul(int tiles, int steps, int slots) : slots_(slots) {
    for (const int line : {12, 13, 14, 19, 20, 21, 22, 25, 26}) {
      module_.locs.push_back({.file = FileId{0}, .line = line, .column = 3, .function = "kernel", .via = {}});
    }
    module_.files = {"/home/you/matmul.py"};
    const std::string block = "block (3, 0)";
    timeline_.lanes = {{block, "warpgroup 0", LaneKind::kThread},
                       {block, "warpgroup 1", LaneKind::kThread},
                       {block, "warpgroup 2", LaneKind::kThread},
                       {block, "TMA", LaneKind::kEngine},
                       {block, "wgmma", LaneKind::kEngine},
                       {"SM 3", "tensor cores", LaneKind::kUnit},
                       {"SM 3", "shared memory port", LaneKind::kUnit},
                       {"barriers", "full[0]", LaneKind::kBarrier},
                       {"shared memory", "b_smem[0]", LaneKind::kSlot}};
    full_.assign(static_cast<std::size_t>(slots), kNoSpan);
    empty_.assign(static_cast<std::size_t>(slots), {kNoSpan, kNoSpan});
    for (int step = 0; step < tiles * steps; ++step) {
      Produce(step);
      for (int consumer = 0; consumer < 2; ++consumer) Consume(step, consumer, step % steps == steps - 1);
    }
    SortByBegin();
    for (const Span& span : timeline_.spans) timeline_.length = std::max(timeline_.length, span.end);
    FillStrips();
    FillTiming();
  }

  Timeline& timeline() { return timeline_; }
  report::Timing& timing() { return timing_; }
  Report& report() { return report_; }
  TimelineShown Shown() const {
    return {.timeline = timeline_,
            .timing = timing_,
            .report = report_,
            .module = module_,
            .kernel_text = kText,
            .kernel_path = "matmul.pkir",
            .source_line = [](const std::string&, int line) -> std::optional<std::string> {
              const std::vector<std::string> lines = absl::StrSplit(kPython, '\n');
              if (line > static_cast<int>(lines.size())) return std::nullopt;
              return lines[static_cast<std::size_t>(line) - 1];
            }};
  }

 private:
  static constexpr const char* kPython =
      "import jax.numpy as jnp\nfrom jax import lax\nfrom jax.experimental import pallas as pl\n"
      "from jax.experimental.pallas import mosaic_gpu as plgpu\n\n\n"
      "def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, o_smem, full, empty):\n  wg = lax.axis_index(\"wg\")\n\n"
      "  def fetch(step, _):\n    slot = lax.rem(step, SLOTS)\n    plgpu.barrier_wait(empty.at[slot])\n"
      "    plgpu.copy_gmem_to_smem(a_gmem.at[m, k(step)], a_smem.at[slot], full.at[slot])\n"
      "    plgpu.copy_gmem_to_smem(b_gmem.at[k(step), n], b_smem.at[slot], full.at[slot])\n\n"
      "  def multiply(acc):\n    def body(step, _):\n      slot = lax.rem(step, SLOTS)\n"
      "      plgpu.barrier_wait(full.at[slot])\n      plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])\n"
      "      plgpu.wgmma_wait(1)\n      plgpu.barrier_arrive(empty.at[slot])\n"
      "    lax.fori_loop(0, STEPS, body, None)\n\n    o_smem[...] = acc[...].astype(jnp.float16)\n"
      "    plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[m, n])\n\n  pl.when(wg == 0)(lambda: lax.fori_loop(0, STEPS, "
      "fetch, "
      "None))\n  pl.when(wg > 0)(lambda: pl.run_scoped(multiply, plgpu.ACC((128, 128))))";
  static constexpr const char* kText =
      "pkir 1;\nfile #f0 = \"/home/you/matmul.py\";\nloc #l0 = #f0:12:3 fn \"kernel\";\n"
      "kernel @matmul { backend mosaic_gpu; in %a: f16[4096,4096]; in %b: f16[4096,4096]; out %o: f16[4096,4096];\n"
      " body @b (...) {\n  scan{length=64}() () {\n    barrier_wait(%empty.at[%slot]) loc #l0;\n"
      "    copy_gmem_to_smem(%a, %a_smem.at[%slot], %full) loc #l1;\n"
      "    copy_gmem_to_smem(%b, %b_smem.at[%slot], %full) loc #l2;\n  }\n  scan{length=64}() () {\n"
      "    barrier_wait(%full.at[%slot]) loc #l3;\n    wgmma_ref(%acc, %a_smem, %b_smem) loc #l4;\n"
      "    wgmma_wait{allow_groups=1}() loc #l5;\n    barrier_arrive(%empty.at[%slot]) loc #l6;\n  }\n"
      "  swap(%o_smem, %rounded) loc #l7;\n  copy_smem_to_gmem(%o_smem, %o) loc #l8;\n  return; } }\n";

  static LocId LocOf(int text_line) {
    static const std::map<int, int> locs = {{7, 0},  {8, 1},  {9, 2},  {12, 3}, {13, 4},
                                            {14, 5}, {15, 6}, {17, 7}, {18, 8}};
    return LocId{locs.at(text_line)};
  }
  double EndOf(std::int32_t span) const {
    return span == kNoSpan ? 0 : timeline_.spans[static_cast<std::size_t>(span)].end.value();
  }
  // From when it can begin, for so many cycles.
  std::int32_t Add(Span span, double begin, double cycles) {
    span.begin = machines::Cycles(begin);
    span.end = machines::Cycles(begin + cycles);
    if (span.text_line != 0) span.loc = LocOf(span.text_line);
    timeline_.spans.push_back(span);
    return static_cast<std::int32_t>(timeline_.spans.size()) - 1;
  }
  std::int32_t Work(int thread, int line, const std::string& what, double cycles) {
    double& now = now_[static_cast<std::size_t>(thread)];
    now += cycles;
    return Add({.lane = thread, .text_line = line, .what = what}, now - cycles, cycles);
  }
  void Wait(int thread, int line, const std::string& what, std::int32_t slot, std::int32_t by) {
    double& now = now_[static_cast<std::size_t>(thread)];
    if (EndOf(by) <= now) return;
    Add({.lane = thread, .kind = SpanKind::kWait, .text_line = line, .what = what, .slot = slot, .ended_by = by}, now,
        EndOf(by) - now);
    now = EndOf(by);
  }

  void Produce(int step) {
    const int slot = step % slots_;
    for (const std::int32_t arrival : empty_[static_cast<std::size_t>(slot)])
      Wait(0, 7, Cat("wait empty[", slot, "], phase ", step / slots_ - 1), slot, arrival);
    for (const int line : {8, 9}) {
      const char* name = line == 8 ? "a" : "b";
      const std::int32_t issuer = Work(0, line, Cat("copy ", name, " -> ", name, "_smem[", slot, "]"), 22);
      const double begin = std::max(copies_free_, now_[0]), latency = 560 + 37 * (step * 7 % 11);
      copies_free_ = begin + 132;
      full_[static_cast<std::size_t>(slot)] = Add({.lane = 3,
                                                   .kind = SpanKind::kCopyIn,
                                                   .text_line = line,
                                                   .what = Cat(name, " -> ", name, "_smem[", slot, "]"),
                                                   .slot = slot,
                                                   .ended_by = issuer},
                                                  begin, latency);
      if (slot == 0) ArriveAtFull(step / slots_, line, begin + latency);
      Add({.lane = 6, .kind = SpanKind::kCopyIn, .what = Cat(name, " arrives")}, begin + latency - 128, 128);
    }
  }

  // The first slot's barrier has a lane, and so has what is in it.
  void ArriveAtFull(int phase, int line, double at) {
    const std::int32_t by = full_[0];
    at = std::max(at, arrived_);
    const auto put = [&](SpanKind kind, const std::string& what, double from) {
      Add({.lane = 7, .kind = kind, .text_line = line, .what = what, .slot = 0, .ended_by = by}, from, at - from);
    };
    put(SpanKind::kPending, line == 8 ? "2 of 2 pending" : "1 of 2 pending", arrived_);
    arrived_ = at;
    if (line == 8) return;
    put(SpanKind::kPhase, Cat("full[0], phase ", phase), completed_);
    completed_ = arrived_;
    const Span copy = timeline_.spans[static_cast<std::size_t>(by)];
    Add({.lane = 8, .kind = copy.kind, .text_line = line, .what = copy.what, .slot = 0, .ended_by = copy.ended_by},
        copy.begin.value(), (copy.end - copy.begin).value());
  }

  void Consume(int step, int consumer, bool last) {
    const int slot = step % slots_, thread = consumer + 1;
    Wait(thread, 12, Cat("wait full[", slot, "], phase ", step / slots_), slot, full_[static_cast<std::size_t>(slot)]);
    const std::int32_t issuer = Work(thread, 13, Cat("wgmma acc += a_smem[", slot, "] b_smem[", slot, "]"), 12);
    products_free_ = std::max(products_free_, now_[static_cast<std::size_t>(thread)]) + 128;
    const std::int32_t product = Add({.lane = 4,
                                      .kind = SpanKind::kMultiply,
                                      .text_line = 13,
                                      .what = Cat("64x128x64 of warpgroup ", thread),
                                      .slot = slot,
                                      .ended_by = issuer},
                                     products_free_ - 128, 161);
    Add({.lane = 5, .kind = SpanKind::kMultiply, .what = "m64n128k16"}, products_free_ - 128, 128);
    std::int32_t& before = product_before_[static_cast<std::size_t>(consumer)];
    Wait(thread, 14, last ? "wait for all wgmmas" : "wait for all wgmmas but 1", -1, last ? product : before);
    before = product;
    empty_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(consumer)] =
        Work(thread, 15, Cat("arrive empty[", slot, "]"), 8);
    if (!last) return;
    Work(thread, 17, "acc -> o_smem", 210);
    const std::int32_t store = Work(thread, 18, "copy o_smem -> o", 25);
    Add({.lane = 3, .kind = SpanKind::kCopyOut, .text_line = 18, .what = "o_smem -> o", .ended_by = store},
        now_[static_cast<std::size_t>(thread)], 420);
  }

  void SortByBegin() {
    std::vector<std::int32_t> order(timeline_.spans.size()), place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return timeline_.spans[static_cast<std::size_t>(a)].begin < timeline_.spans[static_cast<std::size_t>(b)].begin;
    });
    std::vector<Span> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
      sorted.push_back(timeline_.spans[static_cast<std::size_t>(order[i])]);
    }
    for (Span& span : sorted) {
      if (span.ended_by != kNoSpan) span.ended_by = place[static_cast<std::size_t>(span.ended_by)];
    }
    timeline_.spans = std::move(sorted);
  }

  void FillStrips() {
    timeline_.of = "SM 3";
    timeline_.strips = {{"L2", {}}, {"DRAM", {}}};
    for (int k = 0; k < 400; ++k) {
      timeline_.strips[0].share.push_back(std::min(1.0, 0.42 + 0.04 * (k * 5 % 7) + (k < 12 ? 0.3 : 0)));
      timeline_.strips[1].share.push_back(std::min(1.0, 0.2 + 0.05 * (k * 3 % 5) + (k < 12 ? 0.6 : 0)));
    }
  }

  void FillTiming() {
    report_ = {.kernel = "matmul", .target = "mosaic_gpu/h100"};
    timing_.machine = "h100";
    timing_.clock = machines::Hertz(1.755e9);
    timing_.cycles = timeline_.length;
    timing_.launch = machines::Nanoseconds(1240);
    timing_.time = timeline_.length / timing_.clock + timing_.launch;
    timing_.uncertainty = 0.15;
    timing_.uncertainty_why = "a toy: nobody knows";
    timing_.roofline = {{"f16 matrix products", 0.71 * timing_.time}, {"bytes of main memory", 0.32 * timing_.time}};
    timing_.units = {{"tensor cores", 0.757}, {"shared memory port", 0.94}, {"L2", 0.55}, {"DRAM", 0.3}};
    timing_.left_out = {"bank conflicts", "registers that spill"};
    std::map<int, report::LineTime> lines;
    for (const Span& span : timeline_.spans) {
      if (span.lane > 2) continue;
      report::LineTime& line = lines[span.text_line];
      line.loc = span.loc;
      line.text_line = span.text_line;
      (span.kind == SpanKind::kWait ? line.waited : line.busy) += span.end - span.begin;
      line.waited_for = span.text_line == 7 ? "an arrival at empty" : span.text_line == 12 ? "a copy" : "a product";
    }
    timing_.flops = 3e9;
    timing_.memory = machines::Bytes(4e6);
    timing_.memory_peak = machines::BytesPerSecond(3.35e12);
    for (auto& [number, line] : lines) {
      if (line.waited.value() > 0) line.stalls = {{number == 14 ? "a matrix product" : "a barrier", line.waited}};
      timing_.lines.push_back(line);
    }
    report::Whole whole{.of = "3 threads of places for blocks",
                        .time = machines::Cycles(400),
                        .rest = {{"launch of the kernel", machines::Cycles(300)},
                                 {"tail: places without a block at the end", machines::Cycles(100)}}};
    for (const report::LineTime& line : timing_.lines) whole.time += line.busy + line.waited;
    timing_.whole = std::move(whole);
    timing_.stalls = {{"a barrier", machines::Cycles(900)}, {"a matrix product", machines::Cycles(300)}};
    timing_.critical_path = {
        {LocOf(13), 13, "wgmma_ref", "under way", 0.75 * timing_.cycles},
        {LocOf(9), 9, "copy_gmem_to_smem", "", 0.2 * timing_.cycles},
        {{}, 0, "", "blocks begin where others have ended", 0.05 * timing_.cycles},
    };
  }

  int slots_;
  Timeline timeline_;
  report::Timing timing_;
  Report report_;
  Module module_;
  std::vector<double> now_ = {0, 40, 46};
  double arrived_ = 0, completed_ = 0;
  double copies_free_ = 0, products_free_ = 0;
  std::vector<std::int32_t> full_, product_before_ = {kNoSpan, kNoSpan};
  std::vector<std::vector<std::int32_t>> empty_;
};

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_SHOWN_TEST_UTIL_H_
