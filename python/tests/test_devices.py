"""Kernels that several devices run together: each function of these programs in a process with 8 host devices."""

import os
import re
import subprocess
import sys

import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def named_in(program):
    with open(os.path.join(FOLDER, program), encoding="utf-8") as stream:
        return [(program, name) for name in re.findall(r"^def (test_\w+)", stream.read(), re.MULTILINE)]


PROGRAMS = ("device_programs.py", "device_launches.py", "gpu_device_programs.py", "gpu_device_kernels.py")


@pytest.mark.parametrize("program, name", [named for program in PROGRAMS for named in named_in(program)])
def test_devices(program, name):
    done = subprocess.run([sys.executable, os.path.join(FOLDER, program), name], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{name} is well\n"
    assert "Traceback" not in done.stderr, done.stderr  # an error that was caught is told no more when Python ends
