"""Cases of conversions, identities, elementary functions and broadcasting."""

import jax
import ml_dtypes
import numpy as np
import scipy.special
from case_tables import INF, NAN, elementwise, lax, quiet
from case_writer import Case, Operand, array
from mpfr_oracle import function as mpfr


def conversions():
    def case(suffix, prose, operand, to, oracle=None):
        ty = np.dtype(array(to, ()).dtype)
        return elementwise(
            "convert_element_type",
            prose,
            [operand],
            oracle or quiet(lambda x: x.astype(ty)),
            attrs=f"{{to={to}}}",
            suffix=suffix,
        )

    to_i8 = lax("convert_element_type", new_dtype=np.int8)
    yield case(
        "_f32_i8",
        "Floats go toward zero and saturate; NaN gives 0. Oracle: JAX.",
        ("f32", (1.9, -1.9, 300.0, -300.0, INF, NAN)),
        "i8",
        to_i8,
    )
    yield case("_i32_i8", "Integers keep the low bits.", ("i32", (300, -129, 127)), "i8")
    yield case("_i32_f32", "Integers round to nearest even.", ("i32", (16777217, 16777219, -5)), "f32")
    yield case(
        "_f32_bf16", "Ties go to even. Oracle: ml_dtypes.", ("f32", (1.00390625, 1.01171875, 3.4e38, -0.0)), "bf16"
    )
    yield case(
        "_f32_f8e4m3fn",
        "No infinity: overflow gives NaN. Oracle: ml_dtypes.",
        ("f32", (448.0, 464.0, 465.0, 0.001)),
        "f8e4m3fn",
    )
    yield case("_f32_bool", "True where not zero, so for NaN.", ("f32", (0.0, -0.0, 1e-40, NAN)), "bool")

    def bitcast(suffix, prose, operand, to):
        ty = np.dtype(array(to, ()).dtype)
        return elementwise(
            "bitcast_convert_type",
            prose,
            [operand],
            lambda x: np.asarray(jax.lax.bitcast_convert_type(x, ty)),
            attrs=f"{{to={to}}}",
            suffix=suffix,
        )

    yield bitcast("", "The bits of floats as integers. Oracle: JAX.", ("f32", (1.0, -0.0, INF)), "u32")
    yield bitcast(
        "_narrower",
        "A new last dimension holds the pieces, lowest bits first. Oracle: JAX.",
        ("u32", ("0x04030201", "0x08070605")),
        "u8",
    )
    yield bitcast(
        "_wider",
        "The last dimension holds the pieces and disappears. Oracle: JAX.",
        ("u16", (0, 0x3F80, 0, 0x4000), (2, 2)),
        "f32",
    )


def identities():
    kept = ("f32", (1.0, "0x7fc12345", -0.0))
    integers = ("i32", (0, 16, 32))
    same = lambda x: x  # noqa: E731: the oracle of doing nothing
    for name, attrs, operand in (
        ("stop_gradient", "", kept),
        ("copy", "", kept),
        ("optimization_barrier", "", kept),
        ("layout_cast", '{layout="WGMMA"}', kept),
        ("reshard", "", kept),
        ("stage", "", kept),
        ("multiple_of", "{values=[16]}", integers),
        ("max_contiguous", "{values=[1]}", integers),
    ):
        yield elementwise(
            name,
            "The operand, bit for bit." if operand is kept else "The operand; the promise changes nothing.",
            [operand],
            same,
            attrs=attrs,
        )


FUNCTIONS = {
    "exp": (0.0, 1.0, -1.0, 88.7, 89.0, -104.0, -INF),
    "exp2": (0.0, 0.5, -149.0, -150.0, 128.0),
    "expm1": (0.0, 1e-8, 1.0, -INF),
    "log": (1.0, 2.0, 1e-40, 0.0, -1.0, INF),
    "log2": (1.0, 8.0, 1e-40, 3.0, 0.0, -1.0, INF),
    "log1p": (0.0, 1e-8, 1.0, -1.0, -2.0),
    "logistic": (0.0, 1.0, -1.0, -100.0, 100.0),
    "tanh": (0.0, -0.0, 0.5, 10.0, -INF),
    "sqrt": (2.0, 0.0, -0.0, -1.0, 1e-40),
    "rsqrt": (2.0, 4.0, 0.0, -1.0, INF),
    "cbrt": (27.0, -8.0, 2.0, -0.0),
    "sin": (0.0, 1.0, 3.1415927, 1e22, INF),
    "cos": (0.0, 1.0, 1.5707964, 1e22, INF),
    "tan": (0.0, 1.0, 1.5707964, -1e10),
    "asin": (0.0, 0.5, 1.0, 1.5),
    "acos": (0.0, 0.5, 1.0, -1.0, 1.5),
    "atan": (0.0, 1.0, -INF, 1e-10),
    "sinh": (0.0, 1.0, -90.0, 1e-10),
    "cosh": (0.0, 1.0, -90.0),
    "asinh": (0.0, 1.0, -1e30, 1e-10),
    "acosh": (1.0, 2.0, 1e30, 0.5),
    "atanh": (0.0, 0.5, 1.0, -1.0, 1.5),
    "erf": (0.0, 0.5, -3.0, INF, 1e-10),
    "erfc": (0.0, 0.5, 10.0, -INF),
}


