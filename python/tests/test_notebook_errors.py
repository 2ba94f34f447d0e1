"""What a notebook's cell shows: an error once, after the user's own lines, and a report once, as page or error."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import palladion
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
