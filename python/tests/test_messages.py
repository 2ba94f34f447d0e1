"""Findings lead to the user's own line and to the mistake, not to its symptoms."""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

X = jnp.ones((32, 256))


def report_of(f, target, *args, **options):
    with palladion.emulate(target, on_defect="collect", **options) as session:
        f(*args)
    return session.report


def finding_of(report, code):
    return next(finding for finding in report.findings if finding.code == code)


def line_of(function, text) -> int:
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def own_programs_into_one_block(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    return pl.pallas_call(  # the call
        kernel,
        grid=(4,),
        out_shape=jax.ShapeDtypeStruct((128,), jnp.float32),
        in_specs=[pl.BlockSpec((128,), lambda i: (i,))],
        out_specs=pl.BlockSpec((128,), lambda i: (0,)),
        compiler_params=plgpu.CompilerParams(),
    )(x)


def test_pipelines_that_the_exporter_writes_are_folded():
    report = report_of(own_programs_into_one_block, "h100", jnp.ones((512,)), seeds=4)
    race = finding_of(report, "RACE_WW")
    assert race.first.object == race.second.object == "o_ref"
    text = str(report)
    assert "/palladion/jax/jax_gpu_calls.py" not in text and "smem_refs" not in text
    assert f"test_messages.py:{line_of(own_programs_into_one_block, '# the call')}:" in str(race)


def test_slots_of_a_pipeline_have_the_names_of_their_refs():
    def kernel(x_ref, out_ref):
        out_ref[...] = x_ref[...] * 2.0

    block = pl.BlockSpec((128,), lambda i: (i,))
    text = palladion.export(
        lambda x: pl.pallas_call(
            kernel, grid=(4,), out_shape=x, in_specs=[block], out_specs=block, compiler_params=plgpu.CompilerParams()
        )(x),
        jnp.ones((512,)),
    )
    assert 'as "x_ref"' in text and 'as "out_ref"' in text and "smem_refs" not in text


BIG = jax.ShapeDtypeStruct((16384, 512), jnp.float32)


def too_much(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((8192, 512), lambda i: (i, 0))
    return pl.pallas_call(  # the call
        kernel,
        grid=(2,),
        in_specs=[block],
        out_specs=block,
        out_shape=BIG,
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=8 << 20),
    )(x)


def test_what_is_wrong_with_a_kernel_as_a_whole_is_at_its_call():
    report = palladion.check(too_much, jnp.zeros(BIG.shape, BIG.dtype), target="v5e", seeds=1)
    finding = finding_of(report, "CAPACITY")
    assert finding.frames[0].file == __file__ and finding.frames[0].line == line_of(too_much, "# the call")
    assert "of what palladion.export writes" not in str(report)


def revisited(x):
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(4, 2),
        in_specs=[pl.BlockSpec((8, 128), lambda k, j: (k, j))],
        out_specs=pl.BlockSpec((8, 128), lambda k, j: (0, j)),
        out_shape=jax.ShapeDtypeStruct((8, 256), x.dtype),
    )(x)


def test_a_block_that_is_visited_again_comes_before_what_was_undefined_in_it():
    report = report_of(revisited, "v5e", X, seeds=4)
    codes = [finding.code for finding in report.findings]
    assert codes[0] == "OUT_REVISIT"
    if "UNINIT" in codes:
        assert finding_of(report, "UNINIT").fix == "resolve the OUT_REVISIT of 'o_ref' first"


def doubled(x, index_map, grid=4, rows=8):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return pl.pallas_call(
        kernel,
        grid=(grid,),
        in_specs=[pl.BlockSpec((rows, 256), index_map)],
        out_specs=pl.BlockSpec((rows, 256), lambda i: (jnp.minimum(i, 32 // rows - 1), 0)),
        out_shape=x,
    )(x)


def test_index_maps_that_return_elements():
    finding = finding_of(report_of(lambda x: doubled(x, lambda i: (i * 8, 0)), "v5e", X, seeds=1), "OOB_BLOCK")
    assert "which seems to return elements: (1, 0) is the block that begins at element (8, 0)" in finding.fix
    assert "pl.Element" in finding.fix


@pytest.mark.parametrize(
    "index_map, grid, rows",
    [
        (lambda i: (i, 0), 20, 2),  # 16 is an element where a block begins, and the program's own number
        (lambda i: (i + 3, 0), 4, 8),
        (lambda i: (i * 100, 0), 2, 8),
        (lambda i: (-8 * i, 0), 2, 8),
        (lambda i: (0, i * 3), 2, 8),
    ],
)
def test_other_maps_that_leave_the_array(index_map, grid, rows):
    finding = finding_of(report_of(lambda x: doubled(x, index_map, grid, rows), "v5e", X, seeds=1), "OOB_BLOCK")
    assert finding.fix == "let at least one element of the block be inside: correct the index map or the grid"


def endless(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + jax.lax.while_loop(lambda c: c < 10, lambda c: (c + 1) % 1, jnp.int32(0))

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(2,), grid_names=("i",))(x)


def test_an_endless_loop_is_not_a_lock():
    finding = finding_of(report_of(endless, "h100", jnp.ones((128,), jnp.int32), seeds=2, budget=10_000), "DEADLOCK")
    assert "the end of a loop whose iterations change nothing" in finding.message
    assert finding.fix == "let the loop's body change what its condition looks at"


def spinning(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.lax.while_loop(lambda v: v[0, 0] < 1e9, lambda v: v * 1.0, x_ref[...])

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


BUDGETED = {
    "run": palladion.run,
    "check": palladion.check,
    "time": palladion.time,
    "draw": palladion.draw,
    "draw_time": palladion.draw_time,
    "advise": palladion.advise,
    "draw_schedule": palladion.draw_schedule,
}


@pytest.mark.parametrize("name", BUDGETED)
def test_a_spent_budget_is_named_as_the_caller_knows_it(name):
    try:
        text = str(BUDGETED[name](spinning, X, target="v5e", budget=100))
    except (palladion.PalladionError, ValueError) as error:
        text = str(error)
    assert "::" not in text and "argument budget" in text, text


def test_a_session_names_the_budget_too():
    with pytest.raises(Exception, match="raise the argument budget") as raised:
        report_of(spinning, "v5e", X, budget=100, seeds=2)
    assert "::" not in str(raised.value)


def test_a_grid_without_programs_has_no_timeline():
    def nothing(x):
        return pl.pallas_call(lambda x_ref, o_ref: None, grid=(0,), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    with pytest.raises(palladion.PalladionError, match="its grid is empty, so no program ran"):
        palladion.draw_time(nothing, X, target="v5e")
