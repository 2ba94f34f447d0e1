"""Cases of arithmetic, bits, comparisons and rounding, with the operands that show each operation's rules."""

import jax
import ml_dtypes
import numpy as np
from case_tables import INF, NAN, elementwise, lax, quiet


def maximum(x, y):  # NumPy does not say which of two zeros it takes
    with np.errstate(all="ignore"):
        return np.where((x == 0) & (y == 0), np.where(np.signbit(x), y, x), np.maximum(x, y))


def minimum(x, y):
    return -maximum(-x, -y)


def upper_half(wide):
    """The product in the type `wide`, without its lower half."""
    return lambda x, y: (np.asarray(x, wide) * np.asarray(y, wide) >> np.array(8 * x.itemsize, wide)).astype(x.dtype)


def arithmetic():
    f32 = "f32"
    yield elementwise(
        "add",
        "Floats round to nearest even; subnormals are kept; infinities of opposite sign give NaN.",
        [(f32, (1.0, 16777216.0, 1e-40, INF, -0.0)), (f32, (2.0, 1.0, 1e-40, -INF, -0.0))],
        quiet(np.add),
    )
    yield elementwise(
        "add",
        "Integers wrap around.",
        [("i8", (127, -128, 100, 5)), ("i8", (1, -1, 100, -7))],
        quiet(np.add),
        suffix="_wraps",
    )
    yield elementwise(
        "add",
        "bfloat16 rounds once to 8 bits of significand.",
        [("bf16", (256.0, 257.0, 1.0)), ("bf16", (1.0, 1.0, 0.00390625))],
        quiet(np.add),
        suffix="_bf16",
    )
    yield elementwise(
        "sub",
        "Floats: equal numbers give +0.",
        [(f32, (1.0, 3.0, INF, 0.0)), (f32, (1.0, 1e-8, INF, -0.0))],
        quiet(np.subtract),
    )
    yield elementwise(
        "sub",
        "Unsigned integers wrap around.",
        [("u8", (0, 3, 255)), ("u8", (1, 5, 255))],
        quiet(np.subtract),
        suffix="_wraps",
    )
    yield elementwise(
        "mul",
        "Floats: underflow is gradual, overflow is infinite, 0 times infinity is NaN.",
        [(f32, (3.0, 1e-30, 1e30, 0.0, -2.0)), (f32, (0.1, 1e-10, 1e30, INF, 0.0))],
        quiet(np.multiply),
    )
    yield elementwise(
        "mul",
        "Integers keep the low bits of the product.",
        [("i32", (65536, -3, 2147483647)), ("i32", (65536, 7, 2))],
        quiet(np.multiply),
        suffix="_wraps",
    )
    yield elementwise(
        "div",
        "Floats: correctly rounded; division by zero is infinite with the sign of both.",
        [(f32, (1.0, 2.0, -1.0, 0.0, 1e-38)), (f32, (3.0, 7.0, 0.0, 0.0, 8.0))],
        quiet(np.divide),
    )
    yield elementwise(
        "div",
        "Integers: toward zero; x/0 is -1; the most negative number by -1 is itself. Oracle: JAX.",
        [("i32", (7, -7, 5, -2147483648, 0)), ("i32", (2, 2, 0, -1, 9))],
        lax("div"),
        suffix="_integers",
    )
    yield elementwise(
        "rem",
        "Floats: exact, with the sign of the dividend. Oracle: C's fmod.",
        [(f32, (5.5, -5.5, 1e10, 1.0, -0.0, 1.0)), (f32, (2.0, 2.0, 3.0, 0.0, 1.0, INF))],
        quiet(np.fmod),
    )
    yield elementwise(
        "rem",
        "Integers: the sign of the dividend; x rem 0 is x. Oracle: JAX.",
        [("i32", (7, -7, 5, -2147483648)), ("i32", (3, 3, 0, -1))],
        lax("rem"),
        suffix="_integers",
    )
    yield elementwise(
        "max",
        "NaN wins; +0 is above -0 (IEEE 754-2019 maximum).",
        [(f32, (1.0, NAN, 2.0, -0.0, -INF)), (f32, (2.0, 1.0, NAN, 0.0, -3.0))],
        maximum,
    )
    yield elementwise(
        "min",
        "NaN wins; -0 is below +0 (IEEE 754-2019 minimum).",
        [(f32, (1.0, NAN, 2.0, -0.0, INF)), (f32, (2.0, 1.0, NAN, 0.0, 3.0))],
        minimum,
    )
    yield elementwise(
        "max",
        "Unsigned integers compare as such.",
        [("u8", (200, 3)), ("u8", (100, 4))],
        np.maximum,
        suffix="_unsigned",
    )
    yield elementwise("add_any", "Adds, as add does.", [(f32, (1.0, 0.5)), (f32, (2.0, -0.5))], np.add)
    yield elementwise(
        "clamp",
        "Where the bounds cross, the upper one wins; NaN stays. Oracle: JAX.",
        [(f32, (0.0, 0.0, 0.0, 2.0)), (f32, (-1.0, 0.5, NAN, 0.0)), (f32, (1.0, 1.0, 1.0, 1.0))],
        lax("clamp"),
    )
    yield elementwise(
        "integer_pow",
        "Repeated squaring: x·(x²)², each product rounded. Oracle: JAX.",
        [(f32, (1.1, -2.0, 0.3333, INF))],
        lax("integer_pow", y=5),
        attrs="{y=5}",
    )
    yield elementwise(
        "integer_pow",
        "A negative exponent takes the reciprocal at the end. Oracle: JAX.",
        [(f32, (3.0, -2.0, 0.0, 1e20))],
        lax("integer_pow", y=-3),
        attrs="{y=-3}",
        suffix="_negative",
    )
    yield elementwise("square", "x times x, rounded.", [(f32, (1.1, -3.0, 1e20, -0.0))], quiet(np.square))
    yield elementwise("neg", "Only the sign bit changes.", [(f32, (1.5, 0.0, -0.0, -INF))], np.negative)
    yield elementwise(
        "neg",
        "The most negative integer is its own negative.",
        [("i8", (5, -128, 0))],
        quiet(np.negative),
        suffix="_wraps",
    )
    yield elementwise("abs", "The sign bit is cleared.", [(f32, (-1.5, -0.0, -INF, 2.0))], np.abs)
    yield elementwise(
        "sign", "-1, 0 or 1; zeros keep their sign. Oracle: JAX.", [(f32, (-2.5, -0.0, 0.0, 1e30, NAN))], lax("sign")
    )
    yield elementwise("sign", "Integers. Oracle: JAX.", [("i32", (-7, 0, 9))], lax("sign"), suffix="_integers")


