"""The site: the pages of docs/ as HTML, in build/site/html, readable and searchable without a network.

    python3 tools/site_pages.py stage    build/site/source: docs/ as Sphinx reads it, and the pages made here
    python3 tools/site_pages.py check    fails on a link of the built site that leads to no file or no anchor of it

docs/ stays what it is on GitHub: plain Markdown, one page for each file, no directives. What Sphinx needs besides is
made here: the contents from the headings and lists of docs/index.md, the README as a page, the reference of the Python
package from its docstrings, that of C++ from its headers, a gallery (site_gallery.py), and what leads on from the old
address of a page that moved. docs/site/conf.py has
Sphinx's settings; `./dev site` runs all of it. Links to other sites are not followed.
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse

import moved_pages
import notebooks
import site_gallery

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCS = os.path.join(ROOT, "docs")
SITE = os.path.join(ROOT, "build/site")
SOURCE, BUILT = os.path.join(SITE, "source"), os.path.join(SITE, "html")
# What users include: DESIGN says that emu/ has no other headers at its top.
HEADERS = "emu"
FENCE = re.compile(r"^(```+)([\w+-]*)[^\n]*$", re.MULTILINE)
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s]+)\)")
RANKS = {
    "guides/": 1.3,
    "learn/index": 1.2,
    "learn/cpp-kernels": 1.2,
    "reference/python-reference": 0.8,
    "reference/cpp-reference": 0.7,
    "index": 0.8,
    "gallery": 0.8,
    "spec/": 0.6,
    "develop/": 0.5,
}
RANKS |= {f"explanation/{name}": 0.8 for name in ("real-kernels", "production-kernels", "benchmarks")}
RANKS |= {"explanation/scoreboard": 0.7}
# Made here, and once at the top too.
MADE_PLACES = {name: f"reference/{name}" for name in ("python-reference", "cpp-reference")}
LEADS_ON = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Palladion: this page has moved</title>
<meta http-equiv="refresh" content="1; url={target}"><link rel="canonical" href="{target}">
<script>location.replace("{target}" + location.hash)</script><a href="{target}">This page has moved</a></html>
"""
README = "readme.md"  # the page that README.md becomes
LEXERS = {"output": "text", "case": "text"}  # our words for a block, where Pygments has none


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(name: str, text: str) -> None:
    path = os.path.join(SOURCE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def plain_fences(text: str) -> str:
    """What follows the language of a block is for the tests of docs/."""
    return FENCE.sub(lambda found: found[1] + LEXERS.get(found[2], found[2]), text)


def links_inside(text: str, folder: str) -> str:
    """The README becomes a page; a link to another file of the repository becomes its text."""

    def link(found: re.Match) -> str:
        target, hash_sign, anchor = found[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = os.path.normpath(os.path.join(folder, target))
        if path == "README.md":
            return f"{found[1]}({os.path.relpath(f'docs/{README}', folder or 'docs')}{hash_sign}{anchor})"
        if path.startswith("docs/"):
            return f"{found[1]}({os.path.relpath(path, folder or 'docs')}{hash_sign}{anchor})"
        return found[1][1:-1]

    return LINK.sub(link, text)


def contents(index: str) -> str:
    """A hidden table of contents for each part of docs/index.md, in the order of its lists."""
    tables = []
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        pages = re.findall(r"^- \[[^\]]*\]\(([\w./-]+)\.md\)", body, re.MULTILINE)
        pages = ["A first kernel, and its finding <readme>", *pages, "gallery"] if title == "Learn" else pages
        pages = [*pages, *MADE_PLACES.values()] if title == "Reference" else pages
        tables.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n")
    return "\n".join(tables)


def old_addresses(table: dict[str, str]) -> dict[str, str]:
    """{address: a page that leads on} for each page that moved (tools/moved_pages.py)."""
    places = {old.removesuffix(".md"): new.removesuffix(".md") for old, new in table.items() if old.endswith(".md")}
    found = {}
    for old, new in (places | MADE_PLACES).items():
        target = f"{os.path.relpath(new, os.path.dirname(old) or '.')}.html"
        found[f"{old}.html"] = LEADS_ON.format(target=target)
    return found


def contents_of_course() -> str:
    """The chapters stand below docs/learn/index.md, in the order of their names."""
    names = sorted(name[:-3] for name in os.listdir(os.path.join(DOCS, "learn")) if re.match(r"\d", name))
    return "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def with_notebook(chapter: str, name: str) -> str:
    title, _, rest = chapter.partition("\n")
    return f'{title}\n\n<a href="notebooks/{name}.ipynb" download>This chapter as a notebook</a>\n{rest}'


def stage() -> None:
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DOCS, SOURCE, ignore=shutil.ignore_patterns("site"))
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if name.endswith(".md"):
                path = os.path.relpath(os.path.join(folder, name), SOURCE)
                text = read(os.path.join(folder, name))
                write(path, links_inside(plain_fences(text), os.path.dirname(os.path.join("docs", path))))
    write(README, links_inside(plain_fences(read(os.path.join(ROOT, "README.md"))), ""))
    write("index.md", read(os.path.join(SOURCE, "index.md")) + "\n" + contents(read(os.path.join(DOCS, "index.md"))))
    write("learn/index.md", read(os.path.join(SOURCE, "learn/index.md")) + "\n" + contents_of_course())
    write("reference/python-reference.md", python_reference())
    write("reference/cpp-reference.md", cpp_reference())
    for address, page in old_addresses(moved_pages.moved()).items():
        write(f"_extra/{address}", page)
    shutil.copy(os.path.join(DOCS, "site/conf.py"), SOURCE)
    search = read(os.path.join(DOCS, "site/search.js"))
    write("search.js", search.replace("/*PARTS*/ {}", json.dumps(RANKS)))
    os.makedirs(os.path.join(SOURCE, "_static"))
    site_gallery.main(pathlib.Path(SOURCE, "_extra/gallery"))
    notebooks.main(pathlib.Path(SOURCE, "_extra/learn/notebooks"))
    for chapter in notebooks.CHAPTERS:
        write(f"learn/{chapter.name}", with_notebook(read(os.path.join(SOURCE, "learn", chapter.name)), chapter.stem))
    shutil.copy(os.path.join(DOCS, "site/site.css"), os.path.join(SOURCE, "_static"))


def python_reference() -> str:
    """Every public name with its signature and docstring."""
    import palladion

    kinds = {"function": [], "class": []}
    for name in sorted(palladion.__all__, key=str.lower):
        if not name.startswith("_"):
            kinds["class" if isinstance(getattr(palladion, name), type) else "function"].append(name)
    lines = [
        "# Python reference",
        "",
        "Every public name of `palladion`, as its docstring has it. [The Python package](python.md) shows how they are",
        "used together.",
    ]
    for kind, title in (("function", "Functions"), ("class", "Classes and exceptions")):
        lines += ["", f"## {title}", "", "```{eval-rst}"]
        for name in kinds[kind]:
            lines += [f".. auto{kind}:: palladion.{name}"] + ["   :members:"] * (kind == "class") + [""]
        lines.append("```")
    return "\n".join(lines) + "\n"


def cpp_reference() -> str:
    lines = [
        "# C++ headers",
        "",
        "The headers that a program includes, whole: their comments are the reference. [Kernels from",
        "C++](../learn/cpp-kernels.md) has a first program.",
    ]
    for name in sorted(os.listdir(os.path.join(ROOT, HEADERS))):
        if name.endswith(".h"):
            lines += ["", f"## {HEADERS}/{name}", "", "```cpp", read(os.path.join(ROOT, HEADERS, name)).rstrip(), "```"]
    return "\n".join(lines) + "\n"


class Links(html.parser.HTMLParser):
    """The anchors of a page, and what it links to and loads."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.anchors, self.links = {""}, []
        self.feed(read(path))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links += [found[key] for key in ("href", "src") if found.get(key)]


def is_of_product(path: str) -> bool:
    """Pages that Palladion wrote: what follows a # there is a moment or a program, no anchor."""
    return path.startswith(os.path.join(BUILT, "gallery"))


def check() -> None:
    pages = {}
    for folder, _, names in os.walk(BUILT):
        if not os.path.relpath(folder, BUILT).startswith("_static"):  # the theme's own
            pages |= {os.path.join(folder, name): None for name in names if name.endswith(".html")}
    pages = {path: Links(path) for path in pages}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
            target = path if not parts.path else target
            if not os.path.exists(target):
                wrong.append(f"{os.path.relpath(path, BUILT)}: {link}: there is no such file")
            elif target in pages and not is_of_product(target) and parts.fragment not in pages[target].anchors:
                wrong.append(f"{os.path.relpath(path, BUILT)}: {link}: there is no such place on that page")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"site: {len(pages)} pages, no broken link")


if __name__ == "__main__":
    {"stage": stage, "check": check}[sys.argv[1]]()
