"""Cases: the Mosaic GPU kernels for Hopper of jax.experimental.pallas.ops.gpu (groups 10 to 13).

The oracles are NumPy in f64, rounded once to the result's type. Upstream: tests/pallas/mgpu_matmul_test.py,
mgpu_attention_test.py, mgpu_ragged_dot_test.py, and the `main` of each module. What a tolerance leaves room for is said
with it. Sizes are those at which slots of a pipeline are used again.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import (
    attention_mgpu,
    hopper_matmul_mgpu,
    hopper_mixed_type_matmul_mgpu,
    ragged_dot_mgpu,
    transposed_ragged_dot_mgpu,
)

from palladion.real_kernels.case import Case, Problem, arrays, short_type

BF16, F16, I8 = jnp.bfloat16, jnp.float16, jnp.int8
TARGET = "mosaic_gpu/h100"
HALF_ULP = {np.dtype(F16): 2.0**-11, np.dtype(BF16): 2.0**-8}


def _case(group, op, variant, make, atol, rtol, **fields):
    return Case(group, op, variant, make, atol, rtol, "NumPy in f64", target=TARGET, **fields)


def wide(*values):
    return tuple(np.asarray(value).astype(np.float64) for value in values)


def rounded(dtype, *values):
    """To `dtype` once: ml_dtypes rounds from f64 as NumPy does, to the nearest, ties to even."""
    return tuple(value.astype(np.dtype(dtype)) for value in values)


# A product is exact in f64 and accumulated in f32,
# whose error is far below half a unit of the result's type: at most one unit.
def one_unit(dtype):
    return 2 * HALF_ULP[np.dtype(dtype)]


def _matmul_cases():
    m_axis, n_axis = hopper_matmul_mgpu.MatmulDimension
    steps = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2}

    def problem(shape, dtype, with_c, options):
        m, n, k = shape
        a, b, *c = arrays(20, (m, k), (k, n), *([(m, n)] if with_c else []), dtype=dtype)
        config = hopper_matmul_mgpu.TuningConfig(**{**steps, **options})

        def call(a, b, c=None):
            return hopper_matmul_mgpu.matmul(a, b, c, config)

        def oracle(a, b, c=None):
            a, b, c = (*wide(a, b), 0 if c is None else wide(c)[0])
            return rounded(dtype, a @ b + c)

        return Problem(call, (a, b, *c), None, oracle, in_numpy=True)

    four = {"tile_m": 128, "tile_n": 128, "wg_dimension": m_axis}
    for label, shape, dtype, with_c, options in (
        ("", (128, 256, 256), F16, False, {}),
        ("", (128, 256, 320), BF16, False, {"max_concurrent_steps": 3}),
        ("with C", (128, 256, 256), F16, True, {}),
        ("warpgroups in M", (256, 128, 256), F16, False, {"wg_dimension": m_axis}),
        ("warpgroups in N", (128, 256, 256), F16, False, {"wg_dimension": n_axis}),
        ("cluster in M", (256, 128, 256), F16, False, {"cluster_dimension": m_axis}),
        ("cluster in N", (128, 256, 256), BF16, False, {"cluster_dimension": n_axis}),
        (
            "cluster in N, warpgroups in M, with C",
            (256, 128, 256),
            F16,
            True,
            {"cluster_dimension": n_axis, "wg_dimension": m_axis},
        ),
        ("epilogue of one tile", (128, 256, 256), F16, False, {"epi_tile_m": None, "epi_tile_n": None}),
        ("epilogue in four tiles", (256, 128, 256), F16, False, {**four, "epi_tile_m": 64, "epi_tile_n": 64}),
        ("epilogue in four tiles, with C", (256, 128, 256), F16, True, {**four, "epi_tile_m": 64, "epi_tile_n": 64}),
        ("grid minor in M", (256, 256, 192), F16, False, {"grid_minor_dim": m_axis, "grid_tile_width": 2}),
    ):
        m, n, k = shape
        yield _case(
            10,
            "hopper_matmul",
            f"{short_type(dtype)} [{m},{k}]x[{k},{n}] {label}".rstrip(),
            functools.partial(problem, shape, dtype, with_c, options),
            1e-3,
            one_unit(dtype),
            ragged="refused: tiles must divide the sizes",
        )


def _mixed_cases():
    m_axis, n_axis = hopper_mixed_type_matmul_mgpu.MatmulDimension
    steps = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2}

    def problem(shape, dtype, options):
        m, n, k = shape
        a = jnp.asarray(np.random.default_rng(21).integers(-128, 128, (m, k)), I8)
        (b,) = arrays(22, (k, n), dtype=dtype)
        config = hopper_mixed_type_matmul_mgpu.TuningConfig(**{**steps, **options})

        def call(a, b):
            return hopper_mixed_type_matmul_mgpu.mixed_matmul_kernel(a, b, out_dtype=dtype, config=config)

        def oracle(a, b):
            a, b = wide(a, b)
            return rounded(dtype, a @ b)

        return Problem(call, (a, b), None, oracle, in_numpy=True)

    # Sums of numbers of about 70 have cancelled values whose f32 error shows: 1e-2 is 2^-14 of the largest.
    for label, shape, dtype, options in (
        ("", (128, 256, 256), F16, {}),
        ("cluster and warpgroups in M", (256, 128, 256), BF16, {"cluster_dimension": m_axis, "wg_dimension": m_axis}),
        ("cluster in N", (128, 256, 320), F16, {"cluster_dimension": n_axis, "max_concurrent_steps": 3}),
    ):
        m, n, k = shape
        yield _case(
            11,
            "hopper_mixed_type_matmul",
            f"i8 {short_type(dtype)} [{m},{k}]x[{k},{n}] {label}".rstrip(),
            functools.partial(problem, shape, dtype, options),
            1e-2,
            one_unit(dtype),
            ragged="refused: tiles must divide the sizes",
        )


def _ragged_cases():
    blocks = {"block_m": 64, "block_n": 64, "block_k": 64, "max_concurrent_steps": 2, "grid_block_n": 1}

    def dot(sizes, k, n, dtype, transpose, options):
        lhs, rhs = arrays(23, (sum(sizes), k), (len(sizes), n, k) if transpose else (len(sizes), k, n), dtype=dtype)

        def call(lhs, rhs, groups):
            return ragged_dot_mgpu.ragged_dot(
                lhs, rhs, group_sizes=groups, transpose_rhs=transpose, **{**blocks, **options}
            )

        def oracle(lhs, rhs, groups):
            lhs, rhs = wide(lhs, rhs)
            ends = np.cumsum(np.asarray(groups))
            parts = [rows @ (one.T if transpose else one) for rows, one in zip(np.split(lhs, ends[:-1]), rhs)]
            return rounded(dtype, np.concatenate(parts))

        return Problem(call, (lhs, rhs, jnp.asarray(sizes, jnp.int32)), None, oracle, in_numpy=True)

    def transposed(sizes, m, n, dtype, options):
        lhs, rhs = arrays(24, (sum(sizes), m), (sum(sizes), n), dtype=dtype)

        def call(lhs, rhs, groups):
            return transposed_ragged_dot_mgpu.transposed_ragged_dot(
                lhs, rhs, group_sizes=groups, **{**blocks, **options}
            )

        def oracle(lhs, rhs, groups):
            lhs, rhs = wide(lhs, rhs)
            ends = np.cumsum(np.asarray(groups))
            return rounded(
                dtype, np.stack([a.T @ b for a, b in zip(np.split(lhs, ends[:-1]), np.split(rhs, ends[:-1]))])
            )

        return Problem(call, (lhs, rhs, jnp.asarray(sizes, jnp.int32)), None, oracle, in_numpy=True)

    for sizes, k, n, dtype, transpose, options, ragged in (
        ((64, 64), 256, 128, F16, False, {}, ""),
        ((40, 101, 51), 192, 128, F16, False, {}, "groups 40, 101, 51 of blocks of 64"),
        ((0, 75, 53), 320, 64, BF16, False, {"max_concurrent_steps": 3}, "an empty group, groups 75, 53"),
        ((40, 88), 256, 128, F16, True, {"grid_block_n": 2}, "groups 40, 88 of blocks of 64"),
    ):
        label = f"{short_type(dtype)} [{sum(sizes)},{k}]x[{len(sizes)},{k},{n}]{' transposed rhs' if transpose else ''}"
        yield _case(
            12,
            "ragged_dot_mgpu",
            label,
            functools.partial(dot, sizes, k, n, dtype, transpose, options),
            1e-3,
            one_unit(dtype),
            ragged=ragged,
            quick=len(sizes) == 3 and dtype == F16,
        )
    for sizes, m, n, dtype, options, ragged in (
        ((64, 128), 128, 128, F16, {}, ""),
        ((40, 101, 51), 64, 128, F16, {}, "groups 40, 101, 51 of blocks of 64"),
    ):
        yield _case(
            12,
            "transposed_ragged_dot_mgpu",
            f"{short_type(dtype)} [{sum(sizes)},{m}]x[{sum(sizes)},{n}]",
            functools.partial(transposed, sizes, m, n, dtype, options),
            1e-3,
            one_unit(dtype),
            ragged=ragged,
        )


def _attention_parts(q, k, v, causal):
    """(weights, output, base-2 logarithm of the sums), the weights [batch, heads, queries, keys]."""
    repeated = q.shape[2] // k.shape[2]
    k, v = k.repeat(repeated, axis=2), v.repeat(repeated, axis=2)
    logits = np.einsum("bqhc,bkhc->bhqk", q, k)
    if causal:
        logits = np.where(np.arange(q.shape[1])[:, None] >= np.arange(k.shape[1]), logits, -np.inf)
    largest = logits.max(-1, keepdims=True)
    weights = np.exp(logits - largest)
    sums = weights.sum(-1, keepdims=True)
    weights /= sums
    return weights, np.einsum("bhqk,bkhc->bqhc", weights, v), (largest / math.log(2) + np.log2(sums))[..., 0]


def _attention_gradients(q, k, v, cotangent):
    heads = k.shape[2]
    weights, out, _ = _attention_parts(q, k, v, False)
    wide_k, wide_v = (x.repeat(q.shape[2] // heads, axis=2) for x in (k, v))
    products = np.einsum("bqhc,bkhc->bhqk", cotangent, wide_v)
    inner = weights * (products - np.einsum("bqhc,bqhc->bhq", cotangent, out)[..., None])
    dq, dk, dv = (
        np.einsum("bhqk,bkhc->bqhc", inner, wide_k),
        np.einsum("bhqk,bqhc->bkhc", inner, q),
        np.einsum("bhqk,bqhc->bkhc", weights, cotangent),
    )
    return dq, *(x.reshape(*k.shape[:3], -1, k.shape[3]).sum(3) for x in (dk, dv))


def _attention_cases():
    plain, emitted = "attention", "attention_with_pipeline_emitter"
    backward = {"block_q_dkv": 64, "block_kv_dkv": 64, "block_q_dq": 64, "block_kv_dq": 64}

    def tensors(q_shape, kv_len, kv_heads):
        kv_shape = (q_shape[0], kv_len, kv_heads, q_shape[3])
        q, k, v = arrays(25, q_shape, kv_shape, kv_shape, dtype=F16)
        return q / jnp.asarray(math.sqrt(q_shape[3]), F16), k, v

    def config_of(options):
        return attention_mgpu.TuningConfig(**{"block_q": 64, "block_kv": 64, "max_concurrent_steps": 2, **options})

    def forward(op, shape, residuals, options):
        def call(q, k, v):
            return getattr(attention_mgpu, op)(q, k, v, config_of(options), residuals)

        def oracle(q, k, v):
            _, out, sums = _attention_parts(*wide(q, k, v), options.get("causal", False))
            (out,) = rounded(F16, out)
            return (out, (sums.astype(np.float32),)) if residuals else out

        return Problem(call, tensors(*shape), None, oracle, in_numpy=True)

    def gradients(shape, options):
        (cotangent,) = arrays(26, shape[0], dtype=F16)

        def call(q, k, v, cotangent):
            out, pull_back = jax.vjp(
                lambda *qkv: attention_mgpu.attention(*qkv, config_of({**backward, **options})), q, k, v
            )
            return out, pull_back(cotangent)

        def oracle(q, k, v, cotangent):
            q, k, v, cotangent = wide(q, k, v, cotangent)
            (out,) = rounded(F16, _attention_parts(q, k, v, False)[1])
            return out, rounded(F16, *_attention_gradients(q, k, v, cotangent))

        return Problem(call, (*tensors(*shape), cotangent), None, oracle, in_numpy=True)

    # Upstream's tolerance: the weights are rounded to f16 before they meet v.
    for op, label, shape, residuals, options in (
        (plain, "", ((1, 128, 2, 64), 256, 1), False, {}),
        (plain, "two batches", ((2, 128, 2, 64), 256, 2), False, {"block_kv": 64, "max_concurrent_steps": 3}),
        (plain, "head 128", ((1, 128, 1, 128), 256, 1), False, {}),
        (plain, "causal", ((1, 256, 1, 64), 256, 1), False, {"causal": True}),
        (plain, "residuals", ((1, 128, 2, 64), 192, 1), True, {}),
        (emitted, "pipeline", ((1, 128, 2, 64), 256, 1), False, {}),
        (emitted, "pipeline, no schedule barrier", ((1, 128, 2, 64), 256, 2), False, {"use_schedule_barrier": False}),
        (emitted, "pipeline, residuals", ((1, 128, 2, 64), 192, 1), True, {}),
    ):
        q_shape, kv_len, kv_heads = shape
        yield _case(
            13,
            "attention_mgpu",
            f"forward f16 q{list(q_shape)} kv {kv_len}x{kv_heads} {label}".rstrip(),
            functools.partial(forward, op, shape, residuals, options),
            2e-3,
            1e-3,
            ragged="refused: blocks must divide the sequences",
            quick=label == "pipeline, residuals",
        )
    # The weights and their gradients are rounded to f16 before they meet the operands.
    for label, shape, options in (
        ("", ((1, 256, 2, 64), 192, 1), {}),
        ("two warpgroups", ((1, 256, 1, 64), 256, 1), {"compute_wgs_bwd": 2}),
    ):
        q_shape, kv_len, kv_heads = shape
        yield _case(
            13,
            "attention_mgpu",
            f"backward f16 q{list(q_shape)} kv {kv_len}x{kv_heads} {label}".rstrip(),
            functools.partial(gradients, shape, options),
            4e-3,
            4e-3,
            ragged="refused: blocks must divide the sequences",
            note="tolerance is ours",
        )


def cases():
    yield from _matmul_cases()
    yield from _mixed_cases()
    yield from _ragged_cases()
    yield from _attention_cases()
