"""A fix works: where it is a change of the kernel text the change is made, after which the finding is gone and no other
is there. Where it is none, it names the order that is missing and no call that would not bring it. One mistake is one
entry, with its symptoms under it."""

import re

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu, triton as plt

import fix_edits
import palladion


def _failures(judged) -> list[str]:
    return [str(one) for one in judged if one.outcome in ("stays", "another", "refused")]


def test_the_fixes_of_the_corpus_work(tmp_path):
    judged = [
        one
        for kernel in fix_edits.kernels("checks", "gpu_corpus", each=5)
        for one in fix_edits.judge(*kernel, tmp_path)
    ]
    assert _failures(judged) == []
    assert sum(one.outcome == "gone" for one in judged) >= 12


def test_the_fixes_of_kernels_that_lack_one_wait_work(tmp_path):
    judged = [
        one
        for mutant in fix_edits.mutants(tmp_path, "gpu_corpus/01[0-2]*_clean")
        for one in fix_edits.judge(*mutant, tmp_path)
    ]
    assert _failures(judged) == []
    assert sum(one.outcome == "gone" for one in judged) >= 10


def _with(kernel: str, replacements) -> str:
    lines = kernel.split("\n")
    for one in reversed(replacements):
        region, new = one["deletedRegion"], one.get("insertedContent", {"text": ""})["text"]
        lines[region["startLine"] - 1 : region["endLine"] - 1] = new.split("\n")[:-1]
    return "\n".join(lines)


def test_sarif_has_the_same_change(tmp_path):
    """Its replacements are made by the command, and those of the JSON by fix_edits: two ways to one text."""
    compared = 0
    for name, kernel, arguments in fix_edits.kernels("checks", "gpu_corpus", each=5):
        findings = fix_edits.check(kernel, arguments, tmp_path)["findings"]
        log = fix_edits.check(kernel, arguments, tmp_path, form="sarif")
        expected = {fix_edits.Text(kernel).apply(one["edits"]) for one in findings if one["edits"] and not one["cause"]}
        found = {
            _with(kernel, change["replacements"])
            for result in log["runs"][0]["results"]
            for fix in result.get("fixes", [])
            for change in fix["artifactChanges"]
        }
        assert found == expected, name
        compared += len(found)
    assert compared >= 12


@pytest.mark.parametrize(
    ("case", "mutant", "fix"),
    [
        # A group that was never committed: a wait is for committed ones.
        (
            "gpu/groups",
            "drop_sync_4",
            r"plgpu\.commit_smem_to_gmem_group\(\) before the wait at line 16 of the kernel text, .*",
        ),
        (
            "gpu/page_copy_out_group",
            "drop_sync_2",
            r"plgpu\.commit_smem_to_gmem_group\(\) before the wait at line \d+ of the kernel text, .*",
        ),
        # The barrier completes twice before it is awaited: the wait belongs between the two.
        (
            "gpu/page_gather",
            "drop_sync_1",
            r"plgpu\.barrier_wait\(full\) before its next arrival, at line 14 of the kernel text",
        ),
        # Another thread waits there for each completion already, or the wait is of a loop's turn: no line of the text.
        (
            "findings/proxy_war_right",
            "drop_sync_1",
            r"let the completion of copy_gmem_to_smem #0 issued by thread 0 be awaited before the issue at .*",
        ),
        (
            "gpu/quiet_matmul_pipeline",
            "drop_sync_2",
            r"let the completion of copy_gmem_to_smem #1 issued by the block be awaited before the issue at .*",
        ),
        (
            "gpu/predicates",
            "drop_sync_2",
            r"let the completion of copy_gmem_to_smem #1 issued by the block be awaited before the kernel ends",
        ),
        (
            "tpu/block_sent_right",
            "drop_sync_2",
            r"let the completion of DMA #3 issued by the core .* be awaited before the kernel ends",
        ),
        # Both blocks of a pair read, or are read: each waits, and then they meet.
        (
            "gpu_corpus/187_pair_allocates_clean",
            "drop_sync_2",
            r"let the completion of copy_gmem_to_smem #0 .* be awaited before the issue at line 29 of "
            r"the kernel text, by each block for what it has started itself, and let the blocks meet in between",
        ),
        (
            "gpu/page_tcgen05_pair_reuse",
            "drop_sync_6",
            r"plgpu\.wait_load_tmem\(\) right after the issue at line 29 of the kernel text",
        ),
        # The end of the scope is another thread's.
        (
            "gpu_corpus/185_tmem_scope_reuse_load_clean",
            "drop_sync_6",
            r"plgpu\.wait_load_tmem\(\) in thread 0 right after the issue at line 29 of .*",
        ),
        (
            "gpu_corpus/185_tmem_scope_reuse_store_clean",
            "drop_sync_4",
            r"plgpu\.commit_tmem\(\) in thread 0 right after the issue at line 27 of .*",
        ),
        ("gpu_corpus/192_tmem_union_threads_clean", "drop_sync_1", r"plgpu\.commit_tmem\(\) before the kernel ends"),
    ],
)
def test_the_fix_of_one_missing_line_works(case, mutant, fix, tmp_path):
    [(name, kernel, arguments)] = [one for one in fix_edits.mutants(tmp_path, case) if one[0].endswith(f" {mutant}")]
    judged = fix_edits.judge(name, kernel, arguments, tmp_path)
    assert _failures(judged) == []
    fixes = [one.finding["fix"] for one in judged if one.outcome != "symptom"]
    assert any(re.fullmatch(fix, one) for one in fixes), fixes


