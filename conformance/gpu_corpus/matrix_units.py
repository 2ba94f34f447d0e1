"""020 and 021: wgmma reads its operands and writes its accumulator after it has returned."""

import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, found, kernel, ty
from fences import TILED

SPEC = "gpu-order.md#wgmma"
TILE = ty(64, 64, dtype=F16)
OUT = ty(64, 64, dtype=F32)
GIVEN = {"spec": SPEC, "inputs": {"x": "iota", "y": "full(1)"}}


def product():
    x = np.arange(64 * 64).reshape(64, 64).astype(np.float16).astype(np.float64)
    return (x @ np.ones((64, 64))).astype(np.float32)


def slot_reuse(slots, remain, refill):
    """Multiplies through `slots` places of A; refills the first after a wait that leaves `remain` groups."""
    def body(x_ref, y_ref, o_ref, a, b, full, again):
        for i in range(slots):
            plgpu.copy_gmem_to_smem(x_ref, a.at[i], full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)

        def multiply(acc):
            for i in range(slots):
                plgpu.wgmma(acc, a.at[i], b)  #@ wgmma
            plgpu.wgmma_wait(remain)
            if refill == "copy":
                plgpu.copy_gmem_to_smem(x_ref, a.at[0], again)  #@ copy
                plgpu.barrier_wait(again)
            else:
                a[0] = x_ref[...]  #@ store
            return acc[...]

        o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((64, 64), F32))

    return kernel(body, TILE, TILE, out=OUT, threads=None, scratch={
        "a": plgpu.SMEM((slots, 64, 64), F16, transforms=TILED), "b": plgpu.SMEM((64, 64), F16, transforms=TILED),
        "full": plgpu.Barrier(num_arrivals=slots + 1), "again": plgpu.Barrier()})


def early_read(wait_n):
    def body(x_ref, y_ref, o_ref, a, b, seen, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)

        def multiply(acc):
            plgpu.wgmma(acc, a, b)  #@ wgmma
            seen[...] = plgpu.wgmma_accumulator_load(acc, wait_n=wait_n)  #@ wgmma_accumulator_deref:read
            return acc[...]

        o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((64, 64), F32))

    tile = plgpu.SMEM((64, 64), F16, transforms=TILED)
    return kernel(body, TILE, TILE, out=OUT, threads=None, scratch={
        "a": tile, "b": tile, "seen": plgpu.SMEM((64, 64), F32), "full": plgpu.Barrier(num_arrivals=2)})


def cases():
    for slots in (1, 2):
        for remain in range(3):
            for refill, code in (("copy", "RACE_RW"), ("store", "RACE_ASYNC")):
                # The next wgmma that returns has completed the first: a promise, where no wait says so too.
                clean, promised = remain < slots, remain == slots == 2
                findings = () if clean else (found("WGMMA_ORDER" if promised else code, "wgmma#0", refill),)
                yield Case(f"020_wgmma_no_wait_reuse_{slots}_{remain}_{refill}_{'clean' if clean or promised else 'racy'}", kernel=slot_reuse(slots, remain, refill),
                           prose=f"The place that the first of {slots} wgmma reads is refilled by a {refill}, after a wait that leaves {remain} in flight.",
                           outputs={"o": slots * product()} if clean or promised else {}, findings=findings, **GIVEN)
                if promised:
                    yield Case(f"020_wgmma_no_wait_reuse_2_2_{refill}_strict_racy", kernel=slot_reuse(slots, remain, refill), headers=("proxy: strict",),
                               prose=f"The same, refilled by a {refill}, where a wgmma that returns leaves earlier ones in flight.", findings=(found(code, "wgmma#0", refill),), **GIVEN)
    for wait_n in (0, 1, None):
        clean = wait_n == 0
        yield Case(f"021_wgmma_acc_early_read_{wait_n}_{'clean' if clean else 'racy'}".lower(), kernel=early_read(wait_n), outputs={"o": product()} if clean else {},
                   prose=f"The accumulator is read {'without a wait' if wait_n is None else f'after a wait that leaves {wait_n} wgmma in flight'}.",
                   findings=() if clean else (found("RACE_ASYNC", "wgmma", "read"),), **GIVEN)
