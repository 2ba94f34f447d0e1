"""Arithmetic of narrow element types, and with approx_math (make_gpu_legality_golden.py).

Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/fragmented_array.py. Left out: select of 8-bit numbers, and exp and
logistic with approx_math, of which other releases refuse more.
"""

import jax.numpy as jnp
from gpu_legality_case import BF16, E4, E5, F16, F32, I8, I32, LANE, U8, U32, WG, Case
from jax import lax

SIZE = (2048,)
PAIRS = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
}
ORDERS = {"lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge, "eq": lax.eq, "ne": lax.ne}
SINGLE = {
    "neg": lax.neg,
    "abs": lax.abs,
    "sign": lax.sign,
    "not": lax.bitwise_not,
    "clz": lax.clz,
    "square": lax.square,
    "cube": lambda x: lax.integer_pow(x, 3),
}
FUNCTIONS = {
    "exp2": jnp.exp2,
    "log": jnp.log,
    "log2": jnp.log2,
    "rsqrt": lax.rsqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tanh": jnp.tanh,
}


def computed(function):
    def body(x, o):
        o[...] = function(x[...])

    return body


def of_two(function):
    """Not of x and x, which MLIR folds."""
    return computed(lambda x: function(x, lax.bitwise_not(x) if jnp.issubdtype(x.dtype, jnp.integer) else -x))


def ordered(function):
    """Whether it holds goes into 32 bits, so that the comparison alone is of the narrow type."""

    def body(x, o):
        o[...] = lax.convert_element_type(lax.convert_element_type(function(x[...], x[...]), I32), o.dtype)

    return body


def there_and_back(dtype):
    """With something in between, where MLIR would fold the two."""
    between = lax.neg if dtype == BF16 else lambda x: x
    return computed(lambda x: lax.convert_element_type(between(lax.convert_element_type(x, dtype)), x.dtype))


def integers():
    for dtype in (I8, U8, I32):
        name = jnp.dtype(dtype).name
        for semantics in (LANE, WG):
            suffix = f"{name}_{semantics.name.lower()}"
            for op, function in PAIRS.items():
                yield Case(f"value_{op}_{suffix}", of_two(function), (dtype, SIZE), semantics)
            for op, function in ORDERS.items():
                yield Case(f"value_{op}_{suffix}", ordered(function), (dtype, SIZE), semantics)
            for op, function in SINGLE.items():
                if dtype != U8 or op not in ("neg", "abs", "sign"):
                    yield Case(f"value_{op}_{suffix}", computed(function), (dtype, SIZE), semantics)


def casts():
    for semantics in (LANE, WG):
        for source in (E4, E5):
            for dtype in (I8, U8, I32, U32, F16, BF16, F32, E4, E5):
                if source != dtype:
                    yield Case(
                        f"cast_{jnp.dtype(source).name}_{jnp.dtype(dtype).name}_{semantics.name.lower()}",
                        there_and_back(dtype),
                        (source, SIZE),
                        semantics,
                    )


def approximations():
    for dtype in (BF16, F16, F32):
        for op, function in FUNCTIONS.items():
            for approximate in (True, False):
                yield Case(
                    f"value_{op}_{'approx' if approximate else 'exact'}_{jnp.dtype(dtype).name}",
                    computed(function),
                    (dtype, SIZE),
                    approximate=approximate,
                )
        yield Case(f"value_rem_{jnp.dtype(dtype).name}", of_two(lax.rem), (dtype, SIZE))
        for power in (-2, -1, 2):
            yield Case(
                f"value_power_{power}_{jnp.dtype(dtype).name}",
                computed(lambda x, power=power: lax.integer_pow(x, power)),
                (dtype, SIZE),
            )


def values():
    yield from integers()
    yield from casts()
    yield from approximations()
