"""What a GPU's numbers are, from the times of micro-kernels (kernels.py): for each number the kernels that it needs,
and the fit.

A probe asks `seconds(function, args)` for each of its kernels; the caller decides what that is, a GPU or a model of
one. Times are turned into cycles by the clock that the card is locked to. Two lengths of everything: what begins and
ends a kernel, and its loops, falls out. Needs NumPy; no GPU, and JAX only through the kernels.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from . import kernels

Seconds = Callable[[Callable, tuple], float]


@dataclasses.dataclass(frozen=True)
class Found:
    """A number of a machine's description, in the unit that its files have."""

    name: str
    value: float
    unit: str
    note: str


def slope(xs, ys) -> tuple[float, float]:
    """(slope, what is left at 0) of the least squares' line."""
    by, at = np.polyfit(np.asarray(xs, float), np.asarray(ys, float), 1)
    return float(by), float(at)


def of_one(seconds: Seconds, make, *, turns=32, each=2) -> float:
    """The time of one operation in a loop: twice as many in each turn, without what the loop itself takes."""
    once, twice = (seconds(*make(turns, count)) for count in (each, 2 * each))
    return (twice - once) / (turns * each)


def interval(name, operation, dtype=kernels.F32, instructions=1):
    """How many cycles an instruction of a warp keeps its pipe: by the number of elements of a lane.
    The operation has so many of them.
    """

    def probe(seconds, clock):
        sizes = (16, 32, 64)
        times = [
            clock
            * of_one(seconds, lambda turns, each, n=n: kernels.elementwise(operation, n, turns, each, dtype))
            / instructions
            for n in sizes
        ]
        by, at = slope(sizes, times)
        return [
            Found(
                f"{name}.interval",
                by,
                "cycles",
                f"{sizes[0]} to {sizes[-1]} elements of a lane; {at:.1f} cycles are left at 0",
            )
        ]

    return probe


def port(seconds, clock):
    """Bytes of a load and a store, over the cycles of both that grow with them."""
    sizes = (16, 32, 64)
    times = [clock * of_one(seconds, lambda turns, each, n=n: kernels.shared_memory(n, turns, each)) for n in sizes]
    arithmetic = [
        clock * of_one(seconds, lambda turns, each, n=n: kernels.elementwise(lambda x: x + 1.0, n, turns, each))
        for n in sizes
    ]
    by, _ = slope([2 * 4 * 128 * n for n in sizes], [a - b for a, b in zip(times, arithmetic)])
    return [
        Found("smem.port", 1 / by, "B/cycle", "loads and stores of 8 bytes a lane, without the addition between them")
    ]


def products(make, instructions, narrow, wide, names):
    """The law max(floor + N smem_per_n, N per_n) of one instruction: from narrow ones the first line,
    from wide ones the second.
    """
    floor, smem_per_n, per_n = names

    def probe(seconds, clock):
        def cycles(columns):
            return clock * of_one(seconds, lambda turns, each: make(columns, turns, each)) / instructions

        by, at = slope(narrow, [cycles(n) for n in narrow])
        wide_by = float(np.mean([cycles(n) / n for n in wide]))
        return [
            Found(floor, at, "cycles", f"N of {', '.join(map(str, narrow))}"),
            Found(smem_per_n, by, "cycles", "the same"),
            Found(per_n, wide_by, "cycles", f"N of {', '.join(map(str, wide))}"),
        ]

    return probe


def bandwidth(blocks):
    def probe(seconds, clock):
        counts, tile = (16, 48), 128 * 64 * 2
        times = [seconds(*kernels.copies(blocks, count, slots=8)) for count in counts]
        by, _ = slope([blocks * count * tile for count in counts], times)
        return [Found("dram.achieved", 1e-12 / by, "TB/s", f"copies of 16 KB by {blocks} blocks, 8 in flight in each")]

    return probe


def launch(seconds, clock):
    return [Found("launch.empty", 1e6 * seconds(*kernels.empty()), "us", "128 blocks that do nothing")]


def probes_of(family: str, sms: int) -> dict:
    """By what it measures."""
    import jax.numpy as jnp

    # A chain of one operation with a constant would be folded, and additions of integers go to another pipe as well.
    probes = {
        "f32 arithmetic": interval("fp32", lambda x: x + 1.0),
        "integers": interval("alu", lambda x: x ^ (x >> 1), jnp.int32, instructions=2),
        "functions": interval("mufu", jnp.exp2),
        "the port of shared memory": port,
        "main memory": bandwidth(sms),
        "launches": launch,
    }
    if family == "hopper":
        probes["wgmma"] = products(
            kernels.wgmma, 4, (16, 32, 64), (128, 256), ("wgmma.floor", "wgmma.smem_per_n", "wgmma.per_n")
        )
    if family == "blackwell":
        probes["tcgen05"] = products(
            kernels.tcgen05,
            4,
            (32, 64, 128),
            (192, 256),
            ("tcgen05.ss128_floor", "tcgen05.ss128_smem_per_n", "tcgen05.ss128_per_n"),
        )
    return probes


def found(family: str, sms: int, clock: float, seconds: Seconds, only=None) -> list[Found]:
    """All numbers, or those of the probes that are named."""
    return [
        one
        for name, probe in probes_of(family, sms).items()
        if only is None or name in only
        for one in probe(seconds, clock)
    ]
