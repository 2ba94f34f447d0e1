"""What an answer is worth: its values under every schedule, what the check finds, how long it would take.

The values of one schedule are compared with the reference's, and those of the others with that schedule's (NONDET). A
note of the check does not make an answer wrong. Times are the model's (docs/explanation/time.md), so that a limit has
to leave room beside what the solution takes.
"""

import dataclasses
import inspect
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from palladion.api.checking import check, first_difference
from palladion.api.fitting_over import fit
from palladion.api.timing import time
from palladion.jax.interception import export
from palladion.learn import answers
from palladion.learn.answers import Where, Wrong
from palladion.learn.judgement import Judgement
from palladion.learn.statement import Exercise
from palladion.learn.work import Work, place_of, work_of
from palladion.report.rendering import many
from palladion.report.short_errors import given_function

_COUNTED = ("defect", "warning")
_TYPES = {"int64": "int32", "float64": "float32"}  # NumPy's sums and means of an int32 are wider than JAX's
_OF_THE_BUDGET = ", or the budget is too small: raise the argument budget"  # a learner has none to raise
_STEPS = 1 << 20  # of one program; the largest solution takes a few thousand, and a loop without an end a second


def judge_file(exercise: Exercise, path: pathlib.Path) -> Judgement:
    """The answer that a file holds."""
    try:
        f = answers.function_of(answers.load(path), exercise.statement.function)
    except Wrong as wrong:
        return _wrong(exercise, wrong)
    return judge(exercise, f, path)


def judge(exercise: Exercise, f: Callable, path: os.PathLike | None = None) -> Judgement:
    """The answer `f`. `path` is the learner's file; None: f was written in a notebook."""
    if not callable(f):
        raise TypeError(f"an answer is a function; found {type(f).__name__}")
    judged = _Judged(exercise, f, path)
    try:
        return judged.letters() if exercise.statement.kind == "find" else judged.kernels()
    except Wrong as wrong:
        return _wrong(exercise, wrong)


def _wrong(exercise, wrong, report=None, finding=None) -> Judgement:
    return Judgement(exercise, wrong.code, str(wrong), wrong.where, report, finding)


