"""palladion.emulate: kernels under JAX's transformations, the report, what happens on a defect, threads."""

import threading
import warnings

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion.bridge import jax_params, transport
from small_kernels import double, double_kernel, past_the_end

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


BAD = np.float32([1, 2, 3])


@pytest.fixture(params=["custom call", "callback"], autouse=True)
def way(request, monkeypatch):
    """Everything holds for both transports."""
    if request.param == "callback":
        monkeypatch.setenv("PALLADION_TRANSPORT", "callback")
    assert transport.uses_custom_call() == (request.param == "custom call")
    jax.clear_caches()
    return request.param


def test_a_bare_kernel_needs_no_change():
    with palladion.emulate(seeds=4) as session:
        result = jax.jit(double)(X)
    np.testing.assert_array_equal(result, X * 2)
    [call] = session.report.calls
    assert (call.kernel, call.verdict, call.count) == ("double_kernel", "proved", 1)
    assert session.report.ok and session.report.raise_if_defect() is session.report
    assert palladion.last_report() is session.report
    with pytest.raises(ValueError, match="Only interpret mode"):
        double(X)


def test_a_kernel_function_that_was_made_before_and_after():
    made_before = pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))
    sessions = []
    for target in ("v5e", "generic"):
        with palladion.emulate(target) as session:
            np.testing.assert_array_equal(made_before(X), X * 2)
            np.testing.assert_array_equal(jax.jit(made_before)(X), X * 2)
            if not sessions:
                made_inside = pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))
            made_inside(X)
        sessions.append(session)
    assert [[(call.target, call.count) for call in s.report.calls] for s in sessions] == [
        [("mosaic_tpu/v5e", 3)],
        [("generic", 3)],
    ]
    with pytest.raises(ValueError, match="Only interpret mode"):
        made_before(X)


def test_jit_vmap_scan_cond_and_eager_calls():
    def program(x):
        final, stacked = lax.scan(lambda c, _: (double(c), double(c)[0]), x, None, length=3)
        chosen = lax.cond(x[0, 0] < 0, double, lambda v: v, x)
        return final, stacked, chosen, jax.vmap(double)(jnp.stack([x, x + 1]))

    with palladion.emulate() as session:
        eager = program(X)
        final, stacked, chosen, mapped = jax.jit(program)(X)
    for one, other in zip(eager, (final, stacked, chosen, mapped)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(final, X * 8)
    np.testing.assert_array_equal(stacked, np.stack([X[0] * 2, X[0] * 4, X[0] * 8]))
    np.testing.assert_array_equal(chosen, X * 2)
    np.testing.assert_array_equal(mapped, np.stack([X * 2, X * 2 + 2]))
    assert session.report.count == 2 * (3 + 3 + 1 + 1)


def test_equal_calls_are_all_in_the_report():
    with palladion.emulate() as session:  # one line, so that the texts are equal too
        np.testing.assert_array_equal(jax.jit(lambda x: sum(double(x) for _ in range(3)))(X), X * 6)
    assert session.report.count == 3 and len(session.report.calls) == 1


def test_a_compiled_function_is_in_the_report_of_each_session():
    function = jax.jit(lambda x: double(x, interpret=True).sum())
    assert function(X) == (X * 2).sum()
    with palladion.emulate() as first:
        function(X)
    with palladion.emulate() as second:
        function(X)
        function(X)
    assert function(X) == (X * 2).sum()
    assert (first.report.count, second.report.count) == (1, 2)


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "int2",
        "uint2",
        "int4",
        "uint4",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "float16",
        "bfloat16",
        "float32",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3fn",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn",
    ],
)
def test_every_type_reaches_the_kernel_and_comes_back(name):
    def copy_kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...]

    dtype = getattr(ml_dtypes, name, None) or np.dtype(name)
    values = [0, 1, -1, 0, 1] if name.startswith(("int", "float")) and "e8m0" not in name else [0, 1, 1, 0, 1]
    x = jnp.asarray(np.asarray(values).astype(dtype))
    with palladion.emulate():
        result = pl.pallas_call(copy_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    assert result.dtype == x.dtype
    assert np.asarray(result).tobytes() == np.asarray(x).tobytes()


def test_64_bit_types():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(), palladion.emulate():
        for dtype in (np.float64, np.int64, np.uint64):
            np.testing.assert_array_equal(double(jnp.asarray([1, 2**40], dtype)), np.asarray([2, 2**41], dtype))


def test_prng_keys_are_their_words():
    def kernel(key_ref, bits_ref):
        bits_ref[...] = jax.random.bits(key_ref[...], (4, 8))

    key = jax.random.key(7)
    with palladion.emulate():
        result = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4, 8), jnp.uint32))(key)
    np.testing.assert_array_equal(result, jax.random.bits(key, (4, 8)))


