"""A shape or a type that a target does not take is one mistake, with the block, the user's line and a shape that it
takes.
"""

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
# Later ones compile a bare pallas_call with Triton again, and have no pipeline of Mosaic GPU around it.
BARE_IS_MOSAIC_GPU = jax.__version_info__ < (0, 11)


def of_this_jax(target):
    return BARE_IS_MOSAIC_GPU or target != "mosaic_gpu/h100"


def several(x_ref, y_ref, o_ref):
    x = x_ref[...]
    y = y_ref[...]
    o_ref[...] = jnp.exp(x * 2 + y) - 1


def whole(shape):
    return lambda x, y: pl.pallas_call(several, out_shape=S(shape, x.dtype))(x, y), [jnp.ones(shape)] * 2


def blocks(block):
    shape = tuple(4 * size for size in block)
    spec = pl.BlockSpec(block, lambda i, j: (i, j))
    return lambda x, y: pl.pallas_call(
        several, out_shape=S(shape, x.dtype), grid=(4, 4), in_specs=[spec] * 2, out_specs=spec
    )(x, y), [jnp.ones(shape)] * 2


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


@pytest.mark.parametrize(
    "make, shape, target, named",
    [(make, shape, target, named) for make, shape, targets, named in CASES for target in filter(of_this_jax, targets)],
)
def test_one_entry_and_its_fix_works(make, shape, target, named):
    report = collected(target, make(shape))
    (mistake,) = report.mistakes
    assert mistake.code == "ILLEGAL" and len(illegal(report)) == 1 + len(mistake.symptoms) >= 2 - (
        make is filling
    ), report
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


def test_shapes_that_meet_change_together():
    def product(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...])

    f = lambda x, y: pl.pallas_call(product, out_shape=S((x.shape[0], y.shape[1]), x.dtype))(x, y)  # noqa: E731
    (mistake,) = collected("triton/h100", (f, (jnp.ones((24, 48)), jnp.ones((48, 40))))).mistakes
    assert mistake.fix.startswith(
        "use [32,64] for [24,48] and [64,64] for [48,40] and [32,64] for [24,40]"
    ), mistake.fix
    assert collected("triton/h100", (f, (jnp.ones((32, 64)), jnp.ones((64, 64))))).verdict == "proved"


def test_what_a_loop_carries_goes_with_it():
    def loop(x_ref, o_ref):
        o_ref[...] = jax.lax.fori_loop(0, 3, lambda i, acc: acc + x_ref[...], jnp.zeros(x_ref.shape))

    f = lambda x: pl.pallas_call(loop, out_shape=S(x.shape, x.dtype))(x)  # noqa: E731
    (mistake,) = collected("triton/h100", (f, [jnp.ones((3, 7))])).mistakes
    assert mistake.fix.startswith("use [4,8]"), mistake


def test_a_block_that_has_no_room_gets_a_shape_that_has():
    def more(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def call(block):
        spec = pl.BlockSpec(block, lambda i, j: (i, j))
        return lambda x: pl.pallas_call(
            more,
            out_shape=S(x.shape, x.dtype),
            grid=tuple(n // b for n, b in zip(x.shape, block)),
            in_specs=[spec],
            out_specs=spec,
        )(x)

    x = jnp.ones((1024, 1024))
    found = [one for one in collected("mosaic_gpu/h100", (call((1024, 512)), [x])).mistakes if one.code == "ILLEGAL"]
    fitting = tuple(int(size) for size in re.search(r"^use \[([\d,]+)\]", found[0].fix)[1].split(","))
    assert collected("mosaic_gpu/h100", (call(fitting), [x])).verdict == "proved", found[0].fix


@pytest.mark.parametrize(
    "target, dtype, entries",
    [
        one
        for one in (("v5e", "int64", 1), ("mosaic_gpu/h100", "float64", 1), ("mosaic_gpu/h100", "int8", 2))
        if of_this_jax(one[0])
    ],
)
def test_a_type_that_a_target_refuses_is_one_mistake(target, dtype, entries):
    def chosen(x_ref, y_ref, o_ref):
        x, y = x_ref[...], y_ref[...]
        o_ref[...] = jnp.where(x > 0, x * 2 + y, y)

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        x = jnp.ones((8, 128), dtype)
        report = collected(target, (lambda x, y: pl.pallas_call(chosen, out_shape=S(x.shape, x.dtype))(x, y), [x, x]))
    assert (
        len(report.mistakes) == entries < len(illegal(report))
    ), report  # i8: select_n is refused for a reason of its own
    assert all(one.fix == report.mistakes[0].fix for one in report.mistakes[0].symptoms)


def test_two_shapes_are_two_mistakes():
    def two(x_ref, y_ref, o_ref, p_ref):
        o_ref[...] = x_ref[...] + 1
        p_ref[...] = y_ref[...] + 1

    x, y = jnp.ones((3, 128)), jnp.ones((5, 16))
    f = lambda x, y: pl.pallas_call(two, out_shape=(S(x.shape, x.dtype), S(y.shape, y.dtype)))(x, y)  # noqa: E731
    mistakes = collected("triton/h100", (f, (x, y))).mistakes
    assert [one.why for one in mistakes] == [
        "the blocks of 'x_ref' and 'o_ref' are [3,128]",
        "the blocks of 'y_ref' and 'p_ref' are [5,16]",
    ]


def test_a_part_of_a_block_is_no_fault_of_the_block():
    def parts(x_ref, o_ref):
        o_ref[pl.ds(0, 24)] = x_ref[pl.ds(0, 24)] + 1
        o_ref[pl.ds(24, 104)] = x_ref[pl.ds(24, 104)]

    report = collected(
        "triton/h100", (lambda x: pl.pallas_call(parts, out_shape=S(x.shape, x.dtype))(x), [jnp.ones(128)])
    )
    first, second = report.mistakes
    assert first.why == "the kernel reads or writes [24] at a time of 'x_ref' and 'o_ref'" and first.fix.startswith(
        "use [32]"
    )
    assert second.why == "the kernel reads or writes [104] at a time of 'x_ref' and 'o_ref'" and second.fix.startswith(
        "use [128]"
    )