def test_a_parallel_dimension_has_no_first_program(tmp_path):
    case = fix_edits.read("checks/052_grid_order_accumulate_racy")
    judged = fix_edits.judge("052", case.kernel, case.arguments, tmp_path)
    assert {one.finding["code"]: one.outcome for one in judged if one.outcome != "symptom"} == {
        "RACE_WW": "gone",
        "UNINIT": "gone",
    }
    [fix] = [one.finding["fix"] for one in judged if one.finding["code"] == "UNINIT"]
    assert fix.endswith(
        'zeros under pl.when(pl.program_id(0) == 0), and "arbitrary" for that dimension in dimension_semantics'
    )


def test_a_wait_does_not_move_over_a_store(tmp_path):
    """What the copy brings is read behind the store that the race is about: the wait there would not bring it back."""
    [race] = [f for f in _findings("gpu_corpus/067_union_copy_narrow_racy", tmp_path) if f["code"] == "RACE_ASYNC"]
    assert race["edits"] == []
    assert re.fullmatch(
        r"let the completion of .* be awaited before the access at line \d+ of the kernel text, "
        r"and let what it brings be read first",
        race["fix"],
    )


def test_python_has_the_edits():
    report = palladion.check(_one_missing_wait(), jnp.ones((8, 128)), target="v5e", seeds=16)
    [mistake] = report.mistakes
    [edit] = mistake.edits
    assert edit.where == "before" and edit.line > 1 and edit.insert[0].startswith("dma_wait{")


def _findings(name: str, folder) -> list[dict]:
    case = fix_edits.read(name)
    return fix_edits.check(case.kernel, case.arguments, folder)["findings"]


