"""What a random kernel may do with the values it has: one function for each kind of operation, which writes one
instruction.

Each takes the writer (random_kernel.py) and gives None where the values at hand do not fit; the writer tries another
one then. Inexact values never decide: a comparison, an index, a rounding or an integer is made of exact ones only
(values.py).
"""

from values import FUNCTION_ULPS, INT_RANGE, LARGEST, UNIT, Value, rounded, sum_of, type_text

EXACT_UNARY = {
    "abs": "any",
    "neg": "any",
    "sign": "any",
    "floor": "float",
    "ceil": "float",
    "round{rounding_method=1}": "float",
    "round{rounding_method=0}": "float",
    "not": "bits",
    "population_count": "int",
    "clz": "int",
}
# Of |x| <= 4: the largest result, and the largest slope.
SMOOTH = {
    "exp": (55, 55),
    "exp2": (16, 12),
    "tanh": (1, 1),
    "sin": (1, 1),
    "cos": (1, 1),
    "logistic": (1, 0.25),
    "expm1": (54, 55),
    "erf": (1, 1.2),
    "atan": (1.4, 1),
    "square": (16, 8),
    "integer_pow{y=3}": (64, 48),
}


def unary(writer):
    value = writer.pick()
    names = [name for name, kind in EXACT_UNARY.items() if _takes(kind, value)]
    name = writer.choose(names)
    if name not in ("abs", "neg") and not value.exact:
        return None
    if value.dtype == "bool" and name != "not" or value.dtype.startswith("u") and name in ("neg", "abs", "sign"):
        return None
    return writer.emit(name, [value], value.dtype, value.shape, (value.size + 1, value.error))


def _takes(kind: str, value: Value) -> bool:
    if kind == "any":
        return value.dtype != "bool"
    return {"float": value.float, "int": not value.float and value.dtype != "bool", "bits": not value.float}[kind]


def smooth(writer):
    value = writer.pick(lambda v: v.float and v.size <= 4)
    name = writer.choose(list(SMOOTH))
    largest, slope = SMOOTH[name]
    return writer.emit(
        name, [value], value.dtype, value.shape, rounded(value.dtype, largest, slope * value.error, FUNCTION_ULPS)
    )


def arithmetic(writer):
    one = writer.pick(lambda v: v.dtype != "bool")
    other = writer.alike(one)
    name = writer.choose(["add", "sub", "mul", "max", "min"])
    if not one.float:
        return writer.emit(name, [one, other], one.dtype, one.shape, (1, 0.0))
    if name in ("max", "min"):
        return writer.emit(
            name, [one, other], one.dtype, one.shape, (max(one.size, other.size), max(one.error, other.error))
        )
    size, error = one.size + other.size, one.error + other.error
    if name == "mul":
        size, error = one.size * other.size, one.size * other.error + other.size * one.error + one.error * other.error
    return writer.emit(name, [one, other], one.dtype, one.shape, rounded(one.dtype, size, error))


def integer(writer):
    one = writer.pick(lambda v: v.dtype in INT_RANGE)
    name = writer.choose(
        ["and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic", "div", "rem"]
    )
    other = writer.alike(one)
    if name.startswith("shift"):
        other = writer.emit("and", [other, writer.splat(one, 7)], one.dtype, one.shape, (7, 0.0))
    elif name in ("div", "rem"):  # by 1, 3, 5 or 7: neither by 0 nor the least number by -1
        some = writer.emit("and", [other, writer.splat(one, 6)], one.dtype, one.shape, (6, 0.0))
        other = writer.emit("or", [some, writer.splat(one, 1)], one.dtype, one.shape, (7, 0.0))
    return writer.emit(name, [one, other], one.dtype, one.shape, (1, 0.0))


def divide(writer):
    one = writer.pick(lambda v: v.float and v.size <= 64)
    other = writer.alike(one)
    positive = writer.emit("abs", [other], one.dtype, one.shape, (other.size, other.error))
    half = writer.splat(one, 0.5)
    below = writer.emit(
        "add", [positive, half], one.dtype, one.shape, rounded(one.dtype, other.size + 0.5, other.error)
    )
    size = 2 * one.size
    return writer.emit(
        "div", [one, below], one.dtype, one.shape, rounded(one.dtype, size, 2 * one.error + 2 * size * below.error, 2)
    )


def root(writer):
    value = writer.pick(lambda v: v.float and v.size <= 64)
    positive = writer.emit("abs", [value], value.dtype, value.shape, (value.size, value.error))
    above = writer.emit(
        "add",
        [positive, writer.splat(value, 0.5)],
        value.dtype,
        value.shape,
        rounded(value.dtype, value.size + 0.5, value.error),
    )
    name = writer.choose(["sqrt", "rsqrt", "log", "log1p"])
    return writer.emit(
        name,
        [above],
        value.dtype,
        value.shape,
        rounded(value.dtype, max(8.1, value.size**0.5 + 1), 2 * above.error, FUNCTION_ULPS),
    )


