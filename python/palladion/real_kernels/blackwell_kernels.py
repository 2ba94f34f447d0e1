"""Cases: the Mosaic GPU kernels for Blackwell of jax.experimental.pallas.ops.gpu (groups 15 and 16).

The oracles are NumPy in f64, rounded once to the result's type. Upstream: tests/pallas/mgpu_matmul_test.py,
mgpu_ragged_dot_test.py, and the `main` of each module. Sizes are those at which slots and accumulators are used again.
blackwell_ragged_dot_mgpu is here with `collective` alone: without, the kernel asks for the axis of a cluster that it
does not have. None is of --quick, of which records are held on every JAX: 0.12 writes another loop of dynamic
scheduling.
"""

import functools

import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu, blackwell_ragged_dot_mgpu

from palladion.real_kernels.case import Case, Problem, arrays, short_type
from palladion.real_kernels.hopper_kernels import one_unit, rounded, wide

BF16, F16 = jnp.bfloat16, jnp.float16
TARGET = "mosaic_gpu/b200"
STEPS = {"tile_m": 128, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2, "epilogue_tile_n": 32}


def _case(group, op, variant, make, dtype, **fields):
    return Case(group, op, variant, make, 1e-3, one_unit(dtype), "NumPy in f64", target=TARGET, **fields)


def _matmul_cases():
    m_axis, n_axis = blackwell_matmul_mgpu.MatmulDimension

    def problem(shape, dtype, options):
        m, n, k = shape
        a, b = arrays(30, (m, k), (k, n), dtype=dtype)
        config = blackwell_matmul_mgpu.TuningConfig(**{**STEPS, **options})

        def oracle(a, b):
            a, b = wide(a, b)
            return rounded(dtype, a @ b)[0]

        return Problem(
            lambda a, b: blackwell_matmul_mgpu.matmul_kernel(a, b, config), (a, b), None, oracle, in_numpy=True
        )

    for label, shape, dtype, options in (
        ("", (256, 128, 256), F16, {"collective": False}),
        (
            "grid minor in M",
            (256, 192, 192),
            BF16,
            {"collective": False, "grid_minor_dim": m_axis, "grid_tile_width": 2},
        ),
        (
            "grid minor in N",
            (256, 192, 320),
            BF16,
            {"collective": False, "grid_minor_dim": n_axis, "max_concurrent_steps": 3},
        ),
        ("collective", (256, 128, 256), F16, {"collective": True}),
        (
            "collective, grid minor in M",
            (512, 384, 192),
            BF16,
            {"collective": True, "grid_minor_dim": m_axis, "grid_tile_width": 2},
        ),
    ):
        m, n, k = shape
        yield _case(
            15,
            "blackwell_matmul",
            f"{short_type(dtype)} [{m},{k}]x[{k},{n}] {label}".rstrip(),
            functools.partial(problem, shape, dtype, options),
            dtype,
            ragged="refused: tiles must divide the sizes",
        )


def _ragged_cases():
    def problem(sizes, k, n, dtype):
        lhs, rhs = arrays(31, (sum(sizes), k), (len(sizes), k, n), dtype=dtype)
        config = blackwell_ragged_dot_mgpu.TuningConfig(**STEPS, collective=True, grid_tile_width=1, grid_minor_dim=0)

        def oracle(lhs, rhs, groups):
            lhs, rhs = wide(lhs, rhs)
            parts = [rows @ one for rows, one in zip(np.split(lhs, np.cumsum(np.asarray(groups))[:-1]), rhs)]
            return rounded(dtype, np.concatenate(parts))[0]

        return Problem(
            lambda *args: blackwell_ragged_dot_mgpu.ragged_dot_kernel(*args, config),
            (lhs, rhs, jnp.asarray(sizes, jnp.int32)),
            None,
            oracle,
            in_numpy=True,
        )

    for sizes, k, n, dtype, ragged in (
        ((256, 256), 256, 128, F16, ""),
        ((40, 101, 371), 192, 128, F16, "groups 40, 101, 371 of blocks of 256"),
    ):
        yield _case(
            16,
            "blackwell_ragged_dot",
            f"{short_type(dtype)} [{sum(sizes)},{k}]x[{len(sizes)},{k},{n}]",
            functools.partial(problem, sizes, k, n, dtype),
            dtype,
            ragged=ragged,
        )


def cases():
    yield from _matmul_cases()
    yield from _ragged_cases()
