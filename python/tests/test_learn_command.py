"""`palladion learn`, the command: each verb, what it prints and writes, and what it says of a learner's mistakes; and
the same exercises in a notebook.
"""

import ctypes
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import palladion
from palladion import _library
from palladion.base.package import PACKAGE
from palladion.learn import answers, command, course, judgement
from palladion.learn.statement import SOLUTION

FIRST = course.names()[0]
RING = "ring-of-slots"


@pytest.fixture
def learn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PALLADION_EXERCISES", raising=False)

    def run(*arguments):
        code = command.main(list(map(str, arguments)), "palladion learn")
        out, err = capsys.readouterr()
        return code, out + err

    run.folder = tmp_path / "palladion-exercises"
    return run


def solution(name):
    return (course.FOLDER / name / SOLUTION).read_text(encoding="utf-8")


def test_the_first_use_writes_the_files_and_shows_what_is_next(learn):
    code, out = learn()
    assert code == 0 and f"0 of {len(course.names())} exercises have passed. The next one is {FIRST}" in out
    assert f"{len(course.names())} exercises were written to palladion-exercises/" in out
    page = pathlib.Path(re.search(rf"^chapter:  {course.CHAPTERS[0].title} \((.*)\)$", out, re.MULTILINE)[1])
    assert page.read_text(encoding="utf-8").startswith("# "), "the chapter"
    for name in course.names():
        assert (learn.folder / f"{name}.py").read_text(encoding="utf-8") == course.load(name).begin
    assert "were written" not in learn()[1]


def test_the_chapter_of_a_checkout_and_of_a_copy_without_one(learn, monkeypatch):
    root = pathlib.Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    chapter = course.CHAPTERS[0]
    assert f"chapter:  {chapter.title} (docs/learn/{chapter.page}.md)\n" in learn("--folder", learn.folder)[1]
    monkeypatch.setattr(course, "_PAGES", ())
    assert f"chapter:  {chapter.title}\n" in learn("--folder", learn.folder)[1]


def test_nothing_of_the_learners_is_overwritten_without_reset(learn):
    learn()
    path = learn.folder / f"{RING}.py"
    path.write_text("mine = 1\n")
    (learn.folder / f"{FIRST}.py").unlink()
    code, out = learn("list")
    assert "1 exercise was written" in out and path.read_text() == "mine = 1\n"
    code, out = learn("reset", RING)
    assert code == 0 and path.read_text(encoding="utf-8") == course.load(RING).begin


def test_list_marks_what_passed_and_what_was_changed(learn):
    learn()
    path = learn.folder / f"{RING}.py"
    path.write_text(solution(RING), encoding="utf-8")
    assert learn("verify", RING)[0] == 0
    out = learn("list")[1]
    assert f"passed  {RING}" in out and f"next    {FIRST}" in out
    for chapter in course.CHAPTERS:
        assert chapter.title in out
    path.write_text(solution(RING) + "# more\n", encoding="utf-8")
    assert f"changed {RING}" in learn("list")[1]


def test_verify_goes_on_until_one_is_wrong(learn):
    learn()
    code, out = learn("verify")
    assert code == 1 and out.startswith(f"palladion-exercises/{FIRST}.py:") and out.count("\n") <= 2
    (learn.folder / f"{FIRST}.py").write_text(solution(FIRST), encoding="utf-8")
    code, out = learn("verify")
    assert code == 1 and out.startswith(f"right: {FIRST}: right on ") and course.names()[1] in out
    assert FIRST in json.loads((learn.folder / "progress.json").read_text())["passed"]
    assert FIRST not in learn("verify")[1]


def test_more_shows_the_finding_and_a_smaller_kernel(learn):
    learn()
    code, out = learn("verify", f"palladion-exercises/{RING}.py", "--more")
    assert code == 1 and "error[RACE_ASYNC]" in out
    _, heading, small = out.partition("The same mistake in a smaller kernel:")
    assert heading and small.count("copy_gmem_to_smem") == 1
    assert small.index("barrier_arrive") < small.index("= smem_ref[0")  # another race of the code is another mistake


def test_hints_come_one_by_one(learn):
    learn()
    hints = course.load(RING).statement.hints
    for count in (*range(1, len(hints) + 1), len(hints)):
        code, out = learn("hint", RING)
        assert code == 0 and [hint in out for hint in hints] == [n < count for n in range(len(hints))]


def test_all_passed(learn):
    learn()
    for name in course.names():
        (learn.folder / f"{name}.py").write_text(solution(name), encoding="utf-8")
    from palladion.learn.learner import open_folder

    learner = open_folder(None)
    for name in course.names():
        learner.pass_(name)
    said = f"All {len(course.names())} exercises have passed.\n"
    assert learn()[1] == learn("verify")[1] == learn("hint")[1] == said


