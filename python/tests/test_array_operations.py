"""Operations that move, reduce, contract and sort arrays, on random shapes, types and attributes, against JAX, NumPy.

Each case is one instruction of kernel text, run through the library. Results must have JAX's bits; any NaN meets any
NaN, since XLA's CPU code changes NaNs' payloads in narrow floats, and flushes subnormals, which the inputs here avoid.
Sums of floats are compared with the rule of docs/spec/reduce.md, written out in NumPy.
"""

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from palladion import _library
from palladion.base.scalars import dtype_name

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = ("bool", "int4", "uint4", *INTEGERS, *FLOATS, "float8_e4m3fn", "float8_e5m2")


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True), np.errstate(all="ignore"):
        yield


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name.replace("bool", "bool_")))


def spelled(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(spelled(v) for v in value) + "]"
    return "none" if value is None else str(value)


def type_of(array):
    return f"{dtype_name(array.dtype)}[{','.join(map(str, array.shape))}]"


def kernel_text(op, attrs, inputs, outputs):
    named = [("x", "in", inputs), ("o", "out", outputs)]
    refs = [(f"{letter}{i}", role, type_of(a)) for letter, role, arrays in named for i, a in enumerate(arrays)]
    lines = ["pkir 1;", "kernel @k {", "  grid [];", *(f"  {role} %{name}: {ty};" for name, role, ty in refs)]
    lines.append("  body @b (" + ", ".join(f"%{name}r: ref<default,{ty}>" for name, _, ty in refs) + ") {")
    lines += [f"    %{name}v = get(%{name}r) : {ty};" for name, role, ty in refs if role == "in"]
    given = ", ".join(f"%{name}v" for name, role, _ in refs if role == "in")
    made = ", ".join(f"%{name}v" for name, role, _ in refs if role == "out")
    attributes = "{" + ", ".join(f"{k}={spelled(v)}" for k, v in attrs.items()) + "}" if attrs else ""
    lines.append(f"    {made} = {op}{attributes}({given}) : " + ", ".join(type_of(a) for a in outputs) + ";")
    lines += [f"    _ = swap(%{name}r, %{name}v) : {ty};" for name, role, ty in refs if role == "out"]
    return "\n".join([*lines, "    return;", "  }", "}"])


def values(array):
    """The bits, with one NaN for all; 4-bit integers by value, whose upper bits NumPy leaves open."""
    if "int4" in array.dtype.name:
        return array.astype(np.int32)
    bits = array.view(f"u{array.dtype.itemsize}")
    if array.dtype.kind in "iub":
        return bits
    return np.where(np.isnan(array.astype(np.float64)), bits.dtype.type(0xFF), bits)


def check(op, attrs, inputs, expected, target=None):
    expected = [np.asarray(e) for e in (expected if isinstance(expected, (list, tuple)) else [expected])]
    inputs = [np.asarray(x, order="C") for x in inputs]
    outputs = [np.zeros(e.shape, e.dtype) for e in expected]
    text = kernel_text(op, attrs, inputs, outputs)
    _library.Program(text, target=target).run(inputs, outputs)
    for output, e in zip(outputs, expected):
        assert np.array_equal(values(output), values(e)), f"{text}\n{inputs}\nfound {output}\nexpected {e}"


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        """low <= n < high"""
        return int(self.rng.integers(low, high))

    def ints(self, low, high, n):
        return [self.int(low, high) for _ in range(n)]

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, options):
        return options[self.int(0, len(options))]

    def permuted(self, items):
        return [items[i] for i in self.rng.permutation(len(items))]

    def some(self, n, k):
        """k of the numbers below n, in order."""
        return sorted(int(v) for v in self.rng.choice(n, k, replace=False)) if k else []

    def shape(self, low_rank=0, high_rank=5, high=6):
        shape = self.ints(1, high, self.int(low_rank, high_rank))
        if shape and self.chance(0.08):
            shape[self.int(0, len(shape))] = 0
        return tuple(shape)

    def array(self, shape, name=None):
        dtype = dtype_of(name or self.pick(TYPES))
        if dtype == np.bool_:
            return self.rng.integers(0, 2, shape).astype(bool)
        if "int4" in dtype.name:
            return self.rng.integers(-8, 8, shape).astype(np.int8).astype(dtype)
        size = int(np.prod(shape)) * dtype.itemsize
        array = self.rng.integers(0, 256, size).astype(np.uint8).view(dtype).reshape(shape)
        if dtype.kind in "iu":
            return array
        as_double = array.astype(np.float64)  # no subnormals
        return np.where((np.abs(as_double) < 1e-4) & (as_double != 0), dtype.type(1), array)

    def small_floats(self, shape, name):
        """Few different numbers, zeros of both signs and NaN."""
        array = self.rng.integers(-2, 3, shape).astype(np.float64)
        array = np.where(self.rng.random(shape) < 0.15, np.nan, array)
        return np.where(self.rng.random(shape) < 0.15, -0.0, array).astype(dtype_of(name))


