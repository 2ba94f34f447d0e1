"""The TPU kernels of the package tpu-inference under `palladion.emulate`, unchanged, by the package's own tests: `./dev test-packages`.

A row is a test of the wheel (which brings its oracle along) at sizes that suit two cores, and a chip.
"""

import argparse
import dataclasses
import importlib
import re
import sys
import time
import warnings
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import palladion
import tpu_inference_bare

bf16, f32, f8 = jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    name: str
    call: Callable
    chip: str = "v6e"


def _test(module: str, cls: str, method: str, *args, **kwargs):
    def call():
        of = getattr(importlib.import_module(f"tests.kernels.{module}"), cls)
        made = of()
        # Of a method with sizes absl made one for each of them.
        function = getattr(of, method, None) or next(value for name, value in vars(of).items() if name.startswith(method)).__wrapped__
        made.setUp()
        try:
            function(made, *args, **kwargs)
        finally:
            made.tearDown()
            made.doCleanups()

    return call


def _rpa3(seqs, heads=(4, 2), q=bf16, kv=bf16, **kwargs):
    return _test("ragged_paged_attention_kernel_v3_test", "RaggedPagedAttentionKernelTest", "_test_ragged_paged_attention",
                 seqs, heads, 128, 16, q, kv, 32, bq_sz=32, bkv_sz=64, bq_csz=16, bkv_csz=32, max_num_batched_tokens=128, **kwargs)


def _rpa2(seqs, heads=(4, 2), dtype=bf16, **kwargs):
    return _test("ragged_paged_attention_kernel_v2_test", "PagedAttentionKernelTest", "_test_ragged_paged_attention",
                 seqs, heads, 128, 16, dtype, 32, num_kv_pages_per_block=2, num_queries_per_block=16, max_num_batched_tokens=128, **kwargs)


def _rpa64(seqs, heads=(4, 2), q=bf16, kv=bf16, **kwargs):
    return _test("ragged_paged_attention_kernel_v3_hd64_test", "RaggedPagedAttentionHeadDim64KernelTest", "_test_ragged_paged_attention_hd64",
                 seqs, heads, 64, 16, q, kv, 32, num_kv_pages_per_block=2, num_queries_per_block=16, max_num_batched_tokens=128, **kwargs)


def _quantized(dtype, q_dtype, bs, n_in, n_out, **kwargs):
    return _test("quantized_matmul_kernel_test", "QuantizedMatmulKernelTest", "_test_quantized_matmul", dtype, q_dtype, bs, n_in, n_out,
                 quantize_activation=True, **kwargs)


def _moe(**kwargs):
    return _test("fused_moe_v1_test", "MoEKernelTest", "_test_moe", dtype=bf16, top_k=2, num_experts=4, hidden_size=256, intermediate_size=256,
                 num_tokens=32, seed=1234, renormalize_topk_logits=True, bt=32, bf=256, bd1=256, bd2=256, btc=32, bfc=256, bd1c=256, bd2c=256,
                 **kwargs)


def _gmm(method="test_gmm", **kwargs):
    return _test("gmm_test", "GmmTest", method, **{"batch_size": 128, "in_size": 256, "out_size": 256, "num_groups": 4, "has_bias": False, "group_offset": 0} | kwargs)


def _mla2(seqs, **kwargs):
    return _test("mla_v2_test", "MlaRaggedPagedAttentionKernelV2Test", "_test_mla_ragged_paged_attention",
                 seqs, kwargs.pop("heads", 16), 128, 64, 16, bf16, f8, 32, num_kv_pages_per_block=2, num_queries_per_block=8, **kwargs)


