"""Programs of pltpu.emit_pipeline: each runs with the numbers of JAX's own TPU interpreter, and nothing is found in it.

A program is a function of `interpret` that gives (the result, what NumPy makes of it). OURS are those that JAX's
interpreter does not run: they are held against NumPy alone.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
import pipeline_programs as programs
from pipeline_programs import VMEM, X, Y, block, called, doubling, like, piped
from test_pipeline_primitive import can_be_expanded, one_primitive

# ---- buffers


def buffered(into, out, **how):
    def program(interpret):
        kernel = piped(ins=[block(buffers=into, **how)], outs=[block(buffers=out)])
        return called(kernel, X, interpret=interpret), X * 2

    return program


def lookahead_over_revisits(interpret):
    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    slow = block(index=lambda i, j: (i // 4, j // 2), buffers=2, use_lookahead=True)
    rows = Y.reshape(8, 8, 256)[np.arange(8) // 4].reshape(64, 256)
    return called(piped(body, ins=[block(), slow]), X, Y, interpret=interpret), X + np.tile(rows[:, :128], (1, 2))


def differently_buffered(interpret):
    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] - y_ref[...]

    return called(
        piped(body, ins=[block(buffers=4), block(buffers=1)], outs=[block(buffers=1)]), X, Y, interpret=interpret
    ), X - Y


def synchronous(interpret):
    return called(piped(no_pipelining=True), X, interpret=interpret), X * 2


def without_scopes(interpret):
    return called(piped(trace_scopes=False), X, interpret=interpret), X * 2


def with_tiling(interpret):
    return called(
        piped(tiling=pltpu.Tiling.COMPACT if hasattr(pltpu, "Tiling") else None), X, interpret=interpret
    ), X * 2


# ---- several inputs and outputs, accumulators, scratch


def no_inputs(interpret):
    def kernel(x, o):
        def body(o_ref):
            o_ref[...] = jnp.full(o_ref.shape, pl.program_id(0) * 2 + pl.program_id(1), o_ref.dtype)

        pltpu.emit_pipeline(body, grid=(8, 2), out_specs=[block()])(o)

    i, j = np.arange(64) // 8, np.arange(256) // 128
    return called(kernel, X, interpret=interpret), (2 * i[:, None] + j[None, :]).astype(np.float32)


def no_outputs(interpret):
    """The sum of all blocks, in a scratch that the kernel hands on."""

    def kernel(x, o, total):
        total[...] = jnp.zeros_like(total)

        def body(x_ref):
            total[...] += x_ref[...]

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[block()])(x)
        o[...] = total[...]

    out = jax.ShapeDtypeStruct((8, 128), X.dtype)
    scratch = [pltpu.VMEM((8, 128), X.dtype)]
    result = called(kernel, X, interpret=interpret, out=out, out_specs=VMEM, scratch_shapes=scratch)
    return result, X.reshape(8, 8, 2, 128).sum((0, 2))


def several_outputs(interpret):
    """The third is the sum of the rows of each block, in all of its rows."""

    def body(x_ref, y_ref, plus_ref, minus_ref, row_ref):
        plus_ref[...] = x_ref[...] + y_ref[...]
        minus_ref[...] = x_ref[...] - y_ref[...]
        row_ref[...] = jnp.broadcast_to(jnp.sum(x_ref[...], 0, keepdims=True), row_ref.shape)

    kernel = piped(body, ins=[block(), block()], outs=[block(), block(), block()])
    rows = np.repeat(X.reshape(8, 8, 256).sum(1), 8, 0)
    return called(kernel, X, Y, interpret=interpret, out=(like(X),) * 3), (X + Y, X - Y, rows)


def trees_of_specs(interpret):
    """One spec that is no list."""

    def kernel(x, o):
        pltpu.emit_pipeline(doubling, grid=(8, 2), in_specs=block(), out_specs=block())(x, o)

    return called(kernel, X, interpret=interpret), X * 2


def accumulated(first):
    """Sums along the last dimension of the grid; the first step begins anew, or the last one hands on."""

    def program(interpret):
        def body(x_ref, o_ref):
            @pl.when(pl.program_id(1) == 0)
            def _():
                o_ref[...] = jnp.zeros_like(o_ref) if first else x_ref[...]

            @pl.when((pl.program_id(1) != 0) | first)
            def _():
                o_ref[...] += x_ref[...]

        out = jax.ShapeDtypeStruct((64, 128), X.dtype)
        return called(piped(body, outs=[block(index=lambda i, j: (i, 0))]), X, interpret=interpret, out=out), X[
            :, :128
        ] + X[:, 128:]

    return program


def in_a_scratch(interpret):
    """An accumulator that only the last step of each row writes out."""

    def kernel(x, o, total):
        def body(x_ref, o_ref):
            @pl.when(pl.program_id(1) == 0)
            def _():
                total[...] = jnp.zeros_like(total)

            total[...] += x_ref[...]

            @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
            def _():
                o_ref[...] = total[...]

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[block()], out_specs=[block(index=lambda i, j: (i, 0))])(x, o)

    out = jax.ShapeDtypeStruct((64, 128), X.dtype)
    return called(kernel, X, interpret=interpret, out=out, scratch_shapes=[pltpu.VMEM((8, 128), X.dtype)]), X[
        :, :128
    ] + X[:, 128:]


def matrix_product(interpret):
    def body(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    x, y = np.asarray(X[:16] % 8, np.float32), np.asarray(Y.T[:256, :].repeat(4, 1) % 8, np.float32)
    ins = [block((8, 128), lambda i, j, k: (i, k)), block((128, 128), lambda i, j, k: (k, j))]
    kernel = piped(body, grid=(2, 2, 2), ins=ins, outs=[block((8, 128), lambda i, j, k: (i, j))])
    return called(kernel, x, y, interpret=interpret, out=jax.ShapeDtypeStruct((16, 256), x.dtype)), x @ y


def scratches(interpret):
    def kernel(x, o, kept):
        def body(x_ref, o_ref, kept):
            kept[...] = x_ref[...] * 2
            o_ref[...] = kept[...]

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[block()], out_specs=[block()])(x, o, scratches=(kept,))

    return called(kernel, X, interpret=interpret, scratch_shapes=[pltpu.VMEM((8, 128), X.dtype)]), X * 2


def in_place(interpret):
    return called(piped(), X, interpret=interpret, input_output_aliases={0: 0}), X * 2


def allocations(interpret):
    """Two passes of a pipeline that share their buffers."""

    def kernel(x, o):
        pipeline, make = pltpu.emit_pipeline_with_allocations(
            doubling, grid=(4, 2), in_specs=[block()], out_specs=[block()]
        )

        def passes(buffers):
            for half in (pl.ds(0, 32), pl.ds(32, 32)):
                pipeline(x.at[half], o.at[half], allocations=buffers)

        pl.run_scoped(passes, make(x, o))

    return called(kernel, X, interpret=interpret), X * 2


def input_output_in_four_slots(interpret):
    """Writing back, too, is beside the body: JAX 0.12."""
    return input_output(interpret, (2, 2))


def input_output(interpret, buffers=2):
    """A buffer that is fetched and written back: out = out + in."""

    def kernel(x, _, o):
        def body(x_ref, o_ref):
            o_ref[...] += x_ref[...]

        inside = pltpu.BufferedRef.input(block(), like(X), grid_rank=2)
        both = pltpu.BufferedRef.input_output(block(), like(X), buffers)
        pipeline = pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[block()], out_specs=[block()])
        pl.run_scoped(lambda *b: pipeline(x, o, allocations=b), inside, both)

    return called(kernel, X, Y, interpret=interpret, input_output_aliases={1: 0}), X + Y


def twice(interpret):
    def kernel(x, o):
        for half in (pl.ds(0, 128), pl.ds(128, 128)):
            spec = [block(index=lambda i: (i, 0))]
            pltpu.emit_pipeline(doubling, grid=(8,), in_specs=spec, out_specs=spec)(x.at[:, half], o.at[:, half])

    return called(kernel, X, interpret=interpret), X * 2


def one_after_another(interpret):
    """What the first pipeline wrote, the second one reads."""

    def kernel(x, o):
        pltpu.emit_pipeline(doubling, grid=(8, 2), in_specs=[block()], out_specs=[block()])(x, o)
        pltpu.emit_pipeline(doubling, grid=(8, 2), in_specs=[block()], out_specs=[block()])(o, o)

    return called(kernel, X, interpret=interpret), X * 4


def in_a_loop(interpret):
    def kernel(x, o):
        @pl.loop(0, 4)
        def _(i):
            rows = pl.ds(pl.multiple_of(16 * i, 16), 16)
            pltpu.emit_pipeline(doubling, grid=(2, 2), in_specs=[block()], out_specs=[block()])(x.at[rows], o.at[rows])

    return called(kernel, X, interpret=interpret), X * 2


def nested(interpret):
    def kernel(x, o):
        def outer(x_ref, o_ref):
            spec = [block((8, 128), lambda i: (i, 0))]
            pltpu.emit_pipeline(doubling, grid=(2,), in_specs=spec, out_specs=spec)(x_ref, o_ref)

        spec = [block((16, 128))]
        pltpu.emit_pipeline(outer, grid=(4, 2), in_specs=spec, out_specs=spec)(x, o)

    return called(kernel, X, interpret=interpret), X * 2


def over_cores(rows, core_axis=None):
    """The grid is cut into the parts of two cores, which need not be equal."""

    def program(interpret):
        x = X[: 8 * rows]

        def kernel(x_hbm, o_hbm):
            how = {"core_axis": 0} if core_axis is not None else {"core_axis_name": "core"}
            pltpu.emit_pipeline(
                doubling,
                grid=(rows, 2),
                in_specs=[block()],
                out_specs=[block()],
                dimension_semantics=(pltpu.PARALLEL, pltpu.ARBITRARY),
                **how,
            )(x_hbm, o_hbm)

        if core_axis is not None:
            semantics = pltpu.CompilerParams(dimension_semantics=("parallel",))
            return called(kernel, x, interpret=interpret, grid=(2,), compiler_params=semantics), x * 2
        mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
        out = {"out_type" if jax.__version_info__ >= (0, 10) else "out_shape": like(x)}
        return pl.kernel(kernel, mesh=mesh, **out)(x), x * 2

    return program


def from_vmem(interpret):
    return called(piped(), X, interpret=interpret, in_specs=[VMEM]), X * 2


def to_vmem(interpret):
    return called(piped(), X, interpret=interpret, out_specs=VMEM), X * 2


def first_and_last(interpret):
    """The body knows the first and the last step by its ids, as cycles are distinguished."""

    def body(x_ref, o_ref):
        step = 2 * pl.program_id(0) + pl.program_id(1)
        first, last = step == 0, step == 15
        o_ref[...] = x_ref[...] + jnp.where(first, 1000.0, 0.0) + jnp.where(last, 2000.0, 0.0)

    expected = X.copy()
    expected[:8, :128] += 1000
    expected[56:, 128:] += 2000
    return called(piped(body), X, interpret=interpret), expected


def copies_of_its_own(interpret):
    """The body copies beside the pipeline, and waits."""

    def kernel(x, y, o, kept, sem):
        def body(x_ref, o_ref):
            rows = pl.ds(pl.multiple_of(8 * pl.program_id(0), 8), 8)
            columns = pl.ds(pl.multiple_of(128 * pl.program_id(1), 128), 128)
            pltpu.async_copy(y.at[rows, columns], kept, sem).wait()
            o_ref[...] = x_ref[...] + kept[...]

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[block()], out_specs=[block()])(x, o)

    return called(
        kernel, X, Y, interpret=interpret, scratch_shapes=[pltpu.VMEM((8, 128), X.dtype), pltpu.SemaphoreType.DMA]
    ), X + Y


PROGRAMS = {
    **{f"grid of rank {n}": programs.grid_of(n) for n in range(5)},
    "grid of one": programs.grid_of_one,
    "dynamic grid": programs.dynamic(8, 2),
    "dynamic, shorter": programs.dynamic(5, 1),
    "dynamic, one of two": programs.dynamic(3, 2, both=False),
    "dynamic, empty": programs.dynamic(0, 2),
    "squeezed, None": programs.squeezed(None),
    "squeezed": programs.squeezed(pl.Squeezed()),
    **{f"{n} buffers, {m} out": buffered(n, m) for n, m in ((1, 1), (1, 2), (2, 1), (3, 2), (4, 1))},
    "lookahead": buffered(2, 2, use_lookahead=True),
    "lookahead of three": buffered(3, 2, use_lookahead=True),
    **{f"of {t}": programs.dtype_of(t) for t in ("bfloat16", "int8", "int32")},
    "begins with zero": accumulated(True),
    "begins with the first": accumulated(False),
    **{
        name: getattr(programs, name)
        for name in (
            "program_ids",
            "in_a_grid",
            "transposed_order",
            "reversed_rows",
            "through_a_table",
            "revisited_input",
            "whole_input",
            "whole_output",
            "element_rows",
            "bounded_slices",
            "ragged",
        )
    },
    **{
        f.__name__: f
        for f in (
            lookahead_over_revisits,
            differently_buffered,
            synchronous,
            without_scopes,
            with_tiling,
            no_inputs,
            no_outputs,
            several_outputs,
            trees_of_specs,
            in_a_scratch,
            matrix_product,
            scratches,
            in_place,
            allocations,
            input_output,
            input_output_in_four_slots,
            twice,
            one_after_another,
            in_a_loop,
            nested,
            from_vmem,
            to_vmem,
            first_and_last,
            copies_of_its_own,
        )
    },
    "two cores": over_cores(8),
    "two cores, unequal parts": over_cores(7),
    "two cores of a grid": over_cores(8, core_axis=0),
}
OURS = ("ragged", "two cores", "two cores, unequal parts")
TARGETS = {name: "v5p" for name in PROGRAMS if name.startswith("two cores")}
# Before, JAX's pipeline fetches into a buffer that it writes back.
OF_NEWER_JAX = {"input_output": (0, 12), "input_output_in_four_slots": (0, 12)}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if jax.__version_info__ >= OF_NEWER_JAX.get(name, ())])
def test_a_program(name):
    program, target = PROGRAMS[name], TARGETS.get(name, "v5e")
    if name not in OURS:
        with palladion.target(target):
            result, expected = program(pltpu.InterpretParams())
        jax.tree.map(np.testing.assert_array_equal, result, expected)
    expect_clean(program, target)


def expect_clean(program, target):
    with palladion.emulate(target, seeds=2) as session:
        result, expected = program(False)
        jax.tree.map(np.testing.assert_array_equal, result, expected)
    assert not session.report.findings, session.report


if can_be_expanded():

    @pytest.mark.parametrize(
        "name", [name for name in PROGRAMS if name != "scratches"]
    )  # which JAX's primitive leaves out
    def test_a_program_where_the_pipeline_is_one_primitive(name):
        with one_primitive(True):
            expect_clean(PROGRAMS[name], TARGETS.get(name, "v5e"))
