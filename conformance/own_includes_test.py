#!/usr/bin/env python3
"""Every C++ file includes the project's headers whose names it uses, itself or by one of those headers.

Builds of the tests compile several files of a library as one (tools/unity_groups.py): there a file may use what its
neighbour includes, and a user, whose build compiles it by itself, gets an error. This finds such a file in seconds.
A compiler's look at each file by itself, which misses nothing, is in `./dev test-long debian`.

Based on the names that headers declare in their namespaces (unity_groups.of_header). What it does not catch: a name
that one of the headers read mentions (a declaration without a definition, a member, an overload, a namesake elsewhere).
Measured: of 40 includes taken away at random, without which g++ refused the file, it found 38, and it named no file
that compiled.
"""

import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import unity_groups  # noqa: E402

FOLDERS = ("semantics", "memory_model", "scheduler", "emu", "conformance", "bench")
USED = re.compile(r"(?<![\w.>])(?:[A-Z]\w+|k[A-Z]\w+)")  # types, functions and constants; variables are written small
OF_OTHERS = re.compile(r"\b(?:std|absl|hwy|hn|Eigen|nlohmann|testing|benchmark|boost)(?:::\w+)+|\b[A-Z]\w*(?:::\w+)+")
DECLARED = re.compile(r"(\w+|[>*&\]])\s+[*&]?([A-Z]\w+|k[A-Z]\w+)\s*[({=;,\[)]")  # a type stands before the name
ANOTHER = re.compile(r",\s*(k[A-Z]\w+)\s*[={]")  # constant of one declaration
PARAMETERS = re.compile(r"\btemplate\s*<([^;{]*?)>\s*\n")
TEST = re.compile(r"^\s*(?:TEST|TEST_F|TYPED_TEST|INSTANTIATE_TEST_SUITE_P|TEST_P)\([^)]*\)", re.M)
KEYWORDS = {"return", "co_return", "case", "else", "new", "throw", "co_yield", "co_await", "not", "and", "or"}
TYPE = re.compile(r"\b(?:class|struct|union|using|concept|enum|typename)\s+(?:class\s+)?(\w+)")
ENUM = re.compile(r"\benum\b[^;{]*\{([^}]*)\}")


def sources(suffix: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob(f"*{suffix}"))


@functools.cache
def words_of(path: str) -> frozenset[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return frozenset(unity_groups.IDENTIFIER.findall(unity_groups.COMMENT_OR_STRING.sub(" ", text)))


def declared_by(headers: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = collections.defaultdict(set)
    for header in headers:
        for name in unity_groups.of_header(header).declares:
            found[name].add(header)
    return found


def used_in(text: str) -> set[str]:
    plain = re.sub(r"^\s*#.*$", "", unity_groups.COMMENT_OR_STRING.sub(" ", text), flags=re.M)
    plain = TEST.sub(" ", plain)
    own = {*TYPE.findall(plain), *ANOTHER.findall(plain)}
    own |= {
        name
        for listed in [*ENUM.findall(plain), *PARAMETERS.findall(plain)]
        for name in unity_groups.IDENTIFIER.findall(listed)
    }
    own |= {name for before, name in DECLARED.findall(plain) if before not in KEYWORDS}
    return set(USED.findall(OF_OTHERS.sub(first_part, plain))) - own


def first_part(found: re.Match) -> str:
    """Of `Class::Member` the class; of another library's name nothing."""
    first = found.group().split("::")[0]
    return first if first[0].isupper() and first != "Eigen" else " "


def missing(path: str, text: str, declared: dict[str, set[str]]) -> list[str]:
    """A line for each name that a file of this text uses and no header that it reads mentions."""
    read = unity_groups.headers_of(text)
    lines = []
    for name in sorted(used_in(text)):
        headers = declared.get(name, set()) - {path}
        if headers and headers.isdisjoint(read) and not any(name in words_of(header) for header in read):
            lines.append(f"{path} uses {name} and does not include {' or '.join(sorted(headers))}")
    return lines


def found_missing() -> list[str]:
    headers = sources(".h")
    declared = declared_by(headers)
    files = ((path, (ROOT / path).read_text(encoding="utf-8")) for path in [*sources(".cc"), *headers])
    return [line for path, text in files for line in missing(path, text, declared)]


def main() -> int:
    found = found_missing()
    print("\n".join(found))
    if found:
        print(f"{len(found)} names without their header: include it there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
