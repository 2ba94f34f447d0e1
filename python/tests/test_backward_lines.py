"""Findings and refusals of kernels of a backward pass have their own lines, not those of the forward call."""

import inspect

import jax
import jax.numpy as jnp
import pytest
from jax._src.interpreters import partial_eval
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion


def forward(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def past_the_end(x_ref, o_ref):
    i = pl.program_id(0)
    o_ref[i] = x_ref[i + 1]  # the mistake


def past_the_end_of_threads(x_ref, o_ref):
    o_ref[...] = x_ref[pl.ds(jax.lax.axis_index("wg") + 1, 8)]  # the mistake


def refused(x_ref, o_ref):
    plgpu.inline_mgpu()(lambda context: context.of_the_compiler)()  # the mistake
    o_ref[...] = x_ref[...]


def call(kernel, x, **options):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def threads(kernel, x):
    out = "out_type" if "out_type" in inspect.signature(plgpu.kernel).parameters else "out_shape"
    return plgpu.kernel(kernel, **{out: jax.ShapeDtypeStruct(x.shape, x.dtype)}, num_threads=1, thread_name="wg")(x)


def gradient_by(backward):
    @jax.custom_vjp
    def f(x):
        return call(forward, x)

    f.defvjp(lambda x: (f(x), None), lambda _, g: (backward(g),))
    return jax.grad(lambda x: f(x).sum())


def line_of(kernel) -> int:
    lines, first = inspect.getsourcelines(kernel)
    return first + next(number for number, line in enumerate(lines) if "the mistake" in line)


@pytest.mark.parametrize(
    "kernel, backward",
    [
        (past_the_end, lambda g: call(past_the_end, g, grid=(8,))),
        (past_the_end_of_threads, lambda g: threads(past_the_end_of_threads, g)),
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_findings(kernel, backward, wrap):
    with palladion.emulate("h100", on_defect="collect") as session:
        wrap(gradient_by(backward))(jnp.ones(8))
    (finding,) = [f for f in session.report.findings if f.code == "OOB"]
    assert finding.source.startswith(f"{__file__}:{line_of(kernel)}:")


def test_refusals():
    with pytest.raises(
        palladion.PalladionError, match=rf"inline_mgpu is not supported.*; at {__file__}:{line_of(refused)}:"
    ):
        palladion.run(gradient_by(lambda g: call(refused, g)), jnp.ones(8))


def test_what_jax_traces_with_is_put_back():
    before = dict(vars(partial_eval))
    palladion.export(lambda x: call(forward, x), jnp.ones(8))
    assert vars(partial_eval) == before
