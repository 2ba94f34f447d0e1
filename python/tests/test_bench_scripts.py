"""The benchmarks that run shipped kernels still run: each script on its smallest case. Times are not compared."""

import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = {
    "checks": ["check_cost.py", "--no-memory", "--no-docs"],
    "tune": ["tuning.py", "--no-docs"],
    "peers": ["peers.py", "--tpu-interpreter", "none", "--no-docs"],
}


# The last, a hopper_matmul, asks which chip it is for.
@pytest.mark.parametrize(
    "script, kernel",
    [
        ("checks", "example_kernel f32"),
        ("peers", "example_kernel f32"),
        ("checks", "[192,256] grid minor in M"),
        ("tune", "paged attention, 4 sequences"),
    ],
)
def test_script_gives_a_row(script, kernel):
    name, *arguments = SCRIPTS[script]
    command = [sys.executable, os.path.join(ROOT, "bench", name), *arguments, "--filter", kernel]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert kernel in done.stdout
