"""Parameter lists of C++ functions, constructors, lambdas and function pointers,
found by layout (clang-format fixes it).

A list of declared parameters differs from the arguments of a call: each is a type and a name, or types alone behind a
return type. Not seen: std::function<...>, macros, and a call whose arguments all look like parameters would be taken
for a declaration.
"""

import re

_COMMENT_OR_STRING = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S
)
# A name, `(*name)` of a function pointer, or the end of a lambda's capture.
_OPENS = re.compile(r"(\w+|\(\*\w*\)|\])\s*(?=\()")
_TYPE = r"(?:const )?[A-Za-z_][\w:]*(?:<.*>)?(?: const)?"
_TYPE_AND_NAME = re.compile(_TYPE + r"(?:[&*]+| )[&* ]*(?:HWY_RESTRICT )?(?:const )?\w*(?:\[\w*\])?(?: = .*)?")
_TYPE_ALONE = re.compile(_TYPE + r"[&*]*")
_NOT_A_TYPE = {"return", "else", "case", "throw", "new", "co_return", "not"}


def _blank(match: re.Match) -> str:
    text = match.group(0)
    if text.startswith("/"):
        return re.sub(r"[^\n]", " ", text)
    return '"' + re.sub(r"[^\n]", "s", text[1:-1]) + '"'


def _end(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def _parts(text: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for at, letter in enumerate(text):
        depth += letter in "([{<"
        depth -= letter in ")]}" or (letter == ">" and text[at - 1 : at] != "-")
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    parts.append(part)
    return [" ".join(part.split()) for part in parts]


def longer_than(most: int, text: str):
    """(name, line, parameters) of each list of a C++ file that has more than `most`."""
    text = _COMMENT_OR_STRING.sub(_blank, text)
    for match in _OPENS.finditer(text):
        opens = match.end()
        if text.count(",", opens, opens + 4000) < most:
            continue
        parts = _parts(text[opens + 1 : _end(text, opens)])
        if len(parts) <= most:
            continue
        before = re.search(r"([\w>&*]+)\s+[&*]*$", text[max(0, match.start() - 200) : match.start()])
        returns = match.group(1).startswith("(*") or (before is not None and before.group(1) not in _NOT_A_TYPE)
        if all(_TYPE_AND_NAME.fullmatch(part) or (returns and _TYPE_ALONE.fullmatch(part)) for part in parts):
            name = match.group(1) if match.group(1) != "]" else "a lambda"
            yield name, text.count("\n", 0, match.start()) + 1, len(parts)
