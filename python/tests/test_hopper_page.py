"""The example of docs/learn/hopper.md, as a reader would type it: it runs, and what is printed is what the page
says."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/learn/hopper.md").read_text(encoding="utf-8")
EARLY = """            plgpu.barrier_arrive(empty.at[slot])  # too early: the slot is still to be read
            o_ref[pl.ds(step * ROWS, ROWS), :] = smem[slot] * 2
"""
MENDED = """            o_ref[pl.ds(step * ROWS, ROWS), :] = smem[slot] * 2
            plgpu.commit_smem()
            plgpu.barrier_arrive(empty.at[slot])
"""


def printed(program, folder):
    (folder / "pipeline.py").write_text(program, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    run = subprocess.run(
        [sys.executable, "pipeline.py"], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return run.stdout


def test_the_pipeline_is_wrong_as_the_page_says_and_right_when_mended(tmp_path):
    (program,) = re.findall(r"^```python.*?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    said = re.findall(r"^error\[.*$", PAGE, re.MULTILINE)
    wrong = printed(program, tmp_path)
    assert len(said) == 2 and all(line in wrong for line in said), wrong
    assert EARLY in program
    right = printed(program.replace(EARLY, MENDED), tmp_path)
    assert "proved" in right and "error[" not in right, right
