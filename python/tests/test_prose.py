"""What tools/prose.py wraps: prose, and nothing whose lines mean something."""

import importlib.util
import os

_PATH = os.path.join(os.path.dirname(__file__), "../../tools/prose.py")
_SPEC = importlib.util.spec_from_file_location("prose", _PATH)
prose = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(prose)

LONG = " ".join(["word"] * 40)


def wrapped(text: str) -> list[str]:
    return prose.wrapped_text(text).split("\n")


def test_a_paragraph_keeps_its_words():
    lines = wrapped(f"{LONG}\nand more.\n\nshort")
    assert max(map(len, lines)) <= prose.WIDTH
    assert " ".join(lines).split() == f"{LONG} and more. short".split()


def test_items_are_indented_and_apart():
    lines = wrapped(f"- {LONG}\n  - {LONG}\n- short")
    assert [line[:4] for line in lines] == ["- wo", "  wo", "  - ", "    ", "- sh"]


def test_what_is_no_prose_stays():
    for text in (
        f"```sh\n{LONG}\n```",
        f"| {LONG} |",
        f"# {LONG}",
        f"<p>{LONG}</p>",
        f"    {LONG}",
        f"<!-- run:\n{LONG}\n-->",
        f"<!-- generated:x -->\n{LONG}\n<!-- /generated:x -->",
    ):
        assert wrapped(text) == text.split("\n"), text


def test_a_code_span_is_one_word():
    span = "`" + " ".join(["code"] * 20) + "`"
    assert any(span in line for line in wrapped(f"{LONG} {span}, {LONG}"))


def test_no_line_begins_another_block():
    for mark in ("-", "1.", "#", ">", "+", "|"):
        text = " ".join(["x" * 58, "y" * 57, mark, LONG])
        assert not any(line.startswith(mark) for line in wrapped(text)), mark


def test_a_hard_line_break_stays():
    assert wrapped(f"{LONG}  \nnext")[-2:] == [wrapped(f"{LONG}  ")[-1], "next"]
