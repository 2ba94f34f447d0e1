"""Makes every name of a page of docs/ that moved, and every link to it, one of its new place; moves it if it is not
there yet. docs/site/moved.txt says what moved.

    python3 tools/moved_pages.py            lists the files that name an old place, and exits 1 where there are any
    python3 tools/moved_pages.py --write    moves pages with git and rewrites these files: after a merge, too

Names are paths from the root in any file that git knows, and relative links of Markdown. A page's name without its
folder, as in the links of help texts, needs no change: tools/gen_docs.py looks for the page. It does not see names that
are put together from parts, nor wrap lines that become too wide.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "docs/site/moved.txt"
LEFT_ALONE = (TABLE, ".ci/run")  # the second starts CI, and names a page in a comment only
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def moved(text: str | None = None) -> dict[str, str]:
    """{old: new}, relative to docs/; folders end in a slash."""
    if text is None:
        with open(os.path.join(ROOT, TABLE), encoding="utf-8") as file:
            text = file.read()
    return dict(line.split() for line in text.splitlines() if line.strip() and not line.startswith("#"))


def new_place(path: str, table: dict[str, str]) -> str:
    """Of a path relative to docs/: where it is now."""
    if path in table:
        return table[path]
    folder = next((old for old in table if old.endswith("/") and path.startswith(old)), None)
    return path if folder is None else table[folder] + path[len(folder) :]


def old_place(path: str, table: dict[str, str]) -> str:
    return new_place(path, {new: old for old, new in table.items()})


def renamed(text: str, table: dict[str, str]) -> str:
    """`docs/OLD` as `docs/NEW`, and so where a path is put together: "docs", "OLD" or "docs" / "OLD"."""
    names = "|".join(re.escape(old) + ("" if old.endswith("/") else r"(?![\w-])") for old in table)
    text = re.sub(rf"(?<![\w-])docs/({names})", lambda found: f"docs/{table[found[1]]}", text)
    return re.sub(rf'"docs"(?:, | / )"({names})"', lambda found: f'"docs/{table[found[1]]}"', text)


def relinked(text: str, page: str, table: dict[str, str], came: bool) -> str:
    """The relative links of `page`, a path from the root. `came`: it has just been moved, and its links have not."""
    folder = os.path.dirname(page)
    from_old = os.path.dirname("docs/" + old_place(page.removeprefix("docs/"), table)) if came else folder

    def link(found: re.Match) -> str:
        if re.match(r"[a-z]+:", found[2]):
            return found[0]
        target = os.path.normpath(os.path.join(from_old, found[2]))
        if not came and os.path.exists(os.path.join(ROOT, target)):
            return found[0]
        now = "docs/" + new_place(target.removeprefix("docs/"), table) if target.startswith("docs/") else target
        if not os.path.exists(os.path.join(ROOT, now)):
            return found[0]
        return found[1] + os.path.relpath(now, folder or ".") + found[3]

    return LINK.sub(link, text)


def files() -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in names if name not in LEFT_ALONE and os.path.isfile(os.path.join(ROOT, name))]


def move(table: dict[str, str]) -> set[str]:
    """The paths of what is moved now."""
    came = set()
    for old, new in table.items():
        source, target = os.path.join("docs", old.rstrip("/")), os.path.join("docs", new.rstrip("/"))
        if os.path.exists(os.path.join(ROOT, source)):
            os.makedirs(os.path.join(ROOT, os.path.dirname(target)), exist_ok=True)
            subprocess.run(["git", "mv", source, target], cwd=ROOT, check=True)
            came.add(target)
    return came


def stale(table: dict[str, str], came: set[str] = frozenset()) -> dict[str, str]:
    """{file: what it should be} of each that names an old place."""
    found = {}
    for name in files():
        with open(os.path.join(ROOT, name), "rb") as file:
            data = file.read()
        if b"docs" not in data and not name.endswith(".md") or b"\0" in data[:4096]:
            continue
        text = data.decode("utf-8", errors="surrogateescape")
        new = renamed(text, table)
        if name.endswith(".md"):
            new = relinked(new, name, table, name in came)
        if new != text:
            found[name] = new
    return found


def main() -> int:
    table = moved()
    write = "--write" in sys.argv[1:]
    found = stale(table, move(table) if write else set())
    for name, text in found.items():
        print(f"{'wrote ' if write else ''}{name}{'' if write else ': names an old place of ' + TABLE}")
        if write:
            with open(os.path.join(ROOT, name), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
    return bool(found) and not write


if __name__ == "__main__":
    sys.exit(main())
