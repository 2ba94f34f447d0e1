"""The benchmarks that run shipped kernels still run: each script on its smallest case. What they measure is not held."""

import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = {
    "checks": ["check_cost.py", "--quick", "--no-memory", "--no-docs", "--filter", "example_kernel"],
    "peers": ["peers.py", "--quick", "--tpu-interpreter", "none", "--no-docs", "--filter", "example_kernel"],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_gives_a_row(script):
    name, *arguments = SCRIPTS[script]
    command = [sys.executable, os.path.join(ROOT, "bench", name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "example_kernel" in done.stdout
