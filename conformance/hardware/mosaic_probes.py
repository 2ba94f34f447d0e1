"""Small Mosaic GPU kernels of Pallas that show numbers: one operation each, by one warpgroup, with and without
`approx_math`."""

import functools

import inputs
import jax
import jax.numpy as jnp
import numpy as np
import triton_probes
from bounds import EXACT, Bound
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu
from recorded import Recorded
from triton_probes import COUNT, FLOATS, FUNCTIONS, INTEGERS, NARROW, OF_INTEGERS

TARGET = "mosaic_gpu/h100"
UNARY = (
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tanh",
    "erf",
    "logistic",
    "abs",
    "neg",
    "sign",
    "square",
    "integer_pow_3",
    "integer_pow_-2",
    "is_finite",
    "floor",
    "ceil",
)
PAIRS = ("add", "sub", "mul", "div", "max", "min", "rem", "atan2", "eq", "lt", "ne", "pow", "nextafter")
INSTRUCTION = "approx_math: an approximation instruction of PTX, within the error that PTX documents for it"
FLUSHES = INSTRUCTION + "; subnormal numbers count as zeros"
# PTX ISA 9.1, floating point instructions: relative or absolute, of the instruction; one more rounding where a product
# goes with it.
APPROXIMATE = {
    "exp": Bound(relative=2.0**-17, why=FLUSHES + "; x log2(e) is rounded before", flushes=True),
    "exp2": Bound(ulp=2, why=FLUSHES, flushes=True),
    "log": Bound(absolute=2.0**-22, relative=2.0**-22, why=FLUSHES, flushes=True),
    "log2": Bound(absolute=2.0**-22, relative=2.0**-22, why=FLUSHES, flushes=True),
    "sin": Bound(absolute=2.0**-14.7, why=INSTRUCTION),
    "cos": Bound(absolute=2.0**-14.7, why=INSTRUCTION),
    "tanh": Bound(relative=2.0**-11, why=INSTRUCTION),
    "rsqrt": Bound(relative=2.0**-22.9, why=INSTRUCTION),
    "sqrt": Bound(relative=2.0**-23, why=INSTRUCTION),
    "logistic": triton_probes.logistic(inputs.F32, 2.0),
}
APPROXIMATE_NARROW = {
    ("tanh", "f16"): Bound(absolute=2.0**-10.987, why=INSTRUCTION),
    ("tanh", "bf16"): Bound(absolute=2.0**-8, why=INSTRUCTION),
}


def call(function, out, *args, approximate=False, out_shape=(COUNT,)):
    def body(*refs):
        *ins, o_ref = refs
        o_ref[...] = function(*[ref[...] for ref in ins])

    kernel = plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct(out_shape, out),
        compiler_params=plgpu.CompilerParams(approx_math=approximate),
    )
    return kernel, args


def elementwise(function, make, approximate=False):
    args = make()
    return call(function, jax.eval_shape(function, *args).dtype, *args, approximate=approximate)


def _probe(name, function, make, bound=EXACT, approximate=False):
    return Recorded(f"mosaic/{name}", functools.partial(elementwise, function, make, approximate), TARGET, bound)


def _numbers(seed, dtype):
    return (inputs.mixed(seed, COUNT, dtype),)


def _small(seed, dtype):
    """Within two turns, where PTX bounds the errors of sin and cos; and the edges."""
    return (np.concatenate([inputs.edges(dtype)[:18], inputs.uniform(seed, (COUNT - 18,), -6.25, 6.25, dtype)]),)


