"""What JAX's own lowering refuses of a kernel is ILLEGAL here, and what it takes is not: kernels that need more than a
text of their own.

Others, by the thousand: conformance/golden/*_legality.txt. JAX lowers for a TPU or GPU that is not there.
"""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu, triton as plt
from jax.sharding import PartitionSpec as P

import palladion

OF_0_10 = jax.__version_info__[:2] == (0, 10)  # of later releases the verdicts are not compared: they take more
NO_INDEX = ((),) if "idx" in plgpu.load.__code__.co_varnames else ()  # until JAX 0.11
PLATFORM = {"triton/h100": "cuda", "h100": "cuda", "b200": "cuda", "v5e": "tpu", "v5p": "tpu"}


def jax_takes(f, x, target) -> bool:
    try:
        with palladion.target(target):
            jax.jit(f).trace(x).lower(lowering_platforms=(PLATFORM[target],))
        return True
    except Exception:  # a refusal has many types
        return False


def run(f, x, target):
    """(result, whether something is ILLEGAL)"""
    with palladion.emulate(target, seeds=2, on_defect="collect") as session:
        y = jax.jit(f)(x)
    found = {finding.code for finding in session.report.findings}
    assert found <= {"ILLEGAL"}, session.report
    return np.asarray(y), bool(found)


def check(f, x, target, expected=None):
    y, illegal = run(f, x, target)
    if OF_0_10:
        assert illegal == (not jax_takes(f, x, target)), target
    if expected is not None:
        np.testing.assert_array_equal(y, np.asarray(expected))
    return illegal


def checkpointed(v):
    return jax.checkpoint(lambda w: w + w)(v)


def three_cases(v):
    return lax.select_n(v.astype(jnp.int32) % 3, v, v + v, v * v)


def carried(v):
    return lax.scan(lambda c, r: (c + r, None), jnp.zeros(v.shape[1:], v.dtype), v)[0]


@jax.custom_vjp
def with_vjp(v):
    return v + v


with_vjp.defvjp(lambda v: (v + v, None), lambda _, g: (g,))
OPERATIONS = {
    "select_3": three_cases,
    "stack_0": lambda v: jnp.stack([v, v]),
    "stack_last": lambda v: jnp.stack([v, v], -1),
    "map": lambda v: lax.map(lambda r: r + r, v),
    "scan": carried,
    "checkpoint": checkpointed,
    "relu": jax.nn.relu,
    "custom_vjp": with_vjp,
    "copy": jnp.copy,
    "isfinite_bf16": lambda v: jnp.isfinite(v.astype(jnp.bfloat16)),
    "isfinite": jnp.isfinite,
    "twice": lambda v: v + v,
    "jit": jax.jit(lambda v: v * v),
    "select_2": lambda v: jnp.where(v > 1, v, 0),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("target", ["triton/h100", "h100", "v5e"])
def test_one_operation(name, target):
    operation = OPERATIONS[name]
    x = jnp.arange(128.0 * 128, dtype=jnp.float32).reshape(128, 128) % 7
    params = {"triton/h100": plt.CompilerParams(), "h100": plgpu.CompilerParams(), "v5e": None}[target]
    stored = lambda v: operation(v).astype(jnp.int32) if operation(v).dtype == bool else operation(v)  # noqa: E731

    def body(x_ref, o_ref):
        o_ref[...] = stored(x_ref[...])

    out = jax.eval_shape(stored, x)
    check(
        lambda v: pl.pallas_call(body, out_shape=out, **({"compiler_params": params} if params else {}))(v),
        x,
        target,
        stored(x),
    )


def test_a_scan_over_arrays_stacks_results_nowhere():
    def body(x_ref, o_ref):
        c, ys = lax.scan(lambda c, _: (c + 1.0, c), jnp.zeros((64,), jnp.float32), None, length=4)
        o_ref[...] = c + ys.sum(0) + x_ref[...]

    call = pl.pallas_call(
        body, out_shape=jax.ShapeDtypeStruct((64,), jnp.float32), compiler_params=plt.CompilerParams()
    )
    assert check(call, jnp.ones(64, jnp.float32), "triton/h100")


def loaded(*index):
    def body(x_ref, o_ref):
        o_ref[...] = plgpu.load(x_ref, *NO_INDEX, layout=plgpu.Layout.WGMMA, optimized=False)[index]

    return body


def test_leading_dimensions_of_a_tiled_array():
    x = jnp.arange(2 * 3 * 64 * 8.0, dtype=jnp.float32).reshape(2, 3, 64, 8)
    call = plgpu.kernel(loaded(1, 1), out_type=jax.ShapeDtypeStruct((64, 8), jnp.float32))
    assert not check(call, x, "h100", x[1, 1])


def test_four_bits_to_eight():
    def body(x_ref, o_ref):
        o_ref[...] = plgpu.load(x_ref, *NO_INDEX, layout=plgpu.Layout.WGMMA, optimized=False).astype(jnp.float8_e4m3fn)

    x = jax.random.randint(jax.random.key(0), (64, 256), -8, 8).astype(jnp.int4)
    call = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((64, 256), jnp.float8_e4m3fn))
    assert not check(call, x, "h100", x.astype(jnp.float8_e4m3fn))


def test_what_explicit_sharding_writes():
    """jnp.where reshards its scalars."""
    mesh = jax.make_mesh((1, 1), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)

    def body(x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref, smem, bar)
        plgpu.barrier_wait(bar)
        value = smem[...]
        smem[...] = jnp.where(value > 0, value, 0)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)
        plgpu.wait_smem_to_gmem(0)

    kernel = plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((64, 64), jnp.float32),
        scratch_types=[plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()],
    )
    with jax.set_mesh(mesh):
        x = jax.sharding.reshard(jax.random.normal(jax.random.key(0), (64, 64)), P("x", "y"))
        assert not check(
            lambda v: jax.shard_map(kernel, in_specs=P("x", "y"), out_specs=P("x", "y"))(v),
            x,
            "h100",
            jnp.maximum(x, 0),
        )


def test_a_key_of_threefry_in_vmem():
    def body(key_ref, o_ref):
        o_ref[...] = jax.random.bits(key_ref[...], shape=(8, 128))

    with jax.threefry_partitionable(True):
        key = jax.random.key(0, impl="threefry2x32")
        call = pl.pallas_call(
            body, in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM)], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.uint32)
        )
        assert not check(call, key, "v5p", jax.random.bits(key, (8, 128)))


@pytest.mark.parametrize("squeezed", [True, False])
def test_a_key_of_a_tpu_in_a_squeezed_block(squeezed):
    def body(key_ref, o_ref):
        o_ref[...] = jax.random.uniform(key_ref[...], shape=(8, 128))

    key = pltpu.to_pallas_key(jax.random.key(0, impl="rbg"))
    block = (
        {"grid": (), "in_specs": [pl.BlockSpec((pl.squeezed,), lambda: (0,), memory_space=pltpu.SMEM)]}
        if squeezed
        else {"in_specs": [pl.BlockSpec(memory_space=pltpu.SMEM)]}
    )
    call = pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), **block)
    assert not check(call, key[None] if squeezed else key, "v5p")


def test_xla_partitions_no_kernel_of_a_tpu():
    """Over several devices, in a process that has them: partitioned_programs.py."""
    done = subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(__file__), "partitioned_programs.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "sharded ILLEGAL",
        "replicated ILLEGAL",
        "one axis of two ILLEGAL",
        "all axes clean",
        "one device clean",
    ]
