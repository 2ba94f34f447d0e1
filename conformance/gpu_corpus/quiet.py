"""Kernels that are right in ways that a careless check would report: a check must say nothing of them, or only what is harmless."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, I32, LANES, found, kernel, ty
from fences import TILED
from pages_matrix import XY, X16, Y16, uniform16
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#quiet"
SMEM = plgpu.SMEM((LANES,), I32)
ALONE = {"threads": None}
STEPS = 3


def matmul_pipeline():
    """A matrix product whose operands come through emit_pipeline."""
    def body(x_ref, y_ref, o_ref, out):
        def scope(acc):
            def step(_, a, b):
                plgpu.wgmma(acc, a, b)
                plgpu.wgmma_wait(1)

            specs = [plgpu.BlockSpec((64, 64), index_map, transforms=TILED, delay_release=1) for index_map in (lambda k: (0, k), lambda k: (k, 0))]
            plgpu.emit_pipeline(step, grid=(STEPS,), max_concurrent_steps=2, in_specs=specs)(x_ref, y_ref)
            return acc[...]

        out[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32)).astype(F16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(out, o_ref)
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ty(64, 64 * STEPS, dtype=F16), ty(64 * STEPS, 64, dtype=F16), out=ty(64, 64, dtype=F16), scratch={"out": plgpu.SMEM((64, 64), F16, transforms=TILED)}, **ALONE)


def matmul_specialised():
    """The same with two threads that multiply and one that copies."""
    def body(x_ref, y_ref, o_ref):
        me = lax.axis_index("wg")

        def compute(run):
            def scope(acc):
                run(acc)
                o_ref[pl.ds(me * 64, 64)] = acc[...]

            pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

        def step(_, a, b, acc):
            plgpu.wgmma(acc, a.at[pl.ds(me * 64, 64)], b)
            plgpu.wgmma_wait(0)
            return acc

        plgpu.emit_pipeline_warp_specialized(
            step, grid=(STEPS,), memory_registers=40, max_concurrent_steps=2, num_compute_wgs=2, wg_axis="wg", compute_context=compute,
            in_specs=[plgpu.BlockSpec((128, 64), lambda k: (0, k), transforms=TILED), plgpu.BlockSpec((64, 64), lambda k: (k, 0), transforms=TILED)])(x_ref, y_ref)

    return kernel(body, ty(128, 64 * STEPS, dtype=F16), ty(64 * STEPS, 64, dtype=F16), out=ty(128, 64, dtype=F32), threads=3)


def stream_k():
    """Two blocks sum halves of a long contraction; the second adds the first one's part when it is there."""
    def body(x_ref, o_ref, part_ref):
        ready = pl.get_global(plgpu.SemaphoreType.REGULAR)
        me = lax.axis_index("b")

        def add(i, total):
            return total + x_ref[2 * me + i]

        total = lax.fori_loop(1, 2, add, x_ref[2 * me])  # zeros would have another layout

        @pl.when(me == 0)
        def _():
            part_ref[...] = total
            pl.semaphore_signal(ready)

        @pl.when(me == 1)
        def _():
            pl.semaphore_wait(ready)
            o_ref[...] = total + part_ref[...]

    return kernel(body, ty(4, LANES), out=(ROW, ROW), grid=(2,), grid_names=("b",), **ALONE)


def same_value():
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...]  #@ write

    return kernel(body, ROW, out=ROW, grid=(2,), grid_names=("b",), **ALONE)


def wait_again():
    """Stores that are complete are waited for again."""
    def body(x_ref, o_ref, smem):
        plgpu.wait_smem_to_gmem(0)
        smem[...] = x_ref[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)
        plgpu.wait_smem_to_gmem(0, wait_read_only=True)
        smem[...] = x_ref[...]
        for _ in range(3):
            plgpu.wait_smem_to_gmem(0)
        o_ref[pl.ds(0, LANES)] = x_ref[...] + 2

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM}, **ALONE)


