"""`palladion tune`, the command: what it prints, what it writes, and its exit codes."""

import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import tuned_kernels
from palladion.api import tune_command

TESTS = pathlib.Path(__file__).parent

ENTRY = """
import sys
sys.path.insert(0, {tests!r})
import jax.numpy as jnp
import tuned_kernels

def product():
    x = tuned_kernels.random((256, 256))
    return tuned_kernels.matmul, (x, x)

def right(x, y):
    return x @ y

def zero(x, y):
    return jnp.zeros_like(x)
"""


@pytest.fixture
def command(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(ENTRY.format(tests=str(TESTS)))

    def run(*arguments):
        words = [sys.executable, "-m", "palladion", "tune", f"{path}:product", *map(str, arguments)]
        return subprocess.run(words, env=tuned_kernels.environment(), capture_output=True, text=True, timeout=300)

    run.function = f"{path}:product"
    return run


def test_the_command_prints_the_table_and_draws(command, tmp_path):
    done = command(
        "--space",
        "bm=128,256",
        "bn=256",
        "--target",
        "v6e",
        "--seeds",
        1,
        "--plot",
        tmp_path / "t.svg",
        "--oracle",
        "right",
    )
    assert done.returncode == 0, done.stderr
    assert "the best: bm=256 bn=256, " in done.stdout and "those of the oracle" in done.stdout
    xml.etree.ElementTree.parse(tmp_path / "t.svg")


def test_the_command_as_json_and_its_exit_codes(command, capsys):
    def here(*arguments):
        code = tune_command.main([command.function, "--target", "v6e", "--seeds", "1", *arguments], "palladion tune")
        return (code, *capsys.readouterr())

    code, out, _ = here("--space", "bm=128,256", "--format", "json")
    assert code == 0 and json.loads(out)["best"] == 1
    code, out, _ = here("--space", "bm=256", "--oracle", "zero")
    assert code == 1 and "none is chosen" in out
    for arguments, message in [
        (("--space", "bm"), "--space takes NAME=VALUE,VALUE; found 'bm'"),
        (("--space", "bm=1", "--space", "bm=2"), "--space has 'bm' twice"),
        (("--space", "blok=1"), "unexpected keyword argument 'blok'"),
        (("--space", "bm=100"), "no candidate is legal"),
        (("--space", "bm=128", "--oracle", "nobody"), "defines no 'nobody'"),
        (("--space", "bm=128", "--resume", "/nowhere/r"), "palladion tune: '/nowhere/r': No such file"),
    ]:
        code, _, error = here(*arguments)
        assert code == 4 and message in error, error
    with pytest.raises(SystemExit) as stopped:
        here()
    assert stopped.value.code == 4


def test_values_of_the_command_are_pythons():
    space = tune_command.space_of(["a=1,2.5", "b=(8,128),(16,128)", "c=fast,slow", "d=True,None"])
    assert space == {"a": [1, 2.5], "b": [(8, 128), (16, 128)], "c": ["fast", "slow"], "d": [True, None]}
