"""The exercises of `palladion learn`: each solution passes, each wrong answer gets the code it is there for, and what a
learner begins with does not pass.
"""

import pathlib
import re

import jax
import numpy as np
import pytest

from palladion.learn import course, judge
from palladion.learn.statement import EXERCISE, KINDS, SOLUTION
from palladion.learn.work import work_of

FILES = [
    (name, path.name, code)
    for name in course.names()
    for path, code in [
        (course.FOLDER / name / SOLUTION, ""),
        (course.FOLDER / name / EXERCISE, "any"),
        *course.load(name).wrong.items(),
    ]
]


def judged(name, path, folder):
    """As a learner has it: files in the package are not the user's, and no finding shows a line of them."""
    copy = folder / path.name
    copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return judge.judge_file(course.load(name), copy), copy


@pytest.mark.parametrize(("name", "file", "code"), FILES, ids=lambda value: value or "right")
def test_an_answer_gets_what_it_is_worth(name, file, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judgement, copy = judged(name, course.FOLDER / name / file, tmp_path)
    assert "\n" not in judgement.line
    if code == "":
        assert judgement.right, judgement.line
        assert re.match(rf"{name}: (right on \d+ inputs? under \d+ schedules?|[A-Z])", judgement.line)
        return
    assert judgement.code == code or code == "any" and not judgement.right, judgement.line
    place = re.match(rf"{re.escape(copy.name)}:(\d+): ", judgement.line)
    assert place and 1 <= int(place[1]) <= copy.read_text().count("\n"), judgement.line


def test_a_jit_and_other_shapes_beside_a_kernel_are_no_work(tmp_path):
    text = (course.FOLDER / "scale-rows" / SOLUTION).read_text(encoding="utf-8")
    path = tmp_path / "scale-rows.py"
    path.write_text(
        text.replace("def scale(", "@jax.jit\ndef scale(").replace(
            ")(x, factors)", ")(x, factors.reshape(-1).reshape(-1, 1)).reshape(-1).reshape(x.shape)"
        )
    )
    assert judge.judge_file(course.load("scale-rows"), path).right


def test_no_message_to_a_learner_names_the_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "_STEPS", 5000)
    text = (course.FOLDER / "lock-the-record" / SOLUTION).read_text(encoding="utf-8")
    path = tmp_path / "lock-the-record.py"
    path.write_text(
        text.replace("held == 1", "held != 0").replace(
            "plgpu.atomic_xchg(lock_ref, (), 1)", "plgpu.atomic_add(lock_ref, (), 1)"
        )
    )
    judgement = judge.judge_file(course.load("lock-the-record"), path)
    assert judgement.code == "LIVELOCK" and judgement.line.endswith("their loops change something for ever")


@pytest.mark.parametrize(
    ("beside", "names"),
    [
        (lambda x: jax.new_ref(x)[...], []),
        (lambda x: jax.new_ref(x)[0:2], ["get"]),
        (lambda x: jax.lax.reshape(x, (2, 4)), []),
        (lambda x: jax.lax.reshape(x, (2, 4), dimensions=(1, 0)), ["reshape"]),
        (lambda x: jax.lax.scan(lambda total, one: (total + one, None), 0.0, x.reshape(-1))[0], ["scan"]),
    ],
)
def test_what_jax_does_beside_a_kernel(beside, names):
    assert [one.primitive.name for one in work_of(beside, np.ones((4, 2), np.float32)).beside] == names


@pytest.mark.parametrize("written", ["x_ref + 1", "jax.numpy.exp(x_ref)", "x_ref.sum()"])
def test_a_ref_in_place_of_its_array_is_named(tmp_path, written):
    text = (course.FOLDER / "add-one" / SOLUTION).read_text(encoding="utf-8")
    path = tmp_path / "add-one.py"
    path.write_text(text.replace("x_ref[...] + 1", written))
    judgement = judge.judge_file(course.load("add-one"), path)
    # JAX 0.12 says as much of exp by itself.
    hint = r"x_ref\[\.\.\.\] is the array that is in it|read its value with `ref\[\.\.\.\]`"
    assert judgement.code == "RAISES" and re.search(hint, judgement.line)


@pytest.mark.parametrize("name", course.names())
def test_an_exercise_is_whole(name):
    exercise = course.load(name)
    assert len(exercise.wrong) >= 3 and len(exercise.statement.hints) >= 2
    assert exercise.statement.kind in KINDS
    for path in exercise.wrong:
        assert re.match(r'"""[A-Z_]+: .*\."""\n', path.read_text(encoding="utf-8")), path
    assert exercise.task.count("\n") >= 2
    texts = [path.read_text(encoding="utf-8") for path in (*exercise.wrong, exercise.folder / SOLUTION)]
    assert len({text.partition("\n")[2] for text in texts}) == len(texts), "two answers are the same"


def test_every_folder_is_in_the_course():
    folders = {path.name for path in course.FOLDER.iterdir() if path.name != "__pycache__"}
    assert folders == set(course.names()) and len(course.names()) == len(set(course.names()))


PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/learn"


@pytest.mark.parametrize("chapter", course.CHAPTERS, ids=lambda chapter: chapter.page)
def test_a_chapter_leads_to_its_exercises(chapter):
    """What its code prints is compared by test_doc_blocks.py: among it the claim about time."""
    text = (PAGES / f"{chapter.page}.md").read_text(encoding="utf-8")
    kernel, _, exercises = text.partition("## Exercises")
    assert re.findall(r"`([a-z-]+)`", exercises) == list(chapter.exercises)
    assert "```python\n" in kernel and len(text.splitlines()) < 140
    assert re.search(r"^## (What it costs|Change it)$", kernel, re.MULTILINE)


def test_the_index_counts_its_exercises():
    assert f"{len(course.names())} exercises were written" in (PAGES / "index.md").read_text(encoding="utf-8")
    assert {path.stem for path in PAGES.glob("[0-9]*.md")} == {chapter.page for chapter in course.CHAPTERS}