@pytest.mark.parametrize("seeds", [None, 2])
def test_results_in_the_memory_of_operands(seeds, way):
    def kernel(x_ref, z_ref, y_ref):
        y_ref[...] = x_ref[...] + z_ref[...]

    def add(x, z):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(z.shape, z.dtype), input_output_aliases={1: 0})(
            x, z
        )

    with palladion.emulate(seeds=seeds):
        z = jnp.asarray(X)
        text = jax.jit(add).lower(X, z).as_text()
        assert ("operand_index = 1" in text) == (way == "custom call"), text  # no copy
        np.testing.assert_array_equal(jax.jit(lambda x, z: add(x, z) + z)(X, z), X * 3)
        np.testing.assert_array_equal(jax.jit(add, donate_argnums=1)(X, jnp.asarray(X)), X * 2)
        np.testing.assert_array_equal(z, X)


def test_a_dynamic_grid_and_an_alias_behind_its_bound():
    def kernel(x_ref, start_ref, y_ref):
        y_ref[...] = x_ref[...] * 2

    def add(n, x):
        block = pl.BlockSpec((1, 4), lambda i: (i, 0))
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            grid=(n,),
            in_specs=[block, block],
            out_specs=block,
            input_output_aliases={1: 0},
        )(x, x + 100)

    with palladion.emulate():
        result = jax.jit(add)(2, X)
    np.testing.assert_array_equal(result, np.concatenate([X[:2] * 2, X[2:] + 100]))


def test_subnormals_live_in_kernels_and_xla_keeps_its_own_mode():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...] * jnp.float32(0.5)

    tiny = np.float32([1e-40, 2e-39])
    in_xla = jax.jit(lambda v: v * jnp.float32(0.5))

    def both(x):
        before = in_xla(x)
        inside = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x + before)
        return before, inside, in_xla(inside)

    before = np.asarray(in_xla(tiny))
    with palladion.emulate():
        _, inside, after = jax.jit(both)(tiny)
        alone = double(tiny)
    np.testing.assert_array_equal(np.asarray(alone).view(np.uint32), (tiny * 2).view(np.uint32))
    np.testing.assert_array_equal(before, [0, 0])  # XLA flushes them, before and after
    np.testing.assert_array_equal(in_xla(tiny), [0, 0])
    np.testing.assert_array_equal(after, [0, 0])


def test_on_defect_raise():
    with pytest.raises(palladion.DefectError, match=r"OOB.*x_ref.*\n  at .*small_kernels\.py:\d+") as caught:
        with palladion.emulate() as session:
            jax.block_until_ready(jax.jit(past_the_end)(BAD))
    assert caught.value.report is session.report
    [finding] = session.report.findings
    assert finding.frames[0].file.endswith("small_kernels.py") and finding.frames[0].function == "past_the_end_kernel"
    assert any(frame.function == "past_the_end" for frame in finding.frames[1:])  # and its callers after it


def test_the_call_itself_fails_and_says_why():
    with pytest.raises(palladion.DefectError):
        with palladion.emulate():
            with pytest.raises(jax.errors.JaxRuntimeError, match=r"OOB.*\n  at .*small_kernels\.py"):
                jax.block_until_ready(past_the_end(BAD))


def test_a_result_that_is_not_used_counts():
    with pytest.raises(palladion.DefectError, match="OOB"):
        with palladion.emulate():
            past_the_end(BAD)


def test_on_defect_warn():
    with pytest.warns(palladion.PalladionWarning, match=r"^error\[OOB\].*\n  at .*small_kernels\.py") as caught:
        with palladion.emulate(on_defect="warn"):
            result = past_the_end(BAD)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(result, np.float32([3, np.nan]))


