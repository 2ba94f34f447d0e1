"""`palladion learn`: exercises on Pallas kernels, judged under every schedule (docs/learn/index.md)."""

import argparse
import difflib
import importlib
import os
import pathlib
import sys
import time
import traceback
from collections.abc import Callable

from palladion.learn import course
from palladion.learn.learner import Learner, NoFolder, open_folder
from palladion.learn.statement import KINDS

_WRONG, _USAGE, _INTERNAL, _INTERRUPTED = 1, 4, 5, 6
_POLL_SECONDS = 0.3


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


class _Usage(Exception):
    pass


def _parser(program: str) -> _Parser:
    parser = _Parser(prog=program, description=__doc__)
    parser.add_argument("--folder", metavar="DIR", help="where your files are (./palladion-exercises)")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    verbs.add_parser("list", help="all exercises, and which have passed")
    for verb, what in (
        ("verify", "judges these exercises; without a name those that have not passed, until one is wrong"),
        ("watch", "judges a file each time that it is saved, until Ctrl-C"),
    ):
        one = verbs.add_parser(verb, help=what, description=what)
        one.add_argument("names", metavar="NAME", nargs="*", help="an exercise")
        one.add_argument("--more", action="store_true", help="the whole finding, and a smaller kernel that has it")
        if verb == "verify":
            one.add_argument("--all", action="store_true", help="each exercise, also those that have passed")
    hint = verbs.add_parser("hint", help="a hint for the next exercise, and each time one more")
    hint.add_argument("names", metavar="NAME", nargs="?", help="another exercise")
    reset = verbs.add_parser("reset", help="your file as it was in the beginning; what you wrote is lost")
    reset.add_argument("names", metavar="NAME")
    for one in verbs.choices.values():  # behind the verb too; without it what stands before the verb stays
        one.add_argument("--folder", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


def main(arguments: list[str], program: str) -> int:
    """The exit code; `program` is the name that messages start with."""
    options = _parser(program).parse_args(arguments)
    verbs = {"list": _list, "verify": _verify, "watch": _watch, "hint": _hint, "reset": _reset}
    try:
        learner = open_folder(options.folder)
        if options.verb is not None:
            _names(options)
        new = learner.copy_missing()
        if new:
            were = "exercise was" if len(new) == 1 else "exercises were"
            print(f"{len(new)} {were} written to {learner.folder}/, where you edit them.")
        code = verbs.get(options.verb, _next)(learner, options)
        sys.stdout.flush()
        return code
    except (_Usage, NoFolder) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return _USAGE
    except BrokenPipeError:  # of `palladion learn list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"{program}: {error.filename!r}: {error.strerror}", file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        print("".join(traceback.format_exception(error)), end="", file=sys.stderr)
        print(f"{program}: this is a mistake of Palladion, and not of an answer", file=sys.stderr)
        return _INTERNAL


def _expect_jax() -> None:
    try:
        importlib.import_module("jax")
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise _Usage("the exercises need JAX, which is not installed: pip install 'jax>=0.8'") from None


def _names(options) -> list[str]:
    """The exercises that the words of the command name; a file's name is taken for its exercise's."""
    given = getattr(options, "names", None) or []
    found = []
    for word in [given] if isinstance(given, str) else given:
        name = word.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
        if name not in course.names():
            near = difflib.get_close_matches(name, course.names(), 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise _Usage(f"there is no exercise {word!r}; {meant}palladion learn list has them all")
        found.append(name)
    return found


def _next(learner: Learner, _) -> int:
    name = learner.next()
    done = sum(learner.has_passed(one) for one in course.names())
    if name is None:
        print(f"All {done} exercises have passed.")
        return 0
    exercise, chapter = course.load(name), course.chapter_of(name)
    page = "" if chapter.path is None else f" ({_shown(chapter.path)})"
    print(
        f"{done} of {len(course.names())} exercises have passed. The next one is {name} "
        f"({KINDS[exercise.statement.kind]}).\n\n"
        f"{exercise.statement.title}\n\n{exercise.task}\n\n"
        f"chapter:  {chapter.title}{page}\n"
        f"edit:     {learner.file(name)}\n"
        "judge:    palladion learn verify, or palladion learn watch\n"
        "stuck:    palladion learn hint"
    )
    return 0


def _shown(path: pathlib.Path) -> str:
    """From the folder that the process is in, where the file is in it."""
    here = pathlib.Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _list(learner: Learner, _) -> int:
    width, following = max(map(len, course.names())), learner.next()
    for chapter in course.CHAPTERS:
        print(chapter.title)
        for name in chapter.exercises:
            state = "passed" if learner.has_passed(name) else "changed" if learner.changed(name) else ""
            statement = course.load(name).statement
            mark = "next" if name == following else state
            print(f"  {mark:8}{name:{width}}  {KINDS[statement.kind]:15}  {statement.target:12}  {statement.title}")
    return 0


def _verify(learner: Learner, options) -> int:
    names = _names(options) or [name for name in course.names() if options.all or not learner.has_passed(name)]
    if not names:
        print(f"All {len(course.names())} exercises have passed.")
    wrong = 0
    for name in names:
        right = _judged(learner, name, options.more)
        wrong += not right
        if not right and not options.names and not options.all:
            break
    return _WRONG if wrong else 0


def _judged(learner: Learner, name: str, more: bool, say: Callable[[str], object] = print) -> bool:
    """Judges one, says what came out, and keeps it."""
    _expect_jax()
    from palladion.learn.judge import judge_file

    path, exercise = learner.file(name), course.load(name)
    if not path.exists():
        raise _Usage(f"{str(path)!r} is not there; palladion learn reset {name} writes it")
    judgement = judge_file(exercise, path)
    if judgement.right:
        learner.pass_(name)
        say(f"right: {judgement.line}")
        if judgement.notes and not more:
            codes = ", ".join(note.code for note in judgement.notes)
            say(f"  notes, which do not make it wrong: {codes}; palladion learn verify {name} --more shows them")
    else:
        learner.passed.pop(name, None)
        learner.save()
        say(judgement.line)
    if more:
        _say_more(learner, name, judgement, say)
    elif not judgement.right and judgement.report is not None:
        say(f"  more of it: palladion learn verify {name} --more")
    return judgement.right


def _say_more(learner, name, judgement, say) -> None:
    if text := judgement.more():
        say(f"\n{text}")
    picture = judgement.picture()
    if picture is not None:
        path = learner.folder / f"{name}.svg"
        picture.save(str(path))
        say(f"\nThe run as a picture: {path}")


def _hint(learner: Learner, options) -> int:
    names = _names(options) or [learner.next()]
    if names[0] is None:
        print(f"All {len(course.names())} exercises have passed.")
        return 0
    hints = course.load(names[0]).statement.hints
    count = learner.one_more_hint(names[0], len(hints))
    for number, hint in enumerate(hints[:count], 1):
        print(f"{names[0]}, hint {number} of {len(hints)}: {hint}")
    return 0


def _reset(learner: Learner, options) -> int:
    (name,) = _names(options)
    learner.reset(name)
    print(f"{learner.file(name)} is as it was in the beginning.")
    return 0


def _watch(learner: Learner, options) -> int:
    names = _names(options) or course.names()
    first = names[0] if options.names else learner.next()
    try:
        if first is not None:
            _seen(learner, first, options)
        print("Watching; a save is judged, and Ctrl-C ends it.", flush=True)
        times = {name: _time_of(learner, name) for name in names}
        while True:
            time.sleep(_POLL_SECONDS)
            for name in names:
                now = _time_of(learner, name)
                if now and now != times[name]:  # some editors remove a file before they write it
                    times[name] = now
                    _seen(open_folder(options.folder), name, options)  # another command may have written
    except KeyboardInterrupt:
        print()
        return 0


def _seen(learner, name, options) -> None:
    right = _judged(learner, name, options.more, lambda text: print(text, flush=True))
    following = learner.next()
    if right and following is None:
        print(f"All {len(course.names())} exercises have passed.", flush=True)
    elif right and following != name:
        print(f"next: {learner.file(following)} ({course.load(following).statement.title})", flush=True)


def _time_of(learner: Learner, name: str) -> int:
    try:
        return learner.file(name).stat().st_mtime_ns
    except OSError:
        return 0