def _mla1(seqs):
    def call():
        from tests.kernels import mla_v2_test
        from tpu_inference.kernels.mla.v1 import kernel
        made = mla_v2_test.generate_mla_inputs(seqs, 16, 128, 64, 16, bf16, bf16, 32, np.random.default_rng(1234))
        wanted, wanted_kv = kernel.ref_mla_ragged_paged_attention(*[array.copy() for array in made])  # each gives its cache away
        found, found_kv = kernel.mla_ragged_paged_attention(*made, num_kv_pages_per_block=2, num_queries_per_block=8)
        np.testing.assert_allclose(np.asarray(found, np.float32), np.asarray(wanted, np.float32), atol=0.1, rtol=0.2)
        np.testing.assert_array_equal(np.asarray(found_kv), np.asarray(wanted_kv))

    return call


def _flash(causal, length=256, block=128, **kwargs):
    def call():
        from tpu_inference.kernels.flash_attention import kernel
        keys = jax.random.split(jax.random.key(0), 3)
        q, k, v = (jax.random.normal(key, (1, 2, length, 128), f32) for key in keys)
        ids = kernel.SegmentIds(*[jnp.asarray(np.repeat([[0, 1]], length // 2, 1), jnp.int32)] * 2)
        sizes = kernel.BlockSizes(block_q=128, block_k_major=block, block_k=block, block_b=1)
        found = kernel.flash_attention(q, k, v, None, ids, causal=causal, block_sizes=sizes)
        wanted = kernel.mha_reference_no_custom_vjp(q, k, v, None, ids, causal=causal)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), atol=2e-2, rtol=2e-2)

    return call


def _gdn(*args, **kwargs):
    return _test("fused_gdn_kernel_test", "FusedGdnKernelTest", "_test_fused_gdn", *args, 2, 2, 128, 128, **kwargs)


def _spmm(**kwargs):
    base = {"sparsity": (1, 4), "shape_spec": (128, 128, 128), "rhs_sparse": True, "contract_sparse": True, "rhs_transpose": False,
            "default_val": -1.9, "lhs_dtype": f32, "rhs_dtype": f32}
    return _test("spmm_v1_test", "StructuredSpmmTest", "test_structured_spmm", **base | kwargs)


def _conv(lengths, q_loc, distribution, dim=128, bias=True, dtype=bf16):
    return _test("causal_conv1d_test", "CausalConv1dTest", "_run_verification", lengths, q_loc, distribution, dim, 4, bias, dtype)


def _kv_update(page_size=32, heads=2, dim=128, slices=None):
    return _test("ragged_kv_cache_update_v2_test", "KVCacheUpdateTest", "test_basic", page_size=page_size, combined_kv_head_num=heads,
                 head_dim=dim, num_slices_per_block=slices, dynamic_validate_inputs=False)


def _kv_transfer():
    def call():
        from tpu_inference.distributed import kv_transfer
        src = [jnp.arange(8 * 8 * 128, dtype=f32).reshape(8, 8, 128)]
        dest = [jnp.zeros((8, 8, 128), f32)]
        mesh, spec = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",)), jax.sharding.PartitionSpec()
        found = kv_transfer.multi_layer_copy(
            src_array=src, dest_array=dest, src_offsets=jnp.array([0, 4], jnp.int32), dest_offsets=jnp.array([2, 6], jnp.int32),
            chunk_sizes=jnp.array([2, 1], jnp.int32), mesh=mesh, src_sharding_spec=spec, dest_sharding_spec=spec, replicated_sharding_spec=spec)
        wanted = np.zeros((8, 8, 128), np.float32)
        wanted[2:4], wanted[6:7] = src[0][0:2], src[0][4:5]
        np.testing.assert_array_equal(np.asarray(found[0]), wanted)

    return call


MIXED, DECODE, PREFILL = [(5, 18), (1, 40), (26, 26)], [(1, 18), (1, 33), (1, 48), (1, 5)], [(20, 20), (17, 40)]
ROWS = [
    Row("ragged_paged_attention v3, mixed", _rpa3(MIXED)),
    Row("ragged_paged_attention v3, decode", _rpa3(DECODE)),
    Row("ragged_paged_attention v3, f32", _rpa3(PREFILL, q=f32, kv=f32)),
    Row("ragged_paged_attention v3, window and soft cap", _rpa3(MIXED, sliding_window=10, soft_cap=5.0)),
    Row("ragged_paged_attention v3, fp8 cache", _rpa3(MIXED, kv=f8, k_scale=0.5, v_scale=0.5)),
    Row("ragged_paged_attention v3, head 64", _rpa64(MIXED)),
    Row("ragged_paged_attention v3, head 64, sink", _rpa64(DECODE, use_attention_sink=True)),
    Row("ragged_paged_attention v2, mixed", _rpa2(MIXED)),
    Row("ragged_paged_attention v2, f32, window", _rpa2(PREFILL, dtype=f32, sliding_window=10)),
    Row("kv_cache_update v2", _kv_update()),
    Row("kv_cache_update v2, odd page, blocks", _kv_update(33, 2, 128, 8)),
    Row("mla v1, mixed", _mla1(MIXED)),
    Row("mla v1, decode", _mla1(DECODE)),
    Row("mla v2, mixed", _mla2(MIXED)),
    Row("mla v2, decode", _mla2(DECODE)),
    Row("flash_attention", _flash(False)),
    Row("flash_attention, causal", _flash(True)),
    Row("flash_attention, one step", _flash(True, 128)),
    Row("fused_moe v1", _moe(), "v7x"),
    Row("fused_moe v1, bias", _moe(has_bias=True), "v7x"),
    Row("quantized_matmul, int8", _quantized(bf16, jnp.int8, 128, 128, 256)),
    Row("quantized_matmul, fp8, odd sizes", _quantized(bf16, f8, 64, 192, 192)),
    Row("quantized_matmul, blockwise fp8", lambda: _test("quantized_matmul_kernel_test", "QuantizedMatmulKernelTest",
        "test_quantized_matmul_blockwise_w8a8", bf16, 512, 512, 512)()),
    Row("megablox gmm v2", _gmm()),
    Row("megablox gmm v2, bias, offset", _gmm(has_bias=True, group_offset=2)),
    Row("megablox gmm v2, int8", _gmm("test_gmm_weight_quantized", weight_dtype=jnp.int8, block_size=128)),
    Row("gdn v1, mixed", _gdn(3, [9, 15])),
    Row("gdn v1, decode", _gdn(4, [])),
    Row("gdn v2, decode", _test("gdn_decode_kernel_test", "FusedGdnKernelTest", "_test_fused_gdn", 4, 2, 2, 128, 128)),
    Row("structured_sparse_matmul", _spmm()),
    Row("structured_sparse_matmul, lhs, bf16", _spmm(rhs_sparse=False, lhs_dtype=bf16, rhs_dtype=bf16)),
    Row("causal_conv1d", _conv([256], [0, 128], [0, 0, 1])),
    Row("causal_conv1d, ragged", _conv([100, 10, 50], [0, 64, 64, 96], [0, 0, 3])),
    Row("causal_conv1d, decode", _conv([10] * 16, list(range(17)), [16, 16, 16])),
    Row("kv_transfer", _kv_transfer()),
]


@dataclasses.dataclass(frozen=True)
class Result:
    word: str
    seconds: float
    report: str


def run(row: Row, seeds: int | None) -> Result:
    began = time.monotonic()
    session, said = palladion.emulate(row.chip, seeds=seeds, on_defect="collect"), ""
    try:
        with session:
            row.call()
    except Exception as error:  # whatever it is, the row says it
        said = f"{type(error).__name__}: {str(error).strip()}"
    report = session.report
    found = sorted({f.code for call in report.calls for f in call.findings if f.severity != "note"})
    word = said or ("no kernel ran" if not report.calls else ", ".join(found) or report.verdict)
    return Result(word, time.monotonic() - began, f"{report}\n{said}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]
    warnings.simplefilter("ignore")
    tpu_inference_bare.install()
    for row in ROWS:
        if re.search(options.filter, row.name):
            result = run(row, options.seeds or None)
            print(f"{row.name} / {row.chip}: {result.seconds:.1f} s: {result.word[:1500]}", flush=True)
            if options.verbose:
                print(result.report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
