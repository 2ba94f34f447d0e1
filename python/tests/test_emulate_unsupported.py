"""palladion.emulate: kernels that Palladion does not have all of, and what goes to files; each refusal has the user's
line.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl, serialize_executable
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

X = np.ones((8, 128), np.float32)
HERE = r"test_emulate_unsupported\.py:\d+"


def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] * 2


def calling_back(x_ref, y_ref):
    jax.debug.callback(lambda v: None, x_ref[0, 0])
    y_ref[...] = x_ref[...] * 3


def meeting(x_ref, y_ref):
    plgpu.inline_mgpu()(lambda context: context.of_the_compiler)()
    y_ref[...] = x_ref[...]


def call(kernel, x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def both(kernel):
    return jax.jit(lambda x: call(kernel, call(double_kernel, x)))


def test_jax_runs_what_palladion_does_not():
    function = both(calling_back)
    for calls in (1, 2):  # the second time nothing is compiled, and it is reported all the same
        with palladion.emulate(on_unsupported="jax") as session:
            for _ in range(calls):
                np.testing.assert_array_equal(function(X), X * 6)
        report = session.report
        assert report.ran == {"palladion": calls, "jax": calls, "skipped": 0}
        [one] = report.elsewhere
        assert (one.kernel, one.where, one.count) == ("calling_back", "jax", calls) and "debug_callback" in one.reason
        assert not report.ok and report.verdict == "ran"
        assert "kernel calling_back: JAX's interpreter ran it, nothing was checked" in str(
            report
        ) and "double_kernel" in str(report)


def test_a_skipped_kernel_gives_poison():
    def many(x_ref, *refs):
        meeting(x_ref, refs[0])

    types = (jnp.float32, jnp.bfloat16, jnp.int32, jnp.uint8, jnp.bool_)
    with palladion.emulate(on_unsupported="skip") as session:
        results = pl.pallas_call(many, out_shape=[jax.ShapeDtypeStruct((8, 128), t) for t in types])(X)
        double = call(double_kernel, X)
    for result, expected in zip(results, (np.nan, np.nan, -1, 255, True)):
        np.testing.assert_array_equal(np.asarray(result).astype(np.float32), np.full((8, 128), expected, np.float32))
    np.testing.assert_array_equal(double, X * 2)
    assert session.report.ran == {"palladion": 1, "jax": 0, "skipped": 1} and not session.report.ok
    assert "kernel many: skipped, its results are poison" in str(session.report) and "inline_mgpu" in str(
        session.report
    )


def test_what_neither_can_run_says_both():
    with pytest.raises(
        palladion.PalladionError, match=rf"(?s)inline_mgpu.*{HERE}.*JAX's own interpreter.*refuses it too"
    ) as caught:
        with palladion.emulate(on_unsupported="jax"):
            call(meeting, X)
    assert caught.value.code == 3


def test_other_errors_are_errors_all_the_same():
    with pytest.raises(palladion.PalladionError, match="does not fit"):
        with palladion.emulate("h100", on_unsupported="skip"):
            pl.pallas_call(
                double_kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype), compiler_params=pltpu.CompilerParams()
            )(X)
    with pytest.raises(ValueError, match="on_unsupported must be one of raise, jax, skip; found 'ignore'"):
        palladion.emulate(on_unsupported="ignore")


def test_installed():
    palladion.install(on_unsupported="jax")
    try:
        np.testing.assert_array_equal(call(calling_back, X), X * 3)
        assert palladion.last_report().ran == {"palladion": 0, "jax": 1, "skipped": 0}
    finally:
        palladion.uninstall()


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_jax_export_is_refused_by_line(platform):
    with palladion.emulate("v5p"):
        with pytest.raises(
            palladion.ExportError,
            match=rf"{HERE}: jax\.export meets a kernel that Palladion emulates.*outside of palladion\.emulate",
        ):
            jax.export.export(jax.jit(lambda x: call(double_kernel, x)), platforms=(platform,))(X)


@pytest.mark.parametrize("transport", ["", "callback"])
def test_a_compiled_program_is_not_serialized(transport, monkeypatch):
    monkeypatch.setenv("PALLADION_TRANSPORT", transport)
    with palladion.emulate():
        compiled = jax.jit(lambda x: call(double_kernel, x)).lower(X).compile()
        with pytest.raises(
            palladion.ExportError, match=rf"{HERE}: a compiled program with a kernel .* cannot be serialized"
        ):
            serialize_executable.serialize(compiled)
        np.testing.assert_array_equal(compiled(X), X * 2)


def start(x_ref, y_ref, sem):
    pltpu.make_async_copy(x_ref.at[0], y_ref.at[0], sem).start()


def starting(x):
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        start,
        grid=(2,),
        in_specs=[anywhere],
        out_specs=[anywhere, pl.BlockSpec(memory_space=pltpu.SEMAPHORE)],
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype), pltpu.SemaphoreType.DMA(())],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)[0]


def test_a_semaphore_as_a_result_of_a_grid_that_cores_may_share():
    what = r"'outputs\[1\]' is ref<semaphore,dma_sem\[\]>"
    message = rf"{HERE}.*{what}, and those of an operand are not modelled in a grid with parallel"
    with pytest.raises(palladion.PalladionError, match=message):
        with palladion.emulate("v5p"):
            starting(X)


def adding(x_ref, y_ref, big_ref, sem):
    pltpu.async_copy(x_ref, y_ref, sem, add=True).wait()


def too_large(x, body=adding):
    """Unsupported (add=True of a copy), and larger than the VMEM of a v5e."""
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    scratch = [pltpu.VMEM((1 << 16, 1024), jnp.float32), pltpu.SemaphoreType.DMA]
    return pl.pallas_call(
        body,
        in_specs=[anywhere],
        out_specs=anywhere,
        scratch_shapes=scratch,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


REFUSED = ["CAPACITY", "ILLEGAL"]  # JAX refuses add=True on a TensorCore, too
BOTH = rf"(?s)dma_start at .*{HERE}.*add=True.*its target refuses it as well:.*CAPACITY.*{HERE}"


@pytest.mark.parametrize("call", [palladion.check, palladion.run], ids=lambda f: f.__name__)
def test_what_the_target_refuses_of_a_kernel_that_does_not_run(call):
    with pytest.raises(palladion.PalladionError, match=BOTH) as caught:
        call(too_large, X, target="v5e")
    assert caught.value.code == 3
    assert [finding["code"] for finding in caught.value.report["findings"]] == REFUSED
    assert [finding.code for finding in palladion.last_report().findings] == REFUSED
    with pytest.raises(palladion.PalladionError) as caught:
        call(too_large, X, target="v5e", legality="off")
    assert "CAPACITY" not in str(caught.value) and "add=True" in str(caught.value)


def test_the_same_of_a_text():
    with palladion.target("v5e"):
        text = palladion.export(too_large, X)
    with pytest.raises(palladion.PalladionError, match=r"(?s)add=True.*its target refuses it as well:.*CAPACITY"):
        palladion.check(text, X)


@pytest.mark.parametrize("seeds", [None, 2])
def test_the_same_in_emulate(seeds):
    with pytest.raises(palladion.PalladionError, match=BOTH) as caught:
        with palladion.emulate("v5e", seeds=seeds) as session:
            jax.jit(too_large)(X)
    assert caught.value.code == 3
    assert [finding.code for finding in session.report.findings] == REFUSED and not session.report.ok
    assert session.report.ran == {"palladion": 0, "jax": 0, "skipped": 0}
    with pytest.raises(palladion.PalladionError) as caught:
        with palladion.emulate("v5e", seeds=seeds, legality="off") as session:
            jax.jit(too_large)(X)
    assert "CAPACITY" not in str(caught.value) and session.report.findings == []


def test_what_the_target_refuses_is_reported_once_however_often_it_is_compiled():
    with pytest.raises(palladion.DefectError), palladion.emulate("v5e", on_unsupported="skip") as session:
        for _ in range(2):
            jax.jit(lambda x: too_large(x))(X)  # a function of its own each time, so it is compiled again
    assert session.report.ran == {"palladion": 0, "jax": 0, "skipped": 2} and len(session.report.elsewhere) == 1
    assert [finding.code for finding in session.report.findings] == REFUSED


def test_a_kernel_that_is_skipped_and_too_large():
    function = jax.jit(too_large)
    for _ in range(2):  # the second time nothing is compiled
        with palladion.emulate("v5e", on_unsupported="skip", on_defect="collect") as session:
            assert np.isnan(function(X)).all()
        assert [finding.code for finding in session.report.findings] == REFUSED
        assert session.report.ran == {"palladion": 0, "jax": 0, "skipped": 1} and session.report.verdict == "defect"
    with pytest.raises(AssertionError, match="CAPACITY"):
        with palladion.emulate("v5e", on_unsupported="skip"):
            function(X)


def copying(x_ref, y_ref, big_ref, sem):
    pltpu.async_copy(x_ref, y_ref, sem).wait()


def test_a_kernel_that_runs_says_nothing_twice():
    with palladion.emulate("v5e", on_defect="collect") as session:
        jax.jit(lambda x: too_large(x, copying))(X)
    assert [finding.code for finding in session.report.findings] == ["CAPACITY"]
