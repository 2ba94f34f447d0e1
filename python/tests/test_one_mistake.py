"""docs/learn/one-mistake.md says what is printed. `tools/one_mistake.py --write` writes it anew."""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import one_mistake  # noqa: E402


def shape(text: str) -> str:
    """Without hashes of the kernel and the inputs, which JAX's own changes change too."""
    return re.sub(r"\b[0-9a-f]{16}\b", "HASH", text)


def test_the_page_shows_what_is_printed():
    page = one_mistake.PAGE.read_text(encoding="utf-8")
    parts = one_mistake.shown(one_mistake.PROGRAM.search(page)["program"])
    names = [match["name"] for match in one_mistake.BLOCK.finditer(page)]
    assert names == ["python", "text", "notebook", "pytest", "sarif"]
    assert shape(one_mistake.renewed(page, parts)) == shape(page), "run .venv/bin/python tools/one_mistake.py --write"
    assert parts["picture"] == one_mistake.PICTURE.read_text(encoding="utf-8")
    ElementTree.fromstring(parts["picture"])
    # It is the same mistake in all of them.
    for name in names:
        assert "o_ref[0] = x_ref[pl.program_id(0)]" in parts[name] or name == "sarif"
        assert "RACE_WW" in parts[name] and "give each program elements of its own" in parts[name], name
