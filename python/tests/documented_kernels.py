"""The kernels that JAX's documentation of TPUs teaches with, written anew: each a function of arrays with what NumPy
gives for it.

    python python/tests/documented_kernels.py     scores their mutants; writes conformance/documented_score.json

Those of several devices are in device_programs.py. What is not here: SparseCores.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
import scored

ANYWHERE, VMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.VMEM)
DMA = pltpu.SemaphoreType.DMA
F32 = jnp.float32


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def over_hbm(kernel, out, scratch=(), operands=1):
    return pl.pallas_call(
        kernel, out_shape=out, in_specs=[ANYWHERE] * operands, out_specs=ANYWHERE, scratch_shapes=scratch
    )


# ---- copies by hand


def scaled_through_vmem(x):
    """In, work, out: each copy awaited at once."""

    def kernel(x_hbm, o_hbm, buffer, semaphore):
        come = pltpu.make_async_copy(x_hbm, buffer, semaphore)
        come.start()
        come.wait()
        buffer[...] = buffer[...] * 2.0
        leave = pltpu.make_async_copy(buffer, o_hbm, semaphore)
        leave.start()
        leave.wait()

    return over_hbm(kernel, like(x), [pltpu.VMEM(x.shape, x.dtype), DMA])(x)


def sum_of_two_copies(x, y):
    """Two copies in flight at once, each with its own semaphore."""

    def kernel(x_hbm, y_hbm, o_ref, slots, arrived):
        copies = [pltpu.make_async_copy(ref, slots.at[i], arrived.at[i]) for i, ref in enumerate((x_hbm, y_hbm))]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.wait()
        o_ref[...] = slots[0] + slots[1]

    return pl.pallas_call(
        kernel,
        out_shape=like(x),
        in_specs=[ANYWHERE] * 2,
        out_specs=VMEM,
        scratch_shapes=[pltpu.VMEM((2, *x.shape), x.dtype), DMA((2,))],
    )(x, y)


def double_buffered(x, rows=8):
    """While one slot is worked on, the next is filled and the one before is stored."""
    steps = x.shape[0] // rows

    def kernel(x_hbm, o_hbm, come, leave, arrived, left):
        def fetch(i):
            return pltpu.make_async_copy(x_hbm.at[pl.ds(i * rows, rows)], come.at[i % 2], arrived.at[i % 2])

        def store(i):
            return pltpu.make_async_copy(leave.at[i % 2], o_hbm.at[pl.ds(i * rows, rows)], left.at[i % 2])

        fetch(0).start()

        @pl.loop(0, steps)
        def _(i):
            @pl.when(i + 1 < steps)
            def _():
                fetch(i + 1).start()

            @pl.when(i >= 2)
            def _():
                store(i - 2).wait()

            fetch(i).wait()
            leave[i % 2] = come[i % 2] + 1.0
            store(i).start()

        store(steps - 2).wait()
        store(steps - 1).wait()

    slots = pltpu.VMEM((2, rows, x.shape[1]), x.dtype)
    return over_hbm(kernel, like(x), [slots, slots, DMA((2,)), DMA((2,))])(x)


def hbm_to_hbm(x):
    """Pieces of one array to another, all in flight together, counted by one semaphore."""

    def kernel(x_hbm, o_hbm, semaphore):
        copies = [
            pltpu.make_async_copy(x_hbm.at[pl.ds(i * 8, 8)], o_hbm.at[pl.ds(x.shape[0] - 8 - i * 8, 8)], semaphore)
            for i in range(x.shape[0] // 8)
        ]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.wait()

    return over_hbm(kernel, like(x), [DMA])(x)


def counted(x):
    """A semaphore that is no copy's: signalled twice, waited for once."""

    def kernel(x_ref, o_ref, semaphore):
        pl.semaphore_signal(semaphore, 2)
        o_ref[...] = x_ref[...] + pl.semaphore_read(semaphore).astype(F32)
        pl.semaphore_wait(semaphore, 2)

    return pl.pallas_call(
        kernel, out_shape=like(x), in_specs=[VMEM], out_specs=VMEM, scratch_shapes=[pltpu.SemaphoreType.REGULAR]
    )(x)


# ---- matrix products and pipelines


