"""A shape that a target does not take is one mistake, with the block, the user's line and a shape that it takes."""

import math
import os
import re

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import palladion

S = jax.ShapeDtypeStruct
TARGETS = ("triton/h100", "mosaic_gpu/h100", "v5e")


def several(x_ref, y_ref, o_ref):
    x = x_ref[...]
    y = y_ref[...]
    o_ref[...] = jnp.exp(x * 2 + y) - 1


def whole(shape):
    return lambda x, y: pl.pallas_call(several, out_shape=S(shape, x.dtype))(x, y), [jnp.ones(shape)] * 2


def blocks(block):
    shape = tuple(4 * size for size in block)
    spec = pl.BlockSpec(block, lambda i, j: (i, j))
    return lambda x, y: pl.pallas_call(several, out_shape=S(shape, x.dtype), grid=(4, 4), in_specs=[spec] * 2, out_specs=spec)(x, y), [jnp.ones(shape)] * 2


def filling(shape):
    def fill(o_ref):
        o_ref[...] = jnp.zeros(o_ref.shape, jnp.float32)

    return lambda: pl.pallas_call(fill, out_shape=S(shape, jnp.float32))(), []


def rows(shape, out=None):
    def of_rows(x_ref, o_ref):
        x = x_ref[...]
        o_ref[...] = jnp.sum(x * x, axis=1)

    return lambda x: pl.pallas_call(of_rows, out_shape=S(out or shape[:1], x.dtype))(x), [jnp.ones(shape)]


def collected(target, call):
    f, arrays = call
    with palladion.emulate(target, seeds=2, on_defect="collect") as session:
        f(*arrays)
    return session.report.calls[0]


def illegal(report):
    return [finding for finding in report.findings if finding.code == "ILLEGAL"]


CASES = [  # how it is called, with which shape; the targets that refuse it; what is named
    (whole, (3, 100), TARGETS[:2], "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [3,100]"),
    (whole, (7,), TARGETS[:2], "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [7]"),
    (whole, (4, 300), TARGETS[:2], "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [4,300]"),
    (whole, (2, 3, 20), TARGETS[:2], "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [2,3,20]"),
    (blocks, (5, 100), TARGETS, "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [5,100]"),
    (blocks, (3, 128), TARGETS[::2], "the blocks of 'x_ref', 'y_ref' and 'o_ref' are [3,128]"),
    (filling, (10, 10), TARGETS[:2], "the block of 'o_ref' is [10,10]"),
]


@pytest.mark.parametrize("make, shape, target, named", [(make, shape, target, named) for make, shape, targets, named in CASES for target in targets])
def test_one_entry_and_its_fix_works(make, shape, target, named):
    report = collected(target, make(shape))
    (mistake,) = report.mistakes
    assert mistake.code == "ILLEGAL" and len(illegal(report)) == 1 + len(mistake.symptoms) >= 2 - (make is filling), report
    assert mistake.why == named and str(report).count("\n  fix: ") == 1, report
    frame = next(frame for frame in mistake.frames if "site-packages" not in frame.file)
    assert os.path.basename(frame.file) == os.path.basename(__file__), mistake.frames
    fitting = tuple(int(size) for size in re.search(r"^use \[([\d,]+)\]", mistake.fix)[1].split(","))
    assert len(fitting) == len(shape) and math.prod(fitting) < 16 * math.prod(shape) + 256
    mended = collected(target, make(fitting))
    assert not mended.findings and mended.verdict == "proved", mended


def test_what_is_computed_of_it_goes_with_it():
    report = collected("triton/h100", rows((6, 100)))
    (mistake,) = report.mistakes
    assert mistake.why == "the block of 'x_ref' is [6,100], the block of 'o_ref' is [6]"
    assert mistake.fix.startswith("use [8,128] for [6,100] and [8] for [6]"), mistake.fix
    assert collected("triton/h100", rows((8, 128))).verdict == "proved"


def test_two_shapes_are_two_mistakes():
    def two(x_ref, y_ref, o_ref, p_ref):
        o_ref[...] = x_ref[...] + 1
        p_ref[...] = y_ref[...] + 1

    x, y = jnp.ones((3, 128)), jnp.ones((5, 16))
    f = lambda x, y: pl.pallas_call(two, out_shape=(S(x.shape, x.dtype), S(y.shape, y.dtype)))(x, y)  # noqa: E731
    mistakes = collected("triton/h100", (f, (x, y))).mistakes
    assert [one.why for one in mistakes] == ["the blocks of 'x_ref' and 'o_ref' are [3,128]", "the blocks of 'y_ref' and 'p_ref' are [5,16]"]


def test_a_part_of_a_block_is_no_fault_of_the_block():
    def parts(x_ref, o_ref):
        o_ref[pl.ds(0, 24)] = x_ref[pl.ds(0, 24)] + 1
        o_ref[pl.ds(24, 104)] = x_ref[pl.ds(24, 104)]

    report = collected("triton/h100", (lambda x: pl.pallas_call(parts, out_shape=S(x.shape, x.dtype))(x), [jnp.ones(128)]))
    first, second = report.mistakes
    assert first.why == "the kernel reads or writes [24] at a time of 'x_ref' and 'o_ref'" and first.fix.startswith("use [32]")
    assert second.why == "the kernel reads or writes [104] at a time of 'x_ref' and 'o_ref'" and second.fix.startswith("use [128]")
