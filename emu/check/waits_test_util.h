// Small kernels in which waits for counts matter, for tests: statements, and three bodies to put them in. Every kernel
// has one input and one output of four rows of two.
#ifndef PALLADION_EMU_CHECK_WAITS_TEST_UTIL_H_
#define PALLADION_EMU_CHECK_WAITS_TEST_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::check {

// An array for each input of the kernels below.
inline std::vector<Tensor> InputsOf(std::string_view text) {
  std::vector<std::int64_t> shape = {4, 2};
  const std::size_t devices = text.find("devices {x=");
  if (devices != std::string_view::npos) shape.insert(shape.begin(), text[devices + 11] - '0');
  const std::size_t inputs = text.find("in %y") == std::string_view::npos ? 1 : 2;
  return std::vector<Tensor>(inputs, *TensorFromText(DType::kI32, shape, "iota"));
}

// ---- of a TPU

inline std::string CopyRows(int row, int rows, std::string_view semaphore) {
  const std::string view = Cat(".at[", row, " +: ", rows, ", *]");
  return Cat("dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr", view, ", dst=%br", view,
             ", dst_sem=", semaphore, ", src_sem=none, device_id=none);\n");
}
inline std::string Copy(int row, std::string_view semaphore) { return CopyRows(row, 1, semaphore); }

inline std::string AwaitRows(int row, int rows, std::string_view semaphore) {
  const std::string view = Cat(".at[", row, " +: ", rows, ", *]");
  return Cat("dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr", view, ", dst=%br", view,
             ", dst_sem=", semaphore, ", src_sem=none, device_id=none);\n");
}
inline std::string Await(int row, std::string_view semaphore) { return AwaitRows(row, 1, semaphore); }

// Sends to %br of another device; %dr[0] is signalled when the source has been read.
inline std::string Send(int from, int to, std::string_view device, std::string_view semaphore) {
  return Cat("dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr.at[", from, " +: 1, *], dst=%br.at[", to,
             " +: 1, *], dst_sem=", semaphore, ", src_sem=%dr.at[0], device_id=", device, ");\n");
}
inline std::string AwaitSent(int row, std::string_view semaphore) { return Await(row, semaphore); }

inline std::string Signal(std::string_view semaphore, int amount) {
  return Cat("semaphore_signal{device_id_type=mesh}(ref=", semaphore, ", inc=", amount,
             ":i32, device_id=none, core_index=none);\n");
}
inline std::string SignalAt(std::string_view semaphore, std::string_view device, int amount = 1) {
  return Cat("semaphore_signal{device_id_type=mesh}(ref=", semaphore, ", inc=", amount, ":i32, device_id=", device,
             ");\n");
}
inline std::string Wait(std::string_view semaphore, int amount) {
  return Cat("semaphore_wait(ref=", semaphore, ", value=", amount, ":i32, decrement=true);\n");
}
inline std::string WaitFor(std::string_view semaphore, int amount) {  // and leaves it there
  return Cat("semaphore_wait(ref=", semaphore, ", value=", amount, ":i32, decrement=false);\n");
}

// Names are new ones each time.
inline int NextName() {
  static int next = 0;
  return ++next;
}
inline std::string OutFrom(int to, int from) {
  const int n = NextName();
  return Cat("%v", n, " = get(%br.at[", from, ", *]) : i32[2];\n_ = swap(%or.at[", to, ", *], %v", n, ") : i32[2];\n");
}
inline std::string Out(int row) { return OutFrom(row, row); }
inline std::string Set(int row) { return Cat("_ = swap(%or.at[", row, ", *], dense<i32[2][5,6]>) : i32[2];\n"); }

