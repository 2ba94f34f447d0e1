"""Families of small cases: type by shape by stride by indexer for accesses, operations by type, contractions by layout,
blocks by kind. Which member has which type is drawn with a fixed seed; expected values are NumPy's and ml_dtypes', or
what a rule of the specification says in a line of NumPy here.
Does not catch: what needs large arrays or several targets.
"""

import numpy as np
from case_writer import NUMPY_TYPES
from family_writer import ALL, FLOATS, NUMBERS, SIGNED, UNSIGNED, FamilyCase, generator, type_of, values

ROWS = np.array([3, 0, 2], np.int32)
COLUMNS = np.array([5, 1, 5, 0], np.int32)
PLANES = np.array([[1], [0]], np.int32)
# Name of an indexer: (its text, NumPy's index, the index arrays that it takes, its rule). The array has the shape (4,
# 6), or what SHAPES says.
INDEXERS = {
    "whole": ("", np.s_[:, :], {}, 1),
    "point": (".at[2, 4]", np.s_[2, 4], {}, 1),
    "row": (".at[3, *]", np.s_[3, :], {}, 1),
    "column": (".at[*, 1]", np.s_[:, 1], {}, 1),
    "box": (".at[1 +: 2, 2 +: 3]", np.s_[1:3, 2:5], {}, 2),
    "strided": (".at[0 +: 2 : 3, 1 +: 3 : 2]", np.s_[0:4:3, 1:6:2], {}, 2),
    "every_other": (".at[*, 0 +: 3 : 2]", np.s_[:, 0:6:2], {}, 2),
    "rows": (".at[%rowsv, *]", np.s_[ROWS, :], {"rows": ROWS}, 3),
    "columns": (".at[*, %columnsv]", np.s_[:, COLUMNS], {"columns": COLUMNS}, 3),
    "pairs": (".at[%rowsv, %columnsv]", np.s_[ROWS, COLUMNS[:3]], {"rows": ROWS, "columns": COLUMNS[:3]}, 3),
    "slice_and_array": (".at[1 +: 3 : 1, %columnsv]", np.s_[1:4, COLUMNS], {"columns": COLUMNS}, 3),
    "vector_every_third": (".at[1 +: 3 : 3]", np.s_[1:9:3], {}, 2),
    "vector_array": (".at[%rowsv]", np.s_[ROWS], {"rows": ROWS}, 3),
    "cube_middle": (".at[*, 2, 1 +: 2 : 2]", np.s_[:, 2, 1:4:2], {}, 2),
    "cube_apart": (".at[%planesv, *, %columnsv]", np.s_[PLANES, :, ROWS], {"planes": PLANES, "columns": ROWS}, 3),
    "cube_neighbours": (".at[*, 1, %rowsv]", np.s_[:, 1, ROWS], {"rows": ROWS}, 3),
    "chain": (".at[1 +: 3, *].at[2, 0 +: 2 : 3]", np.s_[3, 0:6:3], {}, 1),
}
ACCESS_TYPES = 5  # of each indexer
SHAPES = {"vector": (9,), "cube": (2, 3, 4)}


def shape_of(indexer):
    return SHAPES.get(indexer.split("_")[0], (4, 6))


def types_for(name, of, count):
    return [of[i] for i in sorted(generator(name).permutation(len(of))[:count])]


def index_loads(arrays):
    return tuple(f"%{name}v = get(%{name}r) : {type_of(array)};" for name, array in arrays.items())


def loads():
    for indexer, (text, index, arrays, rule) in INDEXERS.items():
        for dtype in types_for(f"load_{indexer}", ALL, ACCESS_TYPES):
            name = f"load_{indexer}_{dtype}"
            x = values(name, dtype, shape_of(indexer))
            loaded = np.asarray(x[index])
            body = (
                *index_loads(arrays),
                f"%v = get(%xr{text}) : {type_of(loaded)};",
                f"_ = swap(%or, %v) : {type_of(loaded)};",
            )
            rules = f"ref.md#get ref.md#indexing.{rule}" + " ref.md#views.1" * (indexer == "chain")
            yield FamilyCase(name, rules, f"Loads of {dtype}. Oracle: NumPy.", {"x": x, **arrays}, loaded, body)


