"""Fails on words that docs/reference/glossary.md rules out where a field has its own: in comments, docstrings and pages
(RULED_OUT), in names of Python, in names of C++ and of its files (with RULED_OUT_IN_NAMES), in pages and in messages of
C++ (with RULED_OUT_IN_TEXTS).

Usage: words.py [FILE...]. Without files it reads all that git lists but those of LEFT_OUT. Not seen: string literals of
Python that are no docstrings, those of C++ without a blank (keys, names) and of its tests, names under NAMES_STAY, text
in backticks, and, for RULED_OUT_IN_TEXTS, fenced code and generated parts of pages. `ask` and `way` have a literal use
in prose that no pattern recognises, so they are left to the reader.
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
# The same for parts of names in C++: `KeepAsked`, `told_by_`, `agents_under_way.h`.
RULED_OUT_IN_NAMES = {
    **RULED_OUT,
    **dict.fromkeys(("tell", "tells", "teller", "telling"), "release, signal, report, notify"),
    **dict.fromkeys(("hear", "hears", "heard"), "acquire, receive"),
    **dict.fromkeys(("loan", "loans", "lend", "lends", "lent"), "copy-on-write, borrow"),
    "asked": "requested, queried",
    "under_way": "in flight; of an agent: running, resident",
    "way": "execution mode",
}
# The same for words of pages and of messages in C++.
RULED_OUT_IN_TEXTS = {
    **RULED_OUT,
    **{word: words for word, words in RULED_OUT_IN_NAMES.items() if word not in ("under_way", "way")},
    "under way": "in flight; running",
}
LEFT_OUT = ("docs/reference/glossary.md",)  # has the words to rule them out
NAMES_STAY = (
    "conformance/gpu_corpus/",  # of parameters: those of references in case files and their reports
)
# Values of reports, which their readers compare.
VALUES_STAY = ("under way", "bytes asked of L2")


def _any_of(words: dict[str, str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z])(?:{'|'.join(words)})(?![A-Za-z])", re.IGNORECASE)


_WORD = _any_of(RULED_OUT)
_WORD_OF_TEXT = _any_of(RULED_OUT_IN_TEXTS)
_CODE = re.compile(r"`[^`]*`")
# A comment of C++ behind what is neither a string nor a character.
_COMMENT = re.compile(r"""(?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|'|/(?!/))*//(.*)""")
_LITERAL = re.compile(
    r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\d)'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
_STRING = re.compile(r'(?<!\w)"((?:\\.|[^"\\\n])*)"')
_NAME = re.compile(r"[A-Za-z_]\w*")
_GENERATED = ("<!-- generated:", "<!-- measured:", "<!-- counted:")
_TESTS = ("_test.cc", "_test_util.h", "_for_test.h")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
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


def names_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line from 1, a name), of C++; the file's own first."""
    if not path.endswith((".cc", ".h")) or path.startswith(NAMES_STAY):
        return
    yield 1, os.path.basename(path).split(".")[0]
    code = _LITERAL.sub(lambda match: " " + "\n" * match[0].count("\n"), text)
    for number, line in enumerate(code.split("\n"), 1):
        yield from ((number, match[0]) for match in _NAME.finditer(line))


def ruled_out_in(name: str) -> list[str]:
    parts = [part.lower() for part in _PART.findall(name)]
    words = [part for part in parts if part in RULED_OUT_IN_NAMES and part != "way"]
    words += ["under_way"] * (("under", "way") in zip(parts, parts[1:]))
    # A way out or back is English; a type or a function of this name is an execution mode.
    words += ["way"] * (re.fullmatch(r"k?Way([A-Z]\w*)?|[A-Z]\w*[a-z]Way|way_", name) is not None and not words)
    return words


def texts_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line from 1, what the program or its documentation says): lines of pages, and messages of C++."""
    if path.endswith(".md"):
        fenced = generated = False
        for number, line in enumerate(text.split("\n"), 1):
            fenced ^= line.startswith("```")
            generated = (generated or line.startswith(_GENERATED)) and not line.startswith("<!-- /")
            if not fenced and not generated:
                yield number, line
    elif path.endswith((".cc", ".h")) and not path.endswith(_TESTS):
        for number, line in enumerate(text.split("\n"), 1):
            code = line if not (comment := _COMMENT.match(line)) else line[: comment.start(1)]
            yield from (
                (number, match[1])
                for match in _STRING.finditer(code)
                if " " in match[1] and match[1] not in VALUES_STAY
            )


def found_in(path: str, text: str) -> list[str]:
    in_prose = [
        f"{path}:{number}: '{match[0]}': docs/reference/glossary.md has other words: {RULED_OUT[match[0].lower()]}"
        for number, line in prose_of(path, text)
        for match in _WORD.finditer(_CODE.sub("", line))
    ]
    in_texts = [
        f"{path}:{number}: '{match[0]}': docs/reference/glossary.md has other words: "
        f"{RULED_OUT_IN_TEXTS[match[0].lower()]}"
        for number, line in texts_of(path, text)
        for match in _WORD_OF_TEXT.finditer(_CODE.sub("", line))
        if not (path.endswith(".md") and match[0].lower() in RULED_OUT)  # in_prose has it
    ]
    return [
        *in_prose,
        *in_texts,
        *names_found(path, text),
    ]


def names_found(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: '{word}' in {name}: docs/reference/glossary.md has other words: {RULED_OUT_IN_NAMES[word]}"
        for number, name in names_of(path, text)
        for word in ruled_out_in(name)
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
