"""What tools/site_pages.py makes of pages of docs/ before Sphinx reads them, and its check of links. `./dev test`
builds the whole site."""

import pathlib
import re
import subprocess
import sys

import pytest

from doc_blocks import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gen_docs  # noqa: E402
import links  # noqa: E402
import moved_pages  # noqa: E402
import notebooks  # noqa: E402
import site_gallery  # noqa: E402
import site_pages as pages  # noqa: E402
import site_questions  # noqa: E402

TABLE = moved_pages.moved()


def test_every_page_stands_in_one_part_of_the_contents():
    contents = pages.contents(pages.read(ROOT / "docs/index.md"))
    listed = re.findall(r"^(?:[\w ,]+<)?([\w./-]+)>?$", contents, re.MULTILINE)
    made = {"readme", "gallery", *pages.MADE_PLACES.values()}
    assert sorted(set(listed)) == sorted(listed)
    there = {str(path.relative_to(ROOT / "docs"))[:-3] for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed) - made <= there
    assert {name for name in there - {"index"} if not re.match(r"learn/\d", name)} <= set(listed)


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
        ("[a](docs/reference/python.md#targets)", "", "[a](reference/python.md#targets)"),
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
    cell = notebooks.notebook("See [it](../guides/a.md#x), [next](05-a.md), [out](https://example.org/a.md).\n")[
        "cells"
    ][0]
    assert cell["source"] == "See [it](../../guides/a.html#x), [next](../05-a.html), [out](https://example.org/a.md)."


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


def test_what_the_search_ranks_is_there():
    made = {"gallery", *pages.MADE_PLACES.values()}
    for name in set(pages.RANKS) - made:
        assert (ROOT / "docs" / (name if name.endswith("/") else f"{name}.md")).exists(), name
    assert pages.RANKS["develop/"] < 1 < pages.RANKS["guides/"]


def test_what_moved_is_at_its_new_place():
    assert {name: new for name, new in TABLE.items() if not (ROOT / "docs" / new).exists()} == {}
    left = [ROOT / "docs" / name for name in TABLE]
    assert [path for path in left if path.is_file() or any(path.glob("*"))] == []


def test_nothing_names_an_old_place():
    assert list(moved_pages.stale(TABLE)) == [], "run python3 tools/moved_pages.py --write"


def test_an_old_place_is_noticed():
    table = {"a.md": "guides/jax.md", "p/": "guides/pictures/"}
    text = 'see docs/a.md#x, "docs", "a.md", docs/p/x.svg; not docs/a.mdx, my-docs/a.md'
    new = 'see docs/guides/jax.md#x, "docs/guides/jax.md", docs/guides/pictures/x.svg; not docs/a.mdx, my-docs/a.md'
    assert moved_pages.renamed(text, table) == new
    assert moved_pages.relinked("[a](../a.md#x)", "docs/spec/ref.md", table, False) == "[a](../guides/jax.md#x)"
    there = "[r](../spec/ref.md) [w](https://a.md) [h](#h)"
    assert moved_pages.relinked(there, "docs/guides/jax.md", table, False) == there
    assert moved_pages.relinked("[r](spec/ref.md)", "docs/guides/jax.md", table, True) == "[r](../spec/ref.md)"


def test_an_old_address_leads_on_with_its_anchor():
    found = pages.old_addresses(TABLE)
    assert 'location.replace("reference/findings.html" + location.hash)' in found["findings.html"]
    assert "reference/python-reference.html" in found["python-reference.html"]
    assert len(found) == len([name for name in TABLE if name.endswith(".md")]) + 2


def test_a_link_of_a_generated_part_is_found_by_the_name_of_its_page():
    text = "[a](python.md#targets), [b](spec/ref.md), [c](https://example.org/x.md)"
    assert gen_docs.linked(text, "docs/guides/a.md") == (
        "[a](../reference/python.md#targets), [b](../spec/ref.md), [c](https://example.org/x.md)"
    )
    assert gen_docs.linked("[a](reduce.md)", "docs/reference/command.md") == "[a](../guides/reduce.md)"
    assert gen_docs.linked("[a](reduce.md)", "docs/spec/coverage.md") == "[a](reduce.md)"
    with pytest.raises(SystemExit, match=r"a link to nowhere\.md: there is no such page"):
        gen_docs.linked("[a](nowhere.md)", "docs/guides/jax.md")


def test_a_page_that_a_message_names_and_that_is_not_there_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(links, "ROOT", str(tmp_path))
    (tmp_path / "docs/guides").mkdir(parents=True)
    page = tmp_path / "docs/guides/there.md"
    page.write_text("# There\n", encoding="utf-8")
    messages = 'Error("docs/guides/there.md", "docs/there.md", "there.md#there", "there.md#not", "docs/x.schema.json");'
    (tmp_path / "a.cc").write_text(messages, encoding="utf-8")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "-A"], check=True)
    assert links.wrong_in_sources({str(page): "# There\n"}) == [
        "a.cc: docs/there.md: there is no such page",
        "a.cc: there.md#not: the page has no such heading",
        "a.cc: docs/x.schema.json: there is no such page",
    ]