def bits():
    pairs = [("u8", (0b1100, 0xFF, 0x0F)), ("u8", (0b1010, 0x3C, 0xF0))]
    yield elementwise("and", "Bits that both have.", pairs, np.bitwise_and)
    yield elementwise("or", "Bits that either has.", pairs, np.bitwise_or)
    yield elementwise("xor", "Bits that differ.", pairs, np.bitwise_xor)
    truths = [("bool", (False, False, True, True)), ("bool", (False, True, False, True))]
    yield elementwise("and", "The truth table on bool.", truths, np.logical_and, suffix="_bool")
    yield elementwise("not", "All bits inverted.", [("i32", (0, -1, 5))], np.invert)
    yield elementwise("not", "Logical on bool.", [("bool", (False, True))], np.logical_not, suffix="_bool")
    amounts = ("i32", (0, 1, 31, 32, -1))
    for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
        yield elementwise(
            name,
            "An amount of the width or more, or a negative one, moves every bit out. Oracle: JAX.",
            [("i32", (-5, -5, -5, -5, -5)), amounts],
            lax(name),
        )
    yield elementwise(
        "clz", "Zero bits above the highest set one. Oracle: JAX.", [("i32", (0, 1, 255, -1))], lax("clz")
    )
    yield elementwise(
        "clz", "Within the width of the type. Oracle: JAX.", [("u8", (0, 1, 128))], lax("clz"), suffix="_u8"
    )
    yield elementwise(
        "population_count",
        "Set bits, of negative numbers in two's complement. Oracle: JAX.",
        [("i32", (0, 7, -1, -2147483648))],
        lax("population_count"),
    )
    yield elementwise(
        "mulhi",
        "The upper half of the product, with its sign. Oracle: NumPy in twice the width.",
        [("i32", (1 << 30, -1, -2147483648, 123456789, 7)), ("i32", (6, 1, -2147483648, -987654321, 5))],
        upper_half(np.int64),
    )
    yield elementwise(
        "mulhi",
        "Without a sign; one operand for all. Oracle: NumPy in twice the width.",
        [("u8", (255, 200, 3, 128)), ("u8", (255,), ())],
        upper_half(np.uint16),
        suffix="_u8",
    )


