"""What a notebook's cell shows: an error once, after the user's own lines, and a report once, as page or error."""

import json
import os
import pathlib
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
from palladion.report import notebook_error
from test_short_errors import CASES, PRELUDE

SHELL = pathlib.Path(__file__).parent / "notebook_shell.py"
RACE = "error[RACE_WW]"
REFUSED = [  # what is run, and what its error says; each is the caller's mistake, which no frame of ours explains
    ("palladion.emulate('h1000')", "PalladionError: unknown target 'h1000'"),
    ("with palladion.target('h1000'):\n    pass", "PalladionError: unknown target 'h1000'"),
    ("palladion.install(target='h1000')", "PalladionError: unknown target 'h1000'"),
    (
        "palladion.emulate('h100', seedz=3)",
        "TypeError: palladion.emulate has no option 'seedz'; it has target, seeds, ",
    ),
    (
        "palladion.emulate('h100', on_defect='rise')",
        "ValueError: on_defect must be one of raise, warn, collect; found 'rise'",
    ),
    ("palladion.check(racy, x, seeds='3')", "TypeError: seeds must be a whole number; found '3'"),
    ("palladion.check('nowhere.pkir', x)", "FileNotFoundError: [Errno 2]"),
    ("palladion.Task('kernel')", "PalladionError: <text>:1:1: expected `pkir`"),
    ("palladion.export(racy)", "TypeError: racy() missing 1 required positional argument: 'x'"),
    ("palladion.record(racy, x, out='/dev/null/y')", "NotADirectoryError: [Errno 20]"),
]


# Three kinds of kernels with more findings than a screen has room for: (cells, the target, the code that comes first).
MANY = [
    (
        """
def kernel(x_ref, o_ref, p_ref, q_ref):
    i = pl.program_id(0)
    o_ref[0] = x_ref[i]
    p_ref[0] = x_ref[i] + 1
    q_ref[0] = x_ref[i] + 2
    p_ref[i + 3] = x_ref[i + 2]
    q_ref[i + 3] = x_ref[i + 3]

def many(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, out_shape=[out] * 3, grid=(4,))(x)
""",
        "triton/h100",
        "OOB",
    ),
    (
        """
from jax.experimental.pallas import tpu as pltpu
x = jnp.ones((2, 8, 128))

def kernel(x_ref, o_ref, a, b, s, t):
    copies = [pltpu.make_async_copy(x_ref.at[i], (a, b)[i], (s, t)[i]) for i in range(2)]
    copies[0].start()
    copies[1].start()
    o_ref[...] = a[...] + b[...]
    copies[0].wait()

def many(x):
    return pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype), in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)] * 2 + [pltpu.SemaphoreType.DMA] * 2)(x)
""",
        "v5e",
        "RACE_ASYNC",
    ),
    (
        """
from jax.experimental.pallas import mosaic_gpu as plgpu
x = jnp.ones((3, 128))

def kernel(x_ref, o_ref, smem, loaded):
    @pl.when(jax.lax.axis_index("t") == 0)
    def _():
        for i in range(3):
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem, loaded)

    @pl.when(jax.lax.axis_index("t") == 1)
    def _():
        for i in range(3):
            plgpu.barrier_wait(loaded)
            o_ref[i] = smem[...]

def many(x):
    given = "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"
    scratch = "scratch_types" if jax.__version_info__ >= (0, 10) else "scratch_shapes"
    return plgpu.kernel(kernel, num_threads=2, thread_name="t", **{
        given: jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch: [plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()]})(x)
""",
        "h100",
        "RACE_WW",
    ),
]
SCREEN = 40  # lines


def shown_by(*cells: str) -> list:
    """What each cell after the prelude shows."""
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(palladion.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, SHELL],
        input=json.dumps([PRELUDE, *cells]),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    prelude, *rest = json.loads(done.stdout)
    assert not prelude["error"], prelude
    return rest


