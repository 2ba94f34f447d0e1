"""The course: its chapters in order, and the exercises that each leads to."""

import dataclasses
import pathlib
import types

from palladion.learn.statement import Exercise

FOLDER = pathlib.Path(__file__).parent / "exercises"


@dataclasses.dataclass(frozen=True)
class Chapter:
    page: str  # docs/learn/PAGE.md
    title: str
    exercises: tuple[str, ...]


CHAPTERS = (
    Chapter("01-grid-and-blocks", "GPU: grid and blocks", ("scale-rows",)),
    Chapter("04-ring-of-slots", "GPU: TMA and a ring of slots", ("ring-of-slots",)),
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