def functions():
    for name, operand in FUNCTIONS.items():
        yield elementwise(name, "Correctly rounded in float32. Oracle: MPFR.", [("f32", (*operand, NAN))], mpfr(name))
    yield elementwise(
        "erf_inv",
        "Correctly rounded in float32. Oracle: SciPy in double precision.",
        [("f32", (0.0, 0.5, -0.9, 1.0, 2.0))],
        lambda x: scipy.special.erfinv(x.astype(np.float64)).astype(np.float32),
    )
    yield elementwise(
        "bessel_i0e",
        "Correctly rounded in float32. Oracle: SciPy in double precision.",
        [("f32", (0.0, 0.5, -2.0, 8.0, 1e30, -INF, NAN))],
        lambda x: scipy.special.i0e(x.astype(np.float64)).astype(np.float32),
    )
    yield elementwise(
        "exp",
        "bfloat16 results are rounded once. Oracle: NumPy in double precision.",
        [("bf16", (0.0, 1.0, -1.0, 5.0))],
        lambda x: np.exp(x.astype(np.float64)).astype(ml_dtypes.bfloat16),
        suffix="_bf16",
    )
    yield elementwise(
        "pow",
        "IEEE 754's pow, correctly rounded. Oracle: MPFR.",
        [("f32", (2.0, 2.0, -8.0, 0.0, NAN, 1.0, -2.0)), ("f32", (0.5, -3.0, 0.333, -1.0, 0.0, NAN, 3.0))],
        mpfr("pow"),
    )
    yield elementwise(
        "pow",
        "An integer exponent is converted to the type of the base. Oracle: MPFR.",
        [("f32", (2.0, -1.5, 1.1)), ("i32", (10, 3, -7))],
        mpfr("pow"),
        suffix="_integer_exponent",
    )
    yield elementwise(
        "atan2",
        "All four quadrants and the signs of zeros. Oracle: MPFR.",
        [("f32", (1.0, 1.0, -1.0, 0.0, -0.0, INF)), ("f32", (1.0, -1.0, -1.0, -0.0, -1.0, INF))],
        mpfr("atan2"),
    )
    yield elementwise(
        "tpu.reciprocal",
        "One over x, correctly rounded.",
        [("f32", (3.0, -0.0, INF, 1e-39))],
        quiet(lambda x: np.float32(1) / x),
        op="tpu.reciprocal",
        attrs="{approx=false, full_range=true}",
    )
    yield elementwise(
        "tpu.reciprocal",
        "The approximation rounds operand and result to bf16. Oracle: ml_dtypes.",
        [("f32", (3.0, 1.005, 10.0))],
        quiet(lambda x: (ml_dtypes.bfloat16(1) / x.astype(ml_dtypes.bfloat16)).astype(np.float32)),
        op="tpu.reciprocal",
        attrs="{approx=true, full_range=true}",
        suffix="_approx",
    )
    yield elementwise(
        "triton.elementwise_inline_asm",
        "approx_tanh gives the rounded tanh. Oracle: MPFR.",
        [("f32", (0.0, 0.5, -3.0))],
        mpfr("tanh"),
        attrs='{asm="tanh.approx.f32 $0, $1;", constraints="=f,f", pack=1}',
    )


def broadcast():
    yield Case(
        "elementwise/rank_0_operand",
        "elementwise.md#mul",
        "A rank 0 operand is used for every element.",
        {"x": Operand("f32", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (2, 3))},
        ("%ov = mul(%xv, 0.5:f32) : f32[2,3];",),
        lambda x: x * np.float32(0.5),
    )


FAMILIES = (conversions, identities, functions, broadcast)
