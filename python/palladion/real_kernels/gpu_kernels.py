"""Cases: the Triton kernels of jax.experimental.pallas.ops.gpu (groups 3, 5 and 6).

Upstream tolerances: jax/tests/pallas/gpu_ops_test.py, gpu_attention_test.py, gpu_paged_attention_test.py.
"""

import functools

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu import attention, decode_attention, layer_norm, paged_attention, rms_norm, softmax

from palladion.real_kernels.case import Case, Problem, arrays, short_type, with_gradients

F32, BF16, F16 = jnp.float32, jnp.bfloat16, jnp.float16


def _both_ways(function, args, gradients=0, oracle=None):
    """The op without and with interpret=True, which all of these take."""
    bare = functools.partial(function, interpret=False)
    peer = functools.partial(function, interpret=True)
    if gradients:
        bare, peer = with_gradients(bare, gradients), with_gradients(peer, gradients)
        oracle = with_gradients(oracle, gradients) if oracle else None
    return Problem(bare, args, peer, oracle)


def _softmax_cases():
    tolerance = {F32: (1e-7, 1e-6), BF16: (1e-2, 1e-4), F16: (1e-2, 1e-4)}
    for shape, dtype, ragged in (
        ((8, 128), F32, ""),
        ((64, 1000), F32, "row 1000 of 1024"),
        ((4, 3, 100), BF16, "row 100 of 128"),
        ((16, 257), F16, "row 257 of 512"),
    ):
        atol, rtol = tolerance[dtype]
        yield Case(
            3,
            "softmax",
            f"{short_type(dtype)} {list(shape)}",
            lambda s=shape, d=dtype: _both_ways(softmax.softmax, arrays(1, s, dtype=d), oracle=jax.nn.softmax),
            atol,
            rtol,
            "jax.nn.softmax",
            ragged,
            quick=shape == (64, 1000),
        )


def _norm_cases(module, op):
    name = op.__name__
    reference = getattr(module, f"{name}_reference")
    for shape, dtype, ragged in (
        ((2, 16, 256), F32, ""),
        ((2, 8, 1000), F32, "row 1000 of 1024"),
        ((2, 8, 300), BF16, "row 300 of 512"),
    ):

        def problem(gradients, s=shape, d=dtype):
            args = arrays(2, s, (s[-1],), (s[-1],), dtype=d)
            function = lambda x, w, b, interpret: op(x, w, b, interpret=interpret)  # noqa: E731
            return _both_ways(function, args, gradients, reference)

        label = f"{short_type(dtype)} {list(shape)}"
        f32 = dtype == F32
        note = "" if f32 else "upstream tests f32 only; 2^-5 for bf16 is ours"
        yield Case(
            5,
            name,
            f"forward {label}",
            lambda p=problem: p(0),
            1e-5 if f32 else 2**-5,
            1e-5 if f32 else 2**-5,
            f"{name}_reference",
            ragged,
            note,
            quick=shape == (2, 8, 1000),
        )
        yield Case(
            5,
            name,
            f"backward {label}",
            lambda p=problem: p(3),
            1e-2 if f32 else 2**-3,
            1e-2 if f32 else 2**-3,
            f"{name}_reference" if f32 else f"{name}_reference",
            ragged,
            "upstream: dx 1e-6 in its own scale, dw and db 1e-2" if f32 else "upstream tests f32 only",
        )


def _decode_cases():
    def problem(op, reference, q_shape, kv_shape, dtype, limits, **options):
        args = arrays(3, q_shape, kv_shape, kv_shape, dtype=dtype)
        args += tuple(jnp.asarray(x, jnp.int32) for x in limits)
        names = ("start_idx", "kv_seq_len")[: len(limits)]

        def call(q, k, v, *rest, interpret):
            return op(q, k, v, **dict(zip(names, rest)), interpret=interpret, **options)

        def oracle(q, k, v, *rest):
            return reference(q, k, v, **dict(zip(names, rest)))

        return _both_ways(call, args, oracle=oracle)

    mqa, gqa = decode_attention.mqa, decode_attention.gqa
    mqa_ref, gqa_ref = decode_attention.mqa_reference, decode_attention.gqa_reference
    note = "upstream tests f16"
    yield Case(
        6,
        "decode_attention",
        "mqa f32 q[2,8,64] kv[2,1024,64]",
        lambda: problem(mqa, mqa_ref, (2, 8, 64), (2, 1024, 64), F32, ()),
        5e-2,
        0,
        "mqa_reference",
        "8 of 16 heads",
        note,
        quick=True,
    )
    yield Case(
        6,
        "decode_attention",
        "mqa bf16 q[1,32,128] kv[1,512,128] k_splits=4",
        lambda: problem(mqa, mqa_ref, (1, 32, 128), (1, 512, 128), BF16, (), k_splits=4),
        5e-2,
        0,
        "mqa_reference",
        note=note,
    )
    yield Case(
        6,
        "decode_attention",
        "gqa f32 q[2,8,64] kv[2,512,2,64] start, length",
        lambda: problem(gqa, gqa_ref, (2, 8, 64), (2, 512, 2, 64), F32, ((3, 5), (100, 300)), k_splits=4),
        5e-2,
        0,
        "gqa_reference",
        "keys 3..100 and 5..300",
        note,
    )
    yield Case(
        6,
        "decode_attention",
        "gqa bf16 q[1,16,64] kv[1,256,4,64]",
        lambda: problem(gqa, gqa_ref, (1, 16, 64), (1, 256, 4, 64), BF16, (), k_splits=2),
        5e-2,
        0,
        "gqa_reference",
        "4 of 16 heads",
        note,
    )


