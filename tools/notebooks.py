"""The chapters of the course as Jupyter notebooks: docs/learn/*.md, cut at their Python blocks.

    python3 tools/notebooks.py FOLDER    one notebook for each chapter, in FOLDER

A notebook is JSON of format 4.5 (https://nbformat.readthedocs.io). Its code cells are the blocks that
python/tests/test_doc_blocks.py runs, in their order, without outputs: a reader makes these. Links to other pages lead
to the page beside which the notebook lies on the site.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHAPTERS = sorted((ROOT / "docs/learn").glob("[0-9]*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```output[^\n]*\n.*?^```\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n", re.MULTILINE)
SAVED = re.compile(r"\.save\(\"[\w.-]+\"\)$", re.MULTILINE)


def notebook(chapter: str) -> dict:
    """What the page shows below a block is what its cell prints or draws, so it is left out. A picture that the page
    saves is the value of its cell.
    """
    cells, end = [], 0
    text = PICTURE.sub("", PRINTED.sub("", chapter))
    for block in BLOCK.finditer(text):
        cells += [_cell("markdown", text[end : block.start()]), _cell("code", SAVED.sub("", block[1]))]
        end = block.end()
    cells.append(_cell("markdown", text[end:]))
    filled = [cell for cell in cells if cell["source"]]
    for number, cell in enumerate(filled):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": filled, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, text: str) -> dict:
    cell = {"cell_type": kind, "metadata": {}, "source": _links(text.strip()) if kind == "markdown" else text.strip()}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def _links(text: str) -> str:
    return re.sub(r"\]\((?![a-z]+:)([\w./-]+)\.md", r"](../\1.html", text)


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in CHAPTERS:
        made = notebook(chapter.read_text(encoding="utf-8"))
        (folder / f"{chapter.stem}.ipynb").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
