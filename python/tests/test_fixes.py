"""A fix works: where it is a change of the kernel text the change is made, after which the finding is gone and no other is there. Where it
is none, it names the order that is missing and no call that would not bring it. One mistake is one entry, with its symptoms under it."""

import re

import fix_edits
import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

_TWO_CHANGES = {
    # A union is then read as i4, which is refused.
    "gpu_corpus/067_union_copy_narrow_racy.case",
    # The zeros of the first program are all programs' once the dimension is "arbitrary", which another finding's fix says.
    "checks/052_grid_order_accumulate_racy.case",
}


def _failures(judged) -> list[str]:
    return [str(one) for one in judged if one.outcome in ("stays", "another", "refused") and one.name not in _TWO_CHANGES]


def test_the_fixes_of_the_corpus_work(tmp_path):
    judged = [one for kernel in fix_edits.kernels("checks", "gpu_corpus", each=5) for one in fix_edits.judge(*kernel, tmp_path)]
    assert _failures(judged) == []
    assert sum(one.outcome == "gone" for one in judged) >= 12


def test_the_fixes_of_kernels_that_lack_one_wait_work(tmp_path):
    judged = [one for mutant in fix_edits.mutants(tmp_path, "gpu_corpus/01[0-2]*_clean.case") for one in fix_edits.judge(*mutant, tmp_path)]
    assert _failures(judged) == []
    assert sum(one.outcome == "gone" for one in judged) >= 10


def _findings(name: str, folder) -> list[dict]:
    case = fix_edits.read(fix_edits.CASES / f"{name}.case")
    return fix_edits.check(case.kernel, case.arguments, folder)["findings"]


@pytest.mark.parametrize(("case", "code", "fix"), [
    # The sender waits for nothing of the receiver's: a credit comes back.
    ("findings/race_xdev_wrong", "RACE_WW", r"copy\.wait_recv\(\) in the receiver, a pl\.semaphore_signal\(\.\.\., device_id=\.\.\.\) from "
     r"there to the core on device 0 once it has done with what came, and pl\.semaphore_wait in the core on device 0 before the issue .*"),
    ("findings/race_xdev_wrong", "RACE_XDEV", r".*let the sender of .* wait, before it issues that copy, for a signal that the core on device 1 .*"),
    # The wait that is there took the bytes of another copy, or half of this one's.
    ("tpu/devices_links_unordered", "RACE_XDEV", r"a semaphore each for remote DMA #0 and remote DMA #1; or, .*"),
    ("tpu/copy.half_awaited_wrong", "RACE_ASYNC", r"let the wait for DMA #0 issued by the core be for all of its bytes before the access .*"),
    # The barrier on which a copy arrives cannot order the tensor core.
    ("findings/bar_tc_order_wrong", "BAR_TC_ORDER", r"orders_tensor_core=True for the plgpu\.Barrier of \w+(\[\d+\])?"),
    ("gpu/tensor_order_by_copy_racy", "BAR_TC_ORDER", r"plgpu\.barrier_arrive in thread 0 after the access at .* and plgpu\.barrier_wait in "
     r"thread 1 before the issue at .*, on a plgpu\.Barrier\(orders_tensor_core=True\) of their own, at which no copy arrives"),
    # What is stored in another block its barrier tells of.
    ("gpu/store_smem_unawaited_racy", "RACE_WW", r"plgpu\.barrier_wait\(there\.at\[0\]\) in the block where it lands, and a "
     r"plgpu\.ClusterBarrier from there before the issue .*"),
    ("gpu/store_smem_unawaited_racy", "RACE_ASYNC", r"plgpu\.barrier_wait\(there\.at\[0\]\) in block \(0\), where it lands, before .*"),
    ("gpu/store_smem_unawaited_racy", "PEER_LIFETIME", r"plgpu\.barrier_wait\(there\.at\[0\]\) in the block where it lands, before the scope .*"),
    # The peer has ended, so it is not its name that is wrong.
    ("gpu_corpus/082_cluster_block_ends_at_once_racy", "PEER_LIFETIME", r"let a plgpu\.ClusterBarrier after the access keep that block .*"),
    # Nothing accumulates: no zeros.
    ("findings/race_async_wrong", "UNINIT", r"store to 'buf_ref' before it is read"),
    ("checks/063_uninit_accumulator_racy", "UNINIT", r"store to 'acc_ref' before it is read: zeros in the first of the programs .*"),
    ("checks/052_grid_order_accumulate_racy", "UNINIT", r".*: zeros under pl\.when\(pl\.program_id\(0\) == 0\)"),
    # A block that would be visited again, with others between.
    ("checks/059_tpu_parallel_same_block_racy", "RACE_WW", r"give each of the programs elements of its own; or put the dimension last .*"),
    ("findings/sem_leak_wrong", "SEM_LEAK", r"pl\.semaphore_wait\(sem, \d+\) before the kernel ends, or signal \d+ less"),
])
def test_the_words_of_a_fix(case, code, fix, tmp_path):
    fixes = [finding["fix"] for finding in _findings(case, tmp_path) if finding["code"] == code]
    assert any(re.fullmatch(fix, one) for one in fixes), fixes