def _attention_cases():
    blocks = attention.BlockSizes(
        block_q=64, block_k=64, block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64
    )

    def problem(shape, dtype, causal, segments, gradients):
        args = arrays(4, shape, shape, shape, dtype=dtype)
        if segments:
            ids = jnp.asarray((jnp.arange(shape[1]) >= shape[1] // 3), jnp.int32)
            args += (jnp.broadcast_to(ids, (shape[0], shape[1])),)

        def call(q, k, v, *ids, interpret):
            return attention.mha(
                q,
                k,
                v,
                ids[0] if ids else None,
                causal=causal,
                block_sizes=blocks,
                sm_scale=shape[-1] ** -0.5,
                interpret=interpret,
            )

        def oracle(q, k, v, *ids):
            return attention.mha_reference(q, k, v, ids[0] if ids else None, causal=causal, sm_scale=shape[-1] ** -0.5)

        return _both_ways(call, args, gradients, oracle)

    for shape, dtype, causal, segments, ragged in (
        ((1, 256, 2, 64), F32, False, False, ""),
        ((2, 128, 2, 64), BF16, True, False, ""),
        ((1, 128, 2, 48), F32, True, False, "head_dim 48 of 64"),
        ((1, 128, 2, 64), F32, False, True, "two segments"),
    ):
        label = f"{short_type(dtype)} {list(shape)}{' causal' if causal else ''}"
        yield Case(
            6,
            "attention",
            f"forward {label}",
            lambda a=(shape, dtype, causal, segments): problem(*a, 0),
            5e-2,
            0,
            "mha_reference",
            ragged,
            "upstream tests f16",
            quick=shape[-1] == 48,
        )
        yield Case(
            6,
            "attention",
            f"backward {label}",
            lambda a=(shape, dtype, causal, segments): problem(*a, 3),
            5e-2,
            0,
            "mha_reference",
            ragged,
            "upstream tests f16",
        )


def _paged_cases():
    def problem(heads, kv_heads, head_dim, pages, page_size, lengths, dtype, int8=False, **options):
        q, k, v = arrays(
            5,
            (len(lengths), heads, head_dim),
            (kv_heads, 4 * pages, page_size, head_dim),
            (kv_heads, 4 * pages, page_size, head_dim),
            dtype=dtype,
        )
        tables = (jnp.arange(len(lengths) * pages).reshape(len(lengths), pages) * 7) % (4 * pages)
        args = (q, k, v, tables.astype(jnp.int32), jnp.asarray(lengths, jnp.int32))
        if int8:
            scales = [jnp.max(jnp.abs(x.astype(F32)), axis=-1) / 127 for x in (k, v)]
            quantized = [jnp.round(x / s[..., None]).astype(jnp.int8) for x, s in zip((k, v), scales)]
            args = (q, *quantized, *args[3:], *scales)

        def call(*given, interpret):
            return paged_attention.paged_attention(*given, interpret=interpret, **options)

        def oracle(q, k, v, tables, lengths, *scales):
            if scales:
                k, v = (x.astype(F32) * s[..., None] for x, s in zip((k, v), scales))
            gathered = [jnp.moveaxis(x[:, tables], 0, 3) for x in (k, v)]  # batch, pages, page_size, kv_heads, head_dim
            gathered = [x.reshape(x.shape[0], -1, *x.shape[3:]) for x in gathered]
            cap = options.get("attn_logits_soft_cap")
            return paged_attention.paged_attention_reference(q, *gathered, lengths, attn_logits_soft_cap=cap)

        return _both_ways(call, args, oracle=oracle)

    ragged = "lengths inside a page"
    yield Case(
        6,
        "paged_attention",
        "f32 2 kv heads, page 8, k_splits=2",
        lambda: problem(8, 2, 64, 16, 8, (60, 128), F32, k_splits=2),
        5e-2,
        0,
        "paged_attention_reference",
        ragged,
    )
    yield Case(
        6,
        "paged_attention",
        "bf16 4 kv heads, page 16, soft cap",
        lambda: problem(16, 4, 64, 16, 16, (201, 17), BF16, k_splits=2, attn_logits_soft_cap=10.0),
        5e-2,
        0,
        "paged_attention_reference",
        ragged,
        quick=True,
    )
    yield Case(
        6,
        "paged_attention",
        "f32 int8 pages with scales",
        lambda: problem(8, 2, 64, 16, 8, (60, 128), F32, int8=True, k_splits=2),
        5e-2,
        0,
        "paged_attention_reference",
        ragged,
    )


def cases():
    yield from _softmax_cases()
    yield from _norm_cases(rms_norm, rms_norm.rms_norm)
    yield from _norm_cases(layer_norm, layer_norm.layer_norm)
    yield from _decode_cases()
    yield from _attention_cases()
    yield from _paged_cases()
