"""The operations of sweep_legality.txt (make_sweep_legality_golden.py): each a function of arrays, with the arrays that
it is tried on.

`operations()` gives (name, function, operands' shapes, their types): most are tried on every element type, the types'
ranks in turn, so that each operation meets each rank. What JAX refuses to trace, as an exponential of integers, is left
out by the maker.
"""

import functools
import itertools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

FLOATS = ("float32", "bfloat16", "float16", "float64", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int32", "int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64")
TYPES = (*FLOATS, *INTEGERS, "bool")
SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u"}
RANKS = ((128,), (16, 128), (4, 16, 64))  # also the most common; each has 2 ** n elements


def short(dtype):
    """f32, bf16, f8e4m3fn, i8, bool."""
    head = dtype.rstrip("0123456789_emfn") if "float8" in dtype else dtype.rstrip("0123456789")
    return "f8" + dtype.removeprefix("float8_") if "float8" in dtype else SHORT.get(head, head) + dtype[len(head) :]


UNARY = {
    name: getattr(lax, name)
    for name in (
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "bitwise_not",
        "cbrt",
        "ceil",
        "clz",
        "cos",
        "cosh",
        "erf",
        "erf_inv",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "is_finite",
        "lgamma",
        "digamma",
        "log",
        "log1p",
        "logistic",
        "neg",
        "population_count",
        "reciprocal",
        "rsqrt",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "stop_gradient",
        "optimization_barrier",
    )
    if hasattr(lax, name)
}
UNARY |= {
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "cube": lambda x: lax.integer_pow(x, 3),
    "power_-2": lambda x: lax.integer_pow(x, -2),
    "reduce_precision": lambda x: lax.reduce_precision(x, 5, 3),
    "copy": jnp.copy,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "gelu": jax.nn.gelu,
    "isnan": jnp.isnan,
    "checkpoint": jax.checkpoint(lambda x: x + x),
    "custom_jvp": jax.custom_jvp(lambda x: x + x),
    "custom_vjp": jax.custom_vjp(lambda x: x + x),
    "jit": jax.jit(lambda x: x + x),
    "clamp": lambda x: lax.clamp(jnp.zeros((), x.dtype), x, jnp.ones((), x.dtype)),
}
UNARY["custom_jvp"].defjvp(lambda primals, tangents: (primals[0], tangents[0]))
UNARY["custom_vjp"].defvjp(lambda x: (x + x, None), lambda _, g: (g,))

BINARY = {
    name: getattr(lax, name)
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "max",
        "min",
        "pow",
        "atan2",
        "nextafter",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "shift_left",
        "shift_right_arithmetic",
        "shift_right_logical",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    )
}
BINARY |= {"select": lambda x, y: lax.select_n(x == y, x, y)}


def indexed(x, cases):
    return lax.select_n(lax.broadcasted_iota(jnp.int32, x.shape, 0) % cases, *[x] * cases)


