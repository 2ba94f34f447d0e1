"""The examples of README.md, as a stranger would type them: they run, and what is printed is what it says."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}


def _blocks(kind=""):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text for one, text in blocks if one == kind]


def test_the_race_is_found(tmp_path):
    (program,) = [block for block in _blocks("python") if "palladion.emulate" in block]
    (said,) = [block.strip() for block in _blocks() if block.startswith("defect[")]
    (tmp_path / "sums.py").write_text(program, encoding="utf-8")
    run = subprocess.run([sys.executable, "sums.py"], cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    assert said in run.stdout.replace(f"{tmp_path}/", "")


def test_the_command_does_what_it_says(tmp_path):
    (program,) = [block for block in _blocks("python") if "palladion.export" in block]
    (command,) = re.findall(r"^build/palladion (run .*--out .*)$", "".join(_blocks()), re.MULTILINE)
    (printed,) = [block for block in _blocks() if block.startswith("kernel @")]
    (tmp_path / "example.py").write_text(program, encoding="utf-8")
    subprocess.run([sys.executable, "example.py"], cwd=tmp_path, env=ENVIRONMENT, check=True)
    run = subprocess.run([ROOT / "build/palladion", *command.split()], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert run.stdout == printed
    assert np.array_equal(np.load(tmp_path / "outdir/o.npy"), np.arange(1, 9, dtype=np.float32))
    inputs = command[: command.index(" --out")].replace("run", "check", 1)
    subprocess.run([ROOT / "build/palladion", *inputs.split()], cwd=tmp_path, check=True)
