"""Kernels of tpu-inference that its wheel has no tests of, most of them in `tpu_inference.kernels.experimental`, and their oracles: written
here in NumPy from what the package's comments say a kernel computes. Rows of run_tpu_inference.py.

Sizes are the smallest that have every part: decode and prefill sequences, a last page that is not full, more than one block of keys.
"""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

bf16, f32 = jnp.bfloat16, jnp.float32
HEAD, NOPE, BLOCK, WIDTH = 512, 448, 64, 640  # DeepSeek-V4: of a key 448 elements in fp8 with scales of 64, 64 in bf16
INDEXER = 128


def rng():
    return np.random.default_rng(1234)


def batched_rpa(seqs, decodes=0, buffers=3, **kwargs):
    """The test of the other kernel with the same operands, and its oracle; the batched one is called in its place."""
    def call():
        from tests.kernels import ragged_paged_attention_kernel_v3_test as test
        from tpu_inference.kernels.experimental.batched_rpa import configs, wrapper
        sizes = configs.BlockSizes(bq_sz=16, bq_c_sz=16, bkv_sz=32, batch_size=2, n_buffer=buffers)

        def batched(*args, m_block_sizes, **options):
            *operands, distribution = args
            return wrapper.ragged_paged_attention(*operands, distribution.at[:2].set(decodes), decode_block_sizes=sizes,
                                                  prefill_block_sizes=sizes, **options)

        one = test.RaggedPagedAttentionKernelTest()
        one.setUp()
        with mock.patch.object(test, "ragged_paged_attention", batched):
            one._test_ragged_paged_attention(seqs, (4, 2), 128, 16, bf16, bf16, 32, max_num_batched_tokens=128, **kwargs)

    return call