def comparisons():
    operands = [("f32", (1.0, 2.0, 0.0, NAN, INF)), ("f32", (2.0, 2.0, -0.0, NAN, 1.0))]
    proses = {
        "eq": "NaN is equal to nothing; zeros are equal.",
        "ne": "True for NaN.",
        "lt": "False with NaN; -0 is not below +0.",
        "le": "False with NaN.",
        "gt": "False with NaN.",
        "ge": "False with NaN.",
    }
    numpy = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
    for name, prose in proses.items():
        yield elementwise(name, prose, operands, numpy[name])
    yield elementwise(
        "lt",
        "Unsigned integers compare as such.",
        [("u32", (0, 4294967295)), ("u32", (4294967295, 0))],
        np.less,
        suffix="_unsigned",
    )
    ordered = [
        ("f32", (0.0, -0.0, NAN, "0xffc00000", INF, 1.0, -2.0, NAN)),
        ("f32", (-0.0, 0.0, INF, -INF, NAN, 1.0, -1.0, NAN)),
    ]
    total = lambda name: lambda x, y: np.asarray(getattr(jax._src.lax.lax, name).bind(x, y))
    yield elementwise("lt_to", "-0 is below +0, NaN above all, -NaN below all. Oracle: JAX.", ordered, total("lt_to_p"))
    yield elementwise("le_to", "-0 is below +0, NaN above all, -NaN below all. Oracle: JAX.", ordered, total("le_to_p"))
    yield elementwise("eq_to", "-0 is not +0, and NaN is NaN. Oracle: JAX.", ordered, total("eq_to_p"))
    yield elementwise("is_finite", "Neither infinite nor NaN.", [("f32", (0.0, 1e38, INF, -INF, NAN))], np.isfinite)
    yield elementwise(
        "select_n",
        "A bool takes case 0 where false, case 1 where true; NaNs keep their bits.",
        [("bool", (False, True, True)), ("f32", (1.0, 2.0, 3.0)), ("f32", (4.0, "0x7fc12345", 6.0))],
        lambda p, a, b: np.where(p, b, a),
    )
    yield elementwise(
        "select_n",
        "An integer beyond the cases takes the nearest one. Oracle: JAX.",
        [
            ("i32", (-1, 0, 1, 2, 9)),
            ("i32", (10, 11, 12, 13, 14)),
            ("i32", (20, 21, 22, 23, 24)),
            ("i32", (30, 31, 32, 33, 34)),
        ],
        lax("select_n"),
        suffix="_integer",
    )


def round_away(x):
    below = np.trunc(np.abs(x))
    return np.copysign(below + (np.abs(x) >= below + np.float32(0.5)), x)


def rounding():
    halves = ("f32", (-1.5, -0.5, 0.5, 1.5, 2.5, 8388609.0, -0.0, INF))
    yield elementwise("floor", "The integer below.", [halves], np.floor)
    yield elementwise("ceil", "The integer above; -0.5 becomes -0.", [halves], np.ceil)
    yield elementwise(
        "round", "Halves go to the even integer.", [halves], np.rint, attrs="{rounding_method=1}", suffix="_even"
    )
    yield elementwise("round", "Halves go away from zero.", [halves], round_away, attrs="{rounding_method=0}")
    yield elementwise(
        "nextafter",
        "The neighbour toward the second operand, subnormals included.",
        [("f32", (1.0, 1.0, 0.0, -0.0, 3.4028235e38, 1.0)), ("f32", (2.0, 0.0, -1.0, 0.0, INF, NAN))],
        quiet(np.nextafter),
    )
    yield elementwise(
        "reduce_precision",
        "As bf16 would round: 8 exponent and 7 mantissa bits.",
        [("f32", (1.00390625, 1.01171875, 3.4e38, -1e-3, NAN))],
        quiet(lambda x: x.astype(ml_dtypes.bfloat16).astype(np.float32)),
        attrs="{exponent_bits=8, mantissa_bits=7}",
    )
    yield elementwise(
        "reduce_precision",
        "A narrower exponent overflows to infinity and has no subnormals. Oracle: JAX.",
        [("f32", (65519.0, 65520.0, 6.1e-05, 6.2e-05, -1e-30, 1.0009765625))],
        lax("reduce_precision", exponent_bits=5, mantissa_bits=10),
        attrs="{exponent_bits=5, mantissa_bits=10}",
        suffix="_narrow",
    )


FAMILIES = (arithmetic, bits, comparisons, rounding)