MISTAKES = [
    ("def scale(:\n", 1, "SYNTAX: "),
    ("x = 1\n", 1, "MISSING: the file has to define the function scale"),
    ("def scale(x, factors):\n    return x.nothing\n", 2, "RAISES: AttributeError: "),
    ("def scale(x):\n    return x\n", 1, "RAISES: TypeError: "),
    (
        "def scale(x, factors):\n    return 'x'\n",
        1,
        "RAISES: TypeError: the function traced for jit returned a value of ",
    ),
    ("import nowhere\n", 1, "RAISES: ModuleNotFoundError: "),
    (
        "from jax.extend.core import Primitive\ndef scale(x, factors):\n    return Primitive('p').bind(x)\n",
        3,
        "RAISES: NotImplementedError: Abstract evaluation for 'p' not implemented",
    ),
    ("def scale(x, factors):\n    raise NotImplementedError\n", 2, "UNFINISHED: is not written yet"),
    ("x = '\0'\n", 1, "SYNTAX: source code string cannot contain null bytes"),
    ("def scale(x, factors):\n    return x * factors\n", 1, "CANNOT_RUN: no kernel was run"),
    ("raise SystemExit(3)\n", 1, "RAISES: SystemExit: 3"),
    ("\nwhile True:\n    pass\n", 2, "ENDLESS: did not end within 1 seconds"),
    (
        "def scale(x, factors):\n    while True:\n        try:\n            x + 1\n        except Exception: pass\n",
        0,
        "ENDLESS",
    ),
]


@pytest.mark.parametrize(("text", "line", "said"), MISTAKES)
def test_a_learners_mistake_is_one_line(learn, monkeypatch, text, line, said):
    monkeypatch.setattr(answers, "SECONDS", 1)
    learn()
    (learn.folder / "scale-rows.py").write_text(text)
    code, out = learn("verify", "scale-rows")
    assert code == 1 and out.count("\n") == 1 and said in out
    assert out.startswith(f"palladion-exercises/scale-rows.py:{line or ''}")


def lacks_a_symbol(*_, **__):
    return ctypes.CDLL(None).palladion_of_another_version


def is_wrong(*_, **__):
    return None + 1


def fails_inside(*_, **__):
    raise palladion.PalladionError("the library failed without a message")


@pytest.mark.parametrize("mistake", [lacks_a_symbol, is_wrong, fails_inside])
def test_a_mistake_of_palladion_is_no_learners(learn, monkeypatch, mistake):
    names = {"ctypes": ctypes, "palladion": palladion}
    exec(compile(inspect.getsource(mistake), os.path.join(PACKAGE, "_library.py"), "exec"), names)
    monkeypatch.setattr(_library.Program, "check", names[mistake.__name__])
    learn()
    (learn.folder / f"{FIRST}.py").write_text(solution(FIRST), encoding="utf-8")
    code, out = learn("verify", FIRST)
    assert code == 5 and out.endswith("palladion learn: this is a mistake of Palladion, and not of an answer\n")
    assert "Traceback" in out and (mistake is fails_inside or "_library.py" in out), "its frames are kept"
    assert not re.search(rf"{FIRST}.py:\d+: [A-Z_]+: ", out)
    exec(compile(solution(FIRST), "<ipython-input-4>", "exec"), names)
    with pytest.raises((AttributeError, TypeError, palladion.PalladionError)):
        palladion.exercise(FIRST).check(names[course.load(FIRST).statement.function])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_end_that_a_finalizer_swallows_comes_again(learn, monkeypatch):
    monkeypatch.setattr(answers, "SECONDS", 1)
    learn()
    (learn.folder / "scale-rows.py").write_text(
        "class Deaf:\n    def __del__(self):\n        while True:\n            pass\n\n"
        "def scale(x, factors):\n    Deaf()\n    while True:\n        pass\n"
    )
    assert "ENDLESS: did not end within 1 seconds" in learn("verify", "scale-rows")[1]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('"D, E"', "right: find-the-lines: D and E it is"),
        ('"ed"', "right: find-the-lines: D and E it is"),
        ('"ABCDE"', "2 letters are asked for, and 5 were returned"),
        ('{"A", "D"}', "A and D: one of them is among the 2 lines that race"),
        ('{"A", "B"}', "A and B: none of them is among the 2 lines that race"),
        ("(25, 31)", "25 and 31: the lines have the letters A, B, C, D, E"),
        ("None", "the function has to return letters, "),
    ],
)
def test_letters(learn, answer, said):
    learn()
    text = course.load("find-the-lines").begin
    (learn.folder / "find-the-lines.py").write_text(text.replace('return {"A", "B"}', f"return {answer}"))
    out = learn("verify", "find-the-lines")[1]
    assert said in out and (out.startswith("right") or ".py:38: LETTERS: " in out)


def test_an_error_of_jax_that_begins_with_a_heading(learn):
    learn()
    text = solution("scale-rows").replace("[block, pl.BlockSpec((ROWS, 1), lambda i, j: (i, 0))]", "[block]")
    (learn.folder / "scale-rows.py").write_text(text)
    assert re.search("including: .*`inputs` is a tuple of length 2", learn("verify", "scale-rows")[1])


def test_a_file_that_is_no_text(learn):
    learn()
    (learn.folder / "scale-rows.py").write_bytes(b"x = '\xff'")
    assert "scale-rows.py:1: SYNTAX: the file is not UTF-8" in learn("verify", "scale-rows")[1]


