"""What the registry of operations says in docs/ and in the lists made from it; for tools/gen_docs.py.

Based on: `palladion ops`, the words for each flow in semantics/ops/flow/shadow.cc, and how many operands each case has.
"""

import collections
import functools
import json
import os
import re
import subprocess
import sys

import links
from includes import ROOT

sys.path.append(os.path.join(ROOT, "conformance"))
import case_files  # noqa: E402

BACKENDS = {"mosaic_tpu": "Mosaic TPU", "mosaic_gpu": "Mosaic GPU", "triton": "Triton"}


@functools.cache
def all_operations(palladion: str) -> list[dict]:
    command = [palladion, "ops", "--format=json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def full_name(row: dict) -> str:
    return f"{row['dialect']}.{row['name']}" if row["dialect"] else row["name"]


def operations(palladion: str) -> str:
    """The registry, a table for each page of the specification.
    What `palladion ops` does not print is not invented here.
    """
    rows = all_operations(palladion)
    families = collections.defaultdict(list)
    for row in rows:
        families[row["spec"].split("#")[0]].append(row)
    done = sum(row["status"] == "implemented" for row in rows)
    lines = [f"{len(rows)} operations, {done} implemented, {len(rows) - done} not."]
    for page, members in sorted(families.items()):
        lines += [
            "",
            f"## {page.removesuffix('.md')}",
            "",
            "| operation | " + " | ".join(BACKENDS.values()) + " | status |",
        ]
        lines.append("|---" * (2 + len(BACKENDS)) + "|")
        for row in sorted(members, key=lambda row: (row["dialect"], row["name"])):
            name = full_name(row)
            marks = ["yes" if backend in row["backends"] else "" for backend in BACKENDS]
            status = row["status"] if row["status"] == "implemented" else f"{row['status']}: {row['reason']}"
            page_name, _, heading = row["spec"].partition("#")
            lines.append(
                f"| [`{name}`](spec/{page_name}#{links.slug(heading)}) | " + " | ".join(marks) + f" | {status} |"
            )
    return "\n".join(lines) + "\n"


def definedness(palladion: str) -> str:
    """The rules from the table of semantics/ops/flow/shadow.cc; which operation has which, from the registry."""
    with open(os.path.join(ROOT, "semantics/ops/flow/shadow.cc"), encoding="utf-8") as file:
        joined = re.sub(r'"\s*\n\s*"', "", file.read())  # a literal over several lines
    rules = re.findall(r'\{Flow::k\w+,\s*"(\w+)",\s*"([^"]+)"\}', joined)
    members = collections.defaultdict(list)
    for row in all_operations(palladion):
        members[row["flow"]].append(f"`{full_name(row)}`")
    if unknown := set(members) - {name for name, _ in rules} - {""}:
        raise SystemExit(f"semantics/ops/flow/shadow.cc has no words for the flow {', '.join(sorted(unknown))}")
    lines = ["| flow | rule | operations |", "|---|---|---|"]
    lines += [f"| `{name}` | {rule} | {', '.join(sorted(members[name])) or 'none'} |" for name, rule in rules]
    return "\n".join(lines) + "\n"


def plain_elementwise(palladion: str) -> list[str]:
    """JAX's operations that work element by element."""
    flows = ("elementwise", "mask", "select")
    rows = all_operations(palladion)
    return sorted(
        row["name"] for row in rows if not row["dialect"] and row["status"] == "implemented" and row["flow"] in flows
    )


def elementwise_names(palladion: str) -> str:
    return "".join(f'    "{name}",\n' for name in plain_elementwise(palladion))


def dictionary_operations(palladion: str) -> str:
    return "".join(
        f'"{name}"\n'
        for name in sorted({full_name(row) for row in all_operations(palladion) if row["status"] == "implemented"})
    )


def attributeless(palladion: str) -> str:
    """Operations that the table of kernel-text.md does not name, by how many operands their case has."""
    with open(os.path.join(ROOT, "docs/spec/kernel-text.md"), encoding="utf-8") as file:
        table = file.read().partition("| primitives | attributes |")[2].partition("\n\n")[0]
    named = {word for line in table.splitlines() for word in line.split("|")[1:2] for word in word.split()}
    by_operands = collections.defaultdict(list)
    for name in sorted(set(plain_elementwise(palladion)) - named):
        operands = re.search(rf" = {name}\(([^)]*)\)", case_files.text_of(f"elementwise/{name}"))[1]
        by_operands[operands.count(",") + 1].append(name)
    words = {1: "of one operand, x", 2: "of two, x and y"}
    return "\n".join(f"- {words[count]}: {' '.join(names)}" for count, names in sorted(by_operands.items())) + "\n"


BLOCKS = {
    "operations": operations,
    "definedness": definedness,
    "attributeless": attributeless,
    "elementwise-names": elementwise_names,
    "dictionary-operations": dictionary_operations,
}