def test_on_defect_collect():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with palladion.emulate(on_defect="collect", seeds=2) as session:
            result = past_the_end(BAD)
    np.testing.assert_array_equal(result, np.float32([3, np.nan]))
    assert session.report.verdict == "defect" and not session.report.ok and not session.report.races_found
    with pytest.raises(palladion.DefectError):
        session.report.raise_if_defect()


def test_other_errors_are_not_replaced():
    with pytest.raises(KeyError, match="mine"):
        with palladion.emulate():
            jax.block_until_ready(double(X))
            raise KeyError("mine")


def racing(x):
    """Both programs write all of the output."""

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + pl.program_id(0).astype(jnp.float32)

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        grid=(2,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (0, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)


def test_races_are_found_with_both_lines():
    with palladion.emulate("v5p", seeds=4, on_defect="collect") as session:
        racing(jnp.ones((8, 128)))
    assert session.report.calls[0].target == "mosaic_tpu/v5p"
    assert session.report.races_found
    race = next(f for f in session.report.findings if f.code in jax_params.RACE_CODES)
    assert "test_emulate.py" in race.first.source and "test_emulate.py" in race.second.source


def test_the_report_inside_the_session_and_of_nothing():
    with palladion.emulate() as session:
        assert (session.report.verdict, str(session.report), session.report.ok) == ("none", "no kernel ran", False)
        jax.block_until_ready(double(X))
        assert session.report.count == 1
    with pytest.raises(RuntimeError, match="once"):
        with session:
            pass


def test_sessions_nest_and_leave_the_configuration_as_it_was():
    with palladion.emulate() as outer:
        double(X)
        with palladion.emulate() as inner:
            double(X)
        double(X)
    assert (outer.report.count, inner.report.count) == (2, 1)


def test_two_threads_do_not_disturb_each_other():
    outcomes, start = {}, threading.Barrier(2)

    def good():
        start.wait()
        with palladion.emulate(seeds=2) as session:
            for _ in range(5):
                np.testing.assert_array_equal(jax.jit(double)(X), X * 2)
        outcomes["good"] = session.report

    def bad():
        start.wait()
        with palladion.emulate(on_defect="collect") as session:
            for _ in range(5):
                past_the_end(BAD)
        outcomes["bad"] = session.report

    threads = [threading.Thread(target=f) for f in (good, bad)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="Only interpret mode"):
        double(X)
    for thread in threads:
        thread.join()
    assert {c.kernel for c in outcomes["good"].calls} == {"double_kernel"} and outcomes["good"].count == 5
    assert {c.kernel for c in outcomes["bad"].calls} == {"past_the_end_kernel"} and outcomes["bad"].count == 5


def test_an_export_in_another_thread_takes_no_kernel_of_ours():
    """Each waits inside its trace for the other to be in its own."""
    inside, outcomes = threading.Barrier(2), {}

    def waiting(x):
        def kernel(x_ref, y_ref):
            inside.wait(60)
            y_ref[...] = x_ref[...] * 3

        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(double(x))

    def export():
        outcomes["text"] = palladion.export(waiting, X)

    thread = threading.Thread(target=export)
    thread.start()
    with palladion.emulate() as session:
        np.testing.assert_array_equal(jax.jit(waiting)(X), X * 6)
    thread.join()
    assert session.report.count == 2 and outcomes["text"].count("kernel @") == 2
    with pytest.raises(ValueError, match="Only interpret mode"):
        double(X)


def test_jax_is_usable_after_a_defect():
    for _ in range(3):
        with pytest.raises(palladion.DefectError):
            with palladion.emulate():
                jax.block_until_ready(past_the_end(BAD))
        assert jax.jit(lambda x: x + 1)(1) == 2
        with palladion.emulate() as session:
            np.testing.assert_array_equal(double(X), X * 2)
        assert session.report.ok


def test_results_that_were_not_kept_are_waited_for():
    """The kernel comes last: it has not been called yet when the session ends."""

    @jax.jit
    def late(x):
        return double(lax.fori_loop(0, 60, lambda i, a: jnp.tanh(a @ a), x))

    big = jnp.ones((400, 400))
    with palladion.emulate() as session:
        compiled = late.lower(big).compile()
        compiled(big)
    assert session.report.count == 1
