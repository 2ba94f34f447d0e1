#!/usr/bin/env python3
"""Which C++ files of a library may be compiled as one: for builds that read every header once for several files.

    unity_groups.py FILE...     prints "GROUP FILE" for those that share a group; what stands alone is not printed

What a file keeps to itself (its unnamed namespaces, its file's statics) is seen by all of its group. So no file of a
group may have a word anywhere that another one keeps to itself, and no header of the project that it reads may declare
it: then neither a clash nor another choice of an overload can come of it. A name that both take from the same place
(`using machines::Bytes;`) is one name, if no header of that namespace that is read later uses it bare. Alone are files
with macros of their own and files that Highway includes again for each target. What it does not see: names that a macro
of a header makes, and other names that a header takes from a namespace around it.
"""

import functools
import os
import re
import sys
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 12  # files of a group: as many are compiled anew when one of them changes
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
ALONE = re.compile(r"^\s*#\s*(define|undef)\b|foreach_target\.h|^\s*using namespace\b", re.M)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
KEYWORDS = {"if", "for", "while", "switch", "return"}
NAMESPACE = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
BARE = re.compile(r"(?<![\w:.>])[A-Za-z_]\w*")
USING = re.compile(r"^using\s+([\w:]+)::(\w+);", re.M)


def declared(statement: str) -> set[str]:
    """The names that a statement at namespace scope declares."""
    return {name for name in found_in(statement) if IDENTIFIER.fullmatch(name) and name not in KEYWORDS}


def found_in(statement: str) -> set[str]:
    """The same, with numbers and keywords, where a brace divided a statement."""
    statement = re.sub(r"<[^<>;{}]*>", "", statement.strip())
    if re.match(r"static_assert|TEST|TYPED_TEST|INSTANTIATE_TEST|GTEST_ALLOW", statement):
        return set()
    found = re.match(r"using\s+(?:\w+::)*(\w+)", statement) or re.match(r"namespace\s+(\w+)\s*=", statement)
    found = found or re.search(
        r"\b(?:class|struct|enum class|enum|union)\s+(\w+)\s*(?:final)?\s*(?::[^:]|$)", statement
    )
    if found:
        return {found.group(1)}
    head = statement.split("=")[0]
    found = re.search(r"(\w+)\s*\(", head) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", head)
    names = {found.group(1)} if found else set()
    return names | {name for name in re.findall(r",\s*(\w+)\s*=", statement) if "(" not in head}


def statements(text: str):
    """What stands at the outermost level of a namespace's text, without what is in braces or behind `=`."""
    depth, current = 0, []
    for char in text:
        if char == "{":
            if depth == 0:
                yield "".join(current)
                current = []
            depth += 1
        elif char == "}":
            depth -= 1
        elif depth == 0 and char == ";":
            yield "".join(current)
            current = []
        elif depth == 0:
            current.append(char)


def closing(text: str, begin: int) -> int:
    depth = 1
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def own_names(text: str) -> set[str]:
    """What a file without comments and strings keeps to itself."""
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    names: set[str] = set()
    for found in re.finditer(r"\bnamespace\s*\{", text):
        for statement in statements(text[found.end() : closing(text, found.end())]):
            names |= declared(statement)
    for found in re.finditer(r"^(?:static|using|namespace \w+ =)\b[^;{]*", text, re.M):
        names |= declared(re.sub(r"^static\s+", "", found.group()))
    return names


class Header(NamedTuple):
    declares: frozenset[str]  # in its namespaces
    spaces: frozenset[str]  # these
    bare: frozenset[str]  # words that are no member and not said to be of a namespace
    includes: tuple[str, ...]  # headers of the project


@functools.cache
def of_header(path: str) -> Header:
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    plain = re.sub(r"^\s*#.*$", "", COMMENT_OR_STRING.sub(" ", text), flags=re.M)
    names: set[str] = set()
    spaces = set()
    for found in NAMESPACE.finditer(plain):
        spaces.add(found.group(1))
        for statement in statements(plain[found.end() : closing(plain, found.end())]):
            names |= declared(statement)
    return Header(frozenset(names), frozenset(spaces), frozenset(BARE.findall(plain)), included(text))


def included(text: str) -> tuple[str, ...]:
    paths = re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M)
    return tuple(path for path in paths if os.path.isfile(os.path.join(ROOT, path)))


def headers_of(text: str) -> set[str]:
    """All headers of the project that a file reads."""
    left, seen = list(included(text)), set()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += of_header(path).includes
    return seen


class File:
    """What keeps a file of a library apart from others."""

    def __init__(self, path: str, text: str):
        plain = COMMENT_OR_STRING.sub(" ", text)
        self.path = path
        self.own = own_names(plain)
        self.words = set(IDENTIFIER.findall(plain))
        self.bare = set(BARE.findall(plain))
        self.taken = {name: source for source, name in USING.findall(plain)}
        space = NAMESPACE.search(plain)
        self.space = space.group(1) if space else ""
        self.headers = headers_of(text)
        for header in self.headers:
            self.words |= of_header(header).declares

    def is_nothing_to(self, other: "File") -> bool:
        """Whether `other` means the same when all that this file keeps to itself stands before it."""
        if (self.own - self.taken.keys()) & other.words:
            return False
        if any(name in other.bare and other.taken.get(name) != source for name, source in self.taken.items()):
            return False
        for header in map(of_header, other.headers - self.headers):
            inside = any(f"{space}::".startswith(f"{self.space}::") for space in header.spaces)
            if inside and not header.bare.isdisjoint(self.taken):
                return False
        return True


def groups(files: dict[str, str]) -> list[list[str]]:
    """`files`: their texts by path. Each file goes to the first group that has room for it and for which it is no
    clash.
    """
    made: list[list[File]] = []
    for path, text in files.items():
        if ALONE.search(text):
            continue
        file = File(path, text)
        for group in made:
            if len(group) < MOST and all(file.is_nothing_to(of) and of.is_nothing_to(file) for of in group):
                group.append(file)
                break
        else:
            made.append([file])
    return [[file.path for file in group] for group in made]


def main() -> int:
    files = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            files[path] = file.read()
    for number, group in enumerate(groups(files)):
        if len(group) > 1:
            print("\n".join(f"{number} {path}" for path in group))
    return 0


if __name__ == "__main__":
    sys.exit(main())
