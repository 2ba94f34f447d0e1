"""Cases: the TPU kernels of jax.experimental.pallas.ops.tpu (groups 1, 2, 4, 7, 8, 9 and 14).

Upstream tolerances: jax/tests/pallas/tpu_gmm_test.py, tpu_splash_attention_kernel_test.py, tpu_pallas_random_test.py.
flash_attention and matmul have no upstream test of their values: the tolerances are ours.
"""

import functools
import importlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu import example_kernel, flash_attention, matmul
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention_kernel
from jax.experimental.pallas.ops.tpu.ragged_paged_attention import kernel as ragged_kernel
from jax.experimental.pallas.ops.tpu.random import philox, threefry
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as splash_mask

from palladion.real_kernels.case import Case, Problem, arrays, in_hlo_interpreter, short_type, with_gradients

megablox = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.gmm")

F32, BF16 = jnp.float32, jnp.bfloat16
FORCED = "force_tpu_interpret_mode(True)"


def _forced(function, args, oracle=None):
    return Problem(function, args, in_hlo_interpreter(function), oracle)


def _first_cases():
    for shape, dtype, ragged in (((8, 128), F32, ""), ((300, 500), BF16, "no block: any shape")):
        yield Case(
            1,
            "example_kernel",
            f"{short_type(dtype)} {list(shape)}",
            lambda s=shape, d=dtype: _forced(example_kernel.double, arrays(1, s, dtype=d)),
            0,
            0,
            FORCED,
            ragged,
            quick=dtype == F32,
        )
    for (m, k, n), block, dtype in (
        ((256, 256, 256), (128, 128), F32),
        ((512, 384, 256), (256, 128), BF16),
        ((512, 512, 512), (128, 256), F32),
    ):
        atol = 1e-4 if dtype == F32 else 1e-2
        yield Case(
            2,
            "matmul",
            f"{short_type(dtype)} [{m},{k}]x[{k},{n}]",
            lambda s=((m, k), (k, n)), b=block, d=dtype: _forced(
                functools.partial(matmul.matmul, block_shape=b, block_k=128), arrays(2, *s, dtype=d)
            ),
            atol,
            atol,
            FORCED,
            "refused: rows and columns past the last whole block are not computed",
            "tolerance is ours",
            quick=m == 256,
        )


def _random_cases():
    key = np.asarray([0x12345678, 0x9ABCDEF0], np.uint32)

    def bits(shape):
        function = lambda k: threefry.plthreefry_random_bits(k, 32, shape)  # noqa: E731
        reference = lambda k: jax.random.bits(jax.random.wrap_key_data(k, impl="threefry2x32"), shape)  # noqa: E731
        return _forced(function, (jnp.asarray(key),), reference)

    for shape, ragged in (((512, 512), ""), ((300, 200), "padded away: computed as [512,256]"), ((2, 256, 256), "")):
        yield Case(
            4,
            "threefry",
            f"u32 {list(shape)}",
            lambda s=shape: bits(s),
            0,
            0,
            "jax.random.bits",
            ragged,
            quick=shape == (300, 200),
        )
    for shape, fuse, ragged in (
        ((256, 256), True, ""),
        ((2, 256, 300), True, "padded away: computed as [2,256,512]"),
        ((256, 256), False, ""),
    ):
        yield Case(
            4,
            "philox",
            f"u32 {list(shape)}{'' if fuse else ' both words'}",
            lambda s=shape, f=fuse: _forced(
                lambda k: philox.philox_4x32_count(k, s, fuse_output=f), (jnp.asarray(key),)
            ),
            0,
            0,
            FORCED,
            ragged,
        )