SEEDS = pytest.mark.parametrize("seed", range(8))


@SEEDS
def test_shapes(seed):
    r = Random(seed)
    x = r.array(r.shape())
    rank = x.ndim
    dims = r.some(rank + 2, rank)
    shape = r.ints(1, 6, rank + 2)
    stretched = [1 if r.chance(0.4) else n for n in x.shape]
    for d, n in zip(dims, stretched):
        shape[d] = n if n != 1 else shape[d]
    y = r.array(tuple(stretched), x.dtype.name)
    check("broadcast_in_dim", {"shape": shape, "dims": dims}, [y], lax.broadcast_in_dim(y, shape, dims))
    wide = r.ints(1, 4, 2) + [r.int(1, 5) if n == 1 else n for n in stretched]
    check("broadcast_to", {"shape": wide}, [y], np.broadcast_to(y, wide))
    check("reshape", {"shape": [x.size]}, [x], x.reshape(-1))
    perm = r.permuted(list(range(rank)))
    check("transpose", {"perm": perm}, [x], np.transpose(x, perm).copy())
    ones = r.some(rank + 2, 2)
    expanded = np.expand_dims(x, tuple(ones))
    check("expand_dims", {"dims": ones}, [x], expanded)
    check("squeeze", {"dims": ones}, [expanded], x)
    dims = [d for d in range(rank) if r.chance(0.5)]
    check("rev", {"dims": dims}, [x], np.flip(x, dims).copy() if dims else x)
    reps = r.ints(0 if r.chance(0.2) else 1, 4, rank)
    check("tile", {"reps": reps}, [x], np.tile(x, reps) if rank else x)


@SEEDS
def test_parts(seed):
    r = Random(seed)
    x = r.array(r.shape(1))
    axis, shape = r.int(0, x.ndim), x.shape
    like = lambda n: r.array(tuple(n if d == axis else s for d, s in enumerate(shape)), x.dtype.name)
    pieces = [like(n) for n in r.ints(0, 4, r.int(1, 5))]
    check("concatenate", {"dim": axis}, pieces, lax.concatenate(pieces, axis))
    check("split", {"sizes": [p.shape[axis] for p in pieces], "axis": axis}, [lax.concatenate(pieces, axis)], pieces)
    equal = [r.array(shape, x.dtype.name) for _ in range(r.int(1, 4))]
    place = r.int(0, x.ndim + 1)
    stacked = np.stack(equal, place)
    check("stack", {"axis": place}, equal, stacked)
    check("unstack", {"axis": place}, [stacked], equal)
    start = [r.int(0, n + 1) for n in shape]
    limit = [r.int(s, n + 1) for s, n in zip(start, shape)]
    strides = None if r.chance(0.3) else r.ints(1, 4, x.ndim)
    check("slice", {"start": start, "limit": limit, "strides": strides}, [x], lax.slice(x, start, limit, strides))
    sizes = [r.int(0, n + 1) for n in shape]
    index_type = dtype_of(r.pick(("int8", "int32", "int64", "uint8", "uint32")))
    starts = [np.asarray(r.int(-3 if index_type.kind == "i" else 0, 8), index_type) for _ in shape]
    part = lax.dynamic_slice_p.bind(x, *starts, slice_sizes=tuple(sizes))
    check("dynamic_slice", {"sizes": sizes}, [x, *starts], part)
    update = r.array(tuple(sizes), x.dtype.name)
    check("dynamic_update_slice", {}, [x, update, *starts], lax.dynamic_update_slice_p.bind(x, update, *starts))


