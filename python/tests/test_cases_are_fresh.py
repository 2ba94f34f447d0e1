"""The conformance cases that tables make are what the tables make (conformance/make_cases.py --check), by the JAX whose
results they hold. In a process of its own, because the tables turn 64-bit types on. And each case stands in the file
that its name gives (conformance/case_files.py). Does not catch: a table that is wrong.
"""

import pathlib
import shutil
import subprocess
import sys

import jax
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

MOST_CASES, MOST_LINES = 26, 1010  # of a file: what a reader can take


def check(conformance):
    run = subprocess.run([sys.executable, conformance / "make_cases.py", "--check"], capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines(), run.stderr


if jax.__version_info__[:2] == (0, 10):

    def test_the_case_files_are_what_the_tables_make():
        code, stale, trouble = check(ROOT / "conformance")
        assert code == 0, f"run python conformance/make_cases.py, and review: {stale} {trouble}"

    def test_a_file_that_is_edited_or_left_behind_is_reported(tmp_path):
        for part in ("conformance", "emu/front/reports/explain", "docs/spec"):
            shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        cases = tmp_path / "conformance/cases"
        edited = case_files.text_of("families/add_bf16")
        case_files.write("families/add_bf16", edited.replace("Oracle", "oracle"), cases)
        case_files.write("families/add_again", edited, cases)
        (cases / "elementwise/abs.case").unlink()
        code, stale, _ = check(tmp_path / "conformance")
        assert code == 1
        assert stale == ["elementwise/abs", "families/add_bf16", "families/add_again (no table has it)"]


def test_each_case_stands_in_the_file_that_its_name_gives():
    elsewhere = [
        f"{path}: {name}"
        for path in case_files.CASES.glob("*/*.case")
        for name in case_files.read(path)
        if case_files.file_of(f"{path.parent.name}/{name}") != path
    ]
    assert elsewhere == []


def test_a_file_is_no_longer_than_a_reader_can_take():
    long = [
        path
        for path in case_files.CASES.glob("*/*.case")
        if len(case_files.read(path)) > MOST_CASES or len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ]
    assert long == [], "divide it: move the cases whose names begin alike into a file of that name"


def test_cases_are_written_beside_those_of_their_file(tmp_path):
    for name, text in (
        ("f/a_2", "# two\n"),
        ("f/a_1", "# one\n"),
        ("f/ab", "# no a\n"),
        ("f/a", "# a\n"),
        ("f/a.3", "# three\n"),
    ):
        case_files.write(name, text, tmp_path)
    # What came before there was a file of that name stays where it is, so that nothing moves unasked.
    assert {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "f").iterdir()} == {
        "a_2.case": "# two\n",
        "a_1.case": "# one\n",
        "ab.case": "# no a\n",
        "a.case": "=== a\n# a\n\n=== a.3\n# three\n",
    }
    case_files.write("f/a.3", "# changed\n", tmp_path)
    assert case_files.texts("f/*", tmp_path) == {
        "f/a": "# a\n",
        "f/a.3": "# changed\n",
        "f/a_1": "# one\n",
        "f/a_2": "# two\n",
        "f/ab": "# no a\n",
    }


@pytest.mark.parametrize("text", ["# prose\n=== a\n# one\n", "=== a\n# one\n=== a\n# two\n"])
def test_what_is_no_file_of_cases(text):
    with pytest.raises(ValueError, match="before the first|twice"):
        case_files.split(text, "x")
