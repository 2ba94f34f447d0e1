"""Cases of Mosaic TPU's value operations. Results are NumPy's or ml_dtypes', by the words of the specification; roll
and bitcast are also what JAX's own lowering of them to CPU gives."""

import ml_dtypes
import numpy as np
from case_tables import one_instruction


def tpu_case(name, prose, operands, oracle, attrs, suffix=""):
    return one_instruction("tpu", f"tpu.{name}", prose, operands, oracle, attrs=attrs, suffix=suffix)


def moves():
    x = ("i32", tuple(range(6)), (2, 3))
    shift = lambda n: ("i32", (n,), ())
    none = "stride=none, stride_axis=none"
    yield tpu_case(
        "roll", "Toward higher indices.", [x, shift(1)], lambda v, s: np.roll(v, s, 1), f"{{axis=1, {none}}}"
    )
    yield tpu_case(
        "roll",
        "Row j moves by 1 + 2·j.",
        [x, shift(1)],
        lambda v, s: np.stack([np.roll(v[0], 1), np.roll(v[1], 3)]),
        "{axis=1, stride=2, stride_axis=0}",
        suffix="_stride",
    )
    yield tpu_case("repeat", "The whole array again.", [x], lambda v: np.tile(v, (1, 2)), "{repeats=2, axis=1}")


def bits():
    wide = ("u32", ("0x44332211", "0x88776655"), (1, 2))
    narrow = lambda x: x.view(np.uint8).reshape(2, 4).T
    yield tpu_case("bitcast", "One row becomes four, low bytes first.", [wide], narrow, "{to=u8}")
    yield tpu_case(
        "bitcast",
        "Two rows of bf16 become one of f32: row 1 holds the high halves.",
        [("bf16", ("0x0000", "0x8000", "0x0001", "0x3f80", "0xc000", "0x4000"), (2, 3))],
        lambda x: np.array([[0x3F800000, 0xC0008000, 0x40000001]], np.uint32).view(np.float32),
        "{to=f32}",
        suffix="_wider",
    )
    pair = [("f32", (1.0, 1.00390625, -2.5), (1, 3)), ("f32", (3.0, 1.01171875, np.nan), (1, 3))]
    half = lambda x: x.astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32)
    yield tpu_case(
        "pack_elementwise",
        "f32 rounded to bf16, ties to even; operand 0 in the low half. Oracle: ml_dtypes.",
        pair,
        lambda x, y: half(x) | half(y) << 16,
        "{to=bf16}",
    )
    yield tpu_case(
        "pack_elementwise",
        "Integers keep their low bits: 300 is 44, -1 is 15.",
        [("i8", (5, -1), None), ("i8", (100, 7), None)],
        lambda x, y: ((x & 15) | (y & 15) << 4).astype(np.uint8),
        "{to=i4}",
        suffix="_integers",
    )
    words = ("u32", ("0x3f80c000", "0x0001ff80"))
    yield tpu_case(
        "unpack_elementwise",
        "Field 1 as bf16, which is the high half of a f32.",
        [words],
        lambda x: (x & np.uint32(0xFFFF0000)).view(np.float32),
        "{index=1, packed=bf16, to=f32}",
    )
    yield tpu_case(
        "unpack_elementwise",
        "Byte 1, sign-extended.",
        [words],
        lambda x: (x >> 8).astype(np.uint8).view(np.int8).astype(np.int32),
        "{index=1, packed=i8, to=i32}",
        suffix="_i8",
    )


def rounding():
    # bf16 loses 16 bits of a f32: 0x3f804000 is 1 and a quarter of a step.
    yield tpu_case(
        "stochastic_round",
        "A quarter of a step is lost: up where the random 16 bits are at least three quarters. The sign does not\n"
        "matter; what a bf16 holds stays. Oracle: the sum of the bits in NumPy.",
        [
            ("f32", ("0x3f804000", "0x3f804000", "0xbf804000", "0xbf804000", "0x3f800000")),
            ("u32", ("0x0000bfff", "0x0000c000", "0xffffbfff", "0xffffc000", "0xffffffff")),
        ],
        lambda x, r: ((x.view(np.uint32) + (r & 0xFFFF)) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16),
        "{to=bf16}",
    )


FAMILIES = (moves, bits, rounding)