@SEEDS
def test_pad_and_iota(seed):
    r = Random(seed)
    x = r.array(r.shape(1))
    value = r.array((), x.dtype.name)
    config = [[r.int(-4, 4), r.int(-4, 4), r.int(0, 3)] for _ in x.shape]
    for d, (low, high, interior) in enumerate(config):  # no negative size
        config[d][0] += max(0, -(low + high + x.shape[d] + max(x.shape[d] - 1, 0) * interior))
    check("pad", {"config": config}, [x, value], lax.pad(x, value, [tuple(c) for c in config]))
    shape = tuple(n * 70 for n in r.ints(1, 3, 1)) + r.shape(0, 3)
    axis = r.int(0, len(shape))
    dtype = dtype_of(r.pick(("int8", "uint8", "int32", "bfloat16", "float16", "float32")))
    check("iota", {"dim": axis}, [], lax.broadcasted_iota(dtype, shape, axis))


@SEEDS
def test_gather(seed):
    r = Random(seed)
    x = r.array(tuple(r.ints(1, 6, r.int(1, 4))), r.pick(INTEGERS + FLOATS))
    batching = r.some(x.ndim, r.int(0, min(x.ndim, 2) + 1))
    others = [d for d in range(x.ndim) if d not in batching]
    collapsed = [d for d in others if r.chance(0.5)]
    sizes = [1 if d in collapsed + batching else r.int(1, n + 1) for d, n in enumerate(x.shape)]
    start_map = r.permuted([d for d in others if d in collapsed or r.chance(0.7)])
    points = r.ints(1, 4, len(batching) + r.int(0, 3))
    points_batching = r.permuted(r.some(len(points), len(batching)))
    for d, p in zip(batching, points_batching):
        points[p] = x.shape[d]
    index_type = dtype_of(r.pick(("int8", "int32", "int64", "uint32")))
    indices = r.rng.integers(-2 if index_type.kind == "i" else 0, 7, (*points, len(start_map))).astype(index_type)
    kept = x.ndim - len(collapsed) - len(batching)
    numbers = {
        "offset_dims": r.some(len(points) + kept, kept),
        "collapsed_slice_dims": collapsed,
        "operand_batching_dims": batching,
        "start_indices_batching_dims": points_batching,
        "start_index_map": start_map,
    }
    for mode, fill in (("clip", None), ("fill", None), ("fill", 3)):
        expected = lax.gather(
            x,
            indices,
            lax.GatherDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()}),
            tuple(sizes),
            mode=mode,
            fill_value=fill,
        )
        check("gather", {**numbers, "slice_sizes": sizes, "mode": mode, "fill_value": fill}, [x, indices], expected)


@SEEDS
def test_scatter(seed):
    """Few places and many updates, so that updates meet and are outside."""
    r = Random(seed)
    name = r.pick(INTEGERS + FLOATS)
    x = r.small_floats(r.ints(1, 5, r.int(1, 4)), name) if name in FLOATS else r.array(r.ints(1, 5, r.int(1, 4)), name)
    batching = r.some(x.ndim, r.int(0, min(x.ndim, 2) + 1))
    others = [d for d in range(x.ndim) if d not in batching]
    inserted = [d for d in others if r.chance(0.5)]
    sizes = [r.int(1, n + 1) for d, n in enumerate(x.shape) if d not in inserted + batching]
    start_map = r.permuted([d for d in others if d in inserted or r.chance(0.7)])
    points = r.ints(1, 5, len(batching) + r.int(0, 3))
    points_batching = r.permuted(r.some(len(points), len(batching)))
    for d, p in zip(batching, points_batching):
        points[p] = x.shape[d]
    index_type = dtype_of(r.pick(("int8", "int32", "int64", "uint32")))
    indices = r.rng.integers(-2 if index_type.kind == "i" else 0, 6, (*points, len(start_map))).astype(index_type)
    window = r.some(len(points) + len(sizes), len(sizes))
    point_sizes, window_sizes = iter(points), iter(sizes)
    shape = [next(window_sizes if d in window else point_sizes) for d in range(len(points) + len(sizes))]
    updates = r.small_floats(shape, name) if name in FLOATS else r.array(shape, name)
    numbers = {
        "update_window_dims": window,
        "inserted_window_dims": inserted,
        "scatter_dims_to_operand_dims": start_map,
        "operand_batching_dims": batching,
        "scatter_indices_batching_dims": points_batching,
    }
    dims = lax.ScatterDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()})
    for op in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
        for mode, known in (("clip", "clip"), ("drop", "fill")):
            expected = getattr(lax, op)(x, indices, updates, dims, mode=known)
            check(op, {**numbers, "mode": mode}, [x, indices, updates], expected)