@pytest.fixture(scope="module")
def shown_of_cases() -> list:
    return shown_by(*(program for program, _, _ in CASES))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_error_is_shown_once_after_the_cells_own_lines(shown_of_cases, number):
    program, message, _ = CASES[number]
    text = shown_of_cases[number]["error"]
    kind, _, rest = message.removeprefix("palladion.").partition(": ")
    assert text.count("Traceback (most recent call last)") == 1 and text.count(f"\n{kind}: {rest}") == 1, text
    before = text.partition(f"\n{kind}: ")[0]
    assert "short_errors.py" not in before and "palladion/" not in before, before
    if kind != "NameError":  # the user's error, in the middle of JAX's tracing
        assert "site-packages" not in before and before.count("---->") <= 2, before
    for private in ("_library", "exporter.errors", "INVALID_ARGUMENT", "direct cause", "During handling"):
        assert private not in text
    assert not shown_of_cases[number]["page"] and not shown_of_cases[number]["stderr"], (
        program,
        shown_of_cases[number],
    )


def test_a_refusal_has_the_cells_line_alone():
    for (program, message), shown in zip(REFUSED, shown_by(*(program for program, _ in REFUSED))):
        lines = shown["error"].splitlines()
        assert len(lines) == 4 and lines[1].startswith("Cell In[") and lines[3].startswith(message), (program, shown)


def test_a_mistake_of_ours_keeps_its_frames():
    (broken,) = shown_by("from palladion.api import checking\n" "checking.callers = None\n" "palladion.check(racy, x)")
    assert "checking.py" in broken["error"] and "AttributeError" in broken["error"]


def test_a_report_is_shown_once():
    error, page, warned, after = shown_by(
        "with palladion.emulate('triton/h100', seeds=4) as session:\n    racy(x)\nsession.report",
        "palladion.check(racy, x, target='triton/h100')",
        "with palladion.emulate('triton/h100', seeds=4, on_defect='warn'):\n    racy(x)",
        "palladion.last_report()",
    )
    assert error["error"].count(RACE) == 1 and not error["page"] and not error["stderr"]
    assert page["page"].count("RACE_WW]</b>:") == 1 and not page["error"] and not page["stderr"]
    assert warned["stderr"].count(RACE) == 1 and not warned["page"] and not warned["error"]
    assert after["page"].count("RACE_WW]</b>:") == 1 and not after["stderr"]


def test_many_findings_are_one_screen():
    ways = (
        "with palladion.emulate('{}', seeds=8):\n    many(x)",
        "palladion.check(many, x, target='{}').raise_if_defect()",
    )
    cells = [f"{program}\n{way.format(target)}" for program, target, _ in MANY for way in ways]
    shown = shown_by(*cells, "len(str(palladion.last_report()).splitlines())")
    assert int(shown.pop()["page"]) > SCREEN  # what the last of them would have been
    for error, (_, _, code) in zip(shown, [one for one in MANY for _ in ways], strict=True):
        lines = error["error"].splitlines()
        assert len(lines) <= SCREEN and lines[-1].startswith("all of it: print(palladion.last_report())"), lines
        first = error["error"].partition("\n\n")[0]
        assert f"\nDefectError: error[{code}]" in first and "\n  fix: " in first and "\n  replay: palladion." in first
        assert "\nerror[" in error["error"] and "\nverdict: defect" in error["error"], error["error"]


def test_a_text_that_fits_is_whole_and_parts_say_what_they_lack():
    fitting = "\n".join(f"line {i}" for i in range(notebook_error.MOST_LINES))
    assert notebook_error.shortened_text(fitting) == fitting
    findings = "\n\n".join(f"error[OOB]: {i}\n  at k.py:{i}:5 in kernel\n  why: {'w' * 300}" for i in range(20))
    lines = notebook_error.shortened_text(f"{findings}\n\ntable\n\nverdict: defect").splitlines()
    assert lines[:2] == ["error[OOB]: 0", "  at k.py:0:5 in kernel"] and "error[OOB]: 1 (at k.py:1:5)" in lines
    assert "  ... and 13 more findings" in lines and "table" not in lines and "verdict: defect" in lines


def race(x):
    def kernel(x_ref, o_ref):
        o_ref[0] = x_ref[pl.program_id(0)]

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1,), x.dtype), grid=(4,))(x)


def test_the_frames_of_what_runs_a_cell_are_no_callers():
    program = compile("def run(cell):\n    return cell()\n", "/site/IPython/core/interactiveshell.py", "exec")
    names = {}
    exec(program, names)
    with palladion.emulate("triton/h100", seeds=2, on_defect="collect") as session:
        names["run"](lambda: race(np.ones(4, np.float32)))
    assert "called from" in str(session.report) and "interactiveshell" not in str(session.report), session.report
