"""Families of block specs: each dimension of an array is cut in one of the ways below, and two of them make a case.

What a program sees, and what is left of what programs store, is worked out here element by element by the rules of
docs/spec/grid.md. Does not catch: targets whose blocks have memory of their own and are left and visited again.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
from case_writer import NUMPY_TYPES, dims
from family_writer import ALL, FamilyCase, generator, poison, values

SIZE, PROGRAMS = 5, 3  # of each dimension of the array and of the grid


@dataclasses.dataclass(frozen=True)
class Cut:
    """`block`: its text; `map`: text of the index for the grid index %p;
    `elements`: of program p, squeezed where `gone`.
    """

    block: str
    index: Callable
    elements: Callable
    rule: str
    gone: bool = False


def tile(index):
    return [2 * index, 2 * index + 1]


CUTS = {
    "tiles": Cut("2", lambda p, v: ("", p), tile, "blocks.2"),
    "backwards": Cut("2", lambda p, v: (f"{v} = sub(2:i32, {p}) : i32[]; ", v), lambda p: tile(2 - p), "order.5"),
    "again": Cut("2", lambda p, v: (f"{v} = rem({p}, 2:i32) : i32[]; ", v), lambda p: tile(p % 2), "order.2"),
    "same": Cut("2", lambda p, v: ("", "1:i32"), lambda p: tile(1), "order.2"),
    "whole": Cut(str(SIZE), lambda p, v: ("", "0:i32"), lambda p: list(range(SIZE)), "blocks.1"),
    "window": Cut(
        "el(3,1,1)",
        lambda p, v: (f"{v} = mul({p}, 2:i32) : i32[]; ", v),
        lambda p: [2 * p - 1, 2 * p, 2 * p + 1],
        "element",
    ),
    "squeezed": Cut("sq", lambda p, v: ("", p), lambda p: [p], "squeezed", gone=True),
}
PAIRS = list(itertools.product(CUTS, CUTS))


def block_of(cuts):
    """The block's text, and the shape of its ref."""
    maps = [CUTS[cut].index(p, v) for cut, p, v in zip(cuts, ("%i", "%j"), ("%a", "%b"))]
    text = f" block ({','.join(CUTS[cut].block for cut in cuts)}) map (%i: i32[], %j: i32[]) {{ "
    text += f"{''.join(before for before, _ in maps)}return {', '.join(index for _, index in maps)}; }}"
    return text, tuple(len(CUTS[cut].elements(0)) for cut in cuts if not CUTS[cut].gone)


def slot_of(shape):
    """One slot of an array for each program."""
    zeros = ", 0:i32" * len(shape)
    sizes = ",".join(["sq", "sq", *map(str, shape)])
    return f" block ({sizes}) map (%i: i32[], %j: i32[]) {{ return %i, %j{zeros}; }}", shape


def places(cuts, program):
    """The elements of the block of a program, in order, and whether each lies in the array."""
    for place in itertools.product(*(CUTS[cut].elements(p) for cut, p in zip(cuts, program))):
        yield place, all(0 <= at < SIZE for at in place)


def rules(cuts):
    padded = any(not inside for program in np.ndindex(PROGRAMS, PROGRAMS) for _, inside in places(cuts, program))
    named = ["grid.md#blocks", *(f"grid.md#{CUTS[cut].rule}" for cut in cuts), *["grid.md#padding"] * padded]
    return " ".join(dict.fromkeys(named))


def copied(shape, dtype):
    return (f"%v = get(%xr) : {dtype}{dims(shape)};", f"_ = swap(%or, %v) : {dtype}{dims(shape)};")


def drawn(name, count):
    return [PAIRS[i] for i in sorted(generator(name).permutation(len(PAIRS))[:count])]


def seen():
    """What each program sees of an array, on memory of the array itself and on memory of its own."""
    for number, cuts in enumerate(drawn("seen", 28)):
        target, dtype = ("", "mosaic_tpu/v5e")[number % 2], ALL[number % len(ALL)]
        name = f"block_seen_{cuts[0]}_{cuts[1]}_{dtype}"
        block = block_of(cuts)
        x = values(name, dtype, (SIZE, SIZE))
        flat = [
            x[place] if inside else poison(dtype)
            for program in np.ndindex(PROGRAMS, PROGRAMS)
            for place, inside in places(cuts, program)
        ]
        out = np.array(flat, NUMPY_TYPES[dtype]).reshape(PROGRAMS, PROGRAMS, *block[1])
        yield FamilyCase(
            name,
            rules(cuts),
            "What each program sees; outside of the array is poison. Oracle: the rules, in NumPy.",
            {"x": x},
            out,
            copied(block[1], dtype),
            (PROGRAMS, PROGRAMS),
            {"x": block, "o": slot_of(block[1])},
            target,
        )


def left():
    """What is left where programs store one after another: what lies outside is discarded, the last store stays."""
    for number, cuts in enumerate(drawn("left", 20)):
        dtype = ALL[-1 - number % len(ALL)]
        name = f"block_left_{cuts[0]}_{cuts[1]}_{dtype}"
        block = block_of(cuts)
        x = values(name, dtype, (PROGRAMS, PROGRAMS, *block[1]))
        out = np.full((SIZE, SIZE), poison(dtype), NUMPY_TYPES[dtype])
        for program in np.ndindex(PROGRAMS, PROGRAMS):
            for value, (place, inside) in zip(x[program].ravel(), places(cuts, program)):
                if inside:
                    out[place] = value
        yield FamilyCase(
            name,
            rules(cuts),
            "What all programs leave; what lies outside is discarded, and gaps are poison. Oracle: the rules, in "
            "NumPy.",
            {"x": x},
            out,
            copied(block[1], dtype),
            (PROGRAMS, PROGRAMS),
            {"x": slot_of(block[1]), "o": block},
        )


FAMILIES = (seen, left)
