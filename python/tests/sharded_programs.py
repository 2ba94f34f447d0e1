"""Kernels in programs that XLA partitions, on 4 host devices, beside what JAX's interpret=True computes. Run by
test_emulate_sharded.py in a process of its own, with an argument "gspmd" for XLA's older partitioner; prints what it
saw.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.sharding import (  # noqa: E402
    AxisType,
    NamedSharding,
    PartitionSpec as P,  # noqa: E402
)

import palladion  # noqa: E402

if "gspmd" in sys.argv:
    jax.config.update("jax_use_shardy_partitioner", False)
X = np.arange(32, dtype=np.float32).reshape(8, 4)
LINE = jax.make_mesh((4,), ("a",), axis_types=(AxisType.Auto,))
SQUARE = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
EXPLICIT = jax.make_mesh((4,), ("a",), axis_types=(AxisType.Explicit,))


def sine(x_ref, o_ref):
    o_ref[...] = jnp.sin(x_ref[...]) * 2


def rows(x_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref) + x_ref[...] * 3 + jnp.arange(4.0)


def call(x, interpret):
    return pl.pallas_call(sine, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)


def by_rows(x, interpret):
    block = pl.BlockSpec((2, 4), lambda i: (i, 0))
    return pl.pallas_call(
        rows,
        grid=(x.shape[0] // 2,),
        in_specs=[block],
        out_specs=block,
        interpret=interpret,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


def put(mesh, spec, **kind):
    return jax.device_put(X, NamedSharding(mesh, spec, **kind))


def in_mesh(mesh, function):
    with jax.set_mesh(mesh):
        return function()


def steps(interpret):
    def body(carry):
        x, i = carry
        return call(x, interpret) + lax.cond(i > 1, lambda v: call(v, interpret), lambda v: v, x), i + 1

    return lambda x: lax.while_loop(lambda c: c[1] < 3, body, (x, 0))[0]


def differentiable(interpret):
    run = jax.custom_vjp(lambda x: call(x, interpret))
    run.defvjp(lambda x: (call(x, interpret), x), lambda x, g: (g * 2 * call(jnp.pi / 2 - x, interpret) / 2,))
    return run


# name: (what runs, how often the kernel is in the report)
PROGRAMS = {}
for where, mesh, spec in (("replicated", LINE, P()), ("sharded", LINE, P("a")), ("other axis", SQUARE, P(None, "b"))):
    PROGRAMS |= {
        f"jit, {where}": (lambda i, m=mesh, s=spec: jax.jit(lambda x: call(x, i))(put(m, s)), 1),
        f"grid, {where}": (lambda i, m=mesh, s=spec: jax.jit(lambda x: by_rows(x, i))(put(m, s)), 1),
        f"eager, {where}": (lambda i, m=mesh, s=spec: call(put(m, s), i), 1),
        f"behind a collective, {where}": (
            lambda i, m=mesh, s=spec: jax.jit(lambda x: call(x @ x.T @ x, i).sum())(put(m, s)),
            1,
        ),
        f"vmap, {where}": (lambda i, m=mesh, s=spec: jax.jit(jax.vmap(lambda x: call(x, i)))(put(m, s)), 1),
        f"grad, {where}": (
            lambda i, m=mesh, s=spec: jax.jit(jax.value_and_grad(lambda x: differentiable(i)(x).sum()))(put(m, s)),
            2,
        ),
        f"scan, {where}": (
            lambda i, m=mesh, s=spec: jax.jit(lambda x: lax.scan(lambda c, _: (call(c, i), c), x, None, 3))(put(m, s)),
            3,
        ),
        f"donated, {where}": (lambda i, m=mesh, s=spec: jax.jit(lambda x: call(x, i), donate_argnums=0)(put(m, s)), 1),
        f"set_mesh, {where}": (
            lambda i, m=mesh, s=spec: in_mesh(m, lambda: jax.jit(lambda x: call(x, i) * 2)(put(m, s))),
            1,
        ),
        f"shardings, {where}": (
            lambda i, m=mesh, s=spec: jax.jit(
                lambda x: call(x, i), in_shardings=NamedSharding(m, s), out_shardings=NamedSharding(m, P("a"))
            )(X),
            1,
        ),
    }
PROGRAMS |= {
    "while and cond": (lambda i: jax.jit(steps(i))(put(LINE, P("a"))), 4),
    "set_mesh, explicit, eager": (lambda i: in_mesh(EXPLICIT, lambda: call(jnp.asarray(X), i)), 1),
    "memory kind": (
        lambda i: jax.jit(lambda x: call(jax.device_put(x, jax.memory.Space.Device), i))(
            put(LINE, P("a"), memory_kind="pinned_host")
        ),
        1,
    ),
    "some devices": (
        lambda i: jax.jit(lambda x: call(x, i))(
            put(jax.sharding.Mesh(np.array(jax.devices())[[2, 1]], ("a",)), P("a"))
        ),
        1,
    ),
    "shard_map": (
        lambda i: jax.jit(
            jax.shard_map(lambda x: by_rows(x, i) + 1, mesh=LINE, in_specs=P("a"), out_specs=P("a"), check_vma=False)
        )(put(LINE, P("a"))),
        4,
    ),
    "shard_map over one of two axes": (
        lambda i: jax.jit(
            jax.shard_map(
                lambda x: by_rows(x, i) + 1,
                mesh=SQUARE,
                in_specs=P("a"),
                out_specs=P("a"),
                axis_names={"a"},
                check_vma=False,
            )
        )(X),
        2,
    ),
}


def compare():
    compared = 0
    for name, (program, count) in PROGRAMS.items():
        try:
            expected = jax.tree.map(np.asarray, program(True))
        except Exception as error:
            if type(error).__name__ != "ShardingTypeError":
                raise
            continue  # JAX 0.8 cannot run it
        compared += 1
        with palladion.emulate("triton/h100", seeds=2) as session:
            result = program(False)
        assert session.report.count == count, (name, str(session.report))
        for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(result)):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=name)
    assert compared >= len(PROGRAMS) - 1


def past_the_end(x_ref, o_ref):
    o_ref[...] = x_ref[pl.ds(x_ref[0].astype(jnp.int32), 8)]


def of_one_device_only():
    """The others are in a collective, and wait for it: the call must go on."""

    def program(x):
        kernel = pl.pallas_call(past_the_end, grid=(1,), out_shape=jax.ShapeDtypeStruct((8,), x.dtype))
        return lax.psum(kernel(x), "a")

    x = np.zeros(64, np.float32)
    x[:16] = 12
    with palladion.emulate():
        jax.jit(jax.shard_map(program, mesh=LINE, in_specs=P("a"), out_specs=P(), check_vma=False))(x)


def main():
    compare()
    try:
        of_one_device_only()
    except palladion.DefectError as error:
        assert "OOB" in str(error) and error.report.count == 4, error
        print("one device's defect is reported")
    function = jax.jit(lambda x: call(x, False))
    with palladion.emulate() as session:
        for _ in range(20):  # the result is not awaited, and a collective is before the kernel
            jax.jit(lambda x: call(x @ x.T @ x, False))(put(LINE, P("a")))
    assert session.report.count == 20, session.report
    for spec in (P(), P("a")):
        np.testing.assert_allclose(
            palladion.run(lambda x: call(x @ x.T @ x, False), put(LINE, spec)), np.sin(X @ X.T @ X) * 2, rtol=1e-5
        )
        report = palladion.check(
            lambda x: call(x, False), put(LINE, spec), reference=lambda x: jnp.sin(x) * 2, seeds=2, rtol=1e-6
        )
        assert report.ok and len(report.kernels) == 1, report
    palladion.install(claim=("bare", "interpret_true"))
    np.testing.assert_allclose(function(put(LINE, P("a"))), np.sin(X) * 2, rtol=1e-6)
    assert palladion.last_report().count == 1
    in_mesh(LINE, palladion.last_report)
    print("all is well")


main()
