"""The course: its chapters in order, and the exercises that each leads to."""

import dataclasses
import pathlib
import types

from palladion.learn.statement import Exercise

FOLDER = pathlib.Path(__file__).parent / "exercises"
# The chapters' texts: of a checkout in docs/, of an installed package beside this file.
_PAGES = (FOLDER.parent / "../../../docs/learn", FOLDER.parent / "chapters")


@dataclasses.dataclass(frozen=True)
class Chapter:
    page: str  # the name of its file in docs/learn, without .md
    title: str
    exercises: tuple[str, ...]

    @property
    def path(self) -> pathlib.Path | None:
        """Its text; None where the package was copied without the chapters."""
        paths = [(folder / f"{self.page}.md").resolve() for folder in _PAGES]
        return next((path for path in paths if path.is_file()), None)


CHAPTERS = (
    Chapter("01-grid-and-blocks", "GPU: grid and blocks", ("add-one", "scale-rows", "flip-tiles", "ragged-rows")),
    Chapter("02-shared-memory", "GPU: shared memory and barriers", ("hand-over", "swap-halves")),
    Chapter("03-races", "GPU: races and what orders them", ("find-the-lines", "keep-the-largest")),
    Chapter("04-ring-of-slots", "GPU: TMA and a ring of slots", ("ring-of-slots", "store-back", "more-slots")),
    Chapter(
        "05-warp-specialisation",
        "GPU: wgmma and warp specialisation",
        ("wait-for-the-product", "one-loads-one-multiplies", "overlap-products"),
    ),
    Chapter("06-tensor-memory", "GPU: tensor memory and tcgen05", ("read-the-accumulator", "second-product")),
    Chapter("07-sequential-grid", "TPU: sequential grid and residency", ("running-sum", "one-visit", "fewer-fetches")),
    Chapter("08-pipelines-and-vmem", "TPU: pipelines and VMEM", ("fit-in-vmem", "bigger-blocks", "fit-the-product")),
    Chapter(
        "09-copies-and-semaphores",
        "TPU: DMAs and semaphores",
        ("copy-by-hand", "two-buffers", "count-the-signals", "find-the-copy"),
    ),
    Chapter("10-rings", "TPU: rings over devices", ("pass-right", "ring-total", "gather-around")),
    Chapter(
        "11-atomics-and-locks",
        "GPU: atomics and locks",
        (
            "count-the-classes",
            "take-a-ticket",
            "lock-the-record",
            "last-one-adds",
            "one-add-per-program",
            "find-the-unlocked",
        ),
    ),
    Chapter(
        "12-clusters",
        "GPU: clusters and multicast",
        (
            "one-load-for-both",
            "read-the-neighbour",
            "slots-of-a-pair",
            "largest-of-a-cluster",
            "find-the-peer",
            "product-of-a-pair",
            "pair-with-slots",
        ),
    ),
    Chapter(
        "13-persistent-kernels",
        "GPU: persistent kernels and L2",
        ("stay-and-loop", "slots-go-on", "tiles-that-meet"),
    ),
    Chapter(
        "14-types-and-sums",
        "Types, sums and tolerances",
        ("stalled-sum", "round-once", "largest-first", "scaled-integers", "two-halves"),
    ),
    Chapter(
        "15-time",
        "Time: roofline, latency, occupancy",
        ("one-kernel", "more-at-once", "whole-sectors", "larger-tiles"),
    ),
)


def names() -> list[str]:
    """All exercises, in the order of the course."""
    return [name for chapter in CHAPTERS for name in chapter.exercises]


def chapter_of(name: str) -> Chapter:
    return next(chapter for chapter in CHAPTERS if name in chapter.exercises)


def load(name: str) -> Exercise:
    """KeyError where there is none of this name."""
    if name not in names():
        raise KeyError(name)
    folder = FOLDER / name
    path = folder / "statement.py"
    module = types.ModuleType("palladion_statement")
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), module.__dict__)
    return Exercise(name, folder, module.EXERCISE)
