"""The table of docs/spec/coverage.md: each rule with the conformance cases that name it, and each finding code with
those that announce it. Read from the headers of the cases; that each rule has one, conformance/coverage_test.cc tests.
"""

import collections
import os
import re
import sys

import includes

sys.path.append(os.path.join(includes.ROOT, "conformance"))
import case_files  # noqa: E402

SHOWN = 3  # cases of a rule; the others are counted


def _listed(cases: list[str]) -> str:
    more = len(cases) - SHOWN
    return ", ".join(f"`{case}`" for case in cases[:SHOWN]) + (f", and {more} more" if more > 0 else "")


def _table(title: str, rows: dict[str, list[str]]) -> list[str]:
    lines = ["", f"## {title}", "", "| rule | cases |", "|---|---|"]
    return lines + [f"| `{rule}` | {_listed(sorted(rows[rule]))} |" for rule in sorted(rows, key=_in_order)]


def _in_order(rule: str) -> list:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", rule)]


def rule_cases() -> str:
    pages, codes = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(list)
    cases = case_files.texts()
    for name, text in cases.items():
        for page, rule in re.findall(r"^# spec: ([\w-]+\.md)#(\S+)$", text, re.MULTILINE):
            pages[page][rule].append(name)
        announced = re.findall(r"//~((?: +[\w:@]+)+)$", text, re.MULTILINE)
        for code in {re.sub(r"^first:|@.*$", "", word) for words in announced for word in words.split()}:
            codes[code].append(name)
    rules = sum(len(rows) for rows in pages.values())
    lines = [f"{len(cases)} cases name {rules} rules and announce {len(codes)} finding codes."]
    for page in sorted(pages):
        lines += _table(page, pages[page])
    return "\n".join(lines + _table("finding codes", codes)) + "\n"
