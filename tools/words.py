"""Fails on words that docs/reference/glossary.md rules out where a field has its own: in comments, docstrings and
pages, and in names of functions, classes and variables of Python.

Usage: words.py [FILE...]. Without files it reads all that git lists but those of LEFT_OUT. Not seen: string literals
that are no docstrings, names in C++ and in the folders of NAMES_STAY, and what stands in backticks.
"""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What is written instead, by word.
RULED_OUT = {
    "told": "reported, passed, signalled; of an order: released",
    "whoever": "the agent, the thread, the caller",
    "somebody": "an agent, a thread, a caller",
    "nobody": "no agent, no thread; never",
}
LEFT_OUT = ("docs/reference/glossary.md",)  # has the words to rule them out
# Names of parameters there are those of references in case files and their reports.
NAMES_STAY = ("conformance/gpu_corpus/",)

_WORD = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(RULED_OUT)})(?![A-Za-z])", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
# A comment of C++ behind what is neither a string nor a character.
_COMMENT = re.compile(r"""(?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|'|/(?!/))*//(.*)""")
_HAVE_A_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def prose_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line from 1, what people read there)."""
    if path.endswith(".py"):
        yield from _python(text, names=not path.startswith(NAMES_STAY))
    elif path.endswith((".cc", ".h")):
        for number, line in enumerate(text.split("\n"), 1):
            if comment := _COMMENT.match(line):
                yield number, comment[1]
    elif path.endswith(".case"):
        yield from ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.startswith("#"))
    else:
        yield from enumerate(text.split("\n"), 1)


def _python(text: str, names: bool) -> Iterator[tuple[int, str]]:
    read = (tokenize.COMMENT, tokenize.NAME) if names else (tokenize.COMMENT,)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in read:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _HAVE_A_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            yield from enumerate(node.body[0].value.value.split("\n"), node.body[0].lineno)


def found_in(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: '{match[0]}': docs/reference/glossary.md has other words: {RULED_OUT[match[0].lower()]}"
        for number, line in prose_of(path, text)
        for match in _WORD.finditer(_CODE.sub("", line))
    ]


def listed() -> list[str]:
    patterns = ["*.py", "*.cc", "*.h", "*.case", "*.md", "*.sh", "*.cmake", "*CMakeLists.txt", "dev"]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    paths = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return sorted(path for path in paths if not path.startswith(LEFT_OUT) and os.path.isfile(os.path.join(ROOT, path)))


def main() -> int:
    wrong = []
    for path in sys.argv[1:] or listed():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            wrong += found_in(path, file.read())
    if wrong:
        print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
