"""The TPU kernels of the package tpu-inference under `palladion.emulate`, unchanged, by the package's own tests: `./dev test-packages`.

A row is a test of the wheel, which brings its oracle along, at sizes that suit two cores, and a chip. A row that runs has to agree with its
oracle and to have no finding but those that it names, each with its argument; one that cannot run has to say so by name.
Kernels of several devices have four host devices.
"""

import argparse
import dataclasses
import importlib
import importlib.metadata
import os
import re
import sys
import textwrap
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np

import palladion
import tpu_inference_bare
import tpu_inference_experimental as experimental

bf16, f32, f8 = jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn


PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs/explanation/production-kernels.md")
# Why a row does not run: a pattern of what is said, and what that is.
REFUSED = {
    "SparseCore": (r"SparseCore, which is not modelled", "its instructions and meshes; refused by name and line"),
    "more devices": (r"negative shift count", "the package refuses four devices itself; its kernels are of SparseCores"),
}
# A row that runs and whose numbers are not the oracle's, as they would not be on a TPU.
DIFFERS = {"lost outputs": "true, a mistake of the package: see below."}
# What is found in a row that runs, and the argument.
SLOTS, STORE, UNUSED = "slot mapping", "store in flight", "unused entries"
SCAN, BEFORE = "two outputs", "before the first expert"
SCHEDULE, CASES, WORD, TWO_BUFFERS = "schedule's end", "rows of the other case", "one word more", "two buffers"
FOUND = {
    SLOTS: ({"OOB"}, "true: with fewer slices than a block holds, the kernel loads `slices_ref` behind its end, and does not use what it finds. The caller has to pad."),
    STORE: ({"NONDET", "RACE_ASYNC", "RACE_RW"}, "true, a mistake of the package: see below."),
    UNUSED: ({"OUT_MISSING"}, "true and harmless: of its tables of blocks the first kernel writes the entries that the second one reads, no others."),
    f"{STORE}, {UNUSED}": ({"NONDET", "RACE_ASYNC", "RACE_RW", "OUT_MISSING"}, "both."),
    BEFORE: ({"OOB"}, "true: for its first two experts `wait_a2a_gather_send` loads the counts of the experts -2 and -1, in front of the tables, and drops them."),
    SCAN: ({"NONDET", "OUT_MISSING", "RACE_ASYNC", "RACE_WW", "UNINIT"}, "true, two mistakes of the package: see below. OUT_MISSING and UNINIT are of "
           "rows behind the tokens, which is never read."),
    SCHEDULE: ({"OUT_MISSING"}, "true and harmless: of its tables the first kernel fills as many entries as there are steps, and copies them out in "
               "chunks of 1,024; the second one goes no further."),
    TWO_BUFFERS: ({"OUT_MISSING", "RACE_RW"}, "true: see below; and the schedule's end."),
    CASES: ({"OUT_MISSING"}, "true and harmless: one kernel has the decode sequences and another one the rest, and the caller takes from each the rows that it wrote."),
    WORD: ({"OOB", "OUT_MISSING"}, "true and harmless: `_pack_new_kv` loads the word after the last one, behind its buffer, and drops it; of the sums also the lanes "
           "without a head are copied out, which the caller cuts off."),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    name: str
    call: Callable
    chip: str = "v6e"
    reason: str = ""  # of REFUSED, DIFFERS or FOUND
    seeds: int = 0  # not more schedules than these, of what takes long; 0: as many as are asked for


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


def _all_gather_matmul(m=32, k=256, n=256, block=128):
    """The package's test wants 8 devices and a gigabyte; this is its comparison at sizes for two cores."""
    def call():
        from tpu_inference.kernels.collectives import all_gather_matmul as kernel
        mesh, spec = jax.sharding.Mesh(np.array(jax.devices()), ("x",)), jax.sharding.PartitionSpec
        normal = lambda seed, *shape: jnp.asarray(np.random.default_rng(seed).standard_normal(shape), bf16)
        x, y = normal(1, m * mesh.size, k), normal(2, k, n * mesh.size)
        found = kernel.all_gather_matmul(jax.device_put(x, jax.sharding.NamedSharding(mesh, spec("x", None))),
                                         jax.device_put(y, jax.sharding.NamedSharding(mesh, spec(None, "x"))), mesh, "x", bn=block, bk=block)
        np.testing.assert_allclose(np.asarray(found, np.float32), np.asarray(x, np.float32) @ np.asarray(y, np.float32), rtol=1e-2, atol=1e-2)

    return call


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


def _scan(decodes, prefills):
    return _test("recurrent_scan_test", "RecurrentScanKernelTest", "_test_recurrent_scan", decodes, prefills, 64)


def _gdn3(lengths, q_loc, distribution):
    return _test("gdn_attention_v3_test", "GDNAttentionTest", "test_run_jax_gdn_attention_local", max_reqs=len(lengths), lengths=lengths, q_loc=q_loc,
                 distribution=distribution)


def _spmm(**kwargs):
    base = {"sparsity": (1, 4), "shape_spec": (128, 128, 128), "rhs_sparse": True, "contract_sparse": True, "rhs_transpose": False,
            "default_val": -1.9, "lhs_dtype": f32, "rhs_dtype": f32}
    return _test("spmm_v1_test", "StructuredSpmmTest", "test_structured_spmm", **base | kwargs)


def _conv(lengths, q_loc, distribution, dim=128, bias=True, dtype=bf16):
    return _test("causal_conv1d_test", "CausalConv1dTest", "_run_verification", lengths, q_loc, distribution, dim, 4, bias, dtype)


def _cp(method, **kwargs):
    return _test("rpa_v3_cp.ragged_paged_attention_kernel_cp_test", "RaggedPagedAttentionPcpTest", f"test_pcp_{method}", **kwargs)


def _kv_update(page_size=32, heads=2, dim=128, slices=None):
    return _test("ragged_kv_cache_update_v2_test", "KVCacheUpdateTest", "test_basic", page_size=page_size, combined_kv_head_num=heads,
                 head_dim=dim, num_slices_per_block=slices, dynamic_validate_inputs=False)


def _kv_transfer(layers):
    def call():
        from tpu_inference.distributed import kv_transfer
        src = [jnp.arange(8 * 8 * 128, dtype=f32).reshape(8, 8, 128) + layer for layer in range(layers)]
        dest = [jnp.zeros((8, 8, 128), f32) for _ in range(layers)]
        mesh, spec = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",)), jax.sharding.PartitionSpec()
        found = kv_transfer.multi_layer_copy(
            src_array=src, dest_array=dest, src_offsets=jnp.array([0, 4], jnp.int32), dest_offsets=jnp.array([2, 6], jnp.int32),
            chunk_sizes=jnp.array([2, 1], jnp.int32), mesh=mesh, src_sharding_spec=spec, dest_sharding_spec=spec, replicated_sharding_spec=spec)
        assert len(found) == layers
        for layer in range(layers):
            wanted = np.zeros((8, 8, 128), np.float32)
            wanted[2:4], wanted[6:7] = src[layer][0:2], src[layer][4:5]
            np.testing.assert_array_equal(np.asarray(found[layer]), wanted)

    return call


def _transpose(shape, axes, n_tile, m_tile):
    def call():
        from tpu_inference.kernels.mla.v2 import transpose
        x = jax.random.normal(jax.random.key(42), shape, f32).astype(f8)
        found = transpose.xpose_pipeline(x, transpose_axes=axes, n_tile=n_tile, m_tile=m_tile, parallel_axis=0, pipeline_axis=1)
        found = found[0] if isinstance(found, (tuple, list)) else found
        np.testing.assert_array_equal(np.asarray(found, np.float32), np.asarray(jnp.transpose(x, axes), np.float32))

    return call


def _to_host():
    def call():
        from tpu_inference.distributed import kv_transfer
        mesh, spec = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",)), jax.sharding.PartitionSpec()
        sharding = jax.sharding.NamedSharding(mesh, spec, memory_kind="pinned_host")
        x = jnp.arange(8 * 128, dtype=f32).reshape(8, 128)
        found = kv_transfer.copy_to_host(x, jax.device_put(jnp.zeros_like(x), sharding), mesh, spec)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(x))

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
    Row("kv_cache_update v2", _kv_update(), reason=SLOTS),
    Row("kv_cache_update v2, odd page, blocks", _kv_update(33, 2, 128, 8), reason=SLOTS),
    Row("mla v1, mixed", _mla1(MIXED)),
    Row("mla v1, decode", _mla1(DECODE)),
    Row("mla v2, mixed", _mla2(MIXED)),
    Row("mla v2, decode", _mla2(DECODE)),
    Row("flash_attention", _flash(False)),
    Row("flash_attention, causal", _flash(True)),
    Row("flash_attention, one step", _flash(True, 128)),
    Row("fused_moe v1, 4 devices", _moe(), "v7x", reason=BEFORE),
    Row("fused_moe v1, 4 devices, bias", _moe(has_bias=True), "v7x", reason=BEFORE),
    Row("all_gather_matmul, 4 devices", _all_gather_matmul()),
    Row("quantized_matmul, int8", _quantized(bf16, jnp.int8, 128, 128, 256)),
    Row("quantized_matmul, fp8, odd sizes", _quantized(bf16, f8, 64, 192, 192)),
    Row("quantized_matmul, blockwise fp8", _test("quantized_matmul_kernel_test", "QuantizedMatmulKernelTest",
        "test_quantized_matmul_blockwise_w8a8", bf16, 512, 512, 512)),
    Row("megablox gmm v2", _gmm()),
    Row("megablox gmm v2, bias, offset", _gmm(has_bias=True, group_offset=2)),
    Row("megablox gmm v2, int8", _gmm("test_gmm_weight_quantized", weight_dtype=jnp.int8, block_size=128)),
    Row("gdn v1, mixed", _gdn(3, [9, 15]), reason=UNUSED),
    Row("gdn v1, decode", _gdn(4, []), reason=f"{STORE}, {UNUSED}"),
    Row("gdn v2, decode", _test("gdn_decode_kernel_test", "FusedGdnKernelTest", "_test_fused_gdn", 4, 2, 2, 128, 128), reason=STORE),
    Row("gdn v2, recurrent scan", _scan(10, [9, 15]), reason=SCAN, seeds=2),
    Row("gdn v2, recurrent scan, a short sequence behind decodes", _scan(10, [3, 15]), reason="lost outputs", seeds=2),
    Row("gdn v3, mixed", _gdn3([1] * 8 + [24, 32], [*range(9), 32, 64], [8, 10, 10]), seeds=8),
    Row("gdn v3, prefill", _gdn3([32, 16, 16], [0, 32, 48, 64], [0, 3, 3]), seeds=8),
    Row("structured_sparse_matmul", _spmm()),
    Row("structured_sparse_matmul, lhs, bf16", _spmm(rhs_sparse=False, lhs_dtype=bf16, rhs_dtype=bf16)),
    Row("causal_conv1d", _conv([256], [0, 128], [0, 0, 1])),
    Row("causal_conv1d, ragged", _conv([100, 10, 50], [0, 64, 64, 96], [0, 0, 3])),
    Row("causal_conv1d, decode", _conv([10] * 16, list(range(17)), [16, 16, 16])),
    Row("kv_transfer", _kv_transfer(1)),
    Row("kv_transfer, three layers", _kv_transfer(3)),
    Row("kv_transfer, to the host", _to_host()),
    Row("mla v2 transpose", _transpose((256, 256), (1, 0), 128, 128)),
    Row("mla v2 transpose, three dimensions", _transpose((96, 64, 64), (1, 0, 2), 32, 32)),
    Row("ragged_gather v2", _test("ragged_gather_v2_test", "GatherTest", "test_sc_gather", in_out_size=(512, 400), start_end=(3, 338), hidden_size=128, dtype=f32), reason="SparseCore"),
    Row("batched_rpa, mixed", experimental.batched_rpa(MIXED), reason=SCHEDULE, seeds=2),
    Row("batched_rpa, decode", experimental.batched_rpa(DECODE, decodes=4), reason=SCHEDULE, seeds=2),
    Row("rpa_v3_cp, head and tail", _cp("current_head_tail", dtype=f32, P=1)),
    Row("rpa_v3_cp, two phases", _cp("two_phase_chunked_prefill", dtype=f32)),
    Row("rpa_v3_cp, strided write", _cp("strided_cache_write", P=2)),
    Row("deepseek_v4 mla, dense", experimental.deepseek_mla(False)),
    Row("deepseek_v4 mla, sparse", experimental.deepseek_mla(True)),
    Row("deepseek_v4 mla, window", experimental.deepseek_window(), reason=WORD),
    Row("deepseek_v4 top k", experimental.deepseek_topk(), reason=CASES),
    Row("megablox gmm", experimental.gmm()),
    Row("triangle_solver, Newton", experimental.triangle("newton_schulz_inverse_pallas", block_size=2)),
    Row("triangle_solver, by blocks", experimental.triangle("decompose_triangular_matrix_inverse_pallas", n_block_size=2)),
    Row("batched_rpa, two buffers", experimental.batched_rpa(MIXED, buffers=2), reason=TWO_BUFFERS, seeds=2),
    Row("hierarchical reduce-scatter, 4 devices", experimental.hierarchical_reduce_scatter(), "v7x", reason="more devices"),
    Row("gdn v1, decode by fours", _gdn(13, []), reason=f"{STORE}, {UNUSED}"),
    Row("gdn v2, decode by fours", _test("gdn_decode_kernel_test", "FusedGdnKernelTest", "_test_fused_gdn", 13, 2, 2, 128, 128), reason=STORE),
]