def stores():
    once = {k: v for k, v in INDEXERS.items() if v[2].get("columns") is not COLUMNS}  # that name no element twice
    for indexer, (text, index, arrays, rule) in once.items():
        for dtype in types_for(f"store_{indexer}", ALL, ACCESS_TYPES):
            name = f"store_{indexer}_{dtype}"
            x = values(name, dtype, shape_of(indexer))
            y = values(f"{name}_y", dtype, x[index].shape)
            stored = x.copy()
            stored[index] = y
            body = (
                *index_loads(arrays),
                f"%v = get(%xr) : {type_of(x)};",
                f"_ = swap(%or, %v) : {type_of(x)};",
                f"%w = get(%yr) : {type_of(y)};",
                f"%old = swap(%or{text}, %w) : {type_of(y)};",
            )
            yield FamilyCase(
                name,
                f"ref.md#swap ref.md#indexing.{rule}",
                f"Stores of {dtype}; what is not named stays. Oracle: NumPy.",
                {"x": x, "y": y, **arrays},
                stored,
                body,
            )


def masked():
    shown = ("whole", "row", "box", "strided", "rows", "pairs")
    for indexer in shown:
        text, index, arrays, rule = INDEXERS[indexer]
        for dtype in types_for(f"masked_{indexer}", ALL, 4):
            name = f"masked_{indexer}_{dtype}"
            x = values(name, dtype, shape_of(indexer))
            seen = x[index]
            mask, other = values(f"{name}_mask", "bool", seen.shape), values(f"{name}_other", dtype, seen.shape)
            given = {"x": x, "m": mask, "y": other, **arrays}
            begun = (*index_loads(arrays), f"%mv = get(%mr) : {type_of(mask)};", f"%yv = get(%yr) : {type_of(other)};")
            loaded = np.where(mask, seen, other)
            body = (
                *begun,
                f"%v = masked_load(%xr{text}, mask=%mv, other=%yv) : {type_of(seen)};",
                f"_ = swap(%or, %v) : {type_of(seen)};",
            )
            yield FamilyCase(
                f"{name}_load",
                f"ref.md#masked_load ref.md#5 ref.md#indexing.{rule}",
                "Lanes whose mask is false hold the other operand. Oracle: NumPy.",
                given,
                loaded,
                body,
            )
            stored = x.copy()
            stored[index] = np.where(mask, other, seen)
            body = (
                *begun,
                f"%v = get(%xr) : {type_of(x)};",
                f"_ = swap(%or, %v) : {type_of(x)};",
                f"%old = masked_swap(%or{text}, %yv, mask=%mv) : {type_of(seen)};",
            )
            yield FamilyCase(
                f"{name}_store",
                f"ref.md#masked_swap ref.md#5 ref.md#indexing.{rule}",
                "Lanes whose mask is false are not stored. Oracle: NumPy.",
                given,
                stored,
                body,
            )


def added():
    """addupdate, where an index array may name an element twice."""
    for indexer in ("row", "strided", "rows", "columns"):
        text, index, arrays, rule = INDEXERS[indexer]
        for dtype in types_for(f"addupdate_{indexer}", ("f16", "bf16", "f32", "f64", *SIGNED, *UNSIGNED), 4):
            name = f"addupdate_{indexer}_{dtype}"
            x = values(name, dtype, (4, 6))
            y = values(f"{name}_y", dtype, x[index].shape)
            summed = x.astype(np.float64 if dtype in FLOATS else np.int64)
            np.add.at(summed, index, y.astype(summed.dtype))
            body = (
                *index_loads(arrays),
                f"%v = get(%xr) : {type_of(x)};",
                f"_ = swap(%or, %v) : {type_of(x)};",
                f"%w = get(%yr) : {type_of(y)};",
                f"addupdate(%or{text}, %w);",
            )
            yield FamilyCase(
                name,
                f"ref.md#addupdate ref.md#indexing.{rule}",
                "Elements named twice are added to twice. Oracle: NumPy.",
                {"x": x, "y": y, **arrays},
                wrap(summed, dtype),
                body,
            )