@pytest.mark.parametrize(
    ("case", "code", "fix"),
    [
        # The sender waits for nothing of the receiver's: a credit comes back.
        (
            "findings/race_xdev_wrong",
            "RACE_WW",
            r"copy\.wait_recv\(\) in the receiver, a pl\.semaphore_signal\(\.\.\., device_id=\.\.\.\) from "
            r"there to the core on device 0 once it has done with what came, and pl\.semaphore_wait in the core on "
            r"device 0 before the issue .*",
        ),
        (
            "findings/race_xdev_wrong",
            "RACE_XDEV",
            r".*let the sender of .* wait, before it issues that copy, for a signal that the core on device 1 .*",
        ),
        # The wait that is there took the bytes of another copy, or half of this one's.
        ("tpu/devices_links_unordered", "RACE_XDEV", r"a semaphore each for remote DMA #0 and remote DMA #1; or, .*"),
        (
            "tpu/copy.half_awaited_wrong",
            "RACE_ASYNC",
            r"let the wait for DMA #0 issued by the core be for all of its bytes before the access .*",
        ),
        # The barrier on which a copy arrives cannot order the tensor core.
        (
            "findings/bar_tc_order_wrong",
            "BAR_TC_ORDER",
            r"orders_tensor_core=True for the plgpu\.Barrier of \w+(\[\d+\])?",
        ),
        (
            "gpu/tensor_order_by_copy_racy",
            "BAR_TC_ORDER",
            r"plgpu\.barrier_arrive in thread 0 after the access at .* and plgpu\.barrier_wait in "
            r"thread 1 before the issue at .*, on a plgpu\.Barrier\(orders_tensor_core=True\) of their own, at which "
            r"no copy arrives",
        ),
        # The barrier of a store to another block is in that block.
        (
            "gpu/store_smem_unawaited_racy",
            "RACE_WW",
            r"plgpu\.barrier_wait\(there\.at\[0\]\) in the block where it lands, and a "
            r"plgpu\.ClusterBarrier from there before the issue .*",
        ),
        (
            "gpu/store_smem_unawaited_racy",
            "RACE_ASYNC",
            r"plgpu\.barrier_wait\(there\.at\[0\]\) in block \(0\), where it lands, before .*",
        ),
        (
            "gpu/store_smem_unawaited_racy",
            "PEER_LIFETIME",
            r"plgpu\.barrier_wait\(there\.at\[0\]\) in the block where it lands, before the scope .*",
        ),
        # The peer has ended, so it is not its name that is wrong.
        (
            "gpu_corpus/082_cluster_block_ends_at_once_racy",
            "PEER_LIFETIME",
            r"put a plgpu\.ClusterBarrier after the access, at which that block .*",
        ),
        # Nothing accumulates: no zeros.
        ("findings/race_async_wrong", "UNINIT", r"store to 'buf_ref' before it is read"),
        (
            "checks/063_uninit_accumulator_racy",
            "UNINIT",
            r"store to 'acc_ref' before it is read: zeros in the first of the programs .*",
        ),
        (
            "checks/052_grid_order_accumulate_racy",
            "UNINIT",
            r".*: zeros under pl\.when\(pl\.program_id\(0\) == 0\), and \"arbitrary\" .*",
        ),
        # A block that would be visited again, with others between.
        (
            "checks/059_tpu_parallel_same_block_racy",
            "RACE_WW",
            r"give each of the programs elements of its own; or put the dimension last .*",
        ),
        (
            "findings/sem_leak_wrong",
            "SEM_LEAK",
            r"pl\.semaphore_wait\(sem, \d+\) before the kernel ends, or signal \d+ less",
        ),
    ],
)
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
    return pl.pallas_call(
        _late,
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA],
    )


def test_one_missing_wait_is_one_entry():
    report = palladion.check(_one_missing_wait(), jnp.ones((8, 128)), target="v5e", seeds=16)
    assert {f.code for f in report.findings} == {"RACE_ASYNC", "SEM_LEAK", "NOT_AWAITED", "UNINIT", "NONDET"}
    [mistake] = report.mistakes
    assert (
        mistake.code == "RACE_ASYNC"
        and mistake.cause is None
        and mistake.fix.startswith("copy.wait() before the access")
    )
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
    assert (
        "looked at" in report.details
        and "probability >= 0." in report.details
        and "looked at" in report.kernels[0].details
    )


def test_a_symptom_of_what_is_suppressed_stays(tmp_path):
    """One that counts is never hidden under one that does not."""
    case = fix_edits.read("findings/race_async_wrong")
    accepted = tmp_path / "accepted.txt"
    name = re.search(r"kernel @(\w+)", case.kernel)[1]
    accepted.write_text(f"RACE_ASYNC @{name}:1-99 # looked at\n", encoding="utf-8")
    report = fix_edits.check(case.kernel, [*case.arguments, "--suppressions", str(accepted)], tmp_path)
    race = next(f for f in report["findings"] if f["code"] == "RACE_ASYNC")
    assert race["suppressed"] and not race["symptoms"] and all(f["cause"] is None for f in report["findings"])