def _decoded(packed):
    """Keys as numbers, of packed ones [..., WIDTH] of bytes."""
    packed = np.asarray(packed)
    nope = np.asarray(jax.lax.bitcast_convert_type(packed[..., :NOPE], jnp.float8_e4m3fn), np.float64)
    rope = np.asarray(jax.lax.bitcast_convert_type(packed[..., NOPE:576].reshape(*packed.shape[:-1], HEAD - NOPE, 2), bf16), np.float64)
    scales = np.exp2(packed[..., 576:576 + NOPE // BLOCK].astype(np.float64) - 127)
    return np.concatenate([nope * np.repeat(scales, BLOCK, -1), rope], -1)


class _Batch:
    """Sequences (queries, keys) with pages of 32 keys, out of order."""

    PAGE, PAGES, SEQUENCES = 32, 8, 4

    def __init__(self, seqs, decodes):
        self.seqs = seqs
        self.starts = np.cumsum([0] + [queries for queries, _ in seqs])
        self.tokens = int(self.starts[-1])
        pages = np.random.default_rng(7).permutation(self.SEQUENCES * self.PAGES).reshape(self.SEQUENCES, self.PAGES)
        self.pages = jnp.asarray(pages.reshape(-1), jnp.int32)
        self.of_page = pages
        self.kv_lens = self._padded([keys for _, keys in seqs], self.SEQUENCES)
        self.cu_q_lens = self._padded(self.starts, self.SEQUENCES + 1)
        self.distribution = jnp.array([decodes, decodes, len(seqs)], jnp.int32)

    @staticmethod
    def _padded(values, size):
        return jnp.asarray(np.pad(np.asarray(values), (0, size - len(values))), jnp.int32)

    def cache(self, of_sequences):
        """Pages [pages, PAGE / 4, 4, width] of bytes that hold each sequence's rows."""
        width = of_sequences[0].shape[-1]
        cache = np.zeros((self.SEQUENCES * self.PAGES, self.PAGE, width), np.uint8)
        for s, rows in enumerate(of_sequences):
            for j, row in enumerate(np.asarray(rows)):
                cache[self.of_page[s, j // self.PAGE], j % self.PAGE] = row
        return jnp.asarray(cache.reshape(-1, self.PAGE // 4, 4, width))

    def rows(self, cache, s, count):
        flat = np.asarray(cache).reshape(-1, self.PAGE, cache.shape[-1])
        return np.stack([flat[self.of_page[s, j // self.PAGE], j % self.PAGE] for j in range(count)])


def _quantized(keys):
    from tpu_inference.kernels.experimental.deepseek_v4 import mla_swa
    return np.asarray(mla_swa.quantize_kv_inputs(jnp.asarray(keys, bf16)))


def _close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, np.float64), wanted, atol=3e-2, rtol=3e-2)


SCALE, HEADS = HEAD**-0.5, 8
SEQS, DECODES = [(1, 40), (1, 7), (12, 70)], 2


def deepseek_mla(sparse):
    """Attention to compressed keys, joined with that to a window, which is given. Dense: each query has a length; sparse: its best keys."""
    def call():
        from tpu_inference.kernels.experimental.deepseek_v4 import mla
        batch, made = _Batch(SEQS, DECODES), rng()
        keys = [_quantized(made.standard_normal((count, HEAD))) for _, count in SEQS]
        q = jnp.asarray(made.standard_normal((batch.tokens, HEADS, HEAD)), f32)
        accumulated = jnp.asarray(made.standard_normal(q.shape), f32)
        sums, most = (jnp.asarray(made.uniform(1, 2, (batch.tokens, HEADS)), f32) for _ in range(2))
        sinks = jnp.asarray(made.standard_normal(HEADS), f32)
        of_token = [s for s, (queries, _) in enumerate(SEQS) for _ in range(queries)]
        lengths = np.array([made.integers(1, SEQS[s][1] + 1) for s in of_token])
        best = np.full((batch.tokens, 128), -1)
        for t, s in enumerate(of_token):
            chosen = made.permutation(SEQS[s][1])[:int(lengths[t])]
            best[t, :len(chosen)] = chosen
        found = mla.mla_ragged_paged_attention(
            q, batch.cache(keys), batch.kv_lens, None if sparse else jnp.asarray(np.pad(lengths, (0, 8)), jnp.int32),
            jnp.asarray(best, jnp.int32) if sparse else None, batch.pages, batch.cu_q_lens, batch.distribution, sinks, accumulated, sums, most,
            sm_scale=SCALE, num_kv_pages_per_block=1, num_queries_per_block=4)
        for t, s in enumerate(of_token):
            kv = _decoded(keys[s])
            kv = kv[best[t][best[t] >= 0]] if sparse else kv[:lengths[t]]
            scores = np.asarray(q[t], np.float64) @ kv.T * SCALE
            top = np.maximum(scores.max(1), np.asarray(most[t]))
            p, before = np.exp(scores - top[:, None]), np.exp(np.asarray(most[t]) - top)
            total = p.sum(1) + np.asarray(sums[t]) * before + np.exp(np.asarray(sinks) - top)
            _close(found[t], (p @ kv + np.asarray(accumulated[t]) * before[:, None]) / total[:, None])

    return call


def deepseek_window(window=16):
    """Attention to the last keys, new ones among them, which are packed and written to the cache."""
    def call():
        from tpu_inference.kernels.experimental.deepseek_v4 import mla_swa
        batch, made = _Batch(SEQS, DECODES), rng()
        keys = [np.asarray(jnp.asarray(made.standard_normal((count, HEAD)), bf16)) for _, count in SEQS]
        q = jnp.asarray(made.standard_normal((batch.tokens, HEADS, HEAD)), f32)
        sinks = jnp.asarray(made.standard_normal(HEADS), f32)
        new = jnp.asarray(np.concatenate([rows[count - queries:] for rows, (queries, count) in zip(keys, SEQS)]), bf16)
        old = batch.cache([_quantized(rows[:count - queries]) for rows, (queries, count) in zip(keys, SEQS)])
        found, cache, *_ = mla_swa.mla_sliding_window_ragged_paged_attention(
            q, new, old, batch.kv_lens, batch.pages, batch.cu_q_lens, batch.distribution, sinks, sm_scale=SCALE, sliding_window=window,
            logical_page_size=batch.PAGE, num_kv_pages_per_block=1, num_queries_per_block=4)
        for s, (queries, count) in enumerate(SEQS):
            packed = _quantized(keys[s])
            np.testing.assert_array_equal(batch.rows(cache, s, count), packed)
            kv = _decoded(packed)
            for i in range(queries):
                last = count - queries + i
                near = kv[max(0, last - window + 1):last + 1]
                scores = np.asarray(q[batch.starts[s] + i], np.float64) @ near.T * SCALE
                p = np.exp(scores - scores.max(1, keepdims=True))
                total = p.sum(1) + np.exp(np.asarray(sinks) - scores.max(1))
                _close(found[batch.starts[s] + i], p @ near / total[:, None])

    return call


def deepseek_topk(k=128, ratio=4):
    """Which compressed keys are a query's best: the sum over heads of weights times what is positive of the products."""
    def call():
        from tpu_inference.kernels.experimental.deepseek_v4 import compress_norm_rope, streamindex_topk
        seqs = [(1, 300), (1, 30), (6, 600)]  # keys before they are compressed
        batch, made = _Batch(seqs, DECODES), rng()
        values, packed = [], []
        for _, count in seqs:
            fp8, scale = compress_norm_rope.quantize_fp8_ue8m0(jnp.asarray(made.standard_normal((count // ratio, INDEXER)), f32), INDEXER)
            values.append(np.asarray(fp8, np.float64) * np.asarray(scale.astype(f32), np.float64))
            rows = np.concatenate([np.asarray(jax.lax.bitcast_convert_type(part, jnp.uint8)) for part in (fp8, scale)], -1)
            packed.append(np.pad(rows, ((0, 0), (0, 2 * INDEXER - rows.shape[-1]))))
        q = jnp.asarray(made.standard_normal((batch.tokens, HEADS, INDEXER)), f32)
        weights = jnp.asarray(made.uniform(0.1, 1, (batch.tokens, HEADS)), f32)
        found = np.asarray(streamindex_topk.streamindex_topk(
            q, weights, batch.cache(packed), batch.kv_lens, batch.pages, batch.cu_q_lens, batch.distribution, k=k, compression_ratio=ratio,
            num_kv_pages_per_block=4, num_queries_per_block=2))
        for s, (queries, count) in enumerate(seqs):
            for i in range(queries):
                t, there = batch.starts[s] + i, min(count // ratio, (count - queries + i) // ratio + 1)
                products = np.maximum(np.asarray(q[t], np.float64) @ values[s][:there].T, 0)
                scores = (products * np.asarray(weights[t], np.float64)[:, None]).sum(0)
                chosen = found[t][found[t] >= 0]
                assert len(set(chosen)) == len(chosen) == min(there, k) and np.all(found[t][len(chosen):] == -1)
                np.testing.assert_allclose(scores[chosen], -np.sort(-scores)[:len(chosen)], rtol=1e-3, atol=1e-3)

    return call


def hierarchical_reduce_scatter():
    def call():
        from tpu_inference.kernels.collectives.hierrs_sc import wrapper
        mesh, spec = jax.sharding.Mesh(np.array(jax.devices()), ("x",)), jax.sharding.PartitionSpec
        x = jnp.asarray(rng().standard_normal((mesh.size * 128, 1024)), bf16)
        local = lambda part: wrapper.hierarchical_reduce_scatter_local(part, mesh.size)
        jax.block_until_ready(jax.jit(jax.shard_map(local, mesh=mesh, in_specs=spec(), out_specs=spec("x"), check_vma=False))(x))

    return call


def gmm(rows=64, sizes=(10, 0, 40, 14)):
    """The first of the two grouped products."""
    def call():
        from tpu_inference.kernels.megablox import gmm as kernel
        made = rng()
        lhs, rhs = (jnp.asarray(made.standard_normal(shape), f32) for shape in ((rows, 128), (len(sizes), 128, 256)))
        found = kernel.gmm(lhs, rhs, jnp.array(sizes, jnp.int32), preferred_element_type=f32, tiling=(32, 128, 128))
        ends = np.cumsum(sizes)
        wanted = [np.asarray(lhs[end - size:end], np.float64) @ np.asarray(rhs[g], np.float64) for g, (size, end) in enumerate(zip(sizes, ends))]
        np.testing.assert_allclose(np.asarray(found), np.concatenate(wanted), rtol=1e-4, atol=1e-4)

    return call


def triangle(which, **sizes):
    """The inverse of lower triangles with ones on the diagonal."""
    def call():
        from tpu_inference.kernels.gdn import triangle_solver
        a = np.tril(rng().standard_normal((2, 64, 64)) * 0.1, -1) + np.eye(64)
        found = getattr(triangle_solver, which)(jnp.asarray(a, f32), **sizes)
        np.testing.assert_allclose(np.asarray(found), np.linalg.inv(a), rtol=1e-3, atol=1e-3)

    return call