@SEEDS
def test_sort(seed):
    r = Random(seed)
    shape = r.shape(1, 4, 14)
    operands = [
        r.array(shape)
        if r.chance(0.4)
        else r.small_floats(shape, r.pick(FLOATS))
        if r.chance(0.5)
        else r.rng.integers(0, 3, shape).astype(dtype_of(r.pick(INTEGERS)))
        for _ in range(r.int(1, 4))
    ]
    axis, keys = r.int(0, len(shape)), r.int(1, len(operands) + 1)
    expected = lax.sort(operands, dimension=axis, is_stable=True, num_keys=keys)
    check("sort", {"dim": axis, "stable": True, "num_keys": keys}, operands, expected)


def in_order(x, axes, combine, start):
    """docs/spec/reduce.md: 16 partial results in double, element i into number i mod 16."""
    kept = [d for d in range(x.ndim) if d not in axes]
    reduced = [d for d in range(x.ndim) if d in axes]
    length = int(np.prod([x.shape[d] for d in reduced]))
    rows = np.transpose(x, kept + reduced).reshape(*(x.shape[d] for d in kept), length).astype(np.float64)
    partial = np.full((*rows.shape[:-1], 16), start)
    for i in range(length):
        partial[..., i % 16] = combine(partial[..., i % 16], rows[..., i])
    for width in (8, 4, 2, 1):
        partial = combine(partial[..., :width], partial[..., width:])
    return partial[..., 0].astype(x.dtype)


@SEEDS
def test_reductions(seed):
    r = Random(seed)
    shape = r.shape(high=9)
    axes = r.permuted([d for d in range(len(shape)) if r.chance(0.5)])
    attrs = {"axes": axes}
    x = r.rng.standard_normal(shape).astype(dtype_of(r.pick(FLOATS)))
    check("reduce_sum", attrs, [x], in_order(x, axes, np.add, 0.0))
    check("reduce_prod", attrs, [x], in_order(x, axes, np.multiply, 1.0))
    for name in ("reduce_max", "reduce_min"):
        check(name, attrs, [x], getattr(lax, name)(x, tuple(axes)))
    integers = r.array(shape, r.pick(INTEGERS))
    for name in ("sum", "prod", "max", "min", "and", "or", "xor"):
        check(f"reduce_{name}", attrs, [integers], getattr(lax, f"reduce_{name}")(integers, tuple(axes)))
    for name in ("sum", "max", "min"):  # where floats have rules of their own
        check(
            f"reduce_{name}",
            attrs,
            [integers],
            getattr(lax, f"reduce_{name}")(integers, tuple(axes)),
            target="triton/h100",
        )
    flags = r.array(shape, "bool")
    for name in ("and", "or"):
        check(f"reduce_{name}", attrs, [flags], getattr(lax, f"reduce_{name}")(flags, tuple(axes)))
    if axes and x.size:
        some_nan = np.where(r.rng.random(shape) < 0.5, np.nan, r.rng.integers(1, 9, shape)).astype(np.float32)
        ignoring = {"reduce_max": np.fmax, "reduce_min": np.fmin}
        for name, function in ignoring.items():
            check(name, attrs, [some_nan], function.reduce(some_nan, axis=tuple(axes)), target="triton/h100")


