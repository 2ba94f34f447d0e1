"""What docs/ says of verdicts and of what looks for them, from the tables of the sources that know it.
Run by tools/gen_docs.py.
"""

import os
import re

import links

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _literals(path: str) -> str:
    """A source file in which the strings that go over several lines are one."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.sub(r'"\s*\n\s*"', "", file.read())


def verdicts() -> str:
    """From the table of emu/kernel/report.cc."""
    rows = re.findall(r'\{Verdict::k\w+,\s*"(\w+)",\s*"([^"]+)",\s*"([^"]+)"', _literals("emu/kernel/report.cc"))
    lines = ["| verdict | it says | it does not promise |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{name}` | {says} | {promises_not} |" for name, says, promises_not in rows]) + "\n"


def facts() -> str:
    """From the table of emu/check/evidence.cc."""
    rows = re.findall(
        r'\{Fact::k\w+,\s*"([\w-]+)",\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]*)",\s*"([^"]+)"\}',
        _literals("emu/check/evidence.cc"),
    )
    lines = ["| fact | it says | what establishes it |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{name}` | {words} | {source} |" for name, words, _, _, source in rows]) + "\n"


def proofs() -> str:
    """From the same file."""
    text = _literals("emu/check/evidence.cc")
    names = dict(re.findall(r'\{Fact::k(\w+),\s*"([\w-]+)"', text))
    lines = ["| proof of | rests on |", "|---|---|"]
    for name, rests_on in re.findall(r'\{"([\w ]+)",\s*\{((?:Fact::k\w+,?\s*)+)\}', text):
        needed = ", ".join(f"`{names[fact]}`" for fact in re.findall(r"Fact::k(\w+)", rests_on))
        lines.append(f"| {name} | {needed} |")
    return "\n".join(lines) + "\n"


def checkers() -> str:
    """From the table of emu/check/checkers.cc, with the names that facts have in evidence.cc and kinds in report.cc."""
    kinds = dict(re.findall(r'\{CheckKind::k(\w+),\s*"([\w ]+)"\}', _literals("emu/kernel/report.cc")))
    names = dict(re.findall(r'\{Fact::k(\w+),\s*"([\w-]+)"', _literals("emu/check/evidence.cc")))
    row = r'\{CheckKind::k(\w+),\s*"(\w*)",\s*[&\w:]+,\s*"([^"]+)",\s*"([^"]+)",\s*\{([^}]*)\}'
    lines = ["| checker | `--checks` | it looks for | in | establishes |", "|---|---|---|---|---|"]
    text = _literals("emu/check/checkers.cc")
    rows = re.findall(row, text)
    if len(rows) != len(re.findall(r"Make<\w+>\}", text)):
        raise ValueError("emu/check/checkers.cc has rows of another form than this reads")
    for kind, option, looks, where, sets in rows:
        facts_of = ", ".join(f"`{names[fact]}`" for fact in re.findall(r"Fact::k(\w+)", sets))
        lines.append(f"| {kinds[kind]} | {f'`{option}`' if option else 'always'} | {looks} | {where} | {facts_of} |")
    return "\n".join(lines) + "\n"


def denying_findings() -> str:
    """From the table of semantics/base/finding.cc: which codes take which fact from a proof."""
    rows = re.findall(
        r'\{C::k\w+,\s*"(\w+)",\s*k\w+,\s*"[^"]+",\s*Denies::k(\w+)\}', _literals("semantics/base/finding.cc")
    )
    lines = []
    for denies, fact in (("Order", "no-conflict"), ("Definedness", "nothing-undefined")):
        lines.append(
            f"- `{fact}`: "
            + ", ".join(f"[{code}](findings.md#{links.slug(code)})" for code, what in rows if what == denies)
        )
    return "\n".join(lines) + "\n"
