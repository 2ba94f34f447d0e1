"""`palladion.exercise("ring-of-slots").check(f)`: an exercise in a notebook, without files."""

import html
from collections.abc import Callable

from palladion.learn import course
from palladion.learn.judge import judge
from palladion.learn.judgement import Judgement


class NotebookExercise:
    """One exercise; `task` says what is to be done, `code` is what it begins with, `check(f)` judges an answer."""

    def __init__(self, name: str):
        try:
            self._exercise = course.load(name)
        except KeyError:
            raise ValueError(f"there is no exercise {name!r}; there are {', '.join(course.names())}") from None
        self._hints = 0

    @property
    def name(self) -> str:
        """As in the list of docs/learn/index.md."""
        return self._exercise.name

    @property
    def task(self) -> str:
        """What is to be done."""
        return self._exercise.task

    @property
    def code(self) -> str:
        """What an answer begins with."""
        return self._exercise.begin

    def check(self, f: Callable) -> Judgement:
        """Whether `f` is right; shown in a notebook as a page, and as one line elsewhere."""
        return judge(self._exercise, f)

    def hint(self) -> str:
        """The hints so far, and one more each time."""
        hints = self._exercise.statement.hints
        self._hints = min(self._hints + 1, len(hints))
        return "\n".join(hints[: self._hints])

    def __repr__(self) -> str:
        return f"<exercise {self.name}: {self._exercise.statement.title}>"

    def _repr_html_(self) -> str:
        title, code = html.escape(self._exercise.statement.title), html.escape(self.code)
        return f"<h3>{title}</h3><pre style='overflow-x:auto'>{code}</pre>"


def exercise(name: str) -> NotebookExercise:
    """The exercise `name` of the course (docs/learn/index.md): `palladion.exercise("ring-of-slots").check(f)`."""
    return NotebookExercise(name)
