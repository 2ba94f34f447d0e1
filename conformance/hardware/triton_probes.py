"""Small Triton kernels of Pallas that show numbers: one operation each, on numbers at which implementations differ."""

import functools

import inputs
import jax
import jax.numpy as jnp
import numpy as np
from bounds import EXACT, Bound
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt
from recorded import Recorded

TARGET = "triton/h100"
COUNT = 2048
FLOATS = {"f32": inputs.F32, "f16": inputs.F16, "bf16": inputs.BF16}
INTEGERS = {"i32": np.int32, "u32": np.uint32, "i16": np.int16, "i8": np.int8, "u8": np.uint8}
NARROW = {"f8e4m3fn": inputs.E4M3, "f8e5m2": inputs.E5M2}
LIBDEVICE = "libdevice's function, within the ulps that CUDA documents for it"
QUOTIENT = Bound(2, why="div.full.f32: PTX documents 2 ulp over the full range")
ROOT = Bound(relative=2.0**-23, why="sqrt.approx.f32: PTX documents a relative error of 2^-23")
LOGARITHM = Bound(
    3, why="JAX before 0.11 has no log2: a logarithm and a division, each rounded; the GPU's own is within 1 ulp of f32"
)


def logistic(dtype, error=1.0):
    """1 / (1 + exp(-x)), each step rounded; where exp overflows, 0."""
    info = inputs.ml_dtypes.finfo(dtype)
    return Bound(
        absolute=1 / float(info.max),
        relative=max(4 * float(info.eps), 2.0**-17 if error > 1 else 0.0),
        why="1 / (1 + exp(-x)) in steps: a rounding each, and 0 where exp(-x) overflows",
    )


def bound_of(name, dtype, ulp):
    """What the instructions that a function becomes may be off by; f16 and bf16 are computed in f32 and rounded once
    more."""
    if name in ("div", "integer_pow_-2"):
        return QUOTIENT
    if name == "sqrt":
        return ROOT if dtype == inputs.F32 else Bound(1, why=ROOT.why)
    if name == "log2":
        return LOGARITHM
    if name == "logistic":
        return logistic(dtype)
    return Bound(ulp, why=LIBDEVICE) if ulp else EXACT


# Ulps of f32 by CUDA's programming guide, mathematical functions (12.9, table of single precision).
FUNCTIONS = {
    "exp": (jnp.exp, 2),
    "exp2": (jnp.exp2, 2),
    "expm1": (jnp.expm1, 1),
    "log": (jnp.log, 1),
    "log2": (jnp.log2, 1),
    "log1p": (jnp.log1p, 1),
    "sqrt": (jnp.sqrt, 0),
    "rsqrt": (lax.rsqrt, 2),
    "cbrt": (jnp.cbrt, 1),
    "sin": (jnp.sin, 2),
    "cos": (jnp.cos, 2),
    "tan": (jnp.tan, 4),
    "asin": (jnp.arcsin, 2),
    "acos": (jnp.arccos, 2),
    "atan": (jnp.arctan, 2),
    "sinh": (jnp.sinh, 3),
    "cosh": (jnp.cosh, 2),
    "tanh": (jnp.tanh, 2),
    "asinh": (jnp.arcsinh, 3),
    "acosh": (jnp.arccosh, 4),
    "atanh": (jnp.arctanh, 3),
    "erf": (lax.erf, 2),
    "erf_inv": (lax.erf_inv, 4),
    "logistic": (jax.nn.sigmoid, 5),
    "floor": (jnp.floor, 0),
    "ceil": (jnp.ceil, 0),
    "abs": (jnp.abs, 0),
    "neg": (lax.neg, 0),
    "sign": (lax.sign, 0),
    "is_finite": (lax.is_finite, 0),
    "square": (lax.square, 0),
    "integer_pow_3": (lambda x: lax.integer_pow(x, 3), 0),
    "integer_pow_-2": (lambda x: lax.integer_pow(x, -2), 0),
}
PAIRS = {
    "add": (lax.add, 0),
    "sub": (lax.sub, 0),
    "mul": (lax.mul, 0),
    "div": (lax.div, 0),
    "max": (lax.max, 0),
    "min": (lax.min, 0),
    "pow": (lax.pow, 4),
    "atan2": (lax.atan2, 3),
    "rem": (lax.rem, 0),
    "nextafter": (lax.nextafter, 0),
    "eq": (lax.eq, 0),
    "lt": (lax.lt, 0),
    "ne": (lax.ne, 0),
}
OF_INTEGERS = {
    "div": lax.div,
    "rem": lax.rem,
    "shift_left": lax.shift_left,
    "shift_right_logical": lax.shift_right_logical,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "max": lax.max,
    "min": lax.min,
    "mul": lax.mul,
}
ONE_INTEGER = {
    "abs": jnp.abs,
    "neg": lax.neg,
    "sign": lax.sign,
    "clz": lax.clz,
    "population_count": lax.population_count,
    "not": lax.bitwise_not,
}


