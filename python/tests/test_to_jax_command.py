"""`palladion to-jax` as a program: what it writes, and what it says about bad input."""

import os
import subprocess
import sys

import pytest

import palladion
from test_to_jax import ADD

PYTHON_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "add.pkir"
    path.write_text(ADD)
    return path


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "palladion", "to-jax", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": PYTHON_DIR},
        capture_output=True,
        text=True,
        check=False,
    )


def test_writes_to_standard_output_or_a_file(kernel, tmp_path):
    shown = command(kernel)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, palladion.to_jax_source(ADD), "")
    out = tmp_path / "add.py"
    assert command(kernel, "-o", out, "--kernel", "add").returncode == 0
    assert out.read_text() == shown.stdout


def test_bad_input(kernel, tmp_path):
    def ends(code, message, *arguments):
        done = command(*arguments)
        assert done.returncode == code and message in done.stderr and done.stdout == "", done
        assert len(done.stderr.strip().split("\n")) == 1

    ends(4, "cannot read", tmp_path / "absent.pkir")
    ends(3, "no kernel 'sub'", kernel, "--kernel", "sub")
    ends(4, "cannot write", kernel, "-o", tmp_path / "absent" / "k.py")
    (tmp_path / "ring.pkir").write_text(ADD.replace("add(%a, %b)", "ring.hash(%a, %b)"))
    ends(3, "ring.pkir: line 10: ring.hash: JAX has no such operation", tmp_path / "ring.pkir")
    (tmp_path / "bad.pkir").write_text("pkir 1; kernel")
    ends(4, "bad.pkir: <text>:1:", tmp_path / "bad.pkir")
    (tmp_path / "bytes.pkir").write_bytes(b"\xff\xfe")
    ends(4, "it is no text", tmp_path / "bytes.pkir")
