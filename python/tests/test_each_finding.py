"""Each kind of finding is found in a kernel written in Python, with the JAX that is installed: the one of its page of
`palladion explain`, which its mended program does not have. The kernels as text are explain_test.cc's.
"""

import json
import os
import pathlib
import subprocess
import sys

import jax
import pytest

PROGRAMS = pathlib.Path(__file__).parent / "explained_programs.py"
COMMAND = os.environ.get("PALLADION_COMMAND", str(PROGRAMS.parents[2] / "build/palladion"))
PAGES = json.loads(
    subprocess.run([COMMAND, "explain", "--format=json"], check=True, capture_output=True, text=True).stdout
)
CODES = [page["code"] for page in PAGES]
MOST_COLUMNS, MOST_LINES = 95, 58  # a window of 100 columns, four of them a margin, and its height


def found_in(pages: list) -> dict:
    """code -> wrong and right -> what the report of that program has: code -> severity."""
    done = subprocess.run([sys.executable, PROGRAMS], input=json.dumps(pages), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found() -> dict:
    return found_in(PAGES)


if jax.__version_info__[:2] == (0, 10):  # the pages are written for it: others spell some arguments otherwise

    @pytest.mark.parametrize("page", PAGES, ids=CODES)
    def test_the_wrong_program_has_it_and_the_mended_one_nothing(found, page):
        of_page = found[page["code"]]
        assert set(of_page["wrong"]) == {page["code"], *page["also"]}, of_page
        assert of_page["right"] == {}

    def test_a_program_that_promises_too_much_is_seen():
        page = dict(PAGES[0], python={"wrong": PAGES[0]["python"]["right"], "right": "print(1 / 0)"})
        (of_page,) = found_in([page]).values()
        assert of_page == {"wrong": {}, "right": {"ZeroDivisionError: division by zero": "error"}}


@pytest.mark.parametrize("page", PAGES, ids=CODES)
def test_a_program_is_short_and_marks_its_mistake(page):
    wrong, right = (page["python"][side].splitlines() for side in ("wrong", "right"))
    assert len(wrong) <= MOST_LINES and max(map(len, wrong + right)) <= MOST_COLUMNS
    marked = [line for line in wrong if f"# {page['code']}: " in line]
    assert len(marked) == 1 and not set(marked) & set(right)