def wrap(exact, dtype):
    """Whole numbers modulo 2^bits, others rounded."""
    return (
        exact.astype(NUMPY_TYPES[dtype])
        if dtype not in ("i4", "u4")
        else (((exact + 8 * (dtype == "i4")) % 16 - 8 * (dtype == "i4")).astype(np.int8).astype(NUMPY_TYPES[dtype]))
    )


BINARY = {
    "add": (NUMBERS, np.add),
    "sub": (NUMBERS, np.subtract),
    "mul": (NUMBERS, np.multiply),
    "max": (NUMBERS, np.maximum),
    "min": (NUMBERS, np.minimum),
    "and": (SIGNED[1:] + UNSIGNED[1:] + ("bool",), np.bitwise_and),
    "or": (SIGNED[1:] + UNSIGNED[1:] + ("bool",), np.bitwise_or),
    "xor": (SIGNED[1:] + UNSIGNED[1:] + ("bool",), np.bitwise_xor),
    "eq": (ALL, np.equal),
    "ne": (ALL, np.not_equal),
    "lt": (NUMBERS, np.less),
    "le": (NUMBERS, np.less_equal),
    "gt": (NUMBERS, np.greater),
    "ge": (NUMBERS, np.greater_equal),
}
UNARY = {
    "neg": (FLOATS + SIGNED, np.negative),
    "abs": (FLOATS + SIGNED, np.abs),
    "not": (SIGNED[1:] + UNSIGNED[1:] + ("bool",), np.invert),
}


def elementwise():
    for table, names in ((BINARY, "xy"), (UNARY, "x")):
        for op, (of, oracle) in table.items():
            for dtype in types_for(op, of, 4):
                name = f"{op}_{dtype}"
                operands = {operand: values(f"{name}_{operand}", dtype, (3, 5)) for operand in names}
                out = np.asarray(of_type(oracle, dtype, *operands.values()))
                body = (
                    *(f"%{n}v = get(%{n}r) : {type_of(a)};" for n, a in operands.items()),
                    f"%v = {op}({', '.join(f'%{n}v' for n in names)}) : {type_of(out)};",
                    f"_ = swap(%or, %v) : {type_of(out)};",
                )
                yield FamilyCase(
                    name, f"elementwise.md#{op}", f"Of {dtype}. Oracle: NumPy with ml_dtypes.", operands, out, body
                )


def of_type(oracle, dtype, *arrays):
    """Of 4-bit integers NumPy computes in more bits."""
    if dtype not in ("i4", "u4"):
        return oracle(*arrays)
    exact = oracle(*(a.astype(np.int64) for a in arrays))
    return exact if exact.dtype == bool else wrap(exact, dtype)


