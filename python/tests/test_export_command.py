"""palladion-export as a program: what it writes, and what it says about bad input."""

import os
import subprocess
import sys

import pytest

PYTHON_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SOURCE = """
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]

def add():
    x = np.zeros((8, 128), np.float32)
    return pl.pallas_call(add_kernel, out_shape=x), (x, x)

def bad_kernel(x_ref, o_ref):
    o_ref[...] = jnp.linalg.cholesky(x_ref[...])

def bad():
    x = np.zeros((8, 8), np.float32)
    return pl.pallas_call(bad_kernel, out_shape=x), (x,)

def no_pair():
    return 3
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    return path


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": PYTHON_DIR}
    return subprocess.run(
        [sys.executable, "-m", "palladion.jax.export_command", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_writes_to_standard_output_or_a_file(source, tmp_path):
    shown = command(f"{source}:add")
    assert shown.returncode == 0 and "kernel @add_kernel {" in shown.stdout and shown.stderr == ""
    out = tmp_path / "add.pkir"
    assert command(f"{source}:add", "-o", out).returncode == 0
    assert out.read_text() == shown.stdout


@pytest.mark.parametrize(
    "target, code, message",
    [
        ("{}:bad", 3, "kernels.py:14: the primitive 'cholesky' is not known"),
        ("{}:missing", 4, "defines no 'missing'"),
        ("{}:no_pair", 4, "must return (f, args), found int"),
        ("{}", 4, "expected FILE.py:NAME"),
        ("{}.absent:add", 4, "there is no file"),
    ],
)
def test_bad_input(source, target, code, message):
    done = command(target.format(source))
    assert done.returncode == code and message in done.stderr and done.stdout == ""
    assert len(done.stderr.strip().split("\n")) == 1


def test_an_output_that_cannot_be_written(source, tmp_path):
    done = command(f"{source}:add", "-o", tmp_path / "absent" / "k.pkir")
    assert done.returncode == 4 and "cannot write" in done.stderr
    assert command("--colour").returncode == 4