@SEEDS
def test_indices_and_cumulative_operations(seed):
    r = Random(seed)
    shape = r.shape(1, 5, 9)
    axis = r.int(0, len(shape))
    floats, integers = r.small_floats(shape, r.pick(FLOATS)), r.array(shape, r.pick(INTEGERS))
    index_type = dtype_of(r.pick(("int8", "int16", "int32", "uint32")))
    for name in ("argmax", "argmin") if shape[axis] else ():
        for x in (floats, integers):
            check(name, {"axis": axis}, [x], getattr(lax, name)(x, axis, index_type))
        check(name, {"axis": axis}, [integers], getattr(lax, name)(integers, axis, index_type), target="triton/h100")
    reverse = r.chance(0.5)
    attrs = {"axis": axis, "reverse": reverse}
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        check(name, attrs, [integers], getattr(lax, name)(integers, axis, reverse=reverse))
    for name, function in (("cumsum", np.add), ("cumprod", np.multiply)):
        x = r.rng.standard_normal(shape).astype(dtype_of(r.pick(("float32", "float64"))))
        turned = np.flip(x, axis) if reverse else x
        running = function.accumulate(turned, axis, dtype=x.dtype)
        check(name, attrs, [x], np.flip(running, axis).copy() if reverse else running)


@SEEDS
def test_dot_general(seed):
    r = Random(seed)
    sizes = {(part, i): r.int(1, 8) for part in "bcmn" for i in range(r.int(0, 3))}
    if sizes and r.chance(0.1):
        sizes[r.pick(list(sizes))] = 0
    a, b = (r.permuted([d for d in sizes if d[0] in parts]) for parts in ("bcm", "bcn"))
    name = r.pick(("bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn"))
    low, high = {"bool": (0, 2), "uint8": (0, 5)}.get(name, (-4, 5))
    x, y = (r.rng.integers(low, high, [sizes[d] for d in dims]).astype(dtype_of(name)) for dims in (a, b))
    pairs = {part: [[dims.index(d) for d in sizes if d[0] == part] for dims in (a, b)] for part in "cb"}
    preferred = None
    if x.dtype.itemsize < 4 and name != "bool" and r.chance(0.6):
        preferred = "int32" if x.dtype.kind in "iu" else "float32"
    exact = np.float64 if x.dtype.kind not in "iub" else x.dtype  # small integers: every sum is exact
    wanted = dtype_of(preferred) if preferred else x.dtype
    expected = lax.dot_general(
        x.astype(exact),
        y.astype(exact),
        (pairs["c"], pairs["b"]),
        preferred_element_type=wanted if exact == x.dtype else None,
    )
    expected = np.asarray(expected).astype(wanted)
    if wanted.kind not in "iub":
        expected = expected + wanted.type(0)  # a sum that begins with +0 is never -0
    attrs = {
        "contract": pairs["c"],
        "batch": pairs["b"],
        "precision": None,
        "preferred": preferred and dtype_name(dtype_of(preferred)),
    }
    check("dot_general", attrs, [x, y], expected)


@SEEDS
def test_tpu_values(seed):
    tpu = pytest.importorskip("jax._src.pallas.mosaic.primitives")
    r = Random(seed)
    x = r.array(tuple(r.ints(1, 6, r.int(1, 5))))
    axis, stride, stride_axis = r.int(0, x.ndim), None, None
    if x.ndim > 1 and r.chance(0.7):
        stride, stride_axis = r.int(0, 9), r.pick([d for d in range(x.ndim) if d != axis])
    shift = np.asarray(r.int(-9, 30), np.int32)
    rolled = jax.jit(lambda v, s: tpu.roll_p.bind(v, s, axis=axis, stride=stride, stride_axis=stride_axis))(x, shift)
    check("tpu.roll", {"axis": axis, "stride": stride, "stride_axis": stride_axis}, [x, shift], rolled)
    check("tpu.repeat", {"repeats": 3, "axis": axis}, [x], tpu.repeat(x, 3, axis))
    packable = ("int4", "uint4", "int8", "uint8", "int16", "bfloat16", "uint32", "float32", "uint64")
    source, to = r.pick(packable), r.pick(packable)
    width = lambda name: 4 if "int4" in name else dtype_of(name).itemsize * 8
    rows = r.int(1, 4) * max(1, width(to) // width(source))
    words = r.array((*r.ints(1, 3, r.int(0, 2)), rows, r.int(1, 5)), source)
    cast = jax.jit(lambda v: tpu.bitcast(v, dtype_of(to)))(words)
    check("tpu.bitcast", {"to": dtype_name(dtype_of(to))}, [words], cast)