# Of one array of rank 2, 16 x 128.
SHAPES = {
    "transpose": lambda x: x.T,
    "reshape_split": lambda x: x.reshape(2, 8, 128),
    "reshape_join": lambda x: x.reshape(-1),
    "reshape_other": lambda x: x.reshape(32, 64),
    "expand_front": lambda x: x[None],
    "expand_last": lambda x: x[..., None],
    "expand_middle": lambda x: x[:, None],
    "squeeze": lambda x: lax.squeeze(x[None], (0,)),
    "broadcast_front": lambda x: lax.broadcast_in_dim(x, (2, 16, 128), (1, 2)),
    "broadcast_last": lambda x: lax.broadcast_in_dim(x, (16, 128, 2), (0, 1)),
    "concatenate_0": lambda x: lax.concatenate([x, x], 0),
    "concatenate_1": lambda x: lax.concatenate([x, x], 1),
    "stack_0": lambda x: jnp.stack([x, x]),
    "stack_1": lambda x: jnp.stack([x, x], 1),
    "stack_last": lambda x: jnp.stack([x, x], -1),
    "repeat_0": lambda x: jnp.repeat(x, 2, axis=0),
    "tile": lambda x: jnp.tile(x, (2, 1)),
    "slice_rows": lambda x: x[0:8],
    "slice_columns": lambda x: x[:, 0:64],
    "slice_step": lambda x: x[::2],
    "row": lambda x: x[3],
    "column": lambda x: x[:, 3],
    "element": lambda x: x[3, 3],
    "split": lambda x: lax.split(x, (64, 64), 1)[0],
    "pad": lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((0, 16, 0), (0, 0, 0))),
    "pad_inner": lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((0, 1, 1), (0, 0, 0))),
    "rev": lambda x: lax.rev(x, (0,)),
    "roll": lambda x: jnp.roll(x, 1, 0),
    "sort": lambda x: lax.sort(x, dimension=1),
    "top_k": lambda x: lax.top_k(x, 2)[0],
    "select_1": lambda x: lax.select_n(lax.broadcasted_iota(jnp.int32, x.shape, 0) * 0, x),
    "select_3": lambda x: indexed(x, 3),
    "select_4": lambda x: indexed(x, 4),
    "select_scalar": lambda x: lax.select_n(jnp.bool_(True), x, x),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (0, 0), (8, 128)),
    "dynamic_update": lambda x: lax.dynamic_update_slice(x, x[0:8], (0, 0)),
    "gather_rows": lambda x: x[lax.iota(jnp.int32, 8)],
    "take_along_1": lambda x: jnp.take_along_axis(
        x, lax.broadcasted_iota(jnp.int32, x.shape, 1), 1, mode="promise_in_bounds"
    ),
    "iota": lambda x: lax.broadcasted_iota(x.dtype, x.shape, 1),
    "full": lambda x: jnp.full(x.shape, 1, x.dtype),
    "where": lambda x: jnp.where(x == x, x, jnp.zeros((), x.dtype)),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + c[1]), (jnp.int32(0), x))[1],
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, v: v + v, x),
    "fori_unrolled": lambda x: lax.fori_loop(0, 4, lambda i, v: v + v, x, unroll=True),
    "scan_none": lambda x: lax.scan(lambda c, _: (c + c, None), x, None, length=3)[0],
    "scan_reverse": lambda x: lax.scan(lambda c, _: (c + c, None), x, None, length=3, reverse=True)[0],
    "scan_in": lambda x: lax.scan(lambda c, r: (c + r, None), jnp.zeros(x.shape[1:], x.dtype), x)[0],
    "scan_out": lambda x: lax.scan(lambda c, _: (c, c), x, None, length=2)[1],
    "map": lambda x: lax.map(lambda r: r + r, x),
    "cond": lambda x: lax.cond(x.shape[0] * lax.iota(jnp.int32, 1)[0] > 0, lambda v: v + v, lambda v: v, x),
    "switch": lambda x: lax.switch(lax.iota(jnp.int32, 1)[0], [lambda v: v, lambda v: v + v, lambda v: v * v], x),
}
REDUCTIONS = {
    "sum": lambda x, axes: lax.reduce_sum(x, axes),
    "max": lambda x, axes: lax.reduce_max(x, axes),
    "min": lambda x, axes: lax.reduce_min(x, axes),
    "prod": lambda x, axes: lax.reduce_prod(x, axes),
    "and": lambda x, axes: lax.reduce_and(x, axes),
    "or": lambda x, axes: lax.reduce_or(x, axes),
    "xor": lambda x, axes: lax.reduce_xor(x, axes),
    "argmax": lambda x, axes: lax.argmax(x, axes[0], jnp.int32),
    "argmin": lambda x, axes: lax.argmin(x, axes[0], jnp.int32),
    "argmax_i64": lambda x, axes: lax.argmax(x, axes[0], jnp.int64),
    "cumsum": lambda x, axes: lax.cumsum(x, axes[0]),
    "cumprod": lambda x, axes: lax.cumprod(x, axes[0]),
    "cummax": lambda x, axes: lax.cummax(x, axes[0]),
    "cumsum_reverse": lambda x, axes: lax.cumsum(x, axes[0], reverse=True),
}
# (operands' shapes, contracted, batch)
DOTS = {
    "plain": ((32, 64), (64, 32), ((1,), (0,)), ((), ())),
    "nt": ((32, 64), (32, 64), ((1,), (1,)), ((), ())),
    "tn": ((64, 32), (64, 32), ((0,), (0,)), ((), ())),
    "vector": ((32, 64), (64,), ((1,), (0,)), ((), ())),
    "vectors": ((64,), (64,), ((0,), (0,)), ((), ())),
    "batch": ((2, 32, 64), (2, 64, 32), ((2,), (1,)), ((0,), (0,))),
    "small": ((8, 8), (8, 8), ((1,), (0,)), ((), ())),
    "outer": ((32,), (32,), ((), ()), ((), ())),
}


