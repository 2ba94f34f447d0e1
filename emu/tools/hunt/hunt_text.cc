#include "emu/tools/hunt/hunt_text.h"

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

std::string BarrierRef(const HuntKernel& kernel, std::size_t i) {
  const int arrivals = kernel.arrivals[i];
  const std::string order = Cat("orders_tensor_core=", OrdersTensorCore(kernel, i) ? "true" : "false");
  const std::string kind = arrivals == 0
                               ? Cat("cluster_barrier{axes=[\"b\"], arrivals=1, ", order, ", leader_tracked=false}")
                               : Cat("barrier{arrivals=", arrivals, ", ", order, "}");
  return Cat("%b", i, ": ref<smem,", kind, "[1]> as \"b", i, "\"");
}

std::string ProductText(const Op& op) {
  const std::string operand = Cat("%p.at[", op.row, " +: 1, ");
  return Cat("tcgen05_mma{collective_axis=none, arrive=", op.amount != 0 ? "true" : "false",
             ", scaled=false, sparse=false}(acc=%tm.at[", op.to, " +: 1, *], a=", operand, "0 +: 1], b=", operand,
             "*], accumulate=", op.flag ? "true" : "false", op.amount != 0 ? Cat(", barrier=%b", op.object) : "", ");");
}

}  // namespace

std::string MatrixType(const HuntKernel& kernel) { return Cat("i32[", kernel.rows, ",", kRowElements, "]"); }

std::string WindowText(const HuntKernel& kernel) {
  if (kernel.window < 0) return "";
  return Cat(" block (1,", kRowElements, ") map (%i: i32[]) { %a = mul(%i, ", kernel.window,
             ":i32) : i32[]; %b = add(%a, ", kernel.window_start, ":i32) : i32[]; %r = rem(%b, ", kernel.rows,
             ":i32) : i32[]; return %r, 0:i32; }");
}

std::string MeshText(const HuntKernel& kernel) {
  const int blocks = kernel.blocks, threads = static_cast<int>(kernel.agents.size()) / blocks;
  const bool grid = kernel.family == Family::kBlocks || blocks > 1, has_threads = kernel.family == Family::kThreads;
  const std::string sizes = grid ? Cat("[", blocks, "]") : "[]", names = grid ? "[\"b\"]" : "[]";
  return Cat("mesh gpu {grid=", kernel.cluster ? "[]" : sizes, ", grid_names=", kernel.cluster ? "[]" : names,
             ", cluster=", kernel.cluster ? sizes : "[]", ", cluster_names=", kernel.cluster ? names : "[]",
             ", threads=", has_threads ? Cat(threads) : "none", ", thread_name=", has_threads ? "\"wg\"" : "none",
             "};");
}

std::vector<std::string> ScopeRefs(const HuntKernel& kernel) {
  std::vector<std::string> refs;
  for (std::size_t i = 0; i < kernel.arrivals.size(); ++i) refs.push_back(BarrierRef(kernel, i));
  if (kernel.shared && kernel.later.empty()) refs.push_back(Cat("%s: ref<smem,", MatrixType(kernel), "> as \"s\""));
  if (kernel.unions) refs.push_back("%u: ref<smem,i8[1024]> as \"u\"");
  if (!kernel.tensor) return refs;
  refs.push_back(Cat("%p: ref<smem,i8[", kernel.rows, ",", kRowElements, "]> as \"p\""));
  refs.push_back(Cat("%tm: ref<tmem,", MatrixType(kernel), "> as \"tm\""));
  return refs;
}

std::string TensorText(const Op& op, const std::string& shared, const HuntKernel& kernel) {
  const auto named = [&](const char* how) {
    const int threads = kernel.named[static_cast<std::size_t>(op.object)];
    return Cat("named_barrier_", how, "{lanes=", 128 * threads, "}(", kFirstNamed + op.object, ":i32);");
  };
  switch (op.what) {
    case What::kTensorAwait:
      return "wait_load_tmem();";
    case What::kTensorSettle:
      return "commit_tmem();";
    case What::kTensorCopy:
      return Cat("async_copy_smem_to_tmem{collective_axis=none}(smem=", shared, ".at[", op.row, ", *], tmem=%tm.at[",
                 op.to, ", *]);");
    case What::kProduct:
      return ProductText(op);
    case What::kTensorCommit:
      return Cat("tcgen05_commit_arrive{collective_axis=none}(barrier=%b", op.object, ");");
    case What::kNamedArrive:
      return named("arrive");
    case What::kNamedSync:
      return named("sync");
    default:
      return "";
  }
}

}  // namespace palladion::hunt