@dataclasses.dataclass
class _Judged:
    exercise: Exercise
    f: Callable
    path: os.PathLike | None

    def kernels(self) -> Judgement:
        statement, notes, schedules, calls = self.exercise.statement, [], 0, list(self.exercise.statement.inputs())
        for args in calls:
            report = self._check(args)
            schedules += report.schedules
            if (finding := self._first_mistake(report)) is not None:
                return _wrong(self.exercise, self._mistake(finding), report, finding)
            if report.difference is not None:
                return _wrong(self.exercise, self._difference(report.difference, args), report)
            self._room(args)
            notes += [finding for finding in report.mistakes if finding.code not in {note.code for note in notes}]
        work = self._expect_work_in_kernels(calls[0])
        praise = f"right on {many(len(calls), 'input')} under {many(schedules, 'schedule')}"
        if statement.faster is not None:
            praise += f", and {self._time(statement.timed() if statement.timed else calls[0])}"
        if statement.fewer_bytes is not None:
            praise += f", and {self._traffic(calls[0])}"
        self._expect_operations(work)
        return Judgement(self.exercise, "", praise, None, notes=tuple(notes))

    def _check(self, args):
        statement = self.exercise.statement
        with answers.errors_of(self.path, _of_function(self.f)):
            report = check(
                self._program(args),
                *args,
                target=statement.target,
                seeds=statement.seeds,
                exhaustive=statement.exhaustive,
                budget=_STEPS,
                launches=statement.launches,
                progress=_silent,
            )
        report.difference = self._compared(report.results, args)
        return report

    def _program(self, args, f=None) -> Callable | str:
        """What is checked and timed: the function, or of several devices its text, which needs no devices."""
        f = f or self.f
        if not self.exercise.statement.ring:
            return f
        return export(*_in_a_ring(f, args), target=self.exercise.statement.target)

    def _compared(self, results, args):
        """The first difference from the reference; None where there is none."""
        statement = self.exercise.statement
        expected = statement.reference(*args)
        results = results if not statement.ring or len(results) > 1 else results[0]
        self._expect_types(results, expected)
        try:
            return first_difference(results, expected, statement.rtol, statement.atol)
        except ValueError as error:  # of another shape
            raise Wrong("VALUES", str(error), _of_function(self.f)) from None

    def _expect_types(self, results, expected):
        """A result of fewer bits would be compared with less care."""
        for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(expected)):
            wanted = _TYPES.get(b.dtype.name, b.dtype.name)  # JAX's
            if a.dtype.name != wanted:
                message = f"the result has the type {a.dtype.name}, and should have {wanted}"
                raise Wrong("VALUES", message, _of_function(self.f))

    def _expect_work_in_kernels(self, args) -> Work:
        statement = self.exercise.statement
        with answers.errors_of(self.path, _of_function(self.f)):
            work = work_of(*(_in_a_ring(self.f, args) if statement.ring else (self.f, *args)))
        if work.beside:
            first = work.beside[0]
            message = f"right, but {first.primitive.name} is done by JAX, and not by a kernel: move it into one"
            raise Wrong("BESIDE", message, place_of(first, self.path) or _of_function(self.f))
        return work

    def _expect_operations(self, work) -> None:
        statement = self.exercise.statement
        for operation, name in statement.needs.items():
            if operation not in work.inside:
                message = f"right, but without {name}, which this exercise is about"
                raise Wrong("WITHOUT", message, _of_function(self.f))
        if statement.multiplies and (others := work.multiplied - {statement.multiplies}):
            message = f"right, but it multiplies {min(others)}; {statement.multiplies} is asked for"
            raise Wrong("WITHOUT", message, _of_function(self.f))

    def _first_mistake(self, report):
        found = [finding for finding in report.mistakes if finding.severity in _COUNTED]
        if not found:
            return None
        # Of two that begin at once, a race says more than what a barrier counted.
        return min(found, key=lambda one: (_COUNTED.index(one.severity), one.code.startswith("BAR_")))

    def _mistake(self, finding) -> Wrong:
        where, other = self._places(finding)
        message = finding.message.removesuffix(_OF_THE_BUDGET)
        line = message + (f" (the other access is in line {other.line})" if other else "")
        return Wrong(finding.code, line, where or _of_function(self.f))

    def _places(self, finding) -> tuple[Where | None, Where | None]:
        """The learner's line, and that of the other access where it is another one."""
        accesses = [one for one in (finding.first, finding.second) if one is not None]
        frames = [self._own_frame(one.frames) for one in (finding, *accesses)]
        places = [Where(frame.file, frame.line) for frame in frames if frame is not None]
        return (places or [None])[0], next((place for place in places if place != places[0]), None)

    def _own_frame(self, frames):
        return next((frame for frame in frames if answers.is_learners(frame.file, self.path)), None)

    def _difference(self, found, args) -> Wrong:
        shapes = ", ".join(f"{value.dtype}{list(value.shape)}" for value in args)
        of = "result" if found.result == 0 else f"result {found.result}"
        message = (
            f"{of}{list(found.index)} is {found.found} and should be {found.expected}; "
            f"{many(found.count, 'element')} differ{'s' if found.count == 1 else ''}, for inputs {shapes}"
        )
        return Wrong("VALUES", message, _of_function(self.f))

    def _room(self, args) -> None:
        statement = self.exercise.statement
        if statement.vmem is None:
            return
        held = max(one.memory("vmem").held for one in fit(self._program(args), *args, target=statement.target))
        if held > statement.vmem:
            message = f"a kernel holds {held / 2**20:.2f} MiB of VMEM; {statement.vmem / 2**20:.2f} MiB are there"
            raise Wrong("LARGE", message, _of_function(self.f))

    def _times(self, args):
        """Of the answer, and of what the learner began with."""
        statement = self.exercise.statement
        begin = self._of_begin(statement.function)
        with answers.errors_of(self.path):
            answer = time(self._program(args), *args, target=statement.target, changes=statement.chip)
        return answer, time(self._program(args, begin), *args, target=statement.target, changes=statement.chip)

    def _traffic(self, args) -> str:
        statement = self.exercise.statement
        asked, before = (
            sum(read for kernel in report.kernels for read, _, _ in kernel.traffic.values())
            for report in self._times(args)
        )
        if asked > before / statement.fewer_bytes:
            raise Wrong(
                "TRAFFIC",
                f"asks L2 for {asked / 1024:.0f} KiB; {statement.fewer_bytes} times fewer than the "
                f"{before / 1024:.0f} KiB of the beginning is asked for",
                _of_function(self.f),
            )
        return f"asks L2 for {before / asked:.1f} times fewer bytes than at the beginning"

    def _time(self, args) -> str:
        statement = self.exercise.statement
        reports = self._times(args)
        if statement.timed is not None:  # other arrays than those that were checked
            if (difference := self._compared(reports[0].results, args)) is not None:
                raise self._difference(difference, args)
        taken, before = (report.seconds for report in reports)
        times, budget = before / taken, before / statement.faster
        if taken > budget:
            raise Wrong(
                "SLOW",
                f"would take {_microseconds(taken)} on {_chip(statement)}, {times:.2f} times as fast as at the "
                f"beginning; {statement.faster} times is asked for, {_microseconds(budget)}",
                _of_function(self.f),
            )
        return f"{times:.2f} times as fast as at the beginning ({_microseconds(taken)} on {_chip(statement)})"

    def letters(self) -> Judgement:
        """Of the kind "find": about the kernel that the learner began with, whatever it has become."""
        with answers.errors_of(self.path, _of_function(self.f)):
            found = _letters_of(given_function(self.f, ()))
        kernel = self._of_begin(self.exercise.statement.kernel)
        lines = {}
        for number, line in enumerate(self.exercise.begin.splitlines(), 1):
            if (mark := re.search(r"# ([A-Z])$", line)) is not None:
                lines[number] = mark[1]
        original = _Judged(self.exercise, kernel, self._path_of_begin)
        report = original._report_of_kernel()
        racing = {lines[place.line] for finding in report.mistakes for place in original._places(finding) if place}
        if found != racing:
            raise Wrong("LETTERS", _of_other_lines(found, racing, set(lines.values())), _of_function(self.f))
        return Judgement(self.exercise, "", f"{' and '.join(sorted(racing))} it is", None, report=report)

    @property
    def _path_of_begin(self) -> pathlib.Path:
        return pathlib.Path(f"{self.exercise.name}-as-it-began.py").absolute()

    def _of_begin(self, name: str) -> Callable:
        """A function of the file that the learner began with."""
        return answers.function_of(answers.load(self._path_of_begin, self.exercise.begin), name)

    def _report_of_kernel(self):
        statement = self.exercise.statement
        return check(self.f, *statement.inputs()[0], target=statement.target, seeds=statement.seeds, progress=_silent)


