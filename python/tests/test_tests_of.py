"""Which tests `./dev test --of FILE` runs: those beside a file, and those that noticed when it was broken."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def chosen_for(*paths):
    command = [sys.executable, "tools/tests_of.py", *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_source_has_the_suites_beside_it_and_those_that_noticed():
    lines = dict(line.split(" ", 1) for line in chosen_for("semantics/prepare/joined_launches.cc").stdout.splitlines())
    assert "DeviceMesh.*" in lines["semantics_test"]
    assert "CheckCommandTest.SeveralLaunchesInARow" in lines["emu_test"]  # docs/develop/mutants.md


def test_several_files_are_one_run_of_each_binary():
    lines = chosen_for("scheduler/run_loop.cc", "scheduler/agent.h").stdout.splitlines()
    assert [line.split()[0] for line in lines].count("scheduler_test") == 1


def test_a_python_module_has_the_tests_with_its_name():
    assert "pytest python/tests/test_fit.py" in chosen_for("python/palladion/api/fitting.py").stdout.splitlines()


@pytest.mark.parametrize(
    "path, message",
    [
        ("semantics/no_such_file.cc", "is no file of this repository"),
        ("docs/reference/fit.md", "of C++ and Python files it is known which tests notice a change"),
        ("bench/memory_model_bench.cc", "no test binary has tests of this folder"),
    ],
)
def test_what_has_none_is_an_error(path, message):
    found = chosen_for(path)
    assert found.returncode == 1 and message in found.stderr
