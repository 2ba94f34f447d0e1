"""Runs the course's notebooks (tools/notebooks.py) in Jupyter's kernel, as a reader does who presses "run all".

    build/site/venv/bin/python tools/run_notebooks.py [NAME...]    every chapter whose name has NAME in it; all without

The kernel is IPython's, by way of nbclient. A cell that fails, a picture that a cell draws and the notebook does not
show, and a printed text that is not what the page says are errors. That the blocks of a page do what the page says in
plain Python is python/tests/test_doc_blocks.py's to see. Not looked at: what a front end makes of the HTML.
"""

import ast
import json
import os
import pathlib
import re
import sys
import tempfile

import nbclient
import nbformat
import notebooks

ROOT = notebooks.ROOT
SECONDS = 300  # for a cell


def shown(cell, kind: str) -> bool:
    return any(kind in output.get("data", {}) for output in cell.outputs)


def draws(cell) -> bool:
    """Is its value a picture?"""
    value = ast.parse(cell.source).body[-1]
    return isinstance(value, ast.Expr) and ast.unparse(value).startswith("palladion.draw")


def unshown(cells) -> list[str]:
    """The last lines of cells whose picture the notebook does not show."""
    return [cell.source.splitlines()[-1] for cell in cells if draws(cell) and not shown(cell, "text/html")]


def printed(cells) -> str:
    return "".join(output.text for cell in cells for output in cell.outputs if output.get("name") == "stdout")


def expected(chapter: str) -> list[str]:
    """What the page says is printed, whole blocks alone."""
    return re.findall(r"^```output\n(.*?)^```\n", chapter, re.MULTILINE | re.DOTALL)


def mistakes_of(chapter: pathlib.Path, folder: str) -> list[str]:
    text = chapter.read_text(encoding="utf-8")
    made = nbformat.reads(json.dumps(notebooks.notebook(text)), as_version=4)
    client = nbclient.NotebookClient(made, timeout=SECONDS, resources={"metadata": {"path": folder}})
    log = pathlib.Path(folder, "kernel.txt")  # where the kernel says at its end that its streams are closed
    with log.open("w", encoding="utf-8") as stderr:
        try:
            client.execute(stderr=stderr)
        except nbclient.exceptions.CellExecutionError as error:
            return [f"a cell fails: {error}"]
        except (nbclient.exceptions.DeadKernelError, RuntimeError) as error:
            return [f"{error}\n{log.read_text(encoding='utf-8')}"]
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    output = printed(cells)
    if not any(draws(cell) for cell in cells):
        return ["no cell of it draws a picture"]
    return [f"{line} is not shown" for line in unshown(cells)] + [
        f"it does not print\n{block}" for block in expected(text) if block not in output
    ]


def main(names: list[str]) -> int:
    chapters = [path for path in notebooks.CHAPTERS if not names or any(name in path.stem for name in names)]
    if not chapters:
        print(f"no chapter of docs/learn has {' or '.join(names)} in its name", file=sys.stderr)
        return 2
    failed = 0
    found = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(found)
    with tempfile.TemporaryDirectory() as folder:
        for chapter in chapters:
            mistakes = mistakes_of(chapter, folder)
            failed += bool(mistakes)
            print(f"{chapter.stem}: {'runs' if not mistakes else '; '.join(mistakes)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