def test_a_read_that_comes_too_early_is_to_wait_for_the_write(tmp_path):
    early = [f for f in _findings("gpu_corpus/097_xdev_outside_racy", tmp_path) if f["code"] == "RACE_XDEV"]
    for finding in early:
        if finding["first"]["kind"] == "read" and finding["second"]["kind"] == "write":
            assert f"before the access at line {finding['first']['text_line']}" in finding["fix"], finding["fix"]


def _late(x_hbm, o_ref, buf, sem):
    copy = pltpu.make_async_copy(x_hbm, buf, sem)
    copy.start()
    o_ref[...] = buf[...] * 2


def _one_missing_wait():
    return pl.pallas_call(_late, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                          scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA])


def test_one_missing_wait_is_one_entry():
    report = palladion.check(_one_missing_wait(), jnp.ones((8, 128)), target="v5e", seeds=16)
    assert {f.code for f in report.findings} == {"RACE_ASYNC", "SEM_LEAK", "NOT_AWAITED", "UNINIT", "NONDET"}
    [mistake] = report.mistakes
    assert mistake.code == "RACE_ASYNC" and mistake.cause is None and mistake.fix.startswith("copy.wait() before the access")
    assert {f.code for f in mistake.symptoms} == {"SEM_LEAK", "NOT_AWAITED", "UNINIT", "NONDET"}
    assert all(f.cause is mistake for f in mistake.symptoms)
    assert next(f for f in mistake.symptoms if f.code == "SEM_LEAK").fix.startswith("copy.wait() ")
    text = str(report)
    assert len(re.findall(r"(?m)^error\[", text)) == 1 and len(re.findall(r"(?m)^    error\[", text)) == 4
    assert "verdict: defect: 1 defect with 4 symptoms" in text and text.count("  fix: ") == 1
    assert "symptoms" in str(mistake) and "symptom" in report._repr_html_()


def test_counts_and_bounds_only_on_request():
    report = palladion.check(_one_missing_wait(), jnp.ones((8, 128)), target="v5e", seeds=16)
    assert "looked at" not in str(report) and "probability" not in str(report)
    assert "looked at" in report.details and "probability >= 0." in report.details and "looked at" in report.kernels[0].details



def test_a_symptom_of_what_is_suppressed_stays(tmp_path):
    """One that counts is never hidden under one that does not."""
    case = fix_edits.read(fix_edits.CASES / "findings/race_async_wrong.case")
    accepted = tmp_path / "accepted.txt"
    name = re.search(r"kernel @(\w+)", case.kernel)[1]
    accepted.write_text(f"RACE_ASYNC @{name}:1-99 # looked at\n", encoding="utf-8")
    report = fix_edits.check(case.kernel, [*case.arguments, "--suppressions", str(accepted)], tmp_path)
    race = next(f for f in report["findings"] if f["code"] == "RACE_ASYNC")
    assert race["suppressed"] and not race["symptoms"] and all(f["cause"] is None for f in report["findings"])
