"""Cases of reductions, cumulative operations and contractions. Results are JAX's or NumPy's; sums are exact ones, so
that their order does not matter, but where the order is the point: there the rule is written out with NumPy."""

import jax
import numpy as np
from case_tables import INF, NAN, lax, one_instruction

F32, I32 = "f32", "i32"


def reduce_case(name, prose, operands, oracle, attrs, suffix=""):
    return one_instruction("reduce", name, prose, operands, oracle, attrs=attrs, suffix=suffix)


def sum_in_order(values, dtype):
    """Rule `reduce_sum` for one result."""
    partial = np.zeros(16)
    for i, value in enumerate(values.astype(np.float64)):
        partial[i % 16] += value
    for width in (8, 4, 2, 1):
        partial = partial[:width] + partial[width:]
    return partial[0].astype(dtype)


def sums():
    matrix = (F32, (1, 2, 3, 4, 5, 6), (2, 3))
    yield reduce_case("reduce_sum", "Sums of rows.", [matrix], lambda x: x.sum(1), "{axes=[1]}")
    cube = (I32, tuple(range(12)), (2, 3, 2))
    yield reduce_case(
        "reduce_sum",
        "Axes that are not next to each other; one sum for each middle index.",
        [cube],
        lambda x: x.sum((0, 2), dtype=np.int32),
        "{axes=[0,2]}",
        suffix="_axes",
    )
    # 2^53 + 1 is not a double: where the two meet, the 1 is lost.
    values = (2.0**53, 1.0, *[0.0] * 14, -(2.0**53))
    yield reduce_case(
        "reduce_sum",
        "Element i goes to partial sum i mod 16: elements 0 and 16 cancel before the 1 meets them, which a sum in\n"
        "order would lose. Oracle: the rule in NumPy.",
        [("f64", values)],
        lambda x: np.asarray(sum_in_order(x, np.float64)),
        "{axes=[0]}",
        suffix="_order",
    )
    yield reduce_case(
        "reduce_sum",
        "Partial sums are doubles: bf16 is rounded once, at the end.",
        [("bf16", (256, 1, 1, 1, 1))],
        lambda x: x.astype(np.float64).sum().astype(x.dtype),
        "{axes=[0]}",
        suffix="_bf16",
    )
    yield reduce_case("reduce_prod", "Products of columns.", [matrix], lambda x: x.prod(0), "{axes=[0]}")


def extremes():
    x = (F32, (1.0, NAN, -0.0, 0.0, -INF, 5.0), (3, 2))
    given = lambda *values: lambda v: np.array(values, np.float32)
    prose = "NaN wins; -0 is below +0. Oracle: IEEE 754-2019's maximum and minimum."
    yield reduce_case("reduce_max", prose, [x], given(NAN, 0.0, 5.0), "{axes=[1]}")
    yield reduce_case("reduce_min", prose, [x], given(NAN, -0.0, -INF), "{axes=[1]}")
    empty = (F32, (), (2, 0))
    lowest = lambda v: np.full(2, -np.inf, np.float32)
    yield reduce_case("reduce_max", "Of no elements: -inf.", [empty], lowest, "{axes=[1]}", "_empty")
    i8 = ("i8", (12, 10, -1, 6), (2, 2))
    yield reduce_case("reduce_and", "Bits of both.", [i8], lambda v: np.bitwise_and.reduce(v, 1), "{axes=[1]}")
    yield reduce_case("reduce_or", "Bits of either.", [i8], lambda v: np.bitwise_or.reduce(v, 1), "{axes=[1]}")
    yield reduce_case("reduce_xor", "Bits of one.", [i8], lambda v: np.bitwise_xor.reduce(v, 1), "{axes=[1]}")
    flags = ("bool", (True, True, True, False), (2, 2))
    yield reduce_case("reduce_and", "All of each row.", [flags], lambda v: v.all(1), "{axes=[1]}", "_bool")
    yield reduce_case("reduce_or", "Any of each column.", [flags], lambda v: v.any(0), "{axes=[0]}", "_bool")


def indices():
    x = (F32, (1.0, 3.0, 3.0, NAN, 5.0, NAN, 0.0, -0.0, -1.0), (3, 3))
    arg = lambda name: lambda v: np.asarray(getattr(jax.lax, name)(v, 1, np.int32))
    yield reduce_case("argmax", "The first of equal ones; the first NaN. Oracle: JAX.", [x], arg("argmax"), "{axis=1}")
    yield reduce_case("argmin", "The first of equal ones; the first NaN. Oracle: JAX.", [x], arg("argmin"), "{axis=1}")