def one_of_each(functions, count, types=TYPES):
    """Each function on each type; the ranks take turns."""
    for n, ((name, function), (m, dtype)) in enumerate(itertools.product(functions.items(), enumerate(types))):
        dims = RANKS[(n // len(types) + m) % len(RANKS)]
        yield f"{name}_{short(dtype)}_{len(dims)}", function, (dims,) * count, (dtype,) * count


def operations():
    yield from one_of_each(UNARY, 1)
    yield from one_of_each(BINARY, 2)
    for source, to in itertools.product(TYPES, TYPES):
        if source != to:
            yield (
                f"cast_{short(source)}_{short(to)}",
                functools.partial(lax.convert_element_type, new_dtype=jnp.dtype(to)),
                ((16, 128),),
                (source,),
            )
            if jnp.dtype(source).itemsize == jnp.dtype(to).itemsize and "bool" not in (source, to):
                yield (
                    f"bitcast_{short(source)}_{short(to)}",
                    functools.partial(lax.bitcast_convert_type, new_dtype=jnp.dtype(to)),
                    ((16, 128),),
                    (source,),
                )
    for (_, (name, function)), dtype in itertools.product(
        enumerate(SHAPES.items()), ("float32", "int8", "bfloat16", "int32", "bool")
    ):
        yield f"{name}_{short(dtype)}", function, ((16, 128),), (dtype,)
    for (name, function), (dims, axes), dtype in itertools.product(
        REDUCTIONS.items(),
        (((16, 128), (1,)), ((16, 128), (0,)), ((16, 128), (0, 1)), ((4, 16, 64), (1,)), ((128,), (0,))),
        ("float32", "bfloat16", "int32", "int8", "uint32", "bool"),
    ):
        yield (
            f"{name}_{short(dtype)}_{'x'.join(map(str, dims))}_{''.join(map(str, axes))}",
            functools.partial(function, axes=axes),
            (dims,),
            (dtype,),
        )
    for (name, (x, y, contracted, batch)), dtype in itertools.product(
        DOTS.items(), ("float32", "bfloat16", "float16", "int8", "uint8", "float8_e4m3fn", "int32", "float64")
    ):
        out = "float32" if "float" in dtype else "int32"
        yield (
            f"dot_{name}_{short(dtype)}",
            functools.partial(
                lax.dot_general, dimension_numbers=(contracted, batch), preferred_element_type=jnp.dtype(out)
            ),
            (x, y),
            (dtype, dtype),
        )


# ---- tensor memory: which layouts of registers go with which layouts there


def _tiled(tiles, warps, lanes, vector):
    dims = tuple(plgpu.Replicated(w) if w > 0 else w for w in warps)
    return plgpu.Layout.TILED(plgpu.Tiling(tiles), warp_dims=dims, lane_dims=lanes, vector_dim=vector)


def _registers():
    """Layouts by a name, those that are tensor memory's own among them."""
    of = plgpu.Layout
    return {
        "tcgen05": of.TCGEN05,
        "wgmma": of.WGMMA,
        "native1": of.TCGEN05_TMEM_NATIVE(1),
        "native2": of.TCGEN05_TMEM_NATIVE(2),
        "native4": of.TCGEN05_TMEM_NATIVE(4),
        "m64": of.TCGEN05_M64_COLLECTIVE(64),
        "m64_native": of.TCGEN05_M64_COLLECTIVE_NATIVE(64),
        "m64_native2": of.TCGEN05_M64_COLLECTIVE_NATIVE(64, 2),
        "m64_native_narrow": of.TCGEN05_M64_COLLECTIVE_NATIVE(32),
        "scales": _tiled(((128, 4), (32, 1)), (4,), (-2,), -3),
        "scales_m64": _tiled(((256, 4), (128, 4), (32, 4)), (2, -6), (-2,), -1),
        "half": _tiled(((64, 64), (16, 32), (1,)), (-5,), (-4, -3), -1),
        "half2": _tiled(((64, 64), (16, 32), (2,)), (-5,), (-4, -3), -1),
        "tiled_tcgen05": _tiled(((128, 8), (32, 8), (8, 8), (2,)), (-7,), (-3, -2), -1),
    }


def _memories():
    """(name, shape, type, arguments of TMEM, of the mesh)."""
    pair = {"cluster": (2,), "cluster_names": ("c",)}
    yield "default", (128, 64), "float32", {}, {}
    yield "packed", (128, 64), "float16", {"packed": True}, {}
    yield "unpacked", (128, 64), "float16", {"packed": False}, {}
    yield "bytes", (128, 64), "float8_e4m3fn", {"packed": True}, {}
    yield "half", (64, 64), "float32", {}, {}
    yield "half_packed", (64, 64), "bfloat16", {"packed": True}, {}
    yield "m64", (64, 64), "float32", {"collective": True, "layout": plgpu.TMEMLayout.M64_COLLECTIVE_LAYOUT(64)}, pair
    yield "scales", (128, 4), "float8_e5m2", {"layout": plgpu.TMEMLayout.SCALES_LAYOUT}, {}
    yield "scales_two", (256, 4), "float8_e5m2", {"layout": plgpu.TMEMLayout.SCALES_LAYOUT}, {}
    yield (
        "scales_m64",
        (256, 4),
        "float8_e5m2",
        {"collective": True, "layout": plgpu.TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT},
        pair,
    )
    yield "batches", (2, 128, 64), "float32", {}, {}
    yield "batches_of_scales", (2, 128, 4), "float8_e5m2", {"layout": plgpu.TMEMLayout.SCALES_LAYOUT}, {}


def _in_scope(*types):
    return lambda body: lambda x, o: pl.run_scoped(lambda *refs: body(x, o, *refs), *types)


def _stored(ref, value):
    plgpu.async_store_tmem(ref, value)
    plgpu.commit_tmem()


def tensor_memory():
    """(name, body of an operand and an output in GMEM, their type, arguments of the mesh)."""

    def read(x, layout):
        return plgpu.load(x, (), layout=layout, optimized=False)

    for name, dims, dtype, memory, mesh in _memories():
        x = jax.ShapeDtypeStruct(dims, jnp.dtype(dtype))
        one = (1,) * (len(dims) - 2)
        for label, layout in _registers().items():
            scope = _in_scope(plgpu.TMEM(dims, jnp.dtype(dtype), **memory))
            yield f"tmem_store_{name}_as_{label}", scope(lambda x, o, t, at=layout: _stored(t, read(x, at))), x, mesh
            yield (
                f"tmem_load_{name}_as_{label}",
                scope(
                    lambda x, o, t, at=layout, one=one: o.__setitem__(
                        one or ..., plgpu.async_load_tmem(t.at[one] if one else t, layout=at)
                    )
                ),
                x,
                mesh,
            )
    yield from _unions(read)


def _unions(read):
    """Loads of members of a union, and what says how they lie there."""
    dtype = jnp.float32
    x, of = jax.ShapeDtypeStruct((128, 64), dtype), plgpu.Layout
    scope = _in_scope(
        plgpu.RefUnion([plgpu.TMEM((128, 64), dtype), plgpu.TMEM((128, 64), dtype)], plgpu.TMEM((128, 32), dtype))
    )

    def loaded(o, ref, **options):
        o[...] = plgpu.async_load_tmem(ref, **options)

    for label, first in (
        ("nothing", lambda x, r: None),
        ("itself", lambda x, r: _stored(r[0][0], read(x, of.TCGEN05))),
        ("native", lambda x, r: _stored(r[0][0], read(x, of.TCGEN05_TMEM_NATIVE))),
        ("its_part", lambda x, r: _stored(r[0][0].at[:, pl.ds(32, 32)], read(x.at[:, pl.ds(32, 32)], of.TCGEN05))),
        ("constant", lambda x, r: _stored(r[0][0], jnp.ones((128, 64), dtype))),
        ("its_neighbour", lambda x, r: _stored(r[0][1], read(x, of.TCGEN05))),
        ("other", lambda x, r: _stored(r[1], read(x.at[:, pl.ds(0, 32)], of.TCGEN05))),
    ):
        yield f"union_stored_{label}", scope(lambda x, o, r, first=first: (first(x, r), loaded(o, r[0][0]))[1]), x, {}
        yield (
            f"union_stored_{label}_cast",
            scope(lambda x, o, r, first=first: (first(x, r), loaded(o, r[0][0], layout=of.TCGEN05))[1]),
            x,
            {},
        )
    for label, use in (
        ("plus_cast", lambda x, v: v + read(x, of.TCGEN05)),
        ("twice", lambda x, v: v + v),
        ("plus_one", lambda x, v: v + 1.0),
        ("cast_after", lambda x, v: plgpu.layout_cast(v + 1.0, of.TCGEN05)),
    ):
        yield (
            f"union_loaded_{label}",
            scope(lambda x, o, r, use=use: o.__setitem__(..., use(x, plgpu.async_load_tmem(r[0][0])))),
            x,
            {},
        )


def gpu_values():
    """Values of more dimensions than their layout has, of four bits, and resharded: (name, body, operand's and output's
    types, arguments of the mesh)."""

    def read(x, layout):
        return plgpu.load(x, (), layout=layout, optimized=False)

    of = plgpu.Layout
    for dims in ((2, 64, 8), (2, 3, 64, 8), (2, 3, 60, 8), (2, 64, 12)):
        x = jax.ShapeDtypeStruct(dims, jnp.float32)
        for label, act in (
            ("copied", lambda v: v),
            ("row", lambda v: v[(1,) * (len(v.shape) - 2)]),
            ("twice", lambda v: v + v),
            ("times_two", lambda v: v * 2),
            ("negated", lambda v: -v),
            ("sum_first", lambda v: lax.reduce_sum(v, (0,))),
            ("max_rows", lambda v: lax.reduce_max(v, (len(v.shape) - 2,))),
            ("sum_columns", lambda v: lax.reduce_sum(v, (len(v.shape) - 1,))),
        ):
            out = jax.eval_shape(act, x)
            yield (
                f"more_dims_{label}_{'x'.join(map(str, dims))}",
                lambda x, o, act=act: o.__setitem__(..., act(read(x, of.WGMMA))),
                (x, out),
                {},
            )
    for source, to in itertools.product(
        ("int4", "uint4"),
        ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "int8", "int32", "int4", "uint4", "uint8"),
    ):
        x, out = jax.ShapeDtypeStruct((64, 256), jnp.dtype(source)), jax.ShapeDtypeStruct((64, 256), jnp.dtype(to))
        yield (
            f"cast_of_four_bits_{short(source)}_{short(to)}",
            lambda x, o, to=to: o.__setitem__(..., read(x, of.WGMMA).astype(jnp.dtype(to))),
            (x, out),
            {},
        )
