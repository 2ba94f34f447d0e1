"""A pl.pallas_call that names no backend, on a chip of GPUs: it is what the installed JAX makes of it there.

What JAX makes of it is asked of JAX: each call is lowered for CUDA, which needs no GPU, and the two answers must agree.
"""

import contextlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu_triton

import palladion
from palladion.jax import jax_gpu_calls

BARE = f"{jax_gpu_calls.backend_of_bare_calls()}/h100"


def double_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def product_kernel(x_ref, o_ref):
    o_ref[...] = jnp.dot(x_ref[...], x_ref[...])


def call(kernel, x, **options):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


@contextlib.contextmanager
def flag(value):
    if value is None:
        yield
        return
    before = jax.config.jax_pallas_use_mosaic_gpu
    jax.config.update("jax_pallas_use_mosaic_gpu", value)
    try:
        yield
    finally:
        jax.config.update("jax_pallas_use_mosaic_gpu", before)


FLAGS = [True, False] if hasattr(jax.config, "jax_pallas_use_mosaic_gpu") else [None]


def jax_says(kernel, x) -> bool:
    """JAX lowers the call for CUDA."""
    with palladion.target("h100"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            jax.jit(lambda x: call(kernel, x)).trace(x).lower(lowering_platforms=("cuda",))
            return True
        except Exception:  # each release has its own
            return False


@pytest.mark.parametrize("value", FLAGS)
@pytest.mark.parametrize(
    "kernel, shape",
    [(double_kernel, (3, 128)), (double_kernel, (16, 16)), (double_kernel, (8,)), (product_kernel, (64, 64))],
)
def test_it_is_refused_where_jax_refuses_it(kernel, shape, value):
    with flag(value):
        x = jnp.ones(shape, jnp.float32)
        with palladion.emulate("h100", seeds=2, on_defect="collect") as session:
            y = call(kernel, x)
        report = session.report
        assert report.calls[0].target == f"{jax_gpu_calls.backend_of_bare_calls()}/h100"
        assert report.ok == jax_says(kernel, x), report
        assert report.ok or {finding.code for finding in report.findings} == {"ILLEGAL"}
        if report.ok:
            np.testing.assert_array_equal(y, x * 2 if kernel is double_kernel else x @ x)


@pytest.mark.parametrize(
    "target, means", [("h100", BARE), ("triton/h100", "triton/h100"), ("mosaic_gpu/h100", "mosaic_gpu/h100")]
)
def test_every_face_makes_the_same_of_it(target, means, tmp_path):
    x = jnp.ones((8, 128))

    def f(x):
        return call(double_kernel, x, grid=(1,))

    with palladion.emulate(target, seeds=2) as session:
        f(x)
    text = palladion.export(f, x, target=target)
    palladion.record(f, x, out=tmp_path, target=target)
    recorded = next(tmp_path.glob("*/kernel.pkir")).read_text()
    assert session.report.calls[0].target == palladion.check(f, x, target=target).kernels[0].target == means
    for written in (text, recorded):
        assert ("backend mosaic_gpu;" in written) == ("copy_gmem_to_smem" in written) == (means == "mosaic_gpu/h100")


def test_a_kernel_that_names_its_backend_and_one_without_a_chip_of_gpus_are_as_before():
    x = jnp.ones((8, 128))
    triton = plgpu_triton.CompilerParams(num_warps=4)
    for target, options, means in (
        (None, {}, "generic"),
        ("v5e", {}, "mosaic_tpu/v5e"),
        ("h100", {"compiler_params": triton}, "triton/h100"),
    ):
        with palladion.emulate(target, seeds=2) as session:
            call(double_kernel, x, **options)
        assert session.report.calls[0].target == means


def test_lines_are_the_user_s():
    """Palladion writes JAX's pipeline around the body; no finding is at a line of Palladion's own."""
    x, rows = jnp.ones((256,), jnp.float32), pl.BlockSpec((128,), lambda i: (0,))
    report = palladion.check(
        lambda x: call(double_kernel, x, grid=(2,), in_specs=[rows], out_specs=rows), x, target="mosaic_gpu/h100"
    )
    assert report.findings  # both programs write one block
    for finding in report.findings:
        assert not any(frame.file.endswith("jax_gpu_calls.py") for frame in finding.frames), finding
    assert "jax_gpu_calls.py" not in str(report)
