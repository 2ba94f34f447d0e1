"""TPU kernels in programs that XLA partitions, on 4 host devices: JAX refuses them, but in a shard_map over all axes.
Run by test_jax_refusals.py in a process of its own; prints what is found, after comparing it with what JAX's lowering
says (jax/_src/tpu_custom_call.py).
"""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.sharding import (  # noqa: E402
    Mesh,
    NamedSharding,
    PartitionSpec as P,  # noqa: E402
)

import palladion  # noqa: E402

LINE = Mesh(np.array(jax.devices()), ("x",))
SQUARE = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))


def doubled(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def call(x):
    block = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return pl.pallas_call(
        doubled,
        grid=(x.shape[0] // 8,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


def over(*axes):
    return jax.shard_map(call, mesh=SQUARE, in_specs=P("a"), out_specs=P("a"), axis_names=set(axes), check_vma=False)


def takes(f, x) -> bool:
    try:
        jax.jit(f).trace(x).lower(lowering_platforms=("tpu",))
        return True
    except NotImplementedError as error:
        assert "automatically partitioned" in str(error), error
        return False


def main():
    for name, f, place in (
        ("sharded", call, NamedSharding(LINE, P("x"))),
        ("replicated", call, NamedSharding(LINE, P())),
        ("one axis of two", over("a"), NamedSharding(SQUARE, P("a"))),
        ("all axes", over("a", "b"), NamedSharding(SQUARE, P("a"))),
        ("one device", call, jax.devices()[0]),
    ):
        x = jax.device_put(jnp.ones((32, 128), jnp.float32), place)
        with palladion.emulate("v5e", seeds=2, on_defect="collect") as session:
            y = jax.jit(f)(x)
        np.testing.assert_array_equal(np.asarray(y), np.full((32, 128), 2.0))
        found = [finding.message for finding in session.report.findings]
        assert all("[tpu.launch.partitioned]" in message for message in found), found
        assert takes(f, x) == (not found), name
        with palladion.emulate("generic", seeds=2):  # has no such limit
            jax.jit(lambda v, f=f: f(v))(x).block_until_ready()
        print(name, "ILLEGAL" if found else "clean")


if __name__ == "__main__":
    main()
