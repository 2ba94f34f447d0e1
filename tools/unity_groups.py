#!/usr/bin/env python3
"""Which C++ files of a library may be compiled as one: for builds that read every header once for several files.

    unity_groups.py FILE...     prints "GROUP FILE" for those that share a group; what stands alone is not printed

What a file keeps to itself (its unnamed namespaces, its file's statics) is seen by all of its group. So no file of a
group may have a word anywhere that another one keeps to itself, and no header of the project that it reads may declare
it: then neither a clash nor another choice of an overload can come of it. Alone are files with macros of their own and
files that Highway includes again for each target. What it does not see: names that a macro of a header makes, and names
that a header takes from a namespace around it.
"""

import functools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 6  # files of a group: as many are compiled anew when one of them changes
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
ALONE = re.compile(r"^\s*#\s*(define|undef)\b|foreach_target\.h|^\s*using namespace\b", re.M)


def declared(statement: str) -> set[str]:
    """The names that a statement at namespace scope declares."""
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


@functools.cache
def of_header(path: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """What a header of the project declares in its namespaces, and which others it includes."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    plain = re.sub(r"^\s*#.*$", "", COMMENT_OR_STRING.sub(" ", text), flags=re.M)
    names: set[str] = set()
    for found in re.finditer(r"\bnamespace\s+[\w:]+\s*\{", plain):
        for statement in statements(plain[found.end() : closing(plain, found.end())]):
            names |= declared(statement)
    return frozenset(names), included(text)


def included(text: str) -> tuple[str, ...]:
    paths = re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M)
    return tuple(path for path in paths if os.path.isfile(os.path.join(ROOT, path)))


def of_headers(text: str) -> set[str]:
    """What all headers of the project declare that a file reads."""
    left, seen, names = list(included(text)), set(), set()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            declares, others = of_header(path)
            names |= declares
            left += others
    return names


def groups(files: dict[str, str]) -> list[list[str]]:
    """`files`: their texts by path. Each file goes to the first group that has room for it and for which it is no
    clash.
    """
    made: list[dict] = []
    for path, text in files.items():
        if ALONE.search(text):
            continue
        plain = COMMENT_OR_STRING.sub(" ", text)
        own = own_names(plain)
        words = set(re.findall(r"\b[A-Za-z_]\w*", plain)) | of_headers(text)
        for group in made:
            if len(group["paths"]) < MOST and not own & group["words"] and not words & group["own"]:
                break
        else:
            group = {"paths": [], "own": set(), "words": set()}
            made.append(group)
        group["paths"].append(path)
        group["own"] |= own
        group["words"] |= words
    return [group["paths"] for group in made]


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
