"""Writes docs/pictures/*.svg: the pictures that the Python of docs/pictures.md saves, run as a reader would.

    .venv/bin/python tools/pictures.py --write      (./dev docs does)

python/tests/test_pictures.py says when they are stale. Times of the model and sources of kernels are in them, so a
change of either needs new ones.
"""

import argparse
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
sys.path.insert(0, str(ROOT / "python/tests"))

from doc_blocks import Reader, blocks  # noqa: E402


def drawn(folder: pathlib.Path) -> dict[str, str]:
    """What the page's code saves as SVG in `folder`, by name."""
    reader = Reader(folder)
    try:
        for block in blocks("docs/pictures.md"):
            reader.read(block)
    finally:
        reader.close()
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.svg"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pictures = drawn(pathlib.Path(folder))
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    for name, svg in pictures.items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
    print(f"wrote {len(pictures)} pictures to {PICTURES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
