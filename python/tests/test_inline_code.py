"""What plgpu.inline_mgpu writes: known by its PTX, whatever the function is called; what a model says; what is refused,
and how.
"""

import inspect
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import palladion

warnings.filterwarnings("ignore", category=DeprecationWarning)
plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
if not hasattr(plgpu, "inline_mgpu"):
    pytest.skip("this JAX has no inline_mgpu", allow_module_level=True)

import jax.experimental.mosaic.gpu as mgpu  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import llvm, nvvm  # noqa: E402

X = np.arange(128, dtype=np.float32)
OUT, SCRATCH = (
    ("out_type", "scratch_types")
    if "out_type" in inspect.signature(plgpu.kernel).parameters
    else ("out_shape", "scratch_shapes")
)


def ptx(text, *numbers):
    """A function of no name that anybody knows, which writes one PTX statement."""

    @plgpu.inline_mgpu(arg_types=(plgpu.Layout.WG_SPLAT,) * len(numbers))
    def some_code(_, *values):
        llvm.inline_asm(
            ir.Type.parse("!llvm.void"),
            [value.registers[()] for value in values],
            text,
            ",".join("r" * len(values)),
            has_side_effects=True,
        )

    some_code(*numbers)


def of_two_threads(first, second):
    """One thread stores its input to shared memory, `first` and `second` follow, and the other thread reads it."""

    def kernel(x_ref, o_ref, staged):
        thread = jax.lax.axis_index("t")

        @pl.when(thread == 0)
        def _():
            staged[...] = x_ref[...]
            first(thread)

        @pl.when(thread == 1)
        def _():
            second(thread)
            o_ref[...] = staged[...]

    return plgpu.kernel(
        kernel,
        num_threads=2,
        thread_name="t",
        **{OUT: jax.ShapeDtypeStruct(X.shape, X.dtype), SCRATCH: [plgpu.SMEM(X.shape, X.dtype)]},
    )


def report_of(function, *args, chip="h100"):
    with palladion.emulate(chip, seeds=8, on_defect="collect") as session:
        result = function(*args)
    return result, str(session.report)


def test_named_barriers_are_known_by_what_they_say():
    call = of_two_threads(lambda t: ptx("bar.arrive 9, 256;"), lambda t: ptx("bar.sync $0, 256;", t + 8))
    text = palladion.export(call, X)
    assert "named_barrier_arrive{lanes=256}(9:i32)" in text and "named_barrier_sync{lanes=256}(%" in text
    result, report = report_of(call, X)
    np.testing.assert_array_equal(result, X)
    assert "verdict: clean" in report and "proved" not in report.split("not proved")[0]


def test_too_few_arrivals_are_a_deadlock_and_another_barrier_a_race():
    few = of_two_threads(lambda t: ptx("bar.arrive 9, 384;"), lambda t: ptx("bar.sync 9, 384;"))
    assert "DEADLOCK" in report_of(few, X)[1]
    other = of_two_threads(lambda t: None, lambda t: ptx("bar.sync 9, 128;"))
    assert "RACE_RW" in report_of(other, X)[1]


def test_the_compilers_own_barrier_of_a_warpgroup():
    def barrier(_):
        plgpu.inline_mgpu()(lambda _: mgpu.warpgroup_barrier())()

    text = palladion.export(of_two_threads(barrier, barrier), X)
    assert text.count("named_barrier_sync{lanes=128}(%") == 2
    assert "RACE_RW" in report_of(of_two_threads(barrier, barrier), X)[1], "it is no barrier of the block"


def of_two_blocks(*statements):
    """Each block of a cluster leaves its row for the other one, which reads it after the last of these statements."""

    def kernel(x_ref, o_ref, left_ref):
        block = jax.lax.axis_index("c")
        left_ref[block] = x_ref[block]
        for statement in statements:
            ptx(statement)
        o_ref[block] = left_ref[1 - block]

    rows = jax.ShapeDtypeStruct((2, *X.shape), X.dtype)
    return plgpu.kernel(kernel, cluster=(2,), cluster_names=("c",), **{OUT: (rows, rows)})


def test_the_barrier_of_a_cluster_is_known_by_what_it_says():
    x = np.stack([X, X + 1000])
    call = of_two_blocks("barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;")
    text = palladion.export(call, x)
    assert "barrier_cluster_arrive()" in text and "barrier_cluster_wait()" in text
    (result, _), report = report_of(call, x)
    np.testing.assert_array_equal(result, x[::-1])
    assert "verdict: clean" in report or "verdict: proved" in report, report
    assert "RACE_RW" in report_of(of_two_blocks("barrier.cluster.arrive;"), x)[1], "nothing is waited for"
    assert "COLL_MISMATCH" in report_of(of_two_blocks("barrier.cluster.wait;"), x)[1], "it has not arrived"
    with pytest.raises(palladion.PalladionError, match="barrier.cluster.arrive.relaxed"):
        report_of(of_two_blocks("barrier.cluster.arrive.relaxed;", "barrier.cluster.wait;"), x)


