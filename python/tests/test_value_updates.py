"""Gathers and scatters of values inside kernels, as users write them and as vmap and grad make them, against
interpret=True; and what else JAX runs there: prints of refs, lax.platform_dependent, a bound of rank 1."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl

import palladion

X = np.arange(24, dtype=np.float32).reshape(6, 4) - 7
I = np.int32([5, 0, -1, 9, 5, -9, 2])  # twice 5, from the end, outside on both sides
W = np.arange(28, dtype=np.float32).reshape(7, 4) + 0.5


def on_values(function, *arrays, **options):
    """pallas_call of a kernel that computes `function` of all arrays."""
    shape = jax.eval_shape(function, *arrays)

    def kernel(*refs):
        refs[-1][...] = function(*(ref[...] for ref in refs[:-1]))

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(shape.shape, shape.dtype), **options)


def agrees(function, *arrays, around=lambda f: f):
    expected = around(on_values(function, *arrays, interpret=True))(*arrays)
    with palladion.emulate() as session:
        found = around(on_values(function, *arrays))(*arrays)
    assert session.report.ok
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


MODES = ("clip", "fill", None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ("set", "add", "subtract", "multiply", "min", "max"))
def test_at_updates(name, mode):
    agrees(lambda x, i, w: getattr(x.at[i], name)(w, mode=mode), X, I, W)


@pytest.mark.parametrize("mode", MODES)
def test_at_get(mode):
    agrees(lambda x, i: x.at[i].get(mode=mode), X, I)
    agrees(lambda x, i: x.at[i, 1:3].get(mode=mode, fill_value=-np.inf if mode == "fill" else None), X, I)


def test_columns_masks_and_several_indices():
    agrees(lambda x: jnp.zeros_like(x).at[:, 0].set(x[:, 0]), X)
    agrees(lambda x: x.at[1::2, ::-1].mul(3.0), X)
    agrees(lambda x, i: x.at[i[:3], i[2:5] % 4].add(1.0), X, I)
    agrees(lambda x, i: x.at[..., i[:3] % 4].add(jnp.ones((6, 3)) / 3), X, I)
    agrees(jnp.diagonal, X)
    agrees(lambda x: jnp.diagonal(x, 1), X)
    agrees(lambda x, i: jnp.take(x, i, axis=0, mode="fill"), X, I)
    agrees(lambda x, i: jnp.take_along_axis(x, i[:6, None] % 4, axis=1), X, I)
    agrees(lambda i: jnp.bincount(jnp.abs(i), length=8), I)
    agrees(lambda x, i: jax.ops.segment_sum(x, jnp.abs(i[:6]) % 3, 3), X, I)


def test_searches_and_orders_of_dimensions():
    with_nan = np.float32([3, np.nan, -0.0, 0.0, -np.inf, np.inf, 1])
    for method in ("scan", "compare_all", "sort"):
        agrees(lambda x, v, how=method: jnp.searchsorted(jnp.sort(x), v, method=how), X[0], with_nan)
    agrees(lambda x: jnp.histogram(x, 5)[0], X)
    agrees(lambda x: lax.reshape(x, (2, 12), (1, 0)), X)
    agrees(jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v)), X[0])


def test_made_by_vmap_and_grad_inside_the_kernel():
    stacked, many = np.stack([X, X * 2, -X]), np.stack([I, I[::-1], I - 1])
    agrees(jax.vmap(lambda x, i: x.at[i].add(x[0])), stacked, many)
    agrees(jax.vmap(lambda x, i: x[i], in_axes=(None, 0)), X, many)
    agrees(jax.vmap(lambda x, i: x.at[i].set(2.0), in_axes=(0, None)), stacked, I)
    agrees(jax.grad(lambda x, i: jnp.sum(x[i] ** 2)), X, I)
    agrees(jax.grad(lambda w, x, i: jnp.sum(x.at[i].add(w) ** 2)), W, X, I)
    agrees(jax.grad(lambda x, i: jnp.sum(jnp.sin(x.at[i].set(0.0)))), X, I)


def test_vmap_of_the_call():
    stacked, many = np.stack([X, X * 2, -X]), np.stack([I, I[::-1], I - 1])
    one = lambda x, i: x.at[i].max(0.0)
    expected = jax.vmap(on_values(one, X, I, interpret=True))(stacked, many)
    with palladion.emulate():
        np.testing.assert_array_equal(jax.vmap(on_values(one, X, I))(stacked, many), expected)


def test_a_broken_promise_is_a_defect():
    def kernel(x_ref, i_ref, y_ref):
        y_ref[...] = x_ref[...].at[i_ref[...]].set(0.0, mode="promise_in_bounds")

    f = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))
    report = palladion.check(f, X, np.int32([2, 6]))
    [finding] = report.findings
    assert finding.code == "PROMISE" and "test_value_updates.py" in str(report)


def test_a_function_of_the_users_own_is_refused():
    with pytest.raises(palladion.ExportError, match=r"test_value_updates.py.*\.apply\(f\)"):
        palladion.export(on_values(lambda x: x.at[0].apply(jnp.sin), X), X)


def test_platform_dependent_takes_the_targets_branch():
    def function(x):
        return lax.platform_dependent(x, cpu=lambda x: x + 1, mosaic=lambda x: x + 2, default=lambda x: x + 3)

    for target, added in (("generic", 1), ("v5e", 2)):
        with palladion.emulate(target):
            np.testing.assert_array_equal(on_values(function, X)(X), X + added)


def test_what_is_printed_of_a_ref_is_its_contents():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...] * 2
        jax.debug.print("{} then {}", x_ref, y_ref)

    x = np.float32([4.25, 2.5])
    with palladion.emulate() as session:
        pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((2,), np.float32))(x)
    assert session.report.calls[0].printed == ["[4.25 2.5] then [8.5 5.0]"]


def test_a_bound_of_rank_one():
    def kernel(y_ref):
        y_ref[pl.program_id(0)] = pl.program_id(0) + 1

    call = lambda n: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4,), np.int32), grid=(n,))()
    with palladion.emulate():
        for n in (jnp.int32(2), jnp.array([2], jnp.int32)):
            assert list(np.asarray(jax.jit(call)(n))[:2]) == [1, 2]