def many_waiters():
    """One copy, four threads that read it."""
    def body(x_ref, o_ref, smem, full):
        me = lax.axis_index("wg")

        @thread(0)
        def _():
            plgpu.copy_gmem_to_smem(x_ref, smem, full)

        plgpu.barrier_wait(full)
        o_ref[me] = smem[...] + me

    return kernel(body, ROW, out=ty(4, LANES), threads=4, scratch={"smem": SMEM, "full": plgpu.Barrier()})


def strided_rows():
    """Two threads write rows that alternate."""
    def body(x_ref, o_ref, smem, both):
        me = lax.axis_index("wg")
        for i in range(3):
            smem[2 * i + me] = x_ref[2 * i + me] + me
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)

        @thread(1)
        def _():
            o_ref[...] = smem[...]

    return kernel(body, ty(6, LANES), out=ty(6, LANES), scratch={"smem": plgpu.SMEM((6, LANES), I32), "both": plgpu.Barrier(num_arrivals=2)})


def chained_wgmma():
    """wgmma with one accumulator follow one another, with no wait between."""
    def body(x_ref, y_ref, o_ref, a, b, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)

        def scope(acc):
            for _ in range(3):
                plgpu.wgmma(acc, a, b)
            return acc[...]

        o_ref[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    tile = plgpu.SMEM((64, 64), F16, transforms=TILED)
    return kernel(body, ty(64, 64, dtype=F16), ty(64, 64, dtype=F16), out=ty(64, 64, dtype=F32), scratch={"a": tile, "b": tile, "full": plgpu.Barrier(num_arrivals=2)}, **ALONE)


def scope_meets():
    """Entering a collective scope is a barrier of the block, so what was written before it is there."""
    def body(x_ref, o_ref, smem):
        @thread(0)
        def _():
            smem[...] = x_ref[...] + 1

        def scope(_):
            @thread(1)
            def _():
                o_ref[...] = smem[...]

        pl.run_scoped(scope, SMEM, collective_axes="wg")

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM})


def cases():
    x, y = uniform16(1, 128 * 64 * STEPS), np.full((64 * STEPS, 64), 0.5)
    given = {"x": "random(seed=1, lo=1.0, hi=2.0)", "y": "full(0.5)"}

    def case(name, make, prose, inputs, findings=(), **outputs):
        return Case(f"quiet_{name}", spec=SPEC, kernel=make, prose=prose, inputs=inputs, outputs=outputs, findings=findings)

    small = x[: 64 * 64 * STEPS].reshape(64, 64 * STEPS) @ y
    yield case("matmul_pipeline", matmul_pipeline(), "A matrix product whose operands come through emit_pipeline.", given, o=small.astype(np.float32).astype(np.float16))
    yield case("matmul_specialised", matmul_specialised(), "Two threads multiply what a third copies.", given, o=(x.reshape(128, 64 * STEPS) @ y).astype(np.float32))
    rows = np.arange(4 * LANES, dtype=np.int32).reshape(4, LANES)
    yield case("stream_k", stream_k(), "Partial sums of two blocks, handed over with a semaphore.", {"x": "iota"}, o=rows.sum(0, dtype=np.int32), part=rows[:2].sum(0, dtype=np.int32))
    yield case("same_value", same_value(), "All blocks write the same bytes: a note.", {"x": "iota"}, (found("SAME_VALUE", "write", "write"),), o=IOTA)
    yield case("wait_again", wait_again(), "Waits for stores that are complete, or that there are none of, go on.", {"x": "iota"}, o=IOTA + 2)
    yield case("many_waiters", many_waiters(), "Four threads wait for one barrier.", {"x": "iota"}, o=IOTA + np.arange(4, dtype=np.int32)[:, None])
    six = np.arange(6 * LANES, dtype=np.int32).reshape(6, LANES)
    yield case("strided_rows", strided_rows(), "Threads write rows in turns.", {"x": "iota"}, o=six + np.array([0, 1] * 3, np.int32)[:, None])
    yield case("chained_wgmma", chained_wgmma(), "wgmma with one accumulator follow one another.", XY, o=(3 * (X16 @ Y16)).astype(np.float32))
    yield case("scope_meets", scope_meets(), "Entering a collective scope orders the threads of a block.", {"x": "iota"}, o=IOTA + 1)