def cumulative():
    x = (F32, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (2, 3))
    for name, values in {
        "cumsum": "Running sums of rows.",
        "cumprod": "Running products of rows.",
        "cummax": "Running maxima of rows.",
        "cummin": "Running minima of rows.",
    }.items():
        yield reduce_case(name, f"{values} Oracle: JAX.", [x], lax(name, axis=1), "{axis=1, reverse=false}")
    yield reduce_case(
        "cumsum",
        "From the end, along columns. Oracle: JAX.",
        [x],
        lax("cumsum", axis=0, reverse=True),
        "{axis=0, reverse=true}",
        suffix="_reverse",
    )
    yield reduce_case(
        "cumsum",
        "Each step is rounded in the type: in bf16, 256 + 1 is 256, again and again.",
        [("bf16", (256, 1, 1, 1))],
        lambda v: np.add.accumulate(v),
        "{axis=0, reverse=false}",
        suffix="_bf16",
    )
    step = lambda a, b: np.maximum(a, b) + np.log1p(np.exp(-np.abs(a - b)))
    yield reduce_case(
        "cumlogsumexp",
        "log(1 + 1), then log(1 + 1 + 2); -inf adds nothing. Oracle: the rule in NumPy.",
        [("f64", (0.0, 0.0, -INF), (3,))],
        lambda v: np.array([v[0], step(v[0], v[1]), step(v[0], v[1])]),
        "{axis=0, reverse=false}",
    )


def contractions():
    def case(prose, operands, dims, suffix="", preferred="none", precision="none", oracle=None):
        contract, batch = dims
        listed = lambda pair: "[" + ",".join("[" + ",".join(map(str, axes)) + "]" for axes in pair) + "]"
        attrs = f"{{contract={listed(contract)}, batch={listed(batch)}, precision={precision}, preferred={preferred}}}"
        oracle = oracle or (lambda a, b: np.asarray(jax.lax.dot_general(a, b, dims)))
        return one_instruction("dot", "dot_general", prose, operands, oracle, attrs=attrs, suffix=suffix)

    a, b = (F32, (1, 2, 3, 4, 5, 6), (2, 3)), (F32, (1, 0, 2, -1, 1, 3), (3, 2))
    yield case("Rows of a by columns of b. Oracle: JAX.", [a, b], (((1,), (0,)), ((), ())))
    yield case(
        "b transposed: rows by rows. Oracle: JAX.",
        [a, (F32, (1, 2, 0, 3, 1, -1), (2, 3))],
        (((1,), (1,)), ((), ())),
        "_transposed",
    )
    batched = [(I32, tuple(range(12)), (2, 2, 3)), (I32, tuple(range(12)), (3, 2, 2))]
    yield case("Batch dimension 0 of a with 2 of b. Oracle: JAX.", batched, (((2,), (0,)), ((0,), (2,))), "_batch")
    yield case(
        "Products are exact and summed in a double: 65504 · 65504 does not overflow on the way.",
        [("f16", (65504, 1, 65504), (1, 3)), ("f16", (65504, 2, -65504), (3, 1))],
        (((1,), (0,)), ((), ())),
        "_f16",
        oracle=lambda x, y: (x.astype(np.float64) @ y.astype(np.float64)).astype(x.dtype),
    )
    yield case(
        "i8 in, i32 out: nothing wraps. Oracle: JAX.",
        [("i8", (127, -128), (1, 2)), ("i8", (127, -128), (2, 1))],
        (((1,), (0,)), ((), ())),
        "_i8_i32",
        preferred="i32",
        oracle=lambda x, y: np.asarray(
            jax.lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=np.int32)
        ),
    )
    yield case(
        "The precision says what hardware may do; here 1 + 2^-23 is not rounded to fewer bits. Oracle: exact sums in "
        "NumPy.",
        [(F32, ("0x3f800001", 3), (1, 2)), (F32, (1, 0), (2, 1))],
        (((1,), (0,)), ((), ())),
        "_precision",
        precision="[default,default]",
        oracle=lambda x, y: (x.astype(np.float64) @ y.astype(np.float64)).astype(x.dtype),
    )


def sums_of_products():
    def case(prose, operands, suffix=""):
        wide = lambda acc, a, b: (acc.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)).astype(
            acc.dtype
        )
        return one_instruction("dot", "mma", prose, operands, wide, suffix=suffix)

    a, b = ("f16", (65504, 1, 65504, 2, 3, 4), (2, 3)), ("f16", (65504, 2, -65504, 1, 5, -1), (3, 2))
    yield case(
        "An accumulator of f32; products are exact. Oracle: NumPy in f64.", [(F32, (1, -2, 0.5, 0.25), (2, 2)), a, b]
    )
    yield case(
        "An accumulator of f16: 1 + 2048 is rounded once. Oracle: NumPy in f64.",
        [("f16", (1,), (1, 1)), ("f16", (1024, 1024), (1, 2)), ("f16", (1, 1), (2, 1))],
        "_f16",
    )
    yield case(
        "i8 into i32. Oracle: NumPy in f64, which is exact here.",
        [(I32, (7, -9), (1, 2)), ("i8", (127, -128), (1, 2)), ("i8", (127, -128, 1, 2), (2, 2))],
        "_i8",
    )


FAMILIES = (sums, extremes, indices, cumulative, contractions, sums_of_products)
