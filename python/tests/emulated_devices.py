"""Kernels under shard_map on 8 host devices. Run by test_emulate_process.py in a process of its own; prints what it
saw.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import inspect  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas.ops.tpu import all_gather  # noqa: E402
from jax.sharding import (
    Mesh,  # noqa: E402
    PartitionSpec as P,  # noqa: E402
)

import palladion  # noqa: E402

MESH = Mesh(np.array(jax.devices()), ("d",))
UNCHECKED = {name: False for name in ("check_vma", "check_rep") if name in inspect.signature(jax.shard_map).parameters}


def sharded(f):
    return jax.jit(jax.shard_map(f, mesh=MESH, in_specs=P("d"), out_specs=P("d"), **UNCHECKED))


def call(kernel, x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,))(x)


def twice(x_ref, y_ref):
    y_ref[...] = x_ref[...] * 2


def sine(x_ref, y_ref):
    y_ref[...] = jnp.sin(x_ref[...])


def slow(x_ref, y_ref):
    y_ref[...] = jax.lax.fori_loop(0, 100, lambda i, a: jnp.tanh(a), x_ref[...])


def past_the_end(x_ref, y_ref):
    y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 1, 2), :]


def main():
    x = jnp.arange(64.0).reshape(16, 4)

    def two_kernels(x):
        return call(twice, x) + call(sine, x)

    with palladion.emulate(seeds=2) as session:
        result = sharded(two_kernels)(x)
    alone = jnp.concatenate([palladion.run(two_kernels, x[i : i + 2]) for i in range(0, 16, 2)])
    assert np.asarray(result).tobytes() == np.asarray(alone).tobytes()
    assert session.report.ok and {(c.kernel, c.count) for c in session.report.calls} == {("twice", 8), ("sine", 8)}

    with palladion.emulate() as session:  # the result is not used
        sharded(lambda x: call(slow, x))(jnp.ones((8 * 64, 128)))
    assert session.report.count == 8, session.report

    try:
        with palladion.emulate():
            sharded(lambda x: call(past_the_end, x))(x)
    except palladion.DefectError as error:
        assert "OOB" in str(error) and error.report.count == 8
    assert sharded(lambda x: x + 1)(x)[0, 0] == 1

    if jax.__version_info__ >= (0, 9):  # JAX 0.8 writes device ids in another way
        with (
            palladion.emulate() as session
        ):  # without races: the kernel's steps share a semaphore (docs/explanation/checks.md)
            gathered = all_gather.all_gather(x, mesh=MESH, axis_name="d")
        np.testing.assert_array_equal(gathered, x)
        assert session.report.count == 1, session.report
    print("all is well")


main()
