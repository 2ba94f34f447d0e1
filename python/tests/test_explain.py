"""`palladion.explain`: the command's text, a page for notebooks, and names that are near an unknown one."""

import html.parser
import os
import pathlib
import subprocess
import sys

import pytest

import palladion
from palladion.report.report_html import link_html

COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build/palladion"))
CODES = [row["code"] for row in palladion.explain()]


def printed(*words: str) -> str:
    return subprocess.run([COMMAND, "explain", *words], check=True, capture_output=True, text=True).stdout


class Elements(html.parser.HTMLParser):
    """Fails on elements that are not closed in turn; keeps the text."""

    def __init__(self, page: str):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("code", ["RACE_ASYNC", "ILLEGAL", "COMPILER", "copy.strides"])
def test_it_is_the_text_of_the_command(code):
    assert repr(palladion.explain(code)) == printed(code).rstrip("\n")


def test_without_a_code_it_is_the_list_of_the_command():
    assert repr(palladion.explain()) == printed().rstrip("\n")
    assert all(row["rule"] in Elements(palladion.explain()._repr_html_()).text for row in palladion.explain())


@pytest.mark.parametrize("code", CODES)
def test_a_page_has_all_of_its_parts(code):
    explained = palladion.explain(code)
    text = Elements(explained._repr_html_()).text
    for part in (explained.rule, explained.wrong, explained.fix, explained.pkir_wrong, explained.pkir_fix):
        assert part and part.strip("\n") in text
    assert explained.limits.strip("\n") in text
    assert explained._repr_html_().count(f"# {code}: ") == 2  # of the program, and of the line that the fix takes away
    assert explained.right != explained.wrong and explained.pkir_right != explained.pkir_wrong


def test_its_link_is_a_heading_of_the_page():
    headings = (
        (pathlib.Path(__file__).parents[2] / "docs/reference/findings.md").read_text(encoding="utf-8").splitlines()
    )
    for code in CODES:
        assert palladion.explain(code).link == f"docs/reference/findings.md#{code.lower()}"
        assert f"## {code}" in headings  # its anchor, as GitHub and MyST make them


def test_a_site_is_linked_and_a_file_of_the_repository_named():
    assert link_html("https://x.org/findings.html#oob") == (
        "<a href='https://x.org/findings.html#oob'>https://x.org/findings.html#oob</a>"
    )
    assert link_html("docs/reference/findings.md#oob") == "docs/reference/findings.md#oob"


@pytest.mark.parametrize(
    "name, near",
    [
        ("race_async", "unknown finding code 'race_async'; did you mean RACE_ASYNC?"),
        ("RACE", "unknown finding code 'RACE'; did you mean RACE_WW, RACE_RW, RACE_ASYNC or RACE_XDEV?"),
        ("copy.stride", "unknown finding code 'copy.stride'; did you mean copy.strides?"),
        ("WHATEVER", "unknown finding code 'WHATEVER'; palladion.explain() lists them"),
        ("", "unknown finding code ''; palladion.explain() lists them"),
    ],
)
def test_an_unknown_name(name, near):
    with pytest.raises(palladion.PalladionError) as error:
        palladion.explain(name)
    assert str(error.value) == near


def test_what_is_no_name():
    with pytest.raises(TypeError, match="code must be a text such as 'OOB'; found 3"):
        palladion.explain(3)


def test_it_needs_no_jax():
    program = "import sys; sys.modules['jax'] = None; import palladion; print(palladion.explain('OOB').name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "OOB\n", done.stderr
