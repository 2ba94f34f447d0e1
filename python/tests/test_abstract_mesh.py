"""A shard_map over an AbstractMesh: it names no devices, so a program has those that its arguments are on, or it cannot
run.
"""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec as P

import palladion
from palladion.base.errors import ExportError

X = jnp.arange(256, dtype=jnp.float32).reshape(2, 128)


def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def sharded():
    mesh = jax.sharding.AbstractMesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.shard_map(
        lambda x: pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x),
        mesh=mesh,
        in_specs=P("x"),
        out_specs=P("x"),
        check_vma=False,
    )


def emulated(f, x):
    with palladion.emulate():
        return jax.jit(f)(x)


@pytest.mark.parametrize("runs", [palladion.check, palladion.run, emulated])
def test_a_program_without_its_devices_says_what_to_give_instead(runs):
    with pytest.raises(
        ExportError,
        match=r"test_abstract_mesh.py:\d+: shard_map is over an AbstractMesh of 2 devices \(x=2\).* give shard_map "
        r"jax.make_mesh\(sizes, names\), or pass arguments that are there",
    ):
        runs(sharded(), X)


def test_its_text_needs_no_devices():
    assert "f32[1,128]" in palladion.export(sharded(), X)


def test_arguments_that_are_on_a_mesh_are_enough():
    program = """
import jax, numpy as np
import test_abstract_mesh as test
mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
x = jax.device_put(test.X, jax.sharding.NamedSharding(mesh, test.P("x")))
report = test.palladion.check(test.sharded(), x)
assert not report.findings, str(report)
assert np.array_equal(np.asarray(test.emulated(test.sharded(), x)), 2 * np.asarray(test.X))
print("well")
"""
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout == "well\n", done.stdout + done.stderr