def _flash_cases():
    def problem(q_shape, kv_len, dtype, causal, extra, gradients, blocks=None):
        kv_shape = (*q_shape[:2], kv_len, q_shape[3])
        args = arrays(6, q_shape, kv_shape, kv_shape, dtype=dtype)
        segments = ()
        if extra:
            args += arrays(8, (*q_shape[:3], kv_len), dtype=F32)
            segments = (
                ()
                if extra == "bias"
                else tuple(
                    jnp.asarray(jnp.arange(n) >= n // 3, jnp.int32)[None].repeat(q_shape[0], 0)
                    for n in (q_shape[2], kv_len)
                )
            )

        def parts(rest):
            return (rest[0] if extra else None, flash_attention.SegmentIds(*rest[1:]) if len(rest) > 1 else None)

        def call(q, k, v, *rest):
            bias, ids = parts(rest)
            return flash_attention.flash_attention(
                q, k, v, bias, ids, causal=causal, sm_scale=q_shape[3] ** -0.5, block_sizes=blocks
            )

        def oracle(q, k, v, *rest):
            bias, ids = parts(rest)
            return flash_attention.mha_reference_no_custom_vjp(
                q, k, v, bias, ids, causal=causal, sm_scale=q_shape[3] ** -0.5
            )

        if gradients:
            count = 3 + bool(extra)
            return Problem(
                with_gradients(call, count),
                args + segments,
                in_hlo_interpreter(with_gradients(call, count)),
                with_gradients(oracle, count),
            )
        return Problem(call, args + segments, in_hlo_interpreter(call), oracle)

    single = flash_attention.BlockSizes(block_q=128, block_k_major=256, block_k=256, block_b=1)
    for q_shape, kv_len, dtype, causal, extra, blocks, ragged in (
        ((1, 2, 256, 64), 256, F32, False, False, None, ""),
        ((1, 2, 256, 64), 256, BF16, True, False, None, ""),
        ((1, 2, 200, 64), 256, F32, False, False, None, "q 200 of 256"),
        ((1, 2, 256, 64), 256, F32, False, True, None, ""),
        ((1, 1, 200, 64), 512, F32, True, "bias", None, "q 200 of 256"),
        ((1, 2, 256, 64), 256, F32, False, False, single, ""),
    ):
        label = f"{short_type(dtype)} q{list(q_shape)} kv {kv_len}{' causal' if causal else ''}"
        label += {True: " bias, segments", "bias": " bias", False: " single step" if blocks else ""}[extra]
        atol = 1e-4 if dtype == F32 else 2e-2
        yield Case(
            7,
            "flash_attention",
            f"forward {label}",
            lambda a=(q_shape, kv_len, dtype, causal, extra, 0, blocks): problem(*a),
            atol,
            atol,
            "mha_reference",
            ragged,
            "tolerance is ours",
            quick=q_shape[2] == 200 and not extra,
        )
    for q_shape, dtype, causal, extra in (
        ((1, 2, 256, 128), F32, True, False),
        ((1, 2, 256, 128), BF16, False, False),
        ((1, 1, 256, 128), F32, False, True),
    ):
        label = f"{short_type(dtype)} {list(q_shape)}{' causal' if causal else ''}{' bias, segments' if extra else ''}"
        atol = 1e-3 if dtype == F32 else 5e-2
        yield Case(
            7,
            "flash_attention",
            f"backward {label}",
            lambda a=(q_shape, q_shape[2], dtype, causal, extra, 1): problem(*a),
            atol,
            atol,
            "mha_reference",
            "refused: blocks must divide the sequences",
            "tolerance is ours",
        )


def _gmm_cases():
    def gmm(m, k, n, sizes, dtype, transpose=False, existing=False):
        lhs, rhs = arrays(9, (m, k), (len(sizes), n, k) if transpose else (len(sizes), k, n), dtype=dtype)
        args = (lhs, rhs, jnp.asarray(sizes, jnp.int32)) + (arrays(10, (m, n)) if existing else ())

        def call(lhs, rhs, sizes, *out, interpret=False):
            return megablox.gmm(
                lhs, rhs, sizes, existing_out=out[0] if out else None, transpose_rhs=transpose, interpret=interpret
            )

        def oracle(lhs, rhs, sizes, *out):
            rhs = rhs.swapaxes(1, 2) if transpose else rhs
            return jax.lax.ragged_dot(lhs.astype(F32), rhs.astype(F32), sizes)

        return Problem(call, args, functools.partial(call, interpret=True), oracle)

    def part_of_the_groups():
        """Groups 1 and 2 of 4, as one of several devices computes them: the other rows are another's."""
        sizes, first = (40, 88, 72, 56), 1
        lhs, rhs = arrays(9, (256, 128), (2, 128, 128))
        rows = slice(40, 200)

        def call(lhs, rhs, sizes, interpret=False):
            return megablox.gmm(lhs, rhs, sizes, group_offset=jnp.int32(first), interpret=interpret)[rows]

        def oracle(lhs, rhs, sizes):
            return jax.lax.ragged_dot(lhs[rows], rhs, sizes[first : first + 2])

        return Problem(call, (lhs, rhs, jnp.asarray(sizes, jnp.int32)), functools.partial(call, interpret=True), oracle)

    def tgmm(m, k, n, sizes, dtype):
        lhs, rhs = arrays(11, (k, m), (m, n), dtype=dtype)

        def oracle(lhs, rhs, sizes):
            ends = np.cumsum(np.asarray((0, *given)))
            return jnp.stack([lhs[:, a:b].astype(F32) @ rhs[a:b].astype(F32) for a, b in zip(ends, ends[1:])])

        given = sizes
        call = megablox.tgmm
        return Problem(
            lambda *a: call(*a), (lhs, rhs, jnp.asarray(sizes, jnp.int32)), lambda *a: call(*a, interpret=True), oracle
        )

    for m, k, n, sizes, dtype, options, ragged in (
        (256, 256, 128, (128, 128), F32, {}, ""),
        (256, 200, 128, (100, 56, 100), F32, {}, "k 200 of 256, groups 100, 56, 100"),
        (384, 256, 256, (0, 200, 184), BF16, {}, "an empty group, groups 200, 184"),
        (256, 200, 128, (100, 56, 100), BF16, {"transpose": True}, "k 200 of 256, groups 100, 56, 100"),
        (256, 256, 128, (100, 56, 100), F32, {"existing": True}, "groups 100, 56, 100"),
    ):
        label = f"{short_type(dtype)} [{m},{k}]x[{len(sizes)},{k},{n}] {' '.join(options)}".rstrip()
        yield Case(
            8,
            "megablox gmm",
            label,
            lambda a=(m, k, n, sizes, dtype), o=options: gmm(*a, **o),
            1e-3 if dtype == F32 else 1e-2,
            1e-3 if dtype == F32 else 1e-2,
            "jax.lax.ragged_dot",
            ragged,
            quick=k == 200,
        )
    yield Case(
        8,
        "megablox gmm",
        "f32 [256,128]x[2,128,128] groups 1, 2 of 4",
        part_of_the_groups,
        1e-3,
        1e-3,
        "jax.lax.ragged_dot",
        "groups 40, 88, 72, 56",
    )
    for m, k, n, sizes, dtype, ragged in (
        (256, 128, 128, (128, 128), F32, ""),
        (256, 256, 128, (100, 56, 100), F32, "groups 100, 56, 100"),
        (256, 128, 256, (56, 200), BF16, "groups 56, 200"),
    ):
        yield Case(
            8,
            "megablox tgmm",
            f"{short_type(dtype)} [{k},{m}]x[{m},{n}]",
            lambda a=(m, k, n, sizes, dtype): tgmm(*a),
            1e-3 if dtype == F32 else 1e-2,
            1e-3 if dtype == F32 else 1e-2,
            "a product for each group",
            ragged,
        )


def _splash_cases():
    def problem(mask, heads, q_len, kv_len, dtype, gradients, fused, mqa=False, segments=False, cap=None):
        blocks = splash.BlockSizes(
            block_q=128,
            block_kv=256,
            block_kv_compute=128,
            block_q_dkv=128,
            block_kv_dkv=256,
            block_kv_dkv_compute=128,
            block_q_dq=None if fused else 128,
            block_kv_dq=None if fused else 256,
            use_fused_bwd_kernel=fused,
        )
        masks = splash_mask.MultiHeadMask([mask((q_len, kv_len)) for _ in range(heads)])
        make = splash.make_splash_mqa_single_device if mqa else splash.make_splash_mha_single_device
        kv_shape = (kv_len, 128) if mqa else (heads, kv_len, 128)
        q, k, v = arrays(12, (heads, q_len, 128), kv_shape, kv_shape, dtype=dtype)
        args = (q / np.sqrt(128).astype(dtype), k, v)
        ids = tuple(jnp.asarray(np.arange(n) >= n // 2, jnp.int32) for n in (q_len, kv_len)) if segments else ()

        def call(*given, interpret=False):
            kernel = make(masks, block_sizes=blocks, attn_logits_soft_cap=cap, interpret=interpret)
            return kernel(*given[:3], *([splash.SegmentIds(*given[3:])] if segments else []))

        peer = functools.partial(call, interpret=True)
        if gradients:
            return Problem(with_gradients(call, 3), args + ids, with_gradients(peer, 3))
        return Problem(call, args + ids, peer)

    def causal(shape):
        return splash_mask.CausalMask(shape)

    def local(shape):
        return splash_mask.LocalMask(shape, (64, 64), 0)

    def table(shape):
        return splash_mask.NumpyMask(splash_mask.make_local_attention_mask(shape, (64, 64)))

    refused = "refused: blocks must divide the sequences"
    for label, mask, dtype, options in (
        ("causal", causal, F32, {}),
        ("causal", causal, BF16, {}),
        ("mask table", table, F32, {}),
        ("local mqa soft cap", local, F32, {"mqa": True, "cap": 30.0}),
        ("causal segments", causal, F32, {"segments": True}),
    ):
        yield Case(
            9,
            "splash_attention",
            f"forward {short_type(dtype)} [2,256,512] {label}",
            lambda a=(mask, 2, 256, 512, dtype, False, True), o=options: problem(*a, **o),
            3e-3,
            3e-3,
            ragged=refused,
            quick=label == "mask table",
        )
    for label, mask, dtype, fused, size in (
        ("causal fused", causal, F32, True, (256, 512)),
        ("causal fused", causal, BF16, True, (256, 256)),
        ("mask table fused", table, F32, True, (256, 512)),
        ("causal dkv and dq", causal, F32, False, (256, 512)),
    ):
        yield Case(
            9,
            "splash_attention",
            f"backward {short_type(dtype)} {[2, *size]} {label}",
            lambda a=(mask, 2, *size, dtype, True, fused): problem(*a),
            5e-2,
            5e-2,
            ragged=refused,
        )


def _paged_cases():
    def attended(q, k_pages, v_pages, lengths, page_indices):
        """One query a sequence over the first `lengths` positions of its pages."""
        results = []
        for one, length, pages in zip(q, lengths, page_indices):
            k, v = (
                np.asarray(all_pages)[:, pages].reshape(all_pages.shape[0], -1, q.shape[-1])[:, :length]
                for all_pages in (k_pages, v_pages)
            )
            logits = np.einsum("hgd,hsd->hgs", np.asarray(one, np.float32).reshape(len(k), -1, q.shape[-1]), k)
            weights = np.exp(logits - logits.max(-1, keepdims=True))
            results.append(np.einsum("hgs,hsd->hgd", weights / weights.sum(-1, keepdims=True), v).reshape(one.shape))
        return np.stack(results)

    def paged(heads, kv_heads, page, per_sequence):
        q, k, v = arrays(
            14, (2, heads, 128), (kv_heads, 2 * per_sequence, page, 128), (kv_heads, 2 * per_sequence, page, 128)
        )
        indices = np.random.default_rng(2).permutation(2 * per_sequence).reshape(2, -1).astype(np.int32)
        lengths = np.asarray([page * per_sequence - 5, page * per_sequence - 1], np.int32)
        call = functools.partial(paged_attention_kernel.paged_attention, pages_per_compute_block=2)
        return Problem(call, (q / 8, k, v, lengths, indices), None, attended, in_numpy=True)

    def ragged(queries, lengths, window=None):
        starts = np.cumsum([0, *queries]).astype(np.int32)
        q, pages = arrays(15, (int(starts[-1]), 4, 128), (16, 16, 4, 128))
        indices = np.random.default_rng(0).permutation(16)[: 4 * len(lengths)].reshape(len(lengths), 4).astype(np.int32)
        operands = (q, pages, np.asarray(lengths, np.int32), indices, starts, np.asarray([len(lengths)], np.int32))
        options = {"sm_scale": 0.1, "sliding_window": window}
        call = functools.partial(
            ragged_kernel.ragged_paged_attention, num_kv_pages_per_block=2, num_queries_per_block=8, **options
        )
        return Problem(
            call, operands, None, functools.partial(ragged_kernel.ref_ragged_paged_attention, **options), in_numpy=True
        )

    for sizes in ((8, 1, 8, 4), (8, 2, 16, 2)):
        yield Case(
            14,
            "paged_attention on TPUs",
            f"f32 {sizes[1]} kv heads, page {sizes[2]}",
            lambda s=sizes: paged(*s),
            1e-2,
            oracle_name="NumPy",
            ragged="lengths within a page",
            note="the kernel multiplies in bf16",
        )
    for label, given in (("", ((12, 20), (40, 20))), (" window", ((1, 17, 6), (33, 30, 6), 10))):
        yield Case(
            14,
            "ragged_paged_attention",
            f"f32 {len(given[1])} sequences{label}",
            lambda g=given: ragged(*g),
            1e-5,
            oracle_name="ref_ragged_paged_attention",
            ragged="sequences of any length",
        )


def cases():
    yield from _first_cases()
    yield from _random_cases()
    yield from _flash_cases()
    yield from _gmm_cases()
    yield from _splash_cases()
    yield from _paged_cases()
