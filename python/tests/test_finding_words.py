"""What findings say of kernels that are written in Python: places are lines of Python, objects have the user's names.

Every case of the GPU corpus with a mistake is checked, from its Python, and small kernels for the other targets.
"""

import os
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conformance" / "gpu_corpus"))
import families

# Kernels of several devices need as many of JAX's: gpu_device_programs.py.
CASES = {case.name: case for _, case in families.cases() if case.findings and not case.edit and "xdev" not in case.name}
LINE = re.compile(r"\bline \d+\b")
ROW = jax.ShapeDtypeStruct((128,), jnp.float32)
X = np.full((128,), 1.9, np.float32)


def values(aval):
    return (np.arange(np.prod(aval.shape), dtype=np.int64) % 7).astype(aval.dtype).reshape(aval.shape)


def sentences(finding):
    return [finding.message, finding.why, finding.fix] + [
        text for side in (finding.first, finding.second) if side for text in (side.agent, side.object)
    ]


def assert_speaks_python(report):
    for finding in report.findings:
        for text in sentences(finding):
            assert "kernel text" not in text and not LINE.search(text) and "()" not in re.sub(r"\w\(\)", "", text), text
        for side in (finding.first, finding.second):
            if side and side.object:
                assert not re.match(r"\d+$", side.object) and not re.match(
                    r"(refs|args)[_\[]\d", side.object
                ), side.object


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_case_of_the_corpus(name):
    case = CASES[name]
    with palladion.target(case.target.rpartition("/")[2]):
        report = palladion.check(case.kernel.function, *map(values, case.kernel.args), seeds=2)
    assert_speaks_python(report)


def gpu(body, **options):
    return plgpu.kernel(body, out_type=ROW, **options)


def only(report, code):
    [finding] = [f for f in report.findings if f.code == code]
    return finding


def check(function, *args, target="h100"):
    with palladion.target(target):
        report = palladion.check(function, *args)
    assert_speaks_python(report)
    return report


def line_of(function, text):
    """`file.py:12`, the line of the function that has the text."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return f"{os.path.basename(__file__)}:{first + next(n for n, line in enumerate(lines) if text in line)}"


def reads_too_early(x, out_ref, s, b):
    plgpu.copy_gmem_to_smem(x, s, b)
    out_ref[...] = s[...]
    plgpu.barrier_wait(b)


def test_a_wait_that_comes_too_late():
    report = check(gpu(reads_too_early, scratch_types=[plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()]), X)
    race, undefined, differs = only(report, "RACE_ASYNC"), only(report, "UNINIT"), only(report, "NONDET")
    place = line_of(reads_too_early, "out_ref[...] = s[...]")
    assert race.message.startswith("the block reads s[0:128]; copy_gmem_to_smem #0 issued by the block writes it")
    late = line_of(reads_too_early, "barrier_wait(b)")
    assert race.fix == f"plgpu.barrier_wait(b) before the access at {place}, instead of at {late}"
    assert "element of 's' that the block read" in undefined.message and "output 'out_ref'" in undefined.message
    assert "pl.when" not in undefined.fix
    assert differs.message.startswith("output 'out_ref'[0] is ")
    assert differs.why.startswith("asynchronous operations run in any order")
    assert (
        differs.why.endswith("it can follow from the RACE_ASYNC of 's'")
        and differs.fix == "resolve the RACE_ASYNC of 's' first"
    )


def two_blocks(x, o):
    o[...] = x[...] * (lax.axis_index("b") + 1).astype(jnp.float32)


def test_two_blocks_that_store_to_one_row():
    report = check(gpu(two_blocks, grid=(2,), grid_names=("b",)), X)
    race, differs = only(report, "RACE_WW"), only(report, "NONDET")
    assert race.message == "block (1) writes o[0:128]; block (0) writes it, and nothing orders the two"
    assert race.fix == "give each of block (0) and block (1) elements of its own, or let only one of them do it"
    assert differs.severity == "defect" and "round" not in differs.why and "asynchronous" not in differs.why
    assert differs.why == (
        "blocks of a grid run in any order that barriers and semaphores leave; block (1) writes it last in program "
        "order, block (0) in reverse order; it follows from the RACE_WW of 'o'"
    )


def two_threads(x, o, s):
    @pl.when(lax.axis_index("wg") == 0)
    def _():
        s[...] = x[...]

    @pl.when(lax.axis_index("wg") == 1)
    def _():
        o[...] = s[...]


def test_two_threads_that_share_memory():
    report = check(
        gpu(two_threads, scratch_types=[plgpu.SMEM((128,), jnp.float32)], num_threads=2, thread_name="wg"), X
    )
    race = only(report, "RACE_RW")
    wrote, read = line_of(two_threads, "s[...] = x[...]"), line_of(two_threads, "o[...] = s[...]")
    assert (
        race.message == "thread 0 writes s[0:128]; thread 1 reads it, and nothing orders the two"
    )  # as they came in program order
    # The read came too early, so it is the one that is to wait.
    assert race.fix == (
        f"plgpu.barrier_arrive in thread 0 after the access at {wrote} and plgpu.barrier_wait in thread 1 before the "
        f"access at {read}, on one plgpu.Barrier"
    )


def same_row(x_ref, o_ref):
    o_ref[...] = x_ref[pl.program_id(0), :]


def test_an_output_that_depends_on_the_order_is_one_note():
    x = np.arange(512, dtype=np.float32).reshape(4, 128)
    report = palladion.check(lambda x: pl.pallas_call(same_row, out_shape=ROW, grid=(4,))(x), x)
    assert_speaks_python(report)
    note = only(report, "GRID_ORDER")
    assert "program (1) writes it, program (0) writes it too" in note.message
    assert "output 'o_ref'[0] is 384.0 in program order and 0.0 in reverse order" in note.message


def never_awaited(x, o, s):
    s[...] = x[...]
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(s, o)


def test_a_store_that_is_never_awaited():
    report = check(gpu(never_awaited, scratch_types=[plgpu.SMEM((128,), jnp.float32)]), X)
    assert only(report, "NOT_AWAITED").fix == "plgpu.wait_smem_to_gmem(0) before the kernel ends"


def uncommitted(x, o, s):
    s[...] = x[...]
    plgpu.copy_smem_to_gmem(s, o)
    plgpu.wait_smem_to_gmem(0)


def test_a_fence_that_is_left_out():
    fix = only(check(gpu(uncommitted, scratch_types=[plgpu.SMEM((128,), jnp.float32)]), X), "PROXY").fix
    assert fix == (
        f"plgpu.commit_smem() after the access at {line_of(uncommitted, 's[...] = x')} and before the issue at "
        f"{line_of(uncommitted, 'copy_smem_to_gmem')}"
    )


def accumulates(x_ref, o_ref, acc_ref):
    acc_ref[...] += x_ref[...]
    o_ref[...] = acc_ref[...]


def test_scratch_that_was_never_set():
    def kernel(x):
        return pl.pallas_call(
            accumulates,
            grid=(2,),
            out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
            in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
            scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],
        )(x)

    finding = only(check(kernel, np.ones((16, 128), np.float32), target="v5e"), "UNINIT")
    assert "element of 'acc_ref'" in finding.message and "output 'o_ref'" in finding.message
    assert "zeros under pl.when(pl.program_id(0) == 0)" in finding.fix
