"""palladion.emulate: targets of kernels, wrong input, the report in notebooks."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion
from palladion.jax.jax_gpu_calls import backend_of_bare_calls
from palladion.report import report_html
from palladion.report.rendering import plain
from palladion.report.reports import KernelReport
from small_kernels import double, past_the_end

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


BAD = np.float32([1, 2, 3])


# Targets.


def tpu_kernel(x):
    return double(x, compiler_params=pltpu.CompilerParams(dimension_semantics=()))


@pytest.mark.parametrize(
    "target, expected",
    [(None, "mosaic_tpu/v5e"), ("v5p", "mosaic_tpu/v5p"), ("mosaic_tpu/v4", "mosaic_tpu/v4"), ("generic", "generic")],
)
def test_the_target_of_a_kernel_that_says_what_it_is_for(target, expected):
    with palladion.emulate(target) as session:
        tpu_kernel(jnp.ones((8, 128)))
    assert session.report.calls[0].target == expected


@pytest.mark.parametrize(
    "target, expected", [(None, "generic"), ("h100", f"{backend_of_bare_calls()}/h100"), ("v5e", "mosaic_tpu/v5e")]
)
def test_the_target_of_a_kernel_that_says_nothing(target, expected):
    with palladion.emulate(target) as session:
        double(jnp.ones((8, 128)))
    assert session.report.calls[0].target == expected


@pytest.mark.parametrize("target", ["h100", "triton/h100"])
def test_a_target_that_does_not_fit(target):
    with pytest.raises(palladion.PalladionError, match=r"does not fit kernel @double_kernel.*TPUs.*Give one of.*v5p"):
        with palladion.emulate(target):
            tpu_kernel(jnp.ones((8, 128)))


# Wrong input.


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"target": "x99"}, palladion.PalladionError, "unknown target 'x99'; give a chip .h100"),
        ({"seeds": 0}, ValueError, "at least 1"),
        ({"seeds": 2.5}, ValueError, "whole number"),
        ({"on_defect": "ignore"}, ValueError, "raise, warn, collect"),
        ({"fill": "zero"}, ValueError, "give seeds"),
        ({"seeds": 2, "fill": "one"}, ValueError, "random:SEED"),
        ({"seed": 2}, TypeError, "seed"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        palladion.emulate(**options)


def test_an_operation_that_is_not_there_is_named_with_its_line():
    def kernel(x_ref, y_ref):
        plgpu.inline_mgpu()(lambda context: context.of_the_compiler)()
        y_ref[...] = x_ref[...]

    with pytest.raises(
        palladion.PalladionError,
        match=r"inline_mgpu.*test_emulate_errors\.py:\d+|test_emulate_errors\.py:\d+.*inline_mgpu",
    ) as caught:
        with palladion.emulate():
            pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))(X)
    assert caught.value.code == 3


def test_a_host_callback_in_a_kernel():
    def kernel(x_ref, y_ref):
        jax.debug.callback(lambda v: None, x_ref[0, 0])
        y_ref[...] = x_ref[...]

    with pytest.raises(palladion.ExportError, match=r"test_emulate_errors\.py:\d+.*callback"):
        with palladion.emulate():
            pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))(X)


def test_inline_mgpu_has_no_meaning_outside_its_compiler():
    def kernel(x_ref, o_ref):
        @plgpu.inline_mgpu(
            return_type=plgpu.ShapeDtypeStruct((8, 128), jnp.float32, layout=plgpu.Layout.WG_STRIDED((8, 128), 1))
        )
        def opaque(context):
            return None

        o_ref[...] = opaque()

    shape = jax.ShapeDtypeStruct((8, 128), jnp.float32)
    if "out_type" in inspect.signature(plgpu.kernel).parameters:
        call = plgpu.kernel(kernel, out_type=shape)
    else:
        call = plgpu.kernel(kernel, out_shape=shape)
    with pytest.raises(
        palladion.PalladionError, match=r"inline_mgpu is not supported.*test_emulate_errors\.py:\d+"
    ) as caught:
        with palladion.emulate("h100"):
            call(jnp.ones((8, 128)))
    assert caught.value.code == 3


def test_a_text_of_hundreds_of_kilobytes():
    def kernel(x_ref, y_ref):
        x = x_ref[...]
        for n in range(6000):
            x = x + n
        y_ref[...] = x

    def sums(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    x = jnp.arange(4, dtype=jnp.int32)
    assert len(palladion.export(sums, x)) > 250_000
    with palladion.emulate():
        np.testing.assert_array_equal(jax.jit(sums)(x), x + sum(range(6000)))


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_arrays_on_another_platform(platform):
    with pytest.raises(palladion.ExportError, match=r"emulates on the CPU.*platform .*jax\.devices\('cpu'\)"):
        with palladion.emulate():
            jax.jit(double).trace(X).lower(lowering_platforms=(platform,))


# In notebooks.


def test_the_report_as_html_escapes_what_users_write():
    with palladion.emulate(on_defect="collect") as session:
        past_the_end(BAD)
    page = session.report._repr_html_()
    assert "<svg" in page and "OOB" in page and "&#x27;x_ref&#x27;" in page and "test_emulate_errors.py" in page
    wild = KernelReport(plain(session.report.calls[0]) | {"kernel": "<script>"})  # as another process may send it
    wild.count, session.report.calls = 1, [wild]
    assert "<script>" not in session.report._repr_html_() and "&lt;script&gt;" in session.report._repr_html_()


@pytest.mark.parametrize(
    "grid, cells, label",
    [
        ((), 1, "[]"),
        ((3,), 3, "[3]"),
        ((2, 3), 6, "[2, 3]"),
        ((4, 2, 3), 6, "[4, 2, 3]: 4 sheets"),
        ((-1, 2), 0, "[?, 2]"),
        ((1000, 1000), 1024, "[1000, 1000]"),
    ],
)
def test_the_picture_of_a_grid(grid, cells, label):
    svg = report_html.grid_svg(grid)
    assert svg.count("<rect") == cells and f">{label}</text>" in svg
