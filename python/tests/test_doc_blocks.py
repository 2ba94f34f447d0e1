"""Every code block of README.md and docs/ runs as written, and prints what the page shows, unless it says why not."""

import re

import pytest

from doc_blocks import ROOT, Block, Reader, Wrong, blocks, matches, pages, patched

WITH_BLOCKS = [page for page in pages() if blocks(page)]
# Blocks that say `no-run`. A new one needs a reason that cannot be removed, and this number.
NOT_RUN = 21


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_a_page_does_what_it_says(page, tmp_path):
    reader = Reader(tmp_path)
    try:
        for block in blocks(page):
            reader.read(block)
    finally:
        reader.close()


def test_what_does_not_run_is_counted():
    skipped = [
        f"{block}: {block.skipped}" for page in WITH_BLOCKS for block in blocks(page) if block.skipped is not None
    ]
    assert len(skipped) == NOT_RUN, "\n".join(skipped)


def test_no_block_is_overlooked():
    """Fences that stand in lists, or are made of other characters, are not read: there are none."""
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        shown = [block for block in blocks(page) if block.language != "setup"]
        assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(shown), page


def read(text, tmp_path):
    reader = Reader(tmp_path)
    try:
        for block in blocks("page.md", text):
            reader.read(block)
    finally:
        reader.close()


PAGE = "emu/front/reports/explain/OOB.txt"
WRONG = "    o_ref[i] = x_ref[i + 1]  # OOB: the last program reads past the end"
RIGHT = "    o_ref[i] = x_ref[jnp.minimum(i + 1, 3)]"

GOOD = [
    "```python\nx = 1\n```\n```python\nprint(x + 1)\n```\n```output\n2\n```",
    "<!-- run:\ny = 3\n-->\n```python\nprint(y)\n```",
    "```console\n$ echo a; echo b\na\nb\n$ echo c\n```\n```output\nc\n```",
    "```console exit=3\n$ exit 3\n```",
    "```sh\necho one\necho two\n```\n```output part\ntwo\n```",
    "```python file=a.py\nimport sys\nprint(sys.argv[0] != '')\n```",
    "```\n```".replace("```\n", "```sh no-run it installs packages\nrm -rf /nowhere\n", 1),
    "```output no-run a picture\nabc\n```",
    "```console\n$ palladion explain OOB > text; head -c 3 text\nOOB\n```",
    "```cpp from=emu/front/cpp/lock_test.cc\n#include <gtest/gtest.h>\n```",
    f"```python from={PAGE}\n{WRONG}\n```\n```diff from={PAGE}\n- {WRONG}\n+ {RIGHT}\n```",
    "```sh\nbuild/palladion doctor\n.venv/bin/python -c 1\n```",
]
BAD = [
    "```\nx\n```",
    "```cpp\nint x;\n```",
    "```cpp from=emu/front/cpp/lock_test.cc\nint x;\n```",
    f"```python from={PAGE}\nx = 1\n```",
    f"```python from={PAGE}\n{WRONG}\n```\n```diff from={PAGE}\n- {WRONG}\n+ {WRONG}!\n```",
    "```yaml\nx: 1\n```",
    "```python no-run\nx\n```",
    "```python\nprint(1)\n```\n```output\n2\n```",
    "```python\nraise ValueError\n```",
    "```sh\nfalse\necho a\n```",
    "```console\n$ echo a\nb\n```",
    "```console\n$ exit 3\n```",
    "```pkir\npkir 1; kernel\n```",
    "```python\nimport os; os._exit(1)\n```",
    "```case\nnothing\n```",
    "<!-- shown:x -->\n```\nnobody writes it\n```",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_pages(text, tmp_path):
    read(text, tmp_path)


@pytest.mark.parametrize("text", BAD)
def test_bad_pages(text, tmp_path):
    with pytest.raises(Wrong, match=r"page\.md:"):
        read(text, tmp_path)


def test_output_is_compared():
    assert (
        matches("a\nb", "a  \nb\n", part=False)
        and not matches("a", "a\nb", part=False)
        and matches("b", "a\nbc\n", part=True)
    )
    assert matches("a\nc", "a\nb\nc", part=True) and not matches("c\na", "a\nb\nc", part=True)
    assert (
        matches("a ... c", "a b c", part=False)
        and matches("a\n...\nc", "a\nb\nb\nc", part=False)
        and not matches("a.c", "abc", part=True)
    )


def test_a_change_is_applied():
    change = Block("p.md", 1, "diff", (), "  one\n- two\n+ 2\n    ...\n  four\n")
    assert patched("zero\none\ntwo\nthree\nfour\nfive\n", change) == "zero\none\n2\nthree\nfour\nfive\n"
    with pytest.raises(Wrong, match="no line 'four'"):
        patched("one\ntwo\n", change)