def compare(writer):
    one = writer.pick(lambda v: v.exact and v.dtype != "bool")
    other = writer.alike(one)
    if not other.exact:
        return None
    return writer.emit(writer.choose(["eq", "ne", "lt", "le", "gt", "ge"]), [one, other], "bool", one.shape, (1, 0.0))


def logic(writer):
    one = writer.pick(lambda v: v.dtype == "bool")
    return writer.emit(writer.choose(["and", "or", "xor"]), [one, writer.alike(one)], "bool", one.shape, (1, 0.0))


def select(writer):
    one = writer.pick()
    predicate = writer.find(lambda v: v.dtype == "bool" and v.shape == one.shape)
    if predicate is None:
        return None
    other = writer.alike(one)
    return writer.emit(
        "select_n",
        [predicate, one, other],
        one.dtype,
        one.shape,
        (max(one.size, other.size), max(one.error, other.error)),
    )


def clamp(writer):
    value = writer.pick(lambda v: v.dtype != "bool")
    low, high = writer.splat(value, 1), writer.splat(value, 3)
    return writer.emit("clamp", [low, value, high], value.dtype, value.shape, (max(3, value.size), value.error))


def convert(writer):
    value = writer.pick()
    to = writer.choose(["f32", "bf16", "f16", "i32", "u32", "i8", "u8", "i16", "bool"])
    if to == value.dtype:
        return None
    if value.float and to not in UNIT:
        if not value.exact or to == "bool" or value.size > INT_RANGE[to][1]:
            return None
        if to.startswith("u"):  # of a negative number the result is the machine's own
            value = writer.emit("abs", [value], value.dtype, value.shape, (value.size, 0.0))
        return writer.emit(f"convert_element_type{{to={to}}}", [value], to, value.shape, (1, 0.0))
    if to not in UNIT:
        return writer.emit(f"convert_element_type{{to={to}}}", [value], to, value.shape, (1, 0.0))
    if value.float:
        exact = value.exact
        bounds = rounded(to, value.size, value.error)
        return writer.emit(
            f"convert_element_type{{to={to}}}", [value], to, value.shape, (value.size, 0.0) if exact else bounds
        )
    if value.dtype not in ("i8", "u8", "bool"):  # what is larger may not be exact
        return None
    return writer.emit(f"convert_element_type{{to={to}}}", [value], to, value.shape, (256, 0.0))


def broadcast(writer):
    value = writer.pick(lambda v: v.elements <= 64)
    front = writer.choose([2, 3])
    dims = ",".join(str(d + 1) for d in range(len(value.shape)))
    return writer.shaped(
        f"broadcast_in_dim{{shape=[{_list((front, *value.shape))}], dims=[{dims}]}}", [value], (front, *value.shape)
    )


def _list(numbers) -> str:
    return ",".join(str(n) for n in numbers)


def reshape(writer):
    value = writer.pick(lambda v: len(v.shape) >= 1)
    shape = writer.choose([(value.elements,), (1, value.elements), tuple(reversed(value.shape)), (*value.shape, 1)])
    return writer.shaped(f"reshape{{shape=[{_list(shape)}]}}", [value], shape)


def transpose(writer):
    value = writer.pick(lambda v: len(v.shape) >= 2)
    order = writer.shuffled(range(len(value.shape)))
    return writer.shaped(f"transpose{{perm=[{_list(order)}]}}", [value], tuple(value.shape[d] for d in order))


def reverse(writer):
    value = writer.pick(lambda v: len(v.shape) >= 1)
    dims = sorted(writer.shuffled(range(len(value.shape)))[: writer.below(len(value.shape)) + 1])
    return writer.shaped(f"rev{{dims=[{_list(dims)}]}}", [value], value.shape)


