"""Kernels that several devices run together: the functions of each of these programs in one process with 8 host
devices.

Importing JAX is most of what one function takes, so they share a process. After one that fails the others go on in a
new one.
The functions of gpu_device_kernels.py have one each: some of them say how many devices the process has.
"""

import functools
import os
import re
import subprocess
import sys

import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def named_in(program):
    with open(os.path.join(FOLDER, program), encoding="utf-8") as stream:
        return re.findall(r"^def (test_\w+)", stream.read(), re.MULTILINE)


PROGRAMS = ("device_programs.py", "device_launches.py", "gpu_device_programs.py", "gpu_device_kernels.py")


@functools.cache
def wrong_of(program, names):
    """{name: what is wrong with it, "" for nothing} of these functions of a program."""
    wrong, left = {}, list(names)
    while left:
        done = subprocess.run(
            [sys.executable, os.path.join(FOLDER, program), *left],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        well = [name for name in left if f"{name} is well" in done.stdout.splitlines()]
        good = done.stdout == "".join(f"{name} is well\n" for name in well)
        if well == left:  # an error that was caught is not reported again when Python ends
            good = good and done.returncode == 0 and "Traceback" not in done.stderr
        wrong |= dict.fromkeys(well, "" if good else f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        left = left[len(well) :]
        if left:
            failed, *left = left
            wrong[failed] = done.stdout + done.stderr or f"exit code {done.returncode}"
    return wrong


@pytest.mark.parametrize("program, name", [(program, name) for program in PROGRAMS for name in named_in(program)])
def test_devices(program, name):
    together = (name,) if program == "gpu_device_kernels.py" else tuple(named_in(program))
    wrong = wrong_of(program, together)[name]
    assert not wrong, wrong


MIXED = """
import sys
for name in sys.argv[1:]:
    assert name != "bad"
    print(name, "is well")
if "late" in sys.argv:
    sys.exit(3)
"""


def test_one_that_fails_is_named_and_the_others_go_on(tmp_path):
    (tmp_path / "mixed.py").write_text(MIXED)
    wrong = wrong_of(str(tmp_path / "mixed.py"), ("one", "bad", "two"))
    assert wrong.keys() == {"one", "bad", "two"} and wrong["one"] == wrong["two"] == ""
    assert "AssertionError" in wrong["bad"]
    assert all("exit code 3" in error for error in wrong_of(str(tmp_path / "mixed.py"), ("one", "late")).values())
