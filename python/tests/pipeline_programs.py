"""The parts of programs of pltpu.emit_pipeline, and of grids, index maps and blocks, for the test beside it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ANYWHERE, SMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM)
VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)
RNG = np.random.default_rng(3)
X = RNG.integers(-100, 100, (64, 256)).astype(np.float32)
Y = RNG.integers(-100, 100, (64, 256)).astype(np.float32)
CUBE = RNG.integers(-100, 100, (4, 16, 256)).astype(np.float32)
TALL = RNG.integers(-100, 100, (30, 200)).astype(np.float32)


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def called(kernel, *args, interpret, out=None, in_specs=None, out_specs=None, **options):
    out = like(args[0]) if out is None else out
    specs = jax.tree.map(lambda _: ANYWHERE, out) if out_specs is None else out_specs
    return pl.pallas_call(
        kernel,
        out_shape=out,
        out_specs=specs,
        in_specs=in_specs or [ANYWHERE] * len(args),
        interpret=interpret,
        **options,
    )(*args)


def block(shape=(8, 128), index=lambda i, j: (i, j), buffers=None, **how):
    mode = None if buffers is None else pl.Buffered(buffers, **how)
    return pl.BlockSpec(shape, index, pipeline_mode=mode)


def doubling(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def piped(body=doubling, grid=(8, 2), ins=None, outs=None, **how):
    """A kernel that is one pipeline over its refs."""

    def kernel(*refs):
        pltpu.emit_pipeline(body, grid=grid, in_specs=ins or [block()], out_specs=outs or [block()], **how)(*refs)

    return kernel


# ---- grids


def grid_of(rank):
    """A grid of `rank` dimensions over as many blocks."""

    def program(interpret):
        grid, index = {
            0: ((), lambda: (0, 0)),
            1: ((8,), lambda i: (i, 0)),
            2: ((8, 2), lambda i, j: (i, j)),
            3: ((2, 4, 2), lambda i, j, k: (4 * i + j, k)),
            4: ((2, 2, 2, 2), lambda i, j, k, m: (4 * i + 2 * j + k, m)),
        }[rank]
        shape = {0: (64, 256), 1: (8, 256)}.get(rank, (8, 128))
        spec = [block(shape, index)]
        return called(piped(grid=grid, ins=spec, outs=spec), X, interpret=interpret), X * 2

    return program


def grid_of_one(interpret):
    spec = [block((64, 256), lambda i: (0, 0))]
    return called(piped(grid=(1,), ins=spec, outs=spec), X, interpret=interpret), X * 2


def dynamic(rows, columns, both=True):
    """Sizes of the grid that are known at run time: what no step visits is left as the alias gave it."""

    def program(interpret):
        def kernel(n, x, _, o):
            pltpu.emit_pipeline(
                doubling, grid=(n[0], n[1] if both else columns), in_specs=[block()], out_specs=[block()]
            )(x, o)

        result = called(
            kernel,
            np.array([rows, columns], np.int32),
            X,
            Y,
            interpret=interpret,
            out=like(X),
            in_specs=[SMEM, ANYWHERE, ANYWHERE],
            input_output_aliases={2: 0},
        )
        expected = Y.copy()
        expected[: 8 * rows, : 128 * columns] = 2 * X[: 8 * rows, : 128 * columns]
        return result, expected

    return program


def program_ids(interpret):
    def body(x_ref, o_ref):
        place = 100 * pl.program_id(0) + 10 * pl.program_id(1) + pl.num_programs(0) + pl.num_programs(1)
        o_ref[...] = x_ref[...] + place.astype(x_ref.dtype)

    i, j = np.arange(64) // 8, np.arange(256) // 128
    return called(piped(body), X, interpret=interpret), X + 100 * i[:, None] + 10 * j[None, :] + 10


def in_a_grid(interpret):
    def kernel(x, o):
        half = pl.ds(pl.multiple_of(pl.program_id(0) * 32, 32), 32)
        pltpu.emit_pipeline(doubling, grid=(4, 2), in_specs=[block()], out_specs=[block()])(x.at[half], o.at[half])

    return called(kernel, X, interpret=interpret, grid=(2,)), X * 2


# ---- index maps and blocks


def transposed_order(interpret):
    spec = [block(index=lambda j, i: (i, j))]
    return called(piped(grid=(2, 8), ins=spec, outs=spec), X, interpret=interpret), X * 2


def reversed_rows(interpret):
    return called(piped(outs=[block(index=lambda i, j: (7 - i, j))]), X, interpret=interpret), 2 * X.reshape(8, 8, 256)[
        ::-1
    ].reshape(64, 256)


def through_a_table(interpret):
    table = np.array([3, 0, 7, 1, 6, 2, 5, 4], np.int32)

    def kernel(t, x, o):
        pltpu.emit_pipeline(doubling, grid=(8, 2), in_specs=[block(index=lambda i, j: (t[i], j))], out_specs=[block()])(
            x, o
        )

    return called(kernel, table, X, interpret=interpret, out=like(X), in_specs=[SMEM, ANYWHERE]), 2 * X.reshape(
        8, 8, 256
    )[table].reshape(64, 256)


def revisited_input(interpret):
    """The same block of an input in steps that follow one another is fetched once."""

    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    kernel = piped(body, ins=[block(), block(index=lambda i, j: (i // 2, 0))])
    rows = Y.reshape(8, 8, 256)[np.arange(8) // 2].reshape(64, 256)
    return called(kernel, X, Y, interpret=interpret), X + np.tile(rows[:, :128], (1, 2))


def whole_input(interpret):
    """Windows whose index cannot change are fetched once, before the first step."""

    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + jnp.sum(y_ref[...])

    kernel = piped(body, ins=[block(), block((64, 256), lambda i, j: (0, 0))])
    return called(kernel, X, Y, interpret=interpret), X + Y.sum()


def whole_output(interpret):
    def body(x_ref, o_ref):
        rows = pl.ds(pl.multiple_of(8 * pl.program_id(0), 8), 8)
        o_ref[rows, :] = x_ref[...] * 2

    kernel = piped(body, grid=(8,), ins=[block((8, 256), lambda i: (i, 0))], outs=[block((64, 256), lambda i: (0, 0))])
    return called(kernel, X, interpret=interpret), X * 2


def squeezed(dim):
    def program(interpret):
        spec = [block((dim, 8, 128), lambda i, j, k: (i, j, k))]
        return called(piped(grid=(4, 2, 2), ins=spec, outs=spec), CUBE, interpret=interpret), CUBE * 2

    return program


def element_rows(interpret):
    """Rows from 8i on, 16 of them: blocks that overlap."""

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(0, 8), :] + x_ref[pl.ds(8, 8), :]

    ins = [pl.BlockSpec((pl.Element(16), pl.Element(256)), lambda i: (8 * i, 0))]
    out = jax.ShapeDtypeStruct((56, 256), X.dtype)
    return called(
        piped(body, grid=(7,), ins=ins, outs=[block((8, 256), lambda i: (i, 0))]), X, interpret=interpret, out=out
    ), X[:56] + X[8:]


def bounded_slices(interpret):
    """Slices whose starts and sizes the index map gives."""
    starts, sizes = np.array([0, 16, 24, 48], np.int32), np.array([16, 8, 24, 16], np.int32)

    def kernel(s, n, x, o):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2

        at = lambda i: (pl.ds(pl.multiple_of(s[i], 8), pl.multiple_of(n[i], 8)), 0)
        spec = [pl.BlockSpec((pl.BoundedSlice(24), 256), at)]
        pltpu.emit_pipeline(body, grid=(4,), in_specs=spec, out_specs=spec)(x, o)

    return called(kernel, starts, sizes, X, interpret=interpret, out=like(X), in_specs=[SMEM, SMEM, ANYWHERE]), X * 2


def ragged(interpret):
    spec = [block((8, 128))]
    return called(piped(grid=(4, 2), ins=spec, outs=spec), TALL, interpret=interpret), TALL * 2


def dtype_of(dtype):
    def program(interpret):
        x = np.asarray(X % 16).astype(dtype)
        spec = [block((32, 128))]
        return called(piped(grid=(2, 2), ins=spec, outs=spec), x, interpret=interpret), x * 2

    return program
