"""The conformance cases that tables make are what the tables make (conformance/make_cases.py --check), by the JAX whose
results they hold. In a process of its own, because the tables turn 64-bit types on. Does not catch: a table that is wrong.
"""

import pathlib
import shutil
import subprocess
import sys

import jax

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(conformance):
    run = subprocess.run([sys.executable, conformance / "make_cases.py", "--check"], capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines(), run.stderr


if jax.__version_info__[:2] == (0, 10):
    def test_the_case_files_are_what_the_tables_make():
        code, stale, trouble = check(ROOT / "conformance")
        assert code == 0, f"run python conformance/make_cases.py, and review: {stale} {trouble}"

    def test_a_file_that_is_edited_or_left_behind_is_told(tmp_path):
        for part in ("conformance", "emu/front/reports/explain", "docs/spec"):
            shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        cases = tmp_path / "conformance/cases"
        edited = cases / "families/add_bf16.case"
        edited.write_text(edited.read_text(encoding="utf-8").replace("Oracle", "oracle"), encoding="utf-8")
        shutil.copy(edited, cases / "families/add_again.case")
        (cases / "elementwise/abs.case").unlink()
        code, stale, _ = check(tmp_path / "conformance")
        assert code == 1
        assert stale == ["elementwise/abs.case", "families/add_bf16.case", "families/add_again.case (no table has it)"]
