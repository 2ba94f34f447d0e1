"""Kernels that several devices run together: each function of device_programs.py in a process with 8 host devices."""

import os
import re
import subprocess
import sys

import pytest

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "device_programs.py")
with open(PROGRAMS, encoding="utf-8") as _stream:
    NAMES = re.findall(r"^def (test_\w+)", _stream.read(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_devices(name):
    done = subprocess.run([sys.executable, PROGRAMS, name], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{name} is well\n"