def floats():
    for tag, dtype in FLOATS.items():
        for seed, name in enumerate(UNARY):
            function, ulp = FUNCTIONS[name]
            yield _probe(
                f"{name}/{tag}",
                function,
                functools.partial(_numbers, 600 + seed, dtype),
                triton_probes.bound_of(name, dtype, ulp),
            )
            if name in APPROXIMATE:
                make = functools.partial(_small if name in ("sin", "cos") else _numbers, 650 + seed, dtype)
                yield _probe(
                    f"{name}_approx/{tag}", function, make, APPROXIMATE_NARROW.get((name, tag), APPROXIMATE[name]), True
                )
        for seed, name in enumerate(PAIRS):
            function, ulp = triton_probes.PAIRS[name]
            if name in ("eq", "lt", "ne"):  # no bool leaves such a kernel
                function = functools.partial(
                    lambda compare, x, y: jnp.where(compare(x, y), jnp.float32(1), jnp.float32(0)), function
                )
            bound = triton_probes.bound_of(name, dtype, ulp)
            yield _probe(
                f"{name}/{tag}", function, functools.partial(triton_probes._float_pairs, 700 + seed, dtype), bound
            )
        for name, method in (
            ("round", lax.RoundingMethod.AWAY_FROM_ZERO),
            ("round_even", lax.RoundingMethod.TO_NEAREST_EVEN),
        ):
            yield _probe(
                f"{name}/{tag}",
                functools.partial(lax.round, rounding_method=method),
                functools.partial(_numbers, 720, dtype),
            )


def integers():
    for tag, dtype in INTEGERS.items():
        for seed, (name, function) in enumerate(OF_INTEGERS.items()):
            yield _probe(
                f"{name}/{tag}",
                function,
                functools.partial(triton_probes._integer_pairs, 800 + seed, dtype, name.startswith("shift")),
            )
    for tag in ("i32", "u32"):
        dtype = INTEGERS[tag]
        yield _probe(f"div_by_zero/{tag}", lax.div, functools.partial(triton_probes._divided_by_zero, dtype))
        yield _probe(f"clz/{tag}", lax.clz, functools.partial(lambda d: (inputs.integers(850, COUNT, d),), dtype))


def casts():
    kinds = {**FLOATS, **NARROW, **INTEGERS}
    for source, a in kinds.items():
        for result, b in kinds.items():
            if source == result or (source in INTEGERS and result in INTEGERS):
                continue
            make = functools.partial(triton_probes._cast_numbers, a, b)
            yield _probe(f"cast/{source}_to_{result}", functools.partial(lambda d, x: x.astype(d), jnp.dtype(b)), make)


def reductions():
    """Of rows in the layout of wgmma's results, and of a vector by all lanes."""
    for tag, dtype in (("f32", inputs.F32), ("f16", inputs.F16), ("bf16", inputs.BF16)):
        make = functools.partial(inputs.powers, 901, (64, 64), -6, 6, dtype)
        for name, function in (("sum", jnp.sum), ("max", jnp.max)):
            bound = triton_probes.order_of(dtype) if name == "sum" else EXACT
            yield Recorded(
                f"mosaic/reduce_{name}/{tag}", functools.partial(_row_reduction, function, make), TARGET, bound
            )
    special = functools.partial(inputs.bits, 902, (64, 64), inputs.F32)
    yield Recorded("mosaic/reduce_max_nan/f32", functools.partial(_row_reduction, jnp.max, special), TARGET, EXACT)


def _row_reduction(function, make):
    x = make()

    def body(x_ref, o_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        from_smem = plgpu.load(smem, *_index(), layout=plgpu.Layout.WGMMA)
        o_ref[...] = function(from_smem, axis=1)

    tiles = (plgpu.TilingTransform((8, 128 // x.dtype.itemsize)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((64,), x.dtype),
        scratch_types={"smem": plgpu.SMEM((64, 64), x.dtype, transforms=tiles), "full": plgpu.Barrier()},
    ), (x,)


def _index():
    """plgpu.load of a whole ref has an index until JAX 0.11."""
    return ((),) if jax.__version_info__ < (0, 11) else ()


def recorded():
    yield from floats()
    yield from integers()
    yield from casts()
    yield from reductions()
