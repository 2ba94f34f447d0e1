"""The pictures of docs/ are what the code beside them draws today. They hold instructions as the JAX of Debian 12 makes
them, so with another JAX they are not compared (tools/tests.sh)."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pictures  # noqa: E402

PAGES = [(folder, page) for folder, pages in pictures.pages_by_folder().items() for page in pages]


@pytest.mark.parametrize("folder, page", PAGES)
def test_the_pictures_of_a_page_are_not_stale(folder, page, tmp_path):
    drawn = pictures.drawn(page, tmp_path)
    for name, svg in drawn.items():
        shown = (ROOT / folder / name).read_text(encoding="utf-8")
        assert svg == shown, f"{name}: run .venv/bin/python tools/pictures.py --write"


@pytest.mark.parametrize("folder", pictures.pages_by_folder())
def test_every_picture_is_on_a_page(folder):
    shown = set().union(*(pictures.shown_on(page) for of, page in PAGES if of == folder))
    assert {path.name for path in (ROOT / folder).iterdir()} == shown