// `out`: the output's space and rows.
struct TpuBody {
  std::string params, before;
  std::string space = "vmem";
  int rows = 4;
};
inline std::string OfTpu(const TpuBody& in, std::string_view body) {
  const std::string out = Cat("i32[", in.rows, ",2]");
  return Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n", in.params,
             "  in %x: i32[4,2] space any;\n  out %o: ", out, " space ", in.space,
             ";\n  scratch %b: ref<vmem,i32[4,2]>;\n  scratch %d: ref<semaphore,dma_sem[4]>;\n"
             "  scratch %s: ref<semaphore,sem[4]>;\n  body @k (%xr: ref<any,i32[4,2]>, %or: ref<",
             in.space, ",", out,
             ">, %br: ref<vmem,i32[4,2]>, %dr: ref<semaphore,dma_sem[4]>, %sr: ref<semaphore,sem[4]>) {\n", in.before,
             body, "return;\n}\n}\n");
}

constexpr std::string_view kClear = "_ = swap(%or, dense<i32[4,2][0,0,0,0,0,0,0,0]>) : i32[4,2];\n";

inline std::string Core(std::string_view body) { return OfTpu({"  grid [];\n", std::string(kClear)}, body); }

// One row for each of two cores, which is sent from the first one of %br.
inline std::string Cores(std::string_view body) {
  return OfTpu({"  params {dimension_semantics=[\"parallel\"]};\n  grid [2];\n", "%p = program_id{axis=0}() : i32[];\n",
                "any", 2},
               body);
}
inline std::string SendOut(std::string_view to) {
  const std::string operands =
      Cat("(src=%br.at[0 +: 1, *], dst=%or.at[", to, " +: 1, *], dst_sem=%dr.at[3], src_sem=none, device_id=none);\n");
  return Cat("dma_start{device_id_type=mesh, priority=0, add=false}", operands,
             "dma_wait{device_id_type=mesh, insert_dummy_device=false}", operands);
}

inline std::string Ring(int devices, std::string_view body) {
  return OfTpu({Cat("  params {collective_id=7};\n  devices {x=", devices, "};\n  grid [];\n"),
                Cat(std::string(kClear),
                    "%me = axis_index{axis=\"x\"}() : i32[];\n%up = add(%me, 1:i32) : i32[];\n%right = rem(%up, ",
                    devices, ":i32) : i32[];\n%down = add(%me, ", devices - 1, ":i32) : i32[];\n%left = rem(%down, ",
                    devices, ":i32) : i32[];\n%barrier = get_barrier_semaphore() : ref<semaphore,barrier_sem[]>;\n")},
               body);
}

// ---- of a GPU

inline std::string Put(int row, int value) {
  return Cat("_ = swap(%or.at[", row, ", *], dense<i32[2][", value, ",", value, "]>) : i32[2];\n");
}
inline std::string Take(int to, int from) {
  const int n = NextName();
  return Cat("%v", n, " = get(%or.at[", from, ", *]) : i32[2];\n_ = swap(%nr.at[", to, ", *], %v", n, ") : i32[2];\n");
}

// One branch for each block.
inline std::string Grid(const std::vector<std::string>& blocks) {
  std::string branches;
  for (const std::string& block : blocks) Append(&branches, " {\n", block, "return;\n}");
  return Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  in %x: i32[4,2] space gmem;\n"
      "  in %y: i32[4,2] space gmem;\n  out %o: i32[4,2] space gmem alias %x;\n  out %n: i32[4,2] space gmem alias "
      "%y;\n",
      "  mesh gpu {grid=[", blocks.size(),
      "], grid_names=[\"b\"], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
      "  body @k (%xr: ref<gmem,i32[4,2]> as \"x\", %yr: ref<gmem,i32[4,2]> as \"y\", "
      "%or: ref<gmem,i32[4,2]> as \"o\", "
      "%nr: ref<gmem,i32[4,2]> as \"n\") {\n"
      "%s = get_global{what=\"Ref<gmem>{semaphore[]}\"}() : ref<gmem,sem[]>;\n"
      "%t = get_global{what=\"Ref<gmem>{semaphore[]}\"}() : ref<gmem,sem[]>;\n"
      "%me = axis_index{axis=\"b\"}() : i32[];\ncond(%me)",
      branches, ";\nreturn;\n}\n}\n");
}

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_WAITS_TEST_UTIL_H_