def _same_block(rows, params, chip):
    def kernel(o_ref):
        o_ref[...] = jnp.full(o_ref.shape, pl.program_id(0), jnp.int32)

    call = pl.pallas_call(
        kernel,
        grid=(4,),
        out_shape=jax.ShapeDtypeStruct((rows, 128), jnp.int32),
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        compiler_params=params,
    )
    return {f.code: f.fix for f in palladion.check(call, target=chip, seeds=4).findings}


def test_programs_that_share_a_block_get_a_fix_of_its_index_map():
    """The write that nothing orders is the block's, and no wait of a copy would order programs of a grid."""
    advice = "let the index map of 'o_ref' depend on grid dimension 0, along which all programs have the same block"
    tpu = pltpu.CompilerParams(dimension_semantics=("parallel",))
    assert (
        _same_block(32, tpu, "v5e")["RACE_WW"]
        == f'say "arbitrary" for the dimension in dimension_semantics, or {advice}'
    )
    assert _same_block(32, plt.CompilerParams(), "h100")["RACE_WW"].startswith(advice)
    assert advice in _same_block(32, None, "generic")["GRID_ORDER"]


def test_the_fix_of_blocks_that_copy_to_one_place_names_it():
    def kernel(o_ref):
        o_ref[pl.program_id(0)] = pl.program_id(0)

    call = pl.pallas_call(
        kernel, grid=(8,), out_shape=jax.ShapeDtypeStruct((8,), jnp.int32), compiler_params=plgpu.CompilerParams()
    )
    [race] = [f for f in palladion.check(call, target="h100", seeds=4).findings if f.code == "RACE_WW"]
    assert "wait_smem_to_gmem" not in race.fix and race.fix.startswith(
        "give each block elements of its own: block (0) and block (1) write"
    )
    assert race.fix.endswith("a BlockSpec whose index map depends on the grid index")


def _into_the_neighbour(ready: bool) -> str:
    """Two devices; each clears its buffer, and copies into the other's, which may not have cleared it yet."""

    def kernel(x_ref, o_ref, buffer, sent, received, cleared):
        neighbour = 1 - jax.lax.axis_index("ring")
        buffer[...] = jnp.zeros_like(buffer)
        if ready:
            pl.semaphore_signal(cleared, 1, device_id=(neighbour,), device_id_type=pl.DeviceIdType.MESH)
            pl.semaphore_wait(cleared, 1)
        copy = pltpu.make_async_remote_copy(
            x_ref, buffer, sent, received, device_id=(neighbour,), device_id_type=pl.DeviceIdType.MESH
        )
        copy.start()
        copy.wait()
        o_ref[...] = buffer[...]

    def part(x):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            scratch_shapes=[
                pltpu.VMEM(x.shape, x.dtype),
                pltpu.SemaphoreType.DMA,
                pltpu.SemaphoreType.DMA,
                pltpu.SemaphoreType.REGULAR,
            ],
        )(x)

    mesh = jax.sharding.AbstractMesh((2,), ("ring",), axis_types=(jax.sharding.AxisType.Auto,))
    parts = jax.sharding.PartitionSpec("ring")
    together = jax.shard_map(part, mesh=mesh, in_specs=parts, out_specs=parts, check_vma=False)
    return palladion.export(together, jnp.ones((16, 128)), target="v5e")


def test_a_receiver_that_writes_before_anything_comes_has_to_say_so():
    """A wait of the receiver does not order its first write with a copy that comes too early; a signal back does."""
    x = jnp.ones((2, 8, 128))
    fixes = [one.fix for one in palladion.check(_into_the_neighbour(False), x).mistakes if one.code == "RACE_XDEV"]
    assert any(
        re.fullmatch(
            r"copy\.wait_recv\(\) in the core on device (\d), the receiver, before the access at .*, where that is to "
            r"come after what arrives; where it is to come before, pl\.semaphore_signal\(\.\.\., device_id=\.\.\.\) in "
            r"the core on device \1 after the access at .*, and pl\.semaphore_wait in the core on device (?!\1)\d "
            r"before the issue at .*",
            one,
        )
        for one in fixes
    ), fixes
    assert palladion.check(_into_the_neighbour(True), x).verdict == "proved"
