"""How long one execution of a kernel takes on a chip, as the library reports it (emu/timing/report/format.h).
Needs no JAX.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class LineTime:
    """One instruction, over all threads: cycles that it kept them busy, and that they waited before it could go on.

    `stalls`: of a GPU, what made up the wait, in cycles by reason. `frames` are the user's Python lines, (file, line,
    function), innermost first; `text_line` is the kernel text's.
    """

    op: str
    text_line: int
    frames: list[tuple[str, int, str]]
    runs: int
    busy_cycles: float
    waited_cycles: float
    waited_for: str
    stalls: dict[str, float]


@dataclasses.dataclass(frozen=True)
class PathPart:
    """A part of the critical path, in cycles. `doing`: "" where a thread worked, "under way" of an engine's operation,
    or what it waited for.

    `op` is "" and `frames` are empty for what no instruction did, such as the launch of a block.
    """

    op: str
    text_line: int
    frames: list[tuple[str, int, str]]
    doing: str
    cycles: float


@dataclasses.dataclass(frozen=True)
class Placement:
    """`blocks` on `units` SMs or cores, at most `at_once` on one, because of `limit`;
    of a GPU, in `waves`, the last with a block in a share of its places. `timed`: of a Triton kernel, blocks that were
    run; the others are taken to be like them.
    """

    blocks: int
    units: int
    at_once: int
    limit: str
    waves: int | None
    last_wave: float | None
    timed: int | None = None


@dataclasses.dataclass(frozen=True)
class Whole:
    """What busy and waiting time of all `KernelTime.lines` adds up to together with `rest`, which is of no line: `of`
    says what it is, such as "264 places for blocks" for all of the time. In cycles, by name.
    """

    of: str
    cycles: float
    rest: dict[str, float]


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """One execution of one kernel. Times are in seconds, `uncertainty` is a share of `seconds` (None: not known);
    `text` is all of it for people.

    units: share of the time that units of the chip were busy.
    roofline: the least time that each limit allows, in seconds.
    traffic: of each operand the bytes read, written, and not found in L2 (None: the chip has none).
    l2_hit_rate: the share of all bytes read that L2 had, and of each operand in `l2_hit_rates`; None where nothing was
        read or the chip has no L2.
    stalls: what all threads waited for, in cycles by reason.
    whole: of a GPU, what the rows by line add up to; None where a block has not ended.
    critical_path: what the last to end waited for, back to the start, the longest part first; the parts add up to
        `cycles`.
    data: the whole, as `palladion time --format json` has it.
    page: the timeline (docs/guides/timeline.md) as HTML, where one was asked for; `trace` is it as JSON for Perfetto.
    """

    kernel: str
    machine: str
    seconds: float
    uncertainty: float | None
    cycles: float
    units: dict[str, float]
    roofline: dict[str, float]
    traffic: dict[str, tuple[float, float, float | None]]
    l2_hit_rate: float | None
    l2_hit_rates: dict[str, float | None]
    placement: Placement
    stalls: dict[str, float]
    lines: list[LineTime]
    critical_path: list[PathPart]
    left_out: list[str]
    text: str
    data: dict
    whole: Whole | None = None
    page: str | None = None
    trace: str | None = None

    def __str__(self) -> str:
        return self.text


def _stalls(entry: dict) -> dict[str, float]:
    return {one["reason"]: one["cycles"] for one in entry["stalls"]}


def _whole(entry: dict | None) -> Whole | None:
    if entry is None:
        return None
    return Whole(entry["of"], entry["cycles"], {part["name"]: part["cycles"] for part in entry["rest"]})


def _frames(entry: dict) -> list[tuple[str, int, str]]:
    return [(f["file"], f["line"], f["function"]) for f in entry["frames"]]


def kernel_time(data: dict, text: str, page: str | None = None, trace: str | None = None) -> KernelTime:
    """From the output of `palladion time --format json`, and from the text for people."""
    lines = [
        LineTime(
            one["op"],
            one["text_line"],
            _frames(one),
            one["runs"],
            one["busy_cycles"],
            one["waited_cycles"],
            one["waited_for"],
            _stalls(one),
        )
        for one in data["lines"]
    ]
    path = [
        PathPart(one["op"], one["text_line"], _frames(one), one["doing"], one["cycles"])
        for one in data["critical_path"]
    ]
    return KernelTime(
        kernel=text.partition(" ")[0],
        machine=data["machine"],
        seconds=data["ns"] * 1e-9,
        uncertainty=data["uncertainty"],
        cycles=data["cycles"],
        units={one["unit"]: one["busy"] for one in data["units"]},
        roofline={one["limit"]: one["ns"] * 1e-9 for one in data["roofline"]},
        traffic={
            one["operand"]: (one["read_bytes"], one["written_bytes"], one["missed_bytes"]) for one in data["traffic"]
        },
        l2_hit_rate=data["l2_hit_rate"],
        l2_hit_rates={one["operand"]: one["l2_hit_rate"] for one in data["traffic"]},
        placement=Placement(**data["placement"]),
        stalls=_stalls(data),
        lines=lines,
        critical_path=path,
        left_out=data["left_out"],
        text=text,
        data=data,
        whole=_whole(data.get("whole")),
        page=page,
        trace=trace,
    )
