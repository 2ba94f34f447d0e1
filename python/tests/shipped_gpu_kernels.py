"""The Mosaic GPU kernels that JAX ships, unchanged, at small sizes: name -> () -> (function, its arguments, the chip it
is for).

blackwell_ragged_dot_mgpu is here with `collective` alone: without, the kernel asks for the axis of a cluster that it
does not have.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import (
    all_gather_mgpu,
    attention_mgpu,
    blackwell_matmul_mgpu,
    blackwell_ragged_dot_mgpu,
    collective_matmul_mgpu,
    hopper_matmul_mgpu,
    hopper_mixed_type_matmul_mgpu,
    ragged_dot_mgpu,
    reduce_scatter_mgpu,
    transposed_ragged_dot_mgpu,
)

F16, F32, I8, I32 = jnp.float16, jnp.float32, jnp.int8, jnp.int32
M, N = hopper_matmul_mgpu.MatmulDimension
TILES = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2}
BLOCKS = {"block_m": 64, "block_n": 64, "block_k": 64, "max_concurrent_steps": 2, "grid_block_n": 1}
AUTO = (jax.sharding.AxisType.Auto,)  # from 0.12 an axis is Explicit unless it says so
BACKWARD = {"block_q_dkv": 64, "block_kv_dkv": 64, "block_q_dq": 64, "block_kv_dq": 64}


def array(shape, dtype=F16):
    return jax.ShapeDtypeStruct(shape, dtype)


def matmul(with_c=False, **options):
    config = hopper_matmul_mgpu.TuningConfig(**{**TILES, **options})
    args = (array((256, 128)), array((128, 256))) + ((array((256, 256)),) if with_c else ())
    return lambda a, b, c=None: hopper_matmul_mgpu.matmul(a, b, c, config), args, "h100"


def mixed(dtype=F16, **options):
    config = hopper_mixed_type_matmul_mgpu.TuningConfig(**{**TILES, **options})
    return (
        lambda a, b: hopper_mixed_type_matmul_mgpu.mixed_matmul_kernel(a, b, out_dtype=dtype, config=config),
        (array((256, 128), I8), array((128, 256), dtype)),
        "h100",
    )


def ragged(transpose_rhs):
    return (
        lambda lhs, rhs, groups: ragged_dot_mgpu.ragged_dot(
            lhs, rhs, group_sizes=groups, transpose_rhs=transpose_rhs, **BLOCKS
        ),
        (array((128, 128)), array((2, 128, 128)), array((2,), I32)),
        "h100",
    )


def transposed_ragged():
    return (
        lambda lhs, rhs, groups: transposed_ragged_dot_mgpu.transposed_ragged_dot(
            lhs, rhs, group_sizes=groups, **BLOCKS
        ),
        (array((128, 128)), array((128, 128)), array((2,), I32)),
        "h100",
    )


def attention(op="attention", save_residuals=False, **options):
    config = attention_mgpu.TuningConfig(**{"block_q": 64, "block_kv": 64, "max_concurrent_steps": 2, **options})

    def forward(q, k, v):
        return getattr(attention_mgpu, op)(q, k, v, config, save_residuals)

    def backward(q, k, v):
        return jax.grad(lambda *args: forward(*args).astype(F32).sum(), (0, 1, 2))(q, k, v)

    args = (array((1, 256, 2, 64)), array((1, 256, 1, 64)), array((1, 256, 1, 64)))
    return backward if config.has_backward_blocks else forward, args, "h100"


def blackwell(collective):
    config = blackwell_matmul_mgpu.TuningConfig(**{**TILES, "tile_m": 128}, collective=collective, epilogue_tile_n=32)
    return (
        lambda a, b: blackwell_matmul_mgpu.matmul_kernel(a, b, config),
        (array((256, 128)), array((128, 256))),
        "b200",
    )


def blackwell_ragged():
    config = blackwell_ragged_dot_mgpu.TuningConfig(
        **{**TILES, "tile_m": 128}, collective=True, grid_tile_width=1, grid_minor_dim=0, epilogue_tile_n=32
    )
    return (
        lambda a, b, groups: blackwell_ragged_dot_mgpu.ragged_dot_kernel(a, b, groups, config),
        (array((256, 128)), array((2, 128, 256)), array((2,), I32)),
        "b200",
    )


def on_devices(function, args, specs, count=2):
    """Traced for `count` devices, which need not be there."""
    mesh = jax.sharding.AbstractMesh((count,), ("x",), axis_types=AUTO)
    if count == 1:
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",), axis_types=AUTO)
    return (
        jax.jit(jax.shard_map(function, mesh=mesh, in_specs=specs[:-1], out_specs=specs[-1], check_vma=False)),
        args,
        "h100",
    )


P = jax.sharding.PartitionSpec


def all_gather():
    return on_devices(lambda x: all_gather_mgpu.all_gather(x, axis_name="x"), (array((256, 128), F32),), (P("x"), P()))


def reduce_scatter():
    return on_devices(
        lambda x: reduce_scatter_mgpu.reduce_scatter(x, axis_name="x"), (array((512, 128), F32),), (P("x"), P("x"))
    )


def collective_matmul():
    """It asks for as many devices as the process has: one."""
    config = hopper_matmul_mgpu.TuningConfig(**TILES)
    return on_devices(
        lambda a, b: collective_matmul_mgpu.all_gather_lhs_matmul(a, b, "x", config=config),
        (array((256, 128)), array((128, 256))),
        (P("x"), P(None, "x"), P(None, "x")),
        count=1,
    )


MIXED_M = hopper_mixed_type_matmul_mgpu.MatmulDimension.M
PIPELINE = "attention_with_pipeline_emitter"

HOPPER = {
    "matmul": matmul,
    "matmul with C": lambda: matmul(True),
    "matmul warpgroups in M": lambda: matmul(wg_dimension=M),
    "matmul warpgroups in N": lambda: matmul(wg_dimension=N),
    "matmul cluster in M": lambda: matmul(cluster_dimension=M),
    "matmul cluster in N, warpgroups in M, with C": lambda: matmul(True, cluster_dimension=N, wg_dimension=M),
    "matmul epilogue of one tile": lambda: matmul(epi_tile_m=None, epi_tile_n=None),
    "matmul epilogue in four tiles": lambda: matmul(
        tile_m=128, tile_n=128, epi_tile_m=64, epi_tile_n=64, wg_dimension=M
    ),
    "matmul grid minor in M": lambda: matmul(grid_minor_dim=M, grid_tile_width=2),
    "mixed types": mixed,
    "mixed types bf16 cluster and warpgroups in M": lambda: mixed(
        jnp.bfloat16, cluster_dimension=MIXED_M, wg_dimension=MIXED_M
    ),
    "ragged dot": lambda: ragged(False),
    "ragged dot transposed rhs": lambda: ragged(True),
    "transposed ragged dot": transposed_ragged,
    "attention": attention,
    "attention causal": lambda: attention(causal=True),
    "attention without schedule barrier": lambda: attention(use_schedule_barrier=False),
    "attention residuals": lambda: attention(save_residuals=True),
    "attention pipelined": lambda: attention(PIPELINE),
    "attention pipelined residuals": lambda: attention(PIPELINE, save_residuals=True),
    "attention backward": lambda: attention(**BACKWARD),
    "attention backward two warpgroups": lambda: attention(compute_wgs_bwd=2, **BACKWARD),
}
OTHERS = {
    "blackwell matmul": lambda: blackwell(False),
    "blackwell matmul collective": lambda: blackwell(True),
    "blackwell ragged dot collective": blackwell_ragged,
    "all gather": all_gather,
    "reduce scatter": reduce_scatter,
    "collective matmul": collective_matmul,
}


def concrete(args):
    """Zeros in the place of shapes."""
    return tuple(jnp.zeros(a.shape, a.dtype) for a in args)
