"""Writes the pictures that pages show and that their Python saves, run as a reader would: docs/guides/pictures/*.svg of
the pages about pictures, and docs/learn/pictures/*.svg of the chapters of the course.

    .venv/bin/python tools/pictures.py --write      (./dev docs does)

python/tests/test_page_pictures.py says when they are stale. Times of the model and sources of kernels are in them, so a
change of either needs new ones.
"""

import argparse
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/tests"))

from doc_blocks import Reader, blocks  # noqa: E402


def pages_by_folder() -> dict[str, list[str]]:
    chapters = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/learn").glob("[0-9]*.md"))
    return {
        "docs/guides/pictures": ["docs/guides/pictures.md", "docs/guides/schedule-pictures.md"],
        "docs/learn/pictures": chapters,
    }


def shown_on(page: str) -> set[str]:
    return set(re.findall(r"\(pictures/([\w.-]+)\)", (ROOT / page).read_text(encoding="utf-8")))


def drawn(page: str, folder: pathlib.Path) -> dict[str, str]:
    """The pictures that a page shows, as its code saves them in `folder`, by name."""
    reader = Reader(folder)
    try:
        for block in blocks(page):
            reader.read(block)
    finally:
        reader.close()
    return {name: (folder / name).read_text(encoding="utf-8") for name in sorted(shown_on(page))}


def write(folder: pathlib.Path, pictures: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, svg in pictures.items():
        (folder / name).write_text(svg, encoding="utf-8")
    print(f"wrote {len(pictures)} pictures to {folder.relative_to(ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    for folder, pages in pages_by_folder().items():
        pictures = {}
        for page in pages:
            with tempfile.TemporaryDirectory() as at:
                pictures |= drawn(page, pathlib.Path(at))
        write(ROOT / folder, pictures)


if __name__ == "__main__":
    main()