def call(function, out, *args):
    """A Triton kernel of one program that applies `function` to whole arrays."""

    def body(*refs):
        *ins, o_ref = refs
        o_ref[...] = function(*[ref[...] for ref in ins])

    kernel = pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(*out), compiler_params=plt.CompilerParams(num_warps=4))
    return kernel, args


def elementwise(function, make):
    args = make()
    return call(function, ((COUNT,), jax.eval_shape(function, *args).dtype), *args)


def _probe(name, function, make, bound=EXACT):
    return Recorded(f"triton/{name}", functools.partial(elementwise, function, make), TARGET, bound)


def floats():
    for tag, dtype in FLOATS.items():
        for seed, (name, (function, ulp)) in enumerate(FUNCTIONS.items()):
            make = functools.partial(lambda s, d: (inputs.mixed(s, COUNT, d),), 100 + seed, dtype)
            yield _probe(f"{name}/{tag}", function, make, bound_of(name, dtype, ulp))
        for seed, (name, (function, ulp)) in enumerate(PAIRS.items()):
            yield _probe(
                f"{name}/{tag}",
                function,
                functools.partial(_float_pairs, 200 + seed, dtype),
                bound_of(name, dtype, ulp),
            )


def _float_pairs(seed, dtype):
    """Each edge meets each, as far as there is room, and the rest are numbers near each other."""
    edge = inputs.edges(dtype)
    a, b = np.repeat(edge, len(edge)), np.tile(edge, len(edge))
    step = max(1, len(a) // (COUNT // 2))
    a, b = a[::step][: COUNT // 2], b[::step][: COUNT // 2]
    rest = COUNT - len(a)
    return (
        np.concatenate([a, inputs.mixed(seed, rest, dtype)]),
        np.concatenate([b, inputs.mixed(seed + 50, rest, dtype)[::-1]]),
    )


def _integer_pairs(seed, dtype, shifts):
    """`shifts`: by fewer places than the type has; divisors are never 0 elsewhere: both are undefined in LLVM."""
    x, y = inputs.integers(seed, COUNT, dtype), inputs.integers(seed + 1, COUNT, dtype)[::-1].copy()
    if shifts:
        return x, (y % np.asarray(np.dtype(dtype).itemsize * 8, dtype)).astype(dtype)
    y[y == 0] = 3
    y[(x == np.iinfo(dtype).min) & (y == np.asarray(-1).astype(dtype))] = 5
    return x, y


def integers():
    for tag, dtype in INTEGERS.items():
        for seed, (name, function) in enumerate(OF_INTEGERS.items()):
            yield _probe(
                f"{name}/{tag}",
                function,
                functools.partial(_integer_pairs, 300 + seed, dtype, name.startswith("shift")),
            )
        for seed, (name, function) in enumerate(ONE_INTEGER.items()):
            yield _probe(
                f"{name}/{tag}",
                function,
                functools.partial(lambda s, d: (inputs.integers(s, COUNT, d),), 350 + seed, dtype),
            )
    for tag in ("i32", "u32"):
        dtype = INTEGERS[tag]
        edge = np.resize(
            np.array([31, 32, 33, 63, 64, 255, np.iinfo(dtype).max, np.iinfo(dtype).min]).astype(dtype), COUNT
        )
        for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
            yield _probe(
                f"{name}_far/{tag}",
                OF_INTEGERS[name],
                functools.partial(lambda d, e: (inputs.integers(360, COUNT, d), e), dtype, edge),
            )
        for name in ("div", "rem"):
            yield _probe(f"{name}_by_zero/{tag}", OF_INTEGERS[name], functools.partial(_divided_by_zero, dtype))


def _divided_by_zero(dtype):
    x, y = inputs.integers(370, COUNT, dtype), np.zeros(COUNT, dtype)
    x[1::2], y[1::2] = np.iinfo(dtype).min, np.asarray(-1).astype(dtype)
    return x, y


def casts():
    kinds = {**FLOATS, **NARROW, **INTEGERS}
    for source, a in kinds.items():
        for result, b in kinds.items():
            if source == result or (source in INTEGERS and result in INTEGERS):
                continue
            make = functools.partial(_cast_numbers, a, b)
            yield _probe(f"cast/{source}_to_{result}", functools.partial(lambda d, x: x.astype(d), jnp.dtype(b)), make)


def _cast_numbers(source, result):
    source, result = np.dtype(source), np.dtype(result)
    if source.kind in "iu":
        return (inputs.integers(400, COUNT, source),)
    if source.itemsize == 1:
        return (np.resize(np.arange(256, dtype=np.uint8).view(source), COUNT),)
    if result.kind in "iu":
        return (inputs.mixed(401, COUNT, source, span=300.0),)
    wide = inputs.mixed(402, COUNT, source, span=500.0)
    ties = np.arange(256, dtype=np.uint8).view(inputs.E4M3).astype(np.float64)
    half = ((ties[1:] + ties[:-1]) / 2).astype(source)  # halfway between neighbours of f8e4m3fn
    wide[-len(half) :] = half
    return (wide,)


def reductions():
    """Sums of rows: the order of a reduction shows in the last place."""
    for tag, dtype in (("f32", inputs.F32), ("f16", inputs.F16), ("bf16", inputs.BF16), ("i32", np.dtype(np.int32))):
        if dtype.kind == "i":
            make = lambda: inputs.integers(500, 16 * 128, np.int32).reshape(16, 128)  # noqa: E731
        else:
            make = functools.partial(inputs.powers, 501, (16, 128), -6, 6, dtype)
        for name, function in (("sum", jnp.sum), ("max", jnp.max), ("min", jnp.min), ("argmax", jnp.argmax)):
            bound = EXACT if name != "sum" or dtype.kind == "i" else order_of(dtype)
            yield Recorded(f"triton/reduce_{name}/{tag}", functools.partial(_reduction, function, make), TARGET, bound)
        yield Recorded(
            f"triton/cumsum/{tag}",
            functools.partial(_cumulated, make),
            TARGET,
            EXACT if dtype.kind == "i" else order_of(dtype, True),
        )
    special = functools.partial(lambda: inputs.bits(502, (64, 64), inputs.F32))
    for name, function in (("max", jnp.max), ("min", jnp.min)):
        yield Recorded(f"triton/reduce_{name}_nan/f32", functools.partial(_reduction, function, special), TARGET, EXACT)


def order_of(dtype, prefixes=False):
    """A sum of n numbers in any order is within (n - 1) roundings of the sum of their sizes."""

    def room(args):
        x = np.abs(np.asarray(args[0]).astype(np.float64))
        each = (x.shape[1] - 1) * float(inputs.ml_dtypes.finfo(dtype).eps) * x.sum(axis=1)
        return [np.repeat(each, x.shape[1]) if prefixes else each]

    return Bound(product=room, why="a tree over lanes and warps has another order than a row")


def _reduction(function, make):
    x = make()
    reduce = functools.partial(function, axis=1)
    return call(lambda v: reduce(v), (x.shape[:1], jax.eval_shape(reduce, x).dtype), x)


def _cumulated(make):
    x = make()
    return call(lambda v: jnp.cumsum(v, axis=1, dtype=v.dtype), (x.shape, x.dtype), x)


def recorded():
    yield from floats()
    yield from integers()
    yield from casts()
    yield from reductions()
