"""Fails on a relative link in README.md or docs/ whose file, or whose heading, does not exist, and on a page in docs/
that docs/index.md does not reach; on a page or heading of docs/ that a source file or a message in it names and that
does not exist; and on a file or folder of the repository that a page names in backticks and that does not exist. A
capital word in a path stands for a name (emu/chip/machines/NAME.machine), and docs/develop/mutants.md is a record of a
tree that was. Links to other sites are not followed.
"""

import glob
import os
import re
import subprocess
import sys
from collections.abc import Iterable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# "docs/spec/ref.md", and "ref.md#get" for the page of that name, of the specification first.
NAMED = re.compile(r"\b(docs/[\w./-]*\w\.(?:md|svg|png|json|txt)\b|[a-z-]+\.md(?=#))(?:#([\w.-]*\w))?")
EXAMPLES = ("tools/links.py", "python/tests/test_site.py")  # have names of pages that are not there
SOURCES = ("*.cc", "*.h", "*.py", "*.sh", "*.cmake", "*.case", "*.toml", "*.txt", "*.js", "*.html", "dev")
PATH = re.compile(
    r"`((?:emu|semantics|memory_model|scheduler|python|conformance|bench|tools|docs|cmake)/[\w./-]*)[^`\n]*`"
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def slug(heading: str) -> str:
    """What readers of Markdown make of a heading: dots and their like go, blanks become hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+\s+(.*?)\s*$", FENCE.sub("", text), re.MULTILINE)
    explicit = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    return {slug(h) for h in headings} | set(explicit)


def rules(text: str) -> set[str]:
    """What cases name besides headings (docs/spec/cases.md): numbered rules of a paragraph,
    rows of tables of limits and of flows.
    """
    found = set(re.findall(r"^\| `([\w.-]+)` \|", text, re.MULTILINE))
    found |= {f"flow.{name}" for name in found}
    for part in re.split(r"^#+ +", FENCE.sub("", text), flags=re.MULTILINE):
        heading, number = part.partition("\n")[0], 0
        prefix = f"{slug(heading)}." if f"\n## {heading}\n" in text else ""
        for line in part.splitlines():
            if line.startswith(f"{number + 1}. "):
                number += 1
                found.add(f"{prefix}{number}")
    return found


def place_of(name: str, pages: Iterable[str]) -> str | None:
    """Where the page, or the file of docs/, that a text names is: by its path from the root or from docs/, or by the
    name of its file alone, which help texts have; of the specification, where it has one of that name.
    """
    if "/" in name:
        path = os.path.join(ROOT, name if name.startswith("docs/") else f"docs/{name}")
        return path if os.path.isfile(path) else None
    found = [page for page in pages if os.path.basename(page) == name]
    found = [page for page in found if os.path.dirname(page) == os.path.join(ROOT, "docs/spec")] or found
    return found[0] if len(found) == 1 else None


def missing_paths(path: str, text: str) -> list[str]:
    if path == "docs/develop/mutants.md":
        return []
    names = {name for name in PATH.findall(FENCE.sub("", text)) if not re.search(r"(?<![a-z])[A-Z]{2,}", name)}
    return [
        f"{path}: `{name}`: there is no such file or folder"
        for name in sorted(names)
        if not glob.glob(os.path.join(ROOT, f"{name.rstrip('/')}*"))
    ]


def wrong_in_sources(pages: dict[str, str]) -> list[str]:
    command = ["git", "ls-files", "--", *SOURCES]
    known = {path: anchors(text) for path, text in pages.items()}
    stated = {path: rules(text) for path, text in pages.items()}
    wrong = []
    for path in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split():
        if not os.path.isfile(os.path.join(ROOT, path)) or path in EXAMPLES:
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            for name, anchor in NAMED.findall(file.read()):
                page = place_of(name, pages)
                if page is None:
                    if name.startswith("docs/"):  # else an example of a name, as in "file.md#heading"
                        wrong.append(f"{path}: {name}: there is no such page")
                elif page not in known:
                    continue  # a picture
                elif anchor and slug(anchor) not in known[page] and anchor not in stated[page]:
                    wrong.append(f"{path}: {name}#{anchor}: the page has no such heading")
    return wrong


def main() -> int:
    pages = {}
    for path in glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True) + [os.path.join(ROOT, "README.md")]:
        with open(path, encoding="utf-8") as file:
            pages[path] = file.read()
    wrong, arrows = [], {path: set() for path in pages}
    for path, text in pages.items():
        for link in LINK.findall(FENCE.sub("", text)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            arrows[path].add(target)
            if not os.path.exists(target):
                wrong.append(f"{os.path.relpath(path, ROOT)}: {link}: there is no such file")
            elif anchor and target in pages and anchor not in anchors(pages[target]):
                wrong.append(f"{os.path.relpath(path, ROOT)}: {link}: the page has no such heading")
    reached, waiting = set(), [os.path.join(ROOT, "docs/index.md")]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += arrows.get(page, set())
    wrong += [f"{os.path.relpath(p, ROOT)}: docs/index.md does not lead here" for p in sorted(set(pages) - reached)]
    for path, text in sorted(pages.items()):
        wrong += missing_paths(os.path.relpath(path, ROOT), text)
    wrong += wrong_in_sources(pages)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
