"""The example of README.md, as a stranger would type it: both code blocks run, and what is printed is what it says."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_example_does_what_it_says(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    command = re.search(r"^build/palladion (run .*--out .*)$", readme[readme.index(program):], re.MULTILINE)[1]
    printed = re.search(r"prints\n\n```\n(.*?)```", readme, re.DOTALL)[1]
    (tmp_path / "example.py").write_text(program, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    subprocess.run([sys.executable, "example.py"], cwd=tmp_path, env=environment, check=True)
    run = subprocess.run([ROOT / "build/palladion", *command.split()], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert run.stdout == printed
    assert np.array_equal(np.load(tmp_path / "outdir/o.npy"), np.arange(1, 9, dtype=np.float32))
