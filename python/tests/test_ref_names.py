"""Objects have the user's names: parameters of the kernel function, through every wrapper that JAX or the user puts
around it.
"""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion

X = np.ones(128, np.float32)
ROW = jax.ShapeDtypeStruct((128,), jnp.float32)
SMEM = plgpu.SMEM((128,), jnp.float32)


def copies(x, o):
    o[...] = x[...]


class Object:
    def __call__(self, x, o, s):
        s[...] = x[...]
        o[...] = s[...]

    def method(self, x, o):
        o[...] = x[...]


def wrapping(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


def with_keywords(x, out_ref, *, smem, bar):
    plgpu.copy_gmem_to_smem(x, smem, bar)
    plgpu.barrier_wait(bar)
    out_ref[...] = smem[...]


def with_trees(x, o, bufs, bars):
    plgpu.copy_gmem_to_smem(x, bufs[0], bars["full"])
    plgpu.barrier_wait(bars["full"])
    o[...] = bufs[0][...]


def with_union(x, o, u):
    u[0][...] = x[...]
    o[...] = u[0][...]


def configured(config, x, o):
    o[...] = x[...] + config


def config_last(x, o, config=3):
    o[...] = x[...] + config


def tree_of_inputs(xs, o):
    o[...] = xs["a"][...] + xs["b"][...]


def starred(*refs):
    refs[1][...] = refs[0][...]


def starred_after(x, *rest):
    rest[0][...] = x[...]


def scoped(x, o):
    def inner(tmp, bar):
        tmp[...] = x[...]
        o[...] = tmp[...]

    pl.run_scoped(inner, SMEM, plgpu.Barrier())


def gpu(body, scratch=()):
    return plgpu.kernel(body, out_type=ROW, scratch_types=scratch)


MESH = plgpu.Mesh(grid=(2,), grid_names=("g",))


def core_map(x):
    def stateful(refs):
        x_ref, y_ref = refs

        @pl.core_map(MESH)
        def _():
            y_ref[...] = x_ref[...]

    return pl.run_state(stateful)((x, jnp.zeros_like(x)))[1]


CASES = {
    "function": (gpu(copies), X, ["x", "o"]),
    "lambda": (gpu(lambda a, b: copies(a, b)), X, ["a", "b"]),
    "object": (gpu(Object(), [SMEM]), X, ["x", "o", "s"]),
    "method": (gpu(Object().method), X, ["x", "o"]),
    "wrapped": (gpu(wrapping(copies)), X, ["x", "o"]),
    "keywords": (gpu(with_keywords, {"smem": SMEM, "bar": plgpu.Barrier()}), X, ["x", "out_ref", "bar", "smem"]),
    "trees": (
        gpu(with_trees, [[SMEM, SMEM], {"full": plgpu.Barrier()}]),
        X,
        ["x", "o", "bufs[0]", "bufs[1]", "bars['full']"],
    ),
    "union": (gpu(with_union, [plgpu.RefUnion(SMEM, plgpu.SMEM((64,), jnp.float32))]), X, ["x", "o", "u"]),
    "partial, first": (gpu(functools.partial(configured, 3)), X, ["x", "o"]),
    "partial, keyword": (gpu(functools.partial(config_last, config=4)), X, ["x", "o"]),
    "default": (gpu(config_last), X, ["x", "o"]),
    "tree of inputs": (gpu(tree_of_inputs), {"a": X, "b": X}, ["xs[0]", "xs[1]", "o"]),
    "starred": (gpu(starred), X, ["refs[0]", "refs[1]"]),
    "starred after": (gpu(starred_after), X, ["x", "rest[0]"]),
    "run_scoped": (gpu(scoped), X, ["x", "o", "tmp", "bar"]),
    "vmap": (jax.vmap(gpu(copies)), np.ones((2, 128), np.float32), ["x", "o"]),
}


def labels(function, argument):
    """Of all refs of the kernel, in the order of the text."""
    text = palladion.export(function, argument)
    return re.findall(r': ref<.*?> as "([^"]*)"', text[text.index("body @") :])


@pytest.mark.parametrize("name", CASES)
def test_a_ref_has_the_name_of_its_parameter(name):
    function, argument, expected = CASES[name]
    assert labels(function, argument) == expected


def test_closed_over_refs_have_the_names_of_the_variables():
    assert labels(core_map, X) == ["x_ref", "y_ref", "y_ref"]


def test_pl_kernel_with_a_dict_of_scratch():
    def body(x, o, *, s):
        s[...] = x[...]
        o[...] = s[...]

    assert labels(pl.kernel(body, ROW, mesh=MESH, scratch_types={"s": SMEM}), X) == ["x", "o", "s"]


def test_no_ref_is_a_number():
    def body(x, o):
        pl.run_scoped(lambda refs: copies(refs[0], o), [SMEM, SMEM])

    text = palladion.export(gpu(body), X)
    assert not re.search(r"%\d+: ref<", text), text


def test_slots_of_a_pipeline_have_the_names_of_its_body():
    def body(x, o):
        def step(_, x_tile, o_tile):
            o_tile[...] = x_tile[...] + 1

        block = plgpu.BlockSpec((64,), lambda i: (i,))
        plgpu.emit_pipeline(step, grid=(2,), in_specs=[block], out_specs=[block])(x, o)

    assert labels(gpu(body), X) == ["x", "o", "barrier_ref", "x_tile", "o_tile"]


def test_scratch_of_a_pallas_call_keeps_its_name():
    def body(x_ref, o_ref, acc_ref):
        acc_ref[...] = x_ref[...]
        o_ref[...] = acc_ref[...]

    def call(x):
        return pl.pallas_call(body, out_shape=ROW, scratch_shapes=[SMEM], compiler_params=plgpu.CompilerParams())(x)

    assert "acc_ref" in labels(call, X)