def conversions():
    for dtype in ALL:
        for to in types_for(f"convert_{dtype}", [t for t in ALL if t != dtype], 3):
            name = f"convert_{dtype}_{to}"
            x = np.abs(values(name, dtype, (2, 6)).astype(np.float64)).astype(NUMPY_TYPES[dtype])  # what all types hold
            whole = np.trunc(x.astype(np.float64)) if to not in FLOATS and to != "bool" else x.astype(np.float64)
            out = whole.astype(NUMPY_TYPES[to])
            rule = (
                5
                if "bool" in (dtype, to)
                else {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[
                    (dtype in FLOATS, to in FLOATS)
                ]
            )
            body = (
                f"%xv = get(%xr) : {type_of(x)};",
                f"%v = convert_element_type{{to={to}}}(%xv) : {type_of(out)};",
                f"_ = swap(%or, %v) : {type_of(out)};",
            )
            yield FamilyCase(
                name,
                f"elementwise.md#convert_element_type.{rule}",
                f"From {dtype} to {to}. Oracle: ml_dtypes.",
                {"x": x},
                out,
                body,
            )


# Operation: (its text with attributes, NumPy's, on an array of shape (2, 3, 4)).
MOVES = {
    "transpose": ("{perm=[2,0,1]}", lambda x: x.transpose(2, 0, 1)),
    "reshape": ("{shape=[4,6]}", lambda x: x.reshape(4, 6)),
    "rev": ("{dims=[0,2]}", lambda x: x[::-1, :, ::-1]),
    "slice": ("{start=[0,1,0], limit=[2,3,4], strides=[1,1,3]}", lambda x: x[0:2, 1:3, 0:4:3]),
    "broadcast_in_dim": ("{shape=[2,2,3,4], dims=[0,2,3]}", lambda x: np.broadcast_to(x[:, None], (2, 2, 3, 4))),
    "tile": ("{reps=[1,2,1]}", lambda x: np.tile(x, (1, 2, 1))),
    "expand_dims": ("{dims=[1,3]}", lambda x: x[:, None, :, None, :]),
}


def moves():
    for op, (attrs, oracle) in MOVES.items():
        for dtype in types_for(op, ALL, 4):
            name = f"{op}_{dtype}"
            x = values(name, dtype, (2, 3, 4))
            out = np.ascontiguousarray(oracle(x))
            body = (
                f"%xv = get(%xr) : {type_of(x)};",
                f"%v = {op}{attrs}(%xv) : {type_of(out)};",
                f"_ = swap(%or, %v) : {type_of(out)};",
            )
            yield FamilyCase(name, f"shape.md#{op}", f"Of {dtype}. Oracle: NumPy.", {"x": x}, out, body)


AXES = ((0,), (1,), (2,), (0, 2), (0, 1, 2))
REDUCTIONS = {
    "reduce_sum": (FLOATS[:4] + SIGNED[1:] + UNSIGNED[1:], np.sum),
    "reduce_prod": (FLOATS[2:4] + SIGNED[1:] + UNSIGNED[1:], np.prod),
    "reduce_max": (NUMBERS, np.max),
    "reduce_min": (NUMBERS, np.min),
    "reduce_and": (SIGNED[1:] + UNSIGNED[1:], np.bitwise_and.reduce),
    "reduce_or": (SIGNED[1:] + UNSIGNED[1:], np.bitwise_or.reduce),
    "reduce_xor": (SIGNED[1:] + UNSIGNED[1:], np.bitwise_xor.reduce),
}
PREFIXES = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


def reductions():
    for op, (of, oracle) in REDUCTIONS.items():
        for axes, dtype in zip(AXES, types_for(op, of, len(AXES))):
            name = f"{op}_{''.join(map(str, axes))}_{dtype}"
            # few: all bits decide
            x = values(name, dtype, (3, 1, 2) if op in ("reduce_and", "reduce_or") else (2, 3, 4))
            wide = x.astype(np.float64 if dtype in FLOATS else object)
            exact = np.asarray(oracle(wide if op[7:] in ("sum", "prod") else x, axis=axes))
            out = wrapped_sum(exact, dtype)
            body = (
                f"%xv = get(%xr) : {type_of(x)};",
                f"%v = {op}{{axes=[{','.join(map(str, axes))}]}}(%xv) : {type_of(out)};",
                f"_ = swap(%or, %v) : {type_of(out)};",
            )
            yield FamilyCase(
                name,
                f"reduce.md#{op}",
                f"Of {dtype}, along {axes}. Oracle: exact numbers in NumPy.",
                {"x": x},
                out,
                body,
            )


def wrapped_sum(exact, dtype):
    if exact.dtype != object:
        return exact.astype(NUMPY_TYPES[dtype])
    bits = 8 * np.dtype(NUMPY_TYPES[dtype]).itemsize
    modulo = np.vectorize(lambda n: int(n) % 2**bits, otypes=[np.uint64])(exact)
    return modulo.astype(f"u{bits // 8}").view(NUMPY_TYPES[dtype]).reshape(exact.shape)


def prefixes():
    for op, oracle in PREFIXES.items():
        for (axis, reverse), dtype in zip(
            ((0, False), (1, True), (1, False)), types_for(op, ("f32", "f64", "i32", "i64", "u32"), 3)
        ):
            name = f"{op}_{axis}{'_reverse' * reverse}_{dtype}"
            x = values(name, dtype, (3, 4))
            flipped = np.flip(x, axis) if reverse else x
            with np.errstate(over="ignore"):
                found = oracle(flipped, axis=axis, **({"dtype": x.dtype} if op in ("cumsum", "cumprod") else {}))
            out = np.flip(found, axis) if reverse else found
            body = (
                f"%xv = get(%xr) : {type_of(x)};",
                f"%v = {op}{{axis={axis}, reverse={str(reverse).lower()}}}(%xv) : {type_of(out)};",
                f"_ = swap(%or, %v) : {type_of(out)};",
            )
            yield FamilyCase(name, f"reduce.md#{op}", f"Of {dtype}, along {axis}. Oracle: NumPy.", {"x": x}, out, body)


# Layout: (shape of a, shape of b, contracted dimensions, batch dimensions, einsum).
LAYOUTS = {
    "nn": ((3, 4), (4, 2), ((1,), (0,)), ((), ()), "mk,kn->mn"),
    "nt": ((3, 4), (2, 4), ((1,), (1,)), ((), ()), "mk,nk->mn"),
    "tn": ((4, 3), (4, 2), ((0,), (0,)), ((), ()), "km,kn->mn"),
    "tt": ((4, 3), (2, 4), ((0,), (1,)), ((), ()), "km,nk->mn"),
    "batch": ((2, 3, 4), (2, 4, 2), ((2,), (1,)), ((0,), (0,)), "bmk,bkn->bmn"),
}
PRODUCTS = (
    ("f16", "f32"),
    ("bf16", "f32"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("f8e4m3fn", "f32"),
    ("f8e5m2", "f16"),
    ("i8", "i32"),
    ("u8", "i32"),
    ("i16", "i32"),
    ("i32", "i32"),
    ("u32", "u32"),
    ("i8", "f32"),
    ("bf16", "bf16"),
)


def products():
    for (dtype, to), layout in [(p, name) for p in PRODUCTS for name in types_for(f"dot_{p}", list(LAYOUTS), 2)]:
        left, right, contract, batch, einsum = LAYOUTS[layout]
        name = f"dot_{layout}_{dtype}_{to}"
        a, b = values(f"{name}_a", dtype, left), values(f"{name}_b", dtype, right)
        wide = np.float64 if dtype in FLOATS else np.int64
        out = np.einsum(einsum, a.astype(wide), b.astype(wide)).astype(NUMPY_TYPES[to])
        pair = lambda axes: "[" + ",".join("[" + ",".join(map(str, part)) + "]" for part in axes) + "]"
        attrs = f"contract={pair(contract)}, batch={pair(batch)}, precision=none, preferred={to}"
        body = (
            f"%av = get(%ar) : {type_of(a)};",
            f"%bv = get(%br) : {type_of(b)};",
            f"%v = dot_general{{{attrs}}}(%av, %bv) : {type_of(out)};",
            f"_ = swap(%or, %v) : {type_of(out)};",
        )
        rules = f"dot.md#dot_general.1 dot.md#dot_general.{2 if dtype in FLOATS else 3}"
        yield FamilyCase(
            name,
            rules,
            f"{dtype} to {to}; sums are exact. Oracle: NumPy's einsum in wide numbers.",
            {"a": a, "b": b},
            out,
            body,
        )


FAMILIES = (loads, stores, masked, added, elementwise, conversions, moves, reductions, prefixes, products)