@pytest.mark.parametrize(
    "fence",
    [
        lambda: ptx("fence.proxy.async.shared::cta;"),
        plgpu.inline_mgpu()(lambda _: nvvm.fence_proxy(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)),
    ],
)
def test_a_fence_between_proxies(fence):
    def kernel(fenced, x_ref, o_ref, staged):
        staged[...] = x_ref[...]
        if fenced:
            fence()
        plgpu.copy_smem_to_gmem(staged, o_ref)
        plgpu.wait_smem_to_gmem(0)

    for fenced in (True, False):
        call = plgpu.kernel(
            lambda *refs, fenced=fenced: kernel(fenced, *refs),
            **{OUT: jax.ShapeDtypeStruct(X.shape, X.dtype), SCRATCH: [plgpu.SMEM(X.shape, X.dtype)]},
        )
        assert ("PROXY" in report_of(call, X)[1]) != fenced


def test_other_code_is_refused_by_line_and_says_what_to_do():
    call = of_two_threads(lambda t: ptx("membar.gl;"), lambda t: None)
    with pytest.raises(
        palladion.PalladionError,
        match=r'"membar.gl;", which is not known.*palladion\.model_inline.*test_inline_code\.py:\d+',
    ):
        report_of(call, X)


WIDE = np.arange(256, dtype=np.float32)  # two halves with an element for each lane
LAYOUT = plgpu.Layout.WG_STRIDED((128,), 1)


@plgpu.inline_mgpu(
    arg_types=(plgpu.RefType(), LAYOUT), return_type=plgpu.ShapeDtypeStruct((128,), jnp.float32, layout=LAYOUT)
)
def add_and_clear(ctx, ref, value):
    loaded = mgpu.FragmentedArray.load_strided(ref, vec_size=1)
    mgpu.FragmentedArray.splat(mgpu.c(0.0, loaded.mlir_dtype), (128,), loaded.layout).store_untiled(ref)
    return loaded + value


@palladion.model_inline(add_and_clear)
def add_and_clear_means(ref, value):
    loaded = ref[...]
    ref[...] = jnp.zeros_like(loaded)
    return loaded + value


def modelled(x_ref, o_ref, staged):
    staged[...] = x_ref[...]
    o_ref[0:128] = add_and_clear(staged.at[pl.ds(128, 128)], x_ref[0:128])
    o_ref[128:256] = staged[128:256]


def test_a_model_stands_in_the_place_of_the_code():
    call = plgpu.kernel(
        modelled, **{OUT: jax.ShapeDtypeStruct(WIDE.shape, WIDE.dtype), SCRATCH: [plgpu.SMEM(WIDE.shape, WIDE.dtype)]}
    )
    result, report = report_of(call, WIDE)
    np.testing.assert_array_equal(result, np.concatenate([WIDE[:128] + WIDE[128:], np.zeros(128, np.float32)]))
    assert "verdict: proved" in report


def test_what_a_model_touches_is_checked():
    @plgpu.inline_mgpu(arg_types=(plgpu.RefType(),))
    def clear(ctx, ref):
        raise NotImplementedError("only a compiler calls it")

    @palladion.model_inline(clear)
    def clear_means(ref):
        ref[...] = jnp.zeros(ref.shape, jnp.float32)

    def kernel(x_ref, o_ref, staged):
        staged[...] = x_ref[...]
        clear(staged)
        o_ref[...] = x_ref[...]

    call = plgpu.kernel(
        kernel,
        num_threads=2,
        thread_name="t",
        **{OUT: jax.ShapeDtypeStruct(X.shape, X.dtype), SCRATCH: [plgpu.SMEM(X.shape, X.dtype)]},
    )
    report = report_of(call, X)[1]
    assert "error[RACE_WW]" in report and "  clear(staged)\n" in report


def test_a_model_by_name_and_one_that_returns_another_type():
    @plgpu.inline_mgpu(
        return_type=plgpu.ShapeDtypeStruct((128,), jnp.float32, layout=plgpu.Layout.WG_STRIDED((128,), 1))
    )
    def ones(ctx):
        raise NotImplementedError("only a compiler calls it")

    name = f"{__name__}.test_a_model_by_name_and_one_that_returns_another_type.<locals>.ones"

    def kernel(x_ref, o_ref):
        o_ref[...] = ones()

    call = plgpu.kernel(kernel, **{OUT: jax.ShapeDtypeStruct(X.shape, X.dtype)})
    palladion.model_inline(name)(lambda: jnp.ones(128, jnp.float32))
    np.testing.assert_array_equal(report_of(call, X)[0], np.ones(128, np.float32))
    palladion.model_inline(name)(lambda: jnp.ones(64, jnp.float32))
    with pytest.raises(palladion.ExportError, match=r"its model returns \[\(\(64,\), 'float32'\)\]; expected"):
        palladion.export(call, X)
    with pytest.raises(TypeError, match="expects a function or its name"):
        palladion.model_inline(3)