def _letters_of(answer: Any) -> set[str]:
    """Of a set, a list, or a text such as "A, B" or "AB"."""
    if isinstance(answer, str):
        answer = re.findall(r"\b[A-Za-z]\b", answer) or list(answer)
    try:
        return {str(letter).strip().upper() for letter in answer}
    except TypeError:
        message = f'the function has to return letters, {{"A", "B"}} for one; it returned {answer!r}'
        raise Wrong("LETTERS", message) from None


def _of_other_lines(found: set[str], racing: set[str], marked: set[str]) -> str:
    said = " and ".join(sorted(found)) or "nothing"
    if not found <= marked:
        return f"{said}: the lines have the letters {', '.join(sorted(marked))}"
    if len(found) != len(racing):
        return f"{said}: {len(racing)} letters are asked for, and {len(found)} were returned"
    hint = "one of them" if found & racing else "none of them"
    return f"{said}: {hint} is among the {len(racing)} lines that race"


def _in_a_ring(f: Callable, args: tuple) -> tuple:
    """What all devices run together, and its arguments: those of each, one after the other."""
    mesh = jax.sharding.AbstractMesh((len(args[0]),), ("ring",), axis_types=(jax.sharding.AxisType.Auto,))
    parts = jax.sharding.PartitionSpec("ring")
    together = jax.shard_map(f, mesh=mesh, in_specs=parts, out_specs=parts, check_vma=False)
    return together, *[np.concatenate(list(one)) for one in args]


def _silent(_: Any) -> None:
    """No progress on a terminal: a judgement is one line."""


def _chip(statement) -> str:
    numbers = ", ".join(f"{name} {value}" for name, value in statement.chip.items())
    return statement.target + (f" with {numbers}" if numbers else "")


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def _of_function(f: Callable) -> Where | None:
    f = inspect.unwrap(f)
    code = getattr(f, "__code__", None)
    return None if code is None else Where(code.co_filename, code.co_firstlineno)
