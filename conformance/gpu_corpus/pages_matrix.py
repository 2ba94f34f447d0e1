"""The examples of JAX's page on Mosaic GPU kernels that multiply matrices, or show tiles and layouts (see pages.py)."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, found, kernel, load, ty
from fences import TILED

SPEC = "gpu-order.md#examples"
TILE = plgpu.SMEM((64, 64), F16, transforms=TILED)
SQUARE, ACC = ty(64, 64, dtype=F16), ty(64, 64, dtype=F32)
ALONE = {"threads": None}
X16 = np.arange(64 * 64).astype(np.float16).reshape(64, 64).astype(np.float64)
Y16 = np.full((64, 64), 0.5)
XY = {"x": "iota", "y": "full(0.5)"}


def loaded(multiply):
    """A kernel that loads two operands and lets `multiply` make the result."""
    def body(x_ref, y_ref, o_ref, a, b, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)
        o_ref[...] = multiply(a, b)

    return kernel(body, SQUARE, SQUARE, out=ACC, scratch={"a": TILE, "b": TILE, "full": plgpu.Barrier(num_arrivals=2)}, **ALONE)


def scoped_accumulator(transpose):
    def multiply(a, b):
        def scope(acc):
            plgpu.wgmma(acc, plgpu.transpose_ref(a, (1, 0)) if transpose == "a" else a, plgpu.transpose_ref(b, (1, 0)) if transpose == "b" else b)
            return acc[...]

        return pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    return loaded(multiply)


def initial_accumulator():
    def multiply(a, b):
        def add(acc):
            plgpu.wgmma(acc, a, b)

        return pl.run_state(add)(plgpu.ACC.init(jnp.full((64, 64), 3.0, F32)))

    return loaded(multiply)


def pipelined(ahead_by):
    """Slots of a ring are refilled while the wgmma issued last still runs: not its own slot, but the one before."""
    steps, slots = 5, 3

    def body(x_ref, y_ref, o_ref, a, b, a_full, b_full):
        def fetch(step, slot):
            k = pl.ds(step * 64, 64)
            plgpu.copy_gmem_to_smem(x_ref.at[:, k], a.at[slot], a_full.at[slot])  #@ a
            plgpu.copy_gmem_to_smem(y_ref.at[k], b.at[slot], b_full.at[slot])  #@ b

        def scope(acc):
            for slot in range(slots):
                fetch(slot, slot)

            def step(i, _):
                slot = lax.rem(i, slots)
                plgpu.barrier_wait(a_full.at[slot])
                plgpu.barrier_wait(b_full.at[slot])
                plgpu.wgmma(acc, a.at[slot], b.at[slot])  #@ wgmma
                ahead = i + ahead_by

                @pl.when(jnp.logical_and(ahead >= slots, ahead < steps))
                def _():
                    fetch(ahead, lax.rem(ahead, slots))

            lax.fori_loop(0, steps, step, None)
            return acc[...]

        o_ref[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    ring = plgpu.SMEM((slots, 64, 64), F16, transforms=TILED)
    bars = plgpu.Barrier(num_barriers=slots)
    return kernel(body, ty(64, 64 * steps, dtype=F16), ty(64 * steps, 64, dtype=F16), out=ACC, scratch={"a": ring, "b": ring, "a_full": bars, "b_full": bars}, **ALONE)


def transforms():
    """A tiled and swizzled buffer is what it is without: copies and loads undo the transforms."""
    def body(x_ref, o_ref, p_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        o_ref[...] = smem[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[8:16], p_ref)
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, SQUARE, out=(SQUARE, ty(8, 64, dtype=F16)), scratch={"smem": TILE, "full": plgpu.Barrier()}, **ALONE)


def commit_before_wgmma():
    def body(x_ref, y_ref, o_ref, a, b):
        a[...] = x_ref[...]
        b[...] = y_ref[...]
        plgpu.commit_smem()

        def scope(acc):
            plgpu.wgmma(acc, a, b)
            return acc[...]

        o_ref[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    return kernel(body, SQUARE, SQUARE, out=ACC, scratch={"a": TILE, "b": TILE}, **ALONE)


def layouts():
    """Layouts place values in registers and change none: a tile, its sums along rows, and the tile less its sums."""
    def body(x_ref, o_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        tile = load(smem, layout=plgpu.Layout.WGMMA).astype(F32)
        sums = plgpu.layout_cast(jnp.max(tile, axis=1), plgpu.Layout.WGMMA.reduce(1))
        o_ref[...] = tile - lax.broadcast_in_dim(sums, (64, 64), (0,))

    return kernel(body, SQUARE, out=ACC, scratch={"smem": TILE, "full": plgpu.Barrier()}, **ALONE)


def single(kind, make, prose, inputs, **outputs):
    return Case(f"page_{kind}", spec=SPEC, prose=prose, kernel=make, inputs=inputs, outputs=outputs)


def uniform16(seed, count):
    """The case format's `random(seed, 1, 2)` of f16, as double."""
    z = (np.uint64(seed) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (1.0 + (z >> np.uint64(11)).astype(np.float64) / 2**53).astype(np.float16).astype(np.float64)


def cases():
    def f32(a):
        return a.astype(np.float32)

    yield single("mma", scoped_accumulator(""), "A matrix product into an accumulator of a scope.", XY, o=f32(X16 @ Y16))
    yield single("mma_transposed_lhs", scoped_accumulator("a"), "The left operand is given transposed.", XY, o=f32(X16.T @ Y16))
    yield single("mma_transposed_rhs", scoped_accumulator("b"), "The right operand is given transposed.", {"x": "full(0.5)", "y": "iota"}, o=f32(Y16 @ X16.T))
    yield single("mma_initial_accumulator", initial_accumulator(), "An accumulator that begins with an array.", XY, o=f32(3 + X16 @ Y16))
    given = {"x": "random(seed=1, lo=1.0, hi=2.0)", "y": "full(0.5)"}
    total = f32(uniform16(1, 64 * 320).reshape(64, 320) @ np.full((320, 64), 0.5))
    yield Case("page_mma_pipelined", spec=SPEC, kernel=pipelined(2), inputs=given, outputs={"o": total},
               findings=(found("WGMMA_ORDER", "wgmma", "a#3"), found("WGMMA_ORDER", "wgmma", "b#3")),
               prose="Copies run while the tensor core does: the slot that the wgmma before the last one read is refilled.")
    yield Case("page_mma_pipelined_racy", spec=SPEC, kernel=pipelined(3), inputs={"x": "full(1)", "y": "full(0.5)"},
               findings=(found("RACE_RW", "wgmma", "a#3"), found("RACE_RW", "wgmma", "b#3")),
               prose="Copies go into the slot that the wgmma issued last still reads.")
    yield single("transforms", transforms(), "Tiling and swizzle of shared memory.", {"x": "iota"}, o=X16.astype(np.float16), p=X16.astype(np.float16)[8:16])
    yield single("layouts", layouts(), "Layouts of arrays.", {"x": "iota"}, o=f32(X16 - X16.max(axis=1, keepdims=True)))
    yield single("commit_smem_wgmma", commit_before_wgmma(), "Stores are fenced before a matrix product reads them.", XY, o=f32(X16 @ Y16))