def cut(writer):
    value = writer.pick(lambda v: len(v.shape) >= 1 and v.elements > 1)
    start = [writer.below(n) for n in value.shape]
    limit = [s + 1 + writer.below(n - s) for s, n in zip(start, value.shape)]
    step = [1 + writer.below(2) for _ in start]
    shape = tuple(-(-(end - s) // n) for s, end, n in zip(start, limit, step))
    return writer.shaped(
        f"slice{{start=[{_list(start)}], limit=[{_list(limit)}], strides=[{_list(step)}]}}", [value], shape
    )


def join(writer):
    value = writer.pick(lambda v: len(v.shape) >= 1 and v.elements <= 128)
    other, dim = writer.alike(value), writer.below(len(value.shape))
    shape = tuple(2 * n if d == dim else n for d, n in enumerate(value.shape))
    return writer.emit(
        f"concatenate{{dim={dim}}}",
        [value, other],
        value.dtype,
        shape,
        (max(value.size, other.size), max(value.error, other.error)),
    )


def surround(writer):
    value = writer.pick(lambda v: 1 <= len(v.shape) and v.elements <= 64 and v.dtype != "bool")
    config = [(writer.below(3), writer.below(3), writer.below(2)) for _ in value.shape]
    shape = tuple(low + high + n + (n - 1) * inner for (low, high, inner), n in zip(config, value.shape))
    text = ",".join(f"[{low},{high},{inner}]" for low, high, inner in config)
    return writer.emit(
        f"pad{{config=[{text}]}}",
        [value, writer.constant(value.dtype, 1)],
        value.dtype,
        shape,
        (max(1, value.size), value.error),
    )


def reduce(writer):
    value = writer.pick(lambda v: len(v.shape) >= 1)
    axis = writer.below(len(value.shape))
    shape = tuple(n for d, n in enumerate(value.shape) if d != axis)
    if value.dtype == "bool":
        return writer.emit(
            f"{writer.choose(['reduce_and', 'reduce_or'])}{{axes=[{axis}]}}", [value], "bool", shape, (1, 0.0)
        )
    name = writer.choose(["reduce_sum", "reduce_max", "reduce_min"])
    bounds = (value.size, value.error)
    if name == "reduce_sum" and value.float:
        bounds = sum_of(value, value.shape[axis])
    return writer.emit(f"{name}{{axes=[{axis}]}}", [value], value.dtype, shape, bounds)


def extreme(writer):
    value = writer.pick(lambda v: v.exact and len(v.shape) >= 1 and v.dtype != "bool")
    axis = writer.below(len(value.shape))
    shape = tuple(n for d, n in enumerate(value.shape) if d != axis)
    return writer.emit(f"{writer.choose(['argmax', 'argmin'])}{{axis={axis}}}", [value], "i32", shape, (1, 0.0))


def accumulate(writer):
    value = writer.pick(lambda v: v.dtype in ("f32", "i32", "u32") and len(v.shape) >= 1)
    axis = writer.below(len(value.shape))
    name = writer.choose(["cumsum", "cummax", "cummin"])
    bounds = sum_of(value, value.shape[axis]) if name == "cumsum" and value.float else (value.size, value.error)
    return writer.emit(
        f"{name}{{axis={axis}, reverse={writer.choose(['true', 'false'])}}}", [value], value.dtype, value.shape, bounds
    )


def order(writer):
    value = writer.pick(lambda v: v.exact and len(v.shape) >= 1 and v.dtype != "bool")
    dim = writer.below(len(value.shape))
    return writer.shaped(f"sort{{dim={dim}, stable=true, num_keys=1}}", [value], value.shape)


def count(writer):
    like = writer.pick(lambda v: len(v.shape) >= 1)
    dtype = writer.choose(["i32", "u32", "f32", "i8"])
    return writer.emit(f"iota{{dim={writer.below(len(like.shape))}}}", [], dtype, like.shape, (max(like.shape), 0.0))


def product(writer):
    one = writer.pick(lambda v: v.float and len(v.shape) == 2)
    terms = one.shape[1]
    other = writer.find(lambda v: v.dtype == one.dtype and len(v.shape) == 2 and terms in v.shape)
    if other is None:
        return None
    contract = 0 if other.shape[0] == terms else 1
    shape = (one.shape[0], other.shape[1 - contract])
    each = Value(
        "", "f32", (), one.size * other.size, one.size * other.error + other.size * one.error + one.error * other.error
    )
    size, error = sum_of(each, terms)
    text = f"dot_general{{contract=[[1],[{contract}]], batch=[[],[]], precision=highest, preferred=f32}}"
    return writer.emit(text, [one, other], "f32", shape, rounded("f32", size, error, 2))


PURE = (
    unary,
    smooth,
    arithmetic,
    arithmetic,
    integer,
    divide,
    root,
    compare,
    logic,
    select,
    clamp,
    convert,
    convert,
    broadcast,
    reshape,
    transpose,
    reverse,
    cut,
    join,
    surround,
    reduce,
    reduce,
    extreme,
    accumulate,
    order,
    count,
    product,
)


def fits(dtype: str, size: float, error: float) -> bool:
    """May a value of these bounds be kept: is it far from overflow, and is anything left of its digits?"""
    return dtype not in UNIT or (size <= LARGEST and error <= 0.05 * max(size, 1.0))


def constant_text(dtype: str, number) -> str:
    if dtype == "bool":
        return "true" if number else "false"
    return f"{float(number)!r}:{dtype}" if dtype in UNIT else f"{int(number)}:{dtype}"


__all__ = ["PURE", "constant_text", "fits", "type_text"]
