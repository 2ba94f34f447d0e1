"""The findings that shipped kernels keep, each with the argument that it is true or harmless.

A finding that is not here fails the tests, and so does an entry that no longer fires. docs/explanation/real-kernels.md
shows this table. Plain data, without imports of JAX, so that the documentation is made without it.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Argued:
    """`case` is the beginning of the case's name, `kernel` of the kernel's."""

    case: str
    kernel: str
    code: str
    severity: str
    truth: str  # "true" or "harmless"
    why: str
    until: tuple = ()  # the JAX release whose kernels may have it no more
    since: tuple = ()  # the JAX release whose kernels have it first


_SPLASH = (
    "The running maximum, sum and accumulator are outputs whose one block every program of the parallel dimension "
    "(heads) has, so two cores write the same memory with no order. Each program's last act is to set all three to "
    "zero (`end` in splash_attention_kernel.py), a core works on its own copy in VMEM, and the caller drops these "
    "outputs: the last writer writes zeros, and nothing reads them. In JAX 0.12 the three are scratch."
)

_WAR = (
    "A compute warpgroup reads a slot of `emit_pipeline_warp_specialized` by ordinary loads and arrives at the slot's "
    "consumed barrier; the memory warpgroup waits for it and has the TMA write the slot again, with no commit_smem "
    "between. Whether the barrier alone orders a generic read before a write of the async proxy is open in PTX's "
    "documents: the policy `strict` says no, `pallas` and this note leave it open."
)
_LAST_ARRIVALS = (
    "The compute warpgroups arrive at the consumed barriers after every step, and the memory warpgroup waits only "
    "where it fills a slot again, so the arrivals of the last steps are never awaited. The barriers end with "
    "the block; only a kernel that used them again would meet these phases."
)
_LAST_SLOTS = (
    "The products arrive at the consumed barriers after every step, and the warp that copies waits only where it "
    "fills a slot again, so the arrivals of the last steps are never awaited; the same holds for the accumulators. "
    "The barriers end with the block; only a kernel that used them again would meet these phases."
)
_LAST_STORE = (
    "The warpgroup that stores waits with `wait_smem_to_gmem(1, wait_read_only=True)` after each tile of the output, "
    "and at its end for nothing: the last copy may still read shared memory when the block ends and gives it to "
    "another block. JAX's lowering adds no wait. `plgpu.wait_smem_to_gmem(0, wait_read_only=True)` after the loop "
    "would fix it."
)
_ASKED_BY_BOTH = (
    "The kernel's `dynamic_scheduling_loop` has a cluster of two blocks and says no `cluster_axes`, which JAX 0.12's "
    "own description says must be passed in then: both blocks of a pair ask for work, an answer goes to both, and one "
    "of two answers is lost. In JAX 0.10 only the first block of a cluster asked, whatever the kernel said."
)
_RETURNED = (
    "The kernel waits for no product: `emit_pipeline` with `delay_release=1` fills the slot of a step again once the "
    "product of the next step has been issued. `plgpu.wgmma` documents that at most the last product is in flight "
    "when it returns; JAX's lowering commits each product and waits for none, so a slot may be filled while an "
    "earlier product still reads it. `plgpu.wgmma_wait(1)` after the product, as hopper_matmul has it, would fix it."
)

ARGUED = (
    Argued(
        "flash_attention forward f32 q[1, 1, 200, 64] kv 512 causal bias",
        "_flash_attention_kernel",
        "OOB_BLOCK",
        "defect",
        "true",
        "`ab_index_map` fetches ahead the bias block of the next rows where a block is skipped, and takes `q_seq_len "
        "// block_q - 1` for the last one. With 200 rows in blocks of 128 that is 0 and the last one is 1, so it "
        "asks for block 2, which starts past the array. The body of that program does not run and the results are "
        "right, but a TPU would copy what lies behind the array. `pl.cdiv` would fix it.",
    ),
    Argued(
        "megablox gmm f32 [256,128]x[2,128,128] groups 1, 2 of 4",
        "kernel",
        "OUT_MISSING",
        "warning",
        "true",
        "Where it computes only some of the groups, the kernel stores the rows of the others with what its output "
        "block held before its first write. The caller knows: `_zero_uninitialized_memory` in gmm.py overwrites these "
        "rows with zeros after the call.",
    ),
    Argued("splash_attention forward", "splash_m", "SAME_VALUE", "note", "harmless", _SPLASH, until=(0, 11)),
    Argued("splash_attention backward", "splash_mha_fwd", "SAME_VALUE", "note", "harmless", _SPLASH, until=(0, 11)),
    Argued("hopper_mixed_type_matmul", "kernel", "PROXY_WAR", "note", "true", _WAR),
    Argued("attention_mgpu backward", "anonymous", "PROXY_WAR", "note", "true", _WAR),
    Argued("ragged_dot_mgpu", "body", "WGMMA_ORDER", "note", "true", _RETURNED),
    Argued("transposed_ragged_dot_mgpu f16 [192,64]x[192,128]", "body", "WGMMA_ORDER", "note", "true", _RETURNED),
    Argued("attention_mgpu forward", "entry", "BAR_UNAWAITED", "note", "harmless", _LAST_ARRIVALS),
    Argued("attention_mgpu backward", "entry", "BAR_UNAWAITED", "note", "harmless", _LAST_ARRIVALS),
    Argued(
        "attention_mgpu forward f16 q[1, 256, 1, 64] kv 256x1 causal",
        "entry",
        "BAR_PHASE_SKIP",
        "note",
        "harmless",
        "With a causal mask the warpgroup of the earlier rows needs fewer steps of v than the other; in "
        "`epilogue_kv_loop` it gives the slots back without having waited for the copies into them. It reads none of "
        "them afterwards, and the barriers end with the block, so the phases that it missed confuse no later wait.",
    ),
    Argued("blackwell_matmul", "kernel", "BAR_UNAWAITED", "note", "harmless", _LAST_SLOTS),
    Argued("blackwell_ragged_dot", "ragged_dot_kernel", "BAR_UNAWAITED", "note", "harmless", _LAST_SLOTS),
    Argued("blackwell_matmul", "kernel", "NOT_AWAITED", "defect", "true", _LAST_STORE),
    Argued("blackwell_matmul", "kernel", "LAUNCH_CONTROL", "defect", "true", _ASKED_BY_BOTH, since=(0, 12)),
)
