"""How long one execution of a kernel takes on a chip, as the library tells it (emu/time/timing_told.h). Needs no JAX."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class LineTime:
    """One instruction, over all threads: cycles that it kept them busy, and that they waited before it could go on.

    `frames` are the user's Python lines, (file, line, function), innermost first; `text_line` is the kernel text's.
    """

    op: str
    text_line: int
    frames: list[tuple[str, int, str]]
    runs: int
    busy_cycles: float
    waited_cycles: float
    waited_for: str


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """One execution of one kernel. Times are in seconds, `uncertainty` is a share of `seconds`; `text` is all of it for people.

    `units`: share of the time that units of the chip were busy. `roofline`: the least time that each limit allows, in seconds.
    `traffic`: of each operand the bytes read, written, and not found in L2 (None: the chip has none). `data`: the whole, as `palladion time --format json` has it.
    `page`, `trace`: where a timeline was asked for, what happened when (docs/timeline.md), as HTML and as JSON for Perfetto.
    """

    kernel: str
    machine: str
    seconds: float
    uncertainty: float
    cycles: float
    units: dict[str, float]
    roofline: dict[str, float]
    traffic: dict[str, tuple[float, float, float | None]]
    lines: list[LineTime]
    left_out: list[str]
    text: str
    data: dict
    page: str | None = None
    trace: str | None = None

    def __str__(self) -> str:
        return self.text


def kernel_time(data: dict, text: str, page: str | None = None, trace: str | None = None) -> KernelTime:
    """Of what `palladion time --format json` tells, and the same for people."""
    lines = [LineTime(one["op"], one["text_line"], [(f["file"], f["line"], f["function"]) for f in one["frames"]], one["runs"],
                      one["busy_cycles"], one["waited_cycles"], one["waited_for"]) for one in data["lines"]]
    return KernelTime(kernel=text.partition(" ")[0], machine=data["machine"], seconds=data["ns"] * 1e-9, uncertainty=data["uncertainty"],
                      cycles=data["cycles"], units={one["unit"]: one["busy"] for one in data["units"]},
                      roofline={one["limit"]: one["ns"] * 1e-9 for one in data["roofline"]},
                      traffic={one["operand"]: (one["read_bytes"], one["written_bytes"], one["missed_bytes"]) for one in data["traffic"]},
                      lines=lines, left_out=data["left_out"], text=text, data=data, page=page, trace=trace)
