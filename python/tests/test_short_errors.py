"""What an uncaught error prints: the message once, the user's own lines, and no private name."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import palladion

PRELUDE = """
import jax, jax.numpy as jnp, palladion
from jax.experimental import pallas as pl


def racy_kernel(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0)]


def racy(x):
    return pl.pallas_call(
        racy_kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.float32), grid=(4,),
        in_specs=[pl.BlockSpec((4,), lambda i: (0,))], out_specs=pl.BlockSpec((1,), lambda i: (0,)))(x)


def past_the_end_kernel(x_ref, o_ref):
    o_ref[pl.program_id(0) + 3] = x_ref[0]


def past_the_end(x):
    return pl.pallas_call(past_the_end_kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32), grid=(2,))(x)


def unknown_kernel(x_ref, o_ref):
    o_ref[...] = jax.random.gamma(jax.random.key(0), x_ref[...])


def unknown(x):
    return pl.pallas_call(unknown_kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32))(x)


def endless_kernel(x_ref, o_ref):
    o_ref[0] = jax.lax.while_loop(lambda c: c < 9, lambda c: (c + 1) % 5, 0.0)


def endless(x):
    return pl.pallas_call(endless_kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32))(x)


def misspelled(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_reff[...]
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32))(x)


x = jnp.arange(4, dtype=jnp.float32)
"""
RACE, BOUNDS = "palladion.DefectError: error[RACE_WW]", "palladion.DefectError: error[OOB]"
UNKNOWN = "palladion.ExportError: "
CASES = [  # what is run, how its message begins, the most lines before it
    ("with palladion.emulate('triton/h100', seeds=4):\n    racy(x)", RACE, 6),
    ("with palladion.emulate('triton/h100'):\n    past_the_end(x)", BOUNDS, 6),
    ("with palladion.emulate('triton/h100'):\n    jax.jit(lambda x: past_the_end(x) * 2)(x)", BOUNDS, 6),
    ("palladion.check(racy, x, target='triton/h100').raise_if_defect()", RACE, 8),
    ("with palladion.emulate('triton/h100'):\n    unknown(x)", UNKNOWN, 8),
    ("palladion.check(unknown, x, target='triton/h100')", UNKNOWN, 6),
    ("palladion.run(unknown, x)", UNKNOWN, 6),
    ("palladion.export(unknown, x)", UNKNOWN, 6),
    ("palladion.check(racy, x, target='h1000')", "palladion.PalladionError: unknown target 'h1000'", 6),
    ("palladion.check(racy, x, fill='one')", "palladion.PalladionError: fill must be", 6),
    ("palladion.run(endless, x, budget=99)", "palladion.PalladionError: kernel @", 8),
    ("palladion.check(misspelled, x)", "NameError: name 'x_reff' is not defined", 26),
]


def printed(program: str, **more) -> str:
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(palladion.__file__).parents[1])} | more
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize("program, message, lines", CASES)
def test_the_message_once_after_a_few_lines(program, message, lines):
    text = printed(program)
    before, found, after = text.partition("\n" + message)
    assert found and text.count("Traceback (most recent call last)") == 1, text
    assert before.count("\n") < lines, text
    assert message.partition(": ")[2] not in after or not message.partition(": ")[2], text
    for private in (
        "palladion._library",
        "palladion.base.errors",
        "palladion.report.",
        "INVALID_ARGUMENT",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "direct cause",
    ):
        assert private not in text
    assert not re.search(r"line \d+ of (the kernel text|what palladion)", text)


def test_all_frames_where_they_are_asked_for():
    text = printed("palladion.check(unknown, x)", PALLADION_TRACEBACK="full")
    assert text.count("/palladion/") > 10


def test_an_error_has_what_it_had():
    with pytest.raises(palladion.PalladionError) as caught:
        palladion.check(lambda: None, target="h1000")
    assert caught.value.code == 4 and caught.value.__cause__ is None