def matmul(x, y, no_pipelining=False, block=128):
    """A pipeline whose output block is the accumulator."""
    (m, k), n = x.shape, y.shape[1]

    def body(x_ref, y_ref, z_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            z_ref[...] = jnp.zeros_like(z_ref)

        z_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=F32)

    def kernel(x_hbm, y_hbm, z_hbm):
        pltpu.emit_pipeline(
            body,
            grid=(m // block, n // block, k // block),
            no_pipelining=no_pipelining,
            in_specs=[
                pl.BlockSpec((block, block), lambda i, j, t: (i, t)),
                pl.BlockSpec((block, block), lambda i, j, t: (t, j)),
            ],
            out_specs=[pl.BlockSpec((block, block), lambda i, j, t: (i, j))],
        )(x_hbm, y_hbm, z_hbm)

    return over_hbm(kernel, jax.ShapeDtypeStruct((m, n), F32), operands=2)(x, y)


def in_a_loop(x):
    """A pipeline for each eight rows."""

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 3.0

    def kernel(x_hbm, o_hbm):
        @pl.loop(0, x.shape[0] // 8)
        def _(i):
            rows, part = pl.ds(i * 8, 8), pl.BlockSpec((8, 128), lambda j: (0, j))
            pltpu.emit_pipeline(body, grid=(x.shape[1] // 128,), in_specs=[part], out_specs=[part])(
                x_hbm.at[rows], o_hbm.at[rows]
            )

    return over_hbm(kernel, like(x))(x)


def nested(x):
    """The outer pipeline, the grid's, has the sums; the inner one fetches what is added from HBM."""

    def kernel(x_hbm, o_ref):
        i = pl.program_id(0)
        o_ref[...] = jnp.zeros_like(o_ref)

        def body(x_ref):
            o_ref[...] += x_ref[...]

        pltpu.emit_pipeline(body, grid=(x.shape[1] // 128,), in_specs=[pl.BlockSpec((8, 128), lambda j: (i, j))])(x_hbm)

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // 8,),
        in_specs=[ANYWHERE],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((x.shape[0], 128), x.dtype),
    )(x)


def three_buffers(x):
    """Blocks are fetched two steps before they are needed."""

    def body(x_ref, o_ref):
        o_ref[...] = jnp.maximum(x_ref[...], 0)

    def kernel(x_hbm, o_hbm):
        pltpu.emit_pipeline(
            body,
            grid=(x.shape[0] // 8,),
            out_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
            in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0), pipeline_mode=pl.Buffered(3))],
        )(x_hbm, o_hbm)

    return over_hbm(kernel, like(x))(x)


def bounded(x, starts):
    """Blocks of at most 16 rows, with first row and number known only in the run: groups of unequal size."""
    groups = starts.shape[0] - 1

    def kernel(starts_ref, x_hbm, o_hbm):
        def body(x_ref, o_ref):
            o_ref[...] = -x_ref[...]

        def rows(i):
            return pl.ds(pl.multiple_of(starts_ref[i], 8), starts_ref[i + 1] - starts_ref[i]), 0

        spec = pl.BlockSpec((pl.BoundedSlice(16), 128), rows)
        pltpu.emit_pipeline(body, grid=(groups,), in_specs=[spec], out_specs=[spec])(x_hbm, o_hbm)

    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, in_specs=[ANYWHERE], out_specs=ANYWHERE)
    return pl.pallas_call(kernel, grid_spec=grid, out_shape=like(x))(starts, x)


def lookahead(x):
    """An input whose block stays for four steps is fetched as soon as a buffer is free, not one step before it is
    needed.
    """

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.program_id(0).astype(F32)

    def kernel(x_hbm, o_hbm):
        come = pl.BlockSpec((8, 128), lambda i: (i // 4, 0), pipeline_mode=pl.Buffered(2, use_lookahead=True))
        pltpu.emit_pipeline(
            body, grid=(x.shape[0] // 2,), in_specs=[come], out_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))]
        )(x_hbm, o_hbm)

    return over_hbm(kernel, jax.ShapeDtypeStruct((4 * x.shape[0], 128), x.dtype))(x)


def split_over_cores(x):
    """A pipeline whose grid two cores share."""

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * x_ref[...]

    def kernel(x_hbm, o_hbm):
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        pltpu.emit_pipeline(
            body,
            grid=(x.shape[0] // 8,),
            in_specs=[spec],
            out_specs=[spec],
            core_axis_name="core",
            dimension_semantics=(pltpu.PARALLEL,),
        )(x_hbm, o_hbm)

    with palladion.target("v5p"):
        mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    out = "out_type" if "out_type" in inspect.signature(pl.kernel).parameters else "out_shape"  # before JAX 0.9
    return pl.kernel(kernel, **{out: like(x)}, mesh=mesh)(x)


def block_sparse(blocks, rows, columns, y, size=(256, 256)):
    """Only the blocks that are there are multiplied; which ones, prefetched scalars say, sorted by rows."""
    count, block, _ = blocks.shape

    def kernel(rows_ref, columns_ref, a_ref, y_ref, o_ref, sums):
        i = pl.program_id(1)
        first = jnp.logical_or(i == 0, rows_ref[i] != rows_ref[jnp.maximum(i - 1, 0)])
        last = jnp.logical_or(i == count - 1, rows_ref[i] != rows_ref[jnp.minimum(i + 1, count - 1)])

        @pl.when(first)
        def _():
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jnp.dot(a_ref[0], y_ref[...], preferred_element_type=F32)

        @pl.when(last)
        def _():
            o_ref[...] = sums[...]

    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=2,
        grid=(y.shape[1] // 128, count),
        in_specs=[
            pl.BlockSpec((1, block, block), lambda j, i, r, c: (i, 0, 0)),
            pl.BlockSpec((block, 128), lambda j, i, r, c: (c[i], j)),
        ],
        out_specs=pl.BlockSpec((block, 128), lambda j, i, r, c: (r[i], j)),
        scratch_shapes=[pltpu.VMEM((block, 128), F32)],
    )
    return pl.pallas_call(
        kernel,
        grid_spec=grid,
        out_shape=jax.ShapeDtypeStruct((size[0], y.shape[1]), F32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
    )(rows, columns, blocks, y)


# ---- all of them


@dataclasses.dataclass(frozen=True)
class Documented:
    """A kernel, what it is called with, and its result. `tolerance` is absolute and relative."""

    function: Callable
    args: tuple
    expected: np.ndarray
    target: str = "v5e"
    tolerance: float = 0.0


def _block_sparse():
    made = np.random.default_rng(3)
    rows, columns = np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)
    blocks, y = made.standard_normal((3, 128, 128)).astype(np.float32), normal(4, 256, 128)
    dense = np.zeros((256, 256))
    for block, r, c in zip(blocks, rows, columns):
        dense[r * 128 : r * 128 + 128, c * 128 : c * 128 + 128] = block
    return Documented(block_sparse, (blocks, rows, columns, y), dense @ y, tolerance=1e-4)


def _all():
    x, y, starts = normal(1, 32, 128), normal(2, 32, 128), np.array([0, 8, 24, 32], np.int32)
    wide, a, b = normal(5, 16, 256), normal(6, 256, 256), normal(7, 256, 128)
    return {
        "scaled through VMEM": Documented(scaled_through_vmem, (x,), x * 2),
        "sum of two copies": Documented(sum_of_two_copies, (x, y), x + y),
        "double buffered": Documented(double_buffered, (x,), x + 1),
        "HBM to HBM": Documented(hbm_to_hbm, (x,), x.reshape(4, 8, 128)[::-1].reshape(32, 128)),
        "counted": Documented(counted, (x,), x + 2),
        "matmul": Documented(matmul, (a, b), a.astype(np.float64) @ b, tolerance=1e-4),
        "matmul, no pipelining": Documented(
            functools.partial(matmul, no_pipelining=True), (a, b), a.astype(np.float64) @ b, tolerance=1e-4
        ),
        "a pipeline in a loop": Documented(in_a_loop, (wide,), wide * 3),
        "nested pipelines": Documented(nested, (wide,), wide[:, :128] + wide[:, 128:]),
        "three buffers": Documented(three_buffers, (x,), np.maximum(x, 0)),
        "bounded slices": Documented(bounded, (x, starts), -x),
        "lookahead": Documented(
            lookahead, (wide[:, :128],), np.concatenate([wide[i // 4 * 8 : i // 4 * 8 + 8, :128] + i for i in range(8)])
        ),
        "split over cores": Documented(split_over_cores, (x,), x * x, target="v5p"),
        "block sparse": _block_sparse(),
    }


KERNELS = _all()
SCORE = scored.path_of("documented_score.json")
SAMPLED = ("sum of two copies", "double buffered", "counted")


def cases(names) -> list:
    return [
        scored.Scored(name, KERNELS[name].function, KERNELS[name].args, KERNELS[name].target, KERNELS[name].tolerance)
        for name in names
    ]


def score(names, per_kind, progress=None) -> dict:
    return scored.score(cases(names), per_kind, progress)


if __name__ == "__main__":
    scored.record(SCORE, lambda progress: score(KERNELS, 0, progress), lambda: score(SAMPLED, 1))