def test_a_kernel_that_does_not_end(learn):
    learn()
    text = course.load("hand-over").begin
    (learn.folder / "hand-over.py").write_text(
        text.replace(
            "            smem[...] =", "            pl.loop(0, 10**9)(lambda _: None)\n            smem[...] =", 1
        )
    )
    code, out = learn("verify", "hand-over")
    line = text[: text.index("            smem[...] =")].count("\n") + 1
    assert code == 1 and out.startswith(f"palladion-exercises/hand-over.py:{line}: ENDLESS: the kernel did not end")


class Picture:
    def __init__(self, finding):
        self.code = finding.code

    def save(self, path):
        pathlib.Path(path).write_text(self.code)

    def _repr_html_(self):
        return f"<svg>{self.code}</svg>"


def test_a_picture_of_the_run(learn, monkeypatch):
    monkeypatch.setattr(judgement, "draw_schedule", Picture)
    learn()
    out = learn("verify", RING, "--more")[1]
    assert f"The run as a picture: palladion-exercises/{RING}.svg" in out
    assert (learn.folder / f"{RING}.svg").read_text() == "RACE_ASYNC"
    names = {}
    exec(compile(course.load(RING).begin, "<ipython-input-3>", "exec"), names)
    assert "<svg>RACE_ASYNC</svg>" in palladion.exercise(RING).check(names["double"])._repr_html_()


def test_list_into_a_pipe_that_ends(tmp_path):
    line = f"{sys.executable} -m palladion learn --folder {tmp_path}/mine list | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and not done.stderr


def test_the_folder_behind_the_verb(learn):
    assert "written to mine/" in learn("list", "--folder", "mine")[1] and not learn.folder.exists()
    assert learn("--folder", "mine", "reset", FIRST)[1].startswith(f"mine/{FIRST}.py is")


def test_counts_of_hints_that_are_none(learn):
    learn()
    progress = learn.folder / "progress.json"
    progress.write_text('{"passed": {}, "hints": {"scale-rows": -5}}')
    assert learn("hint", "scale-rows")[1].startswith("scale-rows, hint 1 of ")
    progress.write_text('{"passed": {}, "hints": {"scale-rows": 1e999}}')
    assert "is not what palladion learn writes" in learn("hint")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hint", "scale_rows"), "there is no exercise 'scale_rows'; did you mean scale-rows? "),
        (("verify", "nothing"), "there is no exercise 'nothing'"),
        (("hint", "nothing"), "there is no exercise 'nothing'"),
        (("reset", "nothing"), "there is no exercise 'nothing'"),
        (("--folder", "file", "list"), "'file' is not a folder"),
        (("--folder", "broken", "list"), "progress.json' is not what palladion learn writes"),
    ],
)
def test_wrong_words(learn, arguments, said):
    pathlib.Path("file").write_text("")
    pathlib.Path("broken").mkdir()
    pathlib.Path("broken/progress.json").write_text("[1]")
    code, out = learn(*arguments)
    assert code == 4 and said in out and not learn.folder.exists()


def test_watch_judges_each_save_and_ends_with_ctrl_c(tmp_path):
    folder = tmp_path / "mine"
    words = [sys.executable, "-m", "palladion", "learn", "--folder", str(folder), "watch", "scale-rows"]
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stop = threading.Timer(60, run.kill)
    stop.start()
    try:
        until(run, "Watching")
        path = folder / "scale-rows.py"
        path.write_text("def scale(:\n")
        assert "SYNTAX" in until(run, "mine/scale-rows.py:1: ")
        time.sleep(0.02)  # another time of its file
        path.write_text(solution("scale-rows"), encoding="utf-8")
        until(run, "right: scale-rows")
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(20) == 0 and "Traceback" not in run.stderr.read()
    finally:
        stop.cancel()
        run.kill()
        run.communicate()


def until(run, words) -> str:
    for line in run.stdout:
        if words in line:
            return line
    raise AssertionError(f"ended without {words!r}: {run.stderr.read()}")


def test_in_a_notebook(tmp_path):
    exercise = palladion.exercise(RING)
    names = {}
    exec(compile(solution(RING), "<ipython-input-1>", "exec"), names)
    right = exercise.check(names["double"])
    assert right.right and repr(right).startswith("<right: ring-of-slots: right on 3 inputs")
    exec(compile(exercise.code, "<ipython-input-2>", "exec"), names)
    wrong = exercise.check(names["double"])
    assert wrong.code == "RACE_ASYNC" and repr(wrong).count("\n") == 0
    assert "RACE_ASYNC" in wrong._repr_html_() and "wrong" in wrong._repr_html_()
    assert exercise.task in exercise.code and "ring-of-slots" in repr(exercise) and "<pre " in exercise._repr_html_()
    assert exercise.hint() in exercise.hint()
    with pytest.raises(ValueError, match="there is no exercise 'none'; there are "):
        palladion.exercise("none")
    with pytest.raises(TypeError, match="an answer is a function; found int"):
        exercise.check(3)
