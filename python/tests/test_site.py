"""What tools/site_pages.py makes of pages of docs/ before Sphinx reads them, and its check of links. `./dev test`
builds the whole site."""

import pathlib
import re
import sys

import pytest

from doc_blocks import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import notebooks  # noqa: E402
import site_gallery  # noqa: E402
import site_pages as pages  # noqa: E402
import site_questions  # noqa: E402


def test_every_page_stands_in_one_part_of_the_contents():
    contents = pages.contents(pages.read(ROOT / "docs/index.md"))
    listed = re.findall(r"^(?:[\w ,]+<)?([\w./-]+)>?$", contents, re.MULTILINE)
    made = {"readme", "gallery", "python-reference", "cpp-reference"}
    assert sorted(set(listed)) == sorted(listed)
    there = {str(path.relative_to(ROOT / "docs"))[:-3] for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed) - made <= there
    assert {name for name in there - {"index"} if "/" not in name} <= set(listed)


@pytest.mark.parametrize(
    "before, after",
    [
        ("```python file=a.py only-file\nx\n```", "```python\nx\n```"),
        ("```output part\nx\n```", "```text\nx\n```"),
        ("````text\n```pkir\n```\n````", "````text\n```pkir\n```\n````"),
    ],
)
def test_a_block_keeps_its_language_alone(before, after):
    assert pages.plain_fences(before) == after


@pytest.mark.parametrize(
    "text, folder, link",
    [
        ("[a](docs/python.md#targets)", "", "[a](python.md#targets)"),
        ("[a](../README.md#use-it-from-c)", "docs", "[a](readme.md#use-it-from-c)"),
        ("[a](../../README.md)", "docs/spec", "[a](../readme.md)"),
        ("[a](../LICENSE)", "docs", "a"),
        ("[a](https://example.org/x.md)", "docs", "[a](https://example.org/x.md)"),
        ("[a](#here)", "docs", "[a](#here)"),
    ],
)
def test_a_link_out_of_docs_leads_into_the_site_or_is_text(text, folder, link):
    assert pages.links_inside(text, folder) == link


def test_a_link_to_nothing_fails_the_check(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "BUILT", str(tmp_path))
    (tmp_path / "a.html").write_text('<h1 id="there">A</h1><a href="b.html#x">b</a>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="x"></p><a href="a.html#there">a</a>', encoding="utf-8")
    pages.check()
    (tmp_path / "b.html").write_text('<a href="a.html#not-there">a</a><img src="c.png">', encoding="utf-8")
    with pytest.raises(SystemExit) as failed:
        pages.check()
    assert "b.html: a.html#not-there: there is no such place on that page" in str(failed.value)
    assert "b.html: c.png: there is no such file" in str(failed.value)
    assert "a.html: b.html#x: there is no such place on that page" in str(failed.value)


def test_every_picture_of_the_gallery_has_its_program():
    for picture in site_gallery.PICTURES:
        assert "jax" in site_gallery.program_of(picture), picture.name
        assert f"{picture.name}.html" in picture.command


@pytest.mark.parametrize("chapter", notebooks.CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_a_notebook_with_its_code(chapter):
    cells = notebooks.notebook(chapter.read_text(encoding="utf-8"))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    shown = [block.text for block in blocks(f"docs/learn/{chapter.name}") if block.language == "python"]
    assert len(code) == len(shown) > 0
    for cell, block in zip(code, shown):
        compile(cell, chapter.name, "exec")
        assert re.sub(r"\.save\(.*\)", "", block.strip()) == cell
    assert not any("```" in cell["source"] or "pictures/" in cell["source"] for cell in cells)
    assert len({cell["id"] for cell in cells}) == len(cells)


def test_a_link_of_a_notebook_leads_to_the_page_on_the_site():
    cell = notebooks.notebook("See [it](../jax.md#x), [next](05-a.md), [out](https://example.org/a.md).\n")["cells"][0]
    assert cell["source"] == "See [it](../../jax.html#x), [next](../05-a.html), [out](https://example.org/a.md)."


def test_every_question_has_pages_that_exist():
    asked = site_questions.questions((ROOT / "docs/site/questions.txt").read_text(encoding="utf-8"))
    assert len(asked) > 40
    answers = {page for _, pages in asked for page in pages}
    assert {page for page in answers if not (ROOT / "docs" / f"{page}.md").is_file()} <= {"readme"}


def test_a_page_that_is_not_among_the_first_five_is_a_miss():
    asked = site_questions.questions("# a comment\n\nwhy | a b\nhow | c\n")
    assert asked == [("why", ["a", "b"]), ("how", ["c"])]
    assert not site_questions.misses(asked, [["x", "b"], ["1", "1", "2", "3", "4", "c"]])
    assert len(site_questions.misses(asked, [["x"], ["1", "2", "3", "4", "5", "c"]])) == 2


def test_pages_about_the_sources_come_late():
    ranks = pages.ranks(pages.read(ROOT / "docs/index.md"))
    assert ranks["contributing"] < 1 < ranks["guides/"]
    assert "findings" not in ranks
