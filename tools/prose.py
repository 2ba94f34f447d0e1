"""Fails on prose in Markdown wider than 120 columns; with --write, wraps the paragraphs that have such lines.

Tables, code, headings, HTML, comments and what a generator writes (`<!-- generated:... -->`) stay as they are, and a
code span or a word is never broken, so a line of one long link may stay too wide. Based on: CommonMark's blocks, of
which only those that docs/ uses are known here. It does not see wide lines inside HTML blocks.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTH = 120

_ITEM = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+|>\s+)")
# What would begin another block at the beginning of a line.
_BEGINS_A_BLOCK = re.compile(r"([-*+>|]|#+|\d+[.)]|[=~`-]{3,}.*|[-=]+|\[[^\]]+\]:)$")
_WRITTEN = re.compile(r"<!-- (generated|measured|counted):")
_NOT_PROSE = re.compile(r"\s*(\||#|<|!?\[[^\]]*\]:|\[\^|(?:[-*_]\s*){3,}$)")


def words(text: str) -> list[str]:
    """The words of a paragraph; a code span is one, with what touches it."""
    found, open_ticks = [], ""
    for word in text.split(" "):
        if open_ticks:
            found[-1] += " " + word
        elif word:
            found.append(word)
        for ticks in re.findall(r"`+", word):
            open_ticks = "" if open_ticks == ticks else open_ticks or ticks
    return found


def wrapped(text: str, first: str, rest: str) -> list[str]:
    lines = [first]
    empty = True
    for word in words(text):
        fits = len(lines[-1]) + (not empty) + len(word) <= WIDTH
        if empty or fits or _BEGINS_A_BLOCK.match(word):
            lines[-1] += word if empty else " " + word
        else:
            lines.append(rest + word)
        empty = False
    return lines


def _paragraphs(lines: list[str]):
    """(first line, one past the last line, is it prose) for each block between blank lines, items apart."""
    number, generated, comment, fence = 0, False, False, None
    while number < len(lines):
        line = lines[number]
        generated = bool(_WRITTEN.match(line)) or generated and not line.startswith("<!-- /")
        hidden = comment or line.startswith("<!--")
        comment = hidden and "-->" not in line
        opened = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            fence = None if opened and opened[1] == fence else fence
        elif opened:
            fence = opened[1]
        plain = not (generated or hidden or fence or opened) and line.strip() and not _NOT_PROSE.match(line)
        if not plain or (re.match(r"\s{4,}", line) and not _in_a_list(lines, number)):
            yield number, number + 1, False
            number += 1
            continue
        end = number + 1
        while end < len(lines) and _continues(lines, end):
            end += 1
        yield number, end, True
        number = end


def _in_a_list(lines: list[str], number: int) -> bool:
    while number > 0 and (not lines[number].strip() or lines[number].startswith(" ")):
        number -= 1
    return bool(_ITEM.match(lines[number]))


def _continues(lines: list[str], number: int) -> bool:
    line, before = lines[number], lines[number - 1]
    ended = not line.strip() or before.endswith(("  ", "\\")) or _ITEM.match(line) or _NOT_PROSE.match(line)
    return not ended and not re.match(r"\s*(`{3,}|~{3,}|[-=]+\s*$)", line)


def too_wide(lines: list[str]) -> list[tuple[int, int]]:
    """The paragraphs (first line, one past the last) that have a wide line which can be made shorter."""
    return [
        (first, end)
        for first, end, prose in _paragraphs(lines)
        if prose
        and any(len(line) > WIDTH for line in lines[first:end])
        and rewritten(lines[first:end]) != lines[first:end]
    ]


def rewritten(paragraph: list[str]) -> list[str]:
    item = _ITEM.match(paragraph[0])
    indent = re.match(r"\s*", paragraph[0])[0]
    first = item[0] if item else indent
    quoted = bool(item) and item[2].startswith(">")
    rest = first if quoted else " " * len(first) if item else indent
    if item and len(paragraph) > 1 and not quoted:
        rest = re.match(r"\s*", paragraph[1])[0] or rest
    text = " ".join([paragraph[0][len(first) :].strip(), *(line.strip() for line in paragraph[1:])])
    lines = wrapped(text, first, rest)
    if paragraph[-1].endswith("  "):
        lines[-1] += "  "
    return lines


def wrapped_text(text: str) -> str:
    """A page as --write leaves it, for those that a program writes whole."""
    lines = text.split("\n")
    for first, end in reversed(too_wide(lines)):
        lines[first:end] = rewritten(lines[first:end])
    return "\n".join(lines)


def main() -> int:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    paths = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    wrong = 0
    for path in sorted(paths):
        if not os.path.isfile(os.path.join(ROOT, path)):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        wide = too_wide(text.split("\n"))
        wrong += len(wide)
        if "--write" in sys.argv:
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
                file.write(wrapped_text(text))
            continue
        for first, _ in wide:
            print(f"{path}:{first + 1}: prose is wider than {WIDTH} columns: python3 tools/prose.py --write wraps it")
    return bool(wrong) and "--write" not in sys.argv


if __name__ == "__main__":
    sys.exit(main())
