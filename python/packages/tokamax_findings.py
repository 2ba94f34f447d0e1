"""The findings that tokamax's kernels carry, each with the argument that it is true or harmless; a finding without one counts as wrong.

Based on: tokamax 0.0.12, whose files and lines the arguments name; Pallas's reference of Mosaic GPU and the docstrings of JAX 0.10.2.
What it does not catch: a new finding of the same code at a place that an argument already covers.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Argued:
    name: str  # in the table's legend
    rows: str  # a pattern of `operation / implementation / chip`
    code: str
    at: str  # a pattern of the report of the finding
    why: str

    def covers(self, finding) -> bool:
        return finding.code == self.code and re.search(self.at, str(finding)) is not None


_ATTENTION = r"^attention.* / mosaic / b200"

ARGUED = [
    Argued("OOB", r"^ragged_dot.* / triton|^gated_linear_unit, odd sizes / triton", "OOB", "",
           "true: where a block sticks out of the array tokamax reads behind it on purpose, and masks what it makes of that."),
    Argued("BAR_TC_ORDER of attention", _ATTENTION, "BAR_TC_ORDER", r"attention/pallas_mosaic_gpu_kernel_sm100\.py",
           "true: `maybe_cluster_barrier()` makes `qk_consumed_barrier`, `p_produced_barrier` and `out_scaled_barrier` without "
           "`orders_tensor_core`, and by them the loads and stores of tensor memory of two warpgroups are handed to the products. Pallas's "
           "reference: such an operation may then be moved behind the arrival, or before the wait. `commit_tmem` and `wait_load_tmem`, which "
           "are there, wait for the thread's own operations, and are no fence for another thread's."),
    Argued("BAR_TC_ORDER of attention's gradient", r"^attention, gradient / mosaic / b200", "BAR_TC_ORDER",
           r"attention/pallas_mosaic_gpu_vjp_kernel_sm100\.py",
           "true, the same: `s_consumed_barrier`, `dp_consumed_barrier` and `dq_reduce_consumed_barrier` (lines 973, 975 and 981) say that "
           "tensor memory has been loaded, and do not order the tensor core."),
    Argued("BAR_DOUBLE", _ATTENTION, "BAR_DOUBLE", r"barrier .*(qk_consumed|p_produced|out_scaled)_barrier.* of block \((\d+, )+1\)",
           "harmless: an arrival at these cluster barriers reaches both blocks, and only the first block's MMA warp waits (`cluster_idx == 0`). "
           "Pallas's reference forbids two completions without a wait between them, because a waiter could take one for the other; the "
           "second block's barriers have no waiter."),
    Argued("RACE_RW", r"^attention, causal.* / mosaic / b200", "RACE_RW", r"acc_tmem.*(.|\n)*pallas_mosaic_gpu_kernel_sm100\.py:669",
           "true by the rule: `rescale_acc` stores to what it has loaded (lines 669 and 701) with no `wait_load_tmem` between, which "
           "`async_load_tmem` asks for. Each element that is stored is computed from the one that was loaded there, so this store, and the "
           "product after it, come when the load has delivered; the rule has no such exception."),
    Argued("NOT_AWAITED of attention's gradient", r"^attention, gradient / mosaic / b200", "NOT_AWAITED",
           r"pallas_mosaic_gpu_vjp_kernel_sm100\.py:(834|851|857)",
           "true: after its last three copies (lines 834, 851, 857) `reduce_wg` waits for nothing. They may still read shared memory when the "
           "block ends and gives it to another; JAX's lowering adds no wait. `plgpu.wait_smem_to_gmem(0)` behind line 857 would fix it."),
    Argued("NOT_AWAITED of gated_linear_unit", r"^gated_linear_unit.* / mosaic / b200", "NOT_AWAITED",
           r"gated_linear_unit/pallas_mosaic_gpu_kernel_sm100\.py:224",
           "true: `_store_wg` waits for all but two copies after each tile of the output (line 227), and for all of them only where another "
           "turn of the loop begins. The last two may still read shared memory when the block ends, as in JAX's own blackwell_matmul."),
    *(Argued("slots of gated_linear_unit", r"^gated_linear_unit, four tiles of output / mosaic / b200", code,
             r"gated_linear_unit/pallas_mosaic_gpu_kernel_sm100\.py:22[24]|output",
             "true, a mistake of the package: with `epi_tile_n` less than half of `tile_n` a third tile goes into the first of two slots "
             "(line 222) while two copies may be under way (line 227), and the first of them reads that slot. "
             "`wait_smem_to_gmem(1, wait_read_only=True)` would fix it. With the defaults there is one tile.")
      for code in ("RACE_ASYNC", "NONDET")),
    Argued("BAR_TC_ORDER of ragged_dot", r"^ragged_dot, (.*scaled after / mosaic / b200|.* by int4 / mosaic / b200, JAX 0\.9)", "BAR_TC_ORDER",
           r"ragged_dot/pallas_mosaic_gpu_kernel_sm100_(quant_post_scale|i8_quant|fp8_quant)\.py",
           "true: the barriers that hand dequantised weights to the products, and accumulators back, do not order the tensor core: "
           "`w_bf16_barrier` and `acc_consumed_barrier` (quant_post_scale.py, lines 440 and 443; for two blocks, lines 429 and 434, they "
           "do), `w_ready_barrier` and `acc_consumed_barrier` (i8_quant.py, 618 and 619), `w_tmem_ready_barrier` and "
           "`acc_consumed_barrier` (fp8_quant.py, 714 and 721). In quant.py, which is clean, all of them do."),
    Argued("DEADLOCK", r"^ragged_dot, (int8|fp8) by int4 / mosaic / b200, JAX 0\.1", "DEADLOCK", r"barrier_wait",
           "true: these kernels compare `axis_index(\"warp\")` with 8 to 11, the warps' numbers in the block, which JAX gave until 0.9. From "
           "0.10 on it is 0 to 3, as the reference says, so no warp starts a copy or a product and the block hangs."),
]


def argued(name: str) -> list:
    return [one for one in ARGUED if re.search(one.rows, name)]