@dataclasses.dataclass(frozen=True)
class Result:
    word: str  # "proved", "clean", codes; or "wrong: ..."
    seconds: float
    report: str


def run(row: Row, seeds: int) -> Result:
    began = time.monotonic()
    session, said = palladion.emulate(row.chip, seeds=min(seeds, row.seeds or seeds), on_defect="collect"), ""
    try:
        with session:
            row.call()
    except Exception as error:  # whatever it is, the row says it
        said = f"{type(error).__name__}: {str(error).strip()}"
    return Result(_word(row, session.report, said), time.monotonic() - began, f"{session.report}\n{said}")


def _word(row, report, said) -> str:
    if row.reason in REFUSED:
        as_expected = re.search(REFUSED[row.reason][0], said)
        return "refused" if as_expected else f"wrong: it was to be refused ({row.reason}); found {said or 'that it runs'}"
    if row.reason in DIFFERS:
        return "differs" if "AssertionError: Not equal" in said else f"wrong: its numbers were to differ; found {said or 'that they agree'}"
    if said or not report.calls:
        return f"wrong: {said or 'no kernel ran'}"
    found = {f.code for call in report.calls for f in call.findings if f.severity != "note"}
    wanted = FOUND[row.reason][0] if row.reason else set()
    if found != wanted:
        return f"wrong: found {', '.join(sorted(found)) or 'nothing'}; expected {', '.join(sorted(wanted)) or 'nothing'}"
    return ", ".join(sorted(found)) or report.verdict


