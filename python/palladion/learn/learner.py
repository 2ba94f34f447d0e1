"""The folder that a learner works in: one file for each exercise, and what was done in `progress.json`.

A file of the learner's is written once, when it is missing, and again only by `reset`. An answer counts as passed as
long as its file is what it was when it passed.
"""

import dataclasses
import hashlib
import json
import os
import pathlib

from palladion.base.whole_file import write_whole
from palladion.learn import course

DEFAULT = "palladion-exercises"
PROGRESS = "progress.json"


class NoFolder(Exception):
    """The folder, or its progress, cannot be used; the text says why."""


@dataclasses.dataclass
class Learner:
    folder: pathlib.Path
    passed: dict[str, str]  # the file's digest when it passed
    hints: dict[str, int]  # how many were shown

    def file(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.py"

    def has_passed(self, name: str) -> bool:
        return name in self.passed and self.passed[name] == digest(self.file(name))

    def changed(self, name: str) -> bool:
        """Whether it passed, and is another file now."""
        return name in self.passed and not self.has_passed(name)

    def next(self) -> str | None:
        """The first exercise of the course that has not passed."""
        return next((name for name in course.names() if not self.has_passed(name)), None)

    def copy_missing(self) -> list[str]:
        """Writes the files that are not there; what is there stays."""
        missing = [name for name in course.names() if not self.file(name).exists()]
        if missing:
            self.folder.mkdir(parents=True, exist_ok=True)
        for name in missing:
            write_whole(str(self.file(name)), course.load(name).begin)
        return missing

    def reset(self, name: str) -> None:
        """The file as it was in the beginning; what was in it is lost."""
        write_whole(str(self.file(name)), course.load(name).begin)
        self.passed.pop(name, None)
        self.hints.pop(name, None)
        self.save()

    def pass_(self, name: str) -> None:
        self.passed[name] = digest(self.file(name))
        self.save()

    def one_more_hint(self, name: str, most: int) -> int:
        """How many hints there are to show now."""
        self.hints[name] = min(self.hints.get(name, 0) + 1, most)
        self.save()
        return self.hints[name]

    def save(self) -> None:
        data = {"version": 1, "passed": self.passed, "hints": self.hints}
        write_whole(str(self.folder / PROGRESS), json.dumps(data, indent=2, sort_keys=True) + "\n")


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def open_folder(given: str | None) -> Learner:
    """The folder that is given, or that the process is in, or ./palladion-exercises. Nothing is written."""
    here = pathlib.Path(PROGRESS).exists() and pathlib.Path.cwd().name == DEFAULT
    folder = pathlib.Path(given or os.environ.get("PALLADION_EXERCISES") or ("." if here else DEFAULT))
    if folder.exists() and not folder.is_dir():
        raise NoFolder(f"{str(folder)!r} is not a folder; --folder names another one")
    path = folder / PROGRESS
    if not path.exists():
        return Learner(folder, {}, {})
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        passed, hints = dict(data["passed"]), {name: max(int(count), 0) for name, count in data["hints"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise NoFolder(f"{str(path)!r} is not what palladion learn writes; remove it to begin anew") from None
    return Learner(folder, passed, hints)