LINE = "{:58}  {:4}  {:>7}  {} {}"


def table(results) -> str:
    lines = [f"tpu-inference {importlib.metadata.version('tpu-inference')}, JAX {jax.__version__}, by `./dev test-packages tpu-inference`:", "",
             "| kernel | chip | verdict | why | seconds |", "|---|---|---|---|---|"]
    lines += [f"| {row.name} | {row.chip} | {result.word} | {row.reason} | {result.seconds:.0f} |" for row, result in results.items()]
    used = {row.reason for row in results}
    lines += ["", *(f"- {name}: {what}." for name, (_, what) in REFUSED.items() if name in used),
              *(f"- {name}: {why}" for name, why in DIFFERS.items() if name in used),
              *(f"- {name}: {why}" for name, (_, why) in FOUND.items() if name in used)]
    return "\n".join(textwrap.fill(line, 119, subsequent_indent="  ", break_on_hyphens=False) if line.startswith("- ") else line for line in lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="a pattern of the rows to run: `kernel / chip`")
    parser.add_argument("--seeds", type=int, default=64, help="check each kernel under so many schedules (64)")
    parser.add_argument("--write", action="store_true", help="write the table of docs/explanation/production-kernels.md")
    parser.add_argument("--verbose", action="store_true", help="print each report")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]  # the package's tests read the rest as flags of their own
    warnings.simplefilter("ignore")
    tpu_inference_bare.install()
    results = {}
    print(LINE.format("kernel", "chip", "seconds", "verdict", ""))
    for row in ROWS:
        if re.search(options.filter, f"{row.name} / {row.chip}"):
            result = results[row] = run(row, options.seeds)
            print(LINE.format(row.name, row.chip, f"{result.seconds:.1f}", result.word, row.reason and f"({row.reason})").rstrip(), flush=True)
            if options.verbose:
                print(result.report)
    wrong = [result.word for result in results.values() if result.word.startswith("wrong")]
    if options.write and not wrong and not options.filter:
        sys.path.insert(0, os.path.join(os.path.dirname(PAGE), "..", "..", "tools"))
        import measured_part
        measured_part.write(PAGE, "tpu-inference", table(results))
    print(f"{len(results) - len(wrong)} as expected, {len(wrong)} wrong")
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
