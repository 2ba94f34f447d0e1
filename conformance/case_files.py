"""The conformance cases in their files (docs/spec/cases.md, The file): which cases a file has, and in which file a case
is written. For what writes cases, and for tests and tools that read their texts. It says of a text neither whether it
is a case nor what is wrong with it: that is conformance/case_file.h's to say.

    python conformance/case_files.py FOLDER     writes each case as a file of its own, FOLDER/folder/name.case: seeds
                                                for fuzzers, which take one kernel of a file
"""

import functools
import pathlib
import re
import sys

CASES = pathlib.Path(__file__).resolve().parent / "cases"
_NAME = re.compile(r"^===[ \t]*(\S+)[ \t]*\n", re.MULTILINE)


def split(text, stem):
    """name -> text of the cases of a file's text; `stem`: the name of the only one where it has no `=== name`."""
    before, *parts = _NAME.split(text)
    if not parts:
        return {stem: text}
    if before.strip() or len(set(parts[::2])) < len(parts[::2]):
        raise ValueError(f"{stem}.case: text before the first === NAME, or a name that comes twice")
    return {name: own.rstrip("\n") + "\n" for name, own in zip(parts[::2], parts[1::2], strict=True)}


def read(path):
    """name -> text of the cases of one file."""
    return split(path.read_text(encoding="utf-8"), path.stem)


def texts(pattern="*/*", folder=CASES):
    """ "folder/name" -> text of the cases whose name is one of the pattern's, by name."""
    found = {}
    for path in folder.glob(f"{pattern.partition('/')[0]}/*.case"):
        found |= {f"{path.parent.name}/{name}": text for name, text in read(path).items()}
    return {name: found[name] for name in sorted(found) if pathlib.PurePath(name).match(pattern)}


@functools.cache
def all_texts():
    """ "folder/name" -> text of every case, read once."""
    return texts()


def text_of(name):
    """The text of the case "folder/name"."""
    return all_texts()[name]


def file_of(name, folder=CASES):
    """Where the case "folder/name" is written: in the file with the longest name that its own is, or begins with before
    a _ or a dot; where there is none, in a file of its own."""
    own = name.partition("/")[2]
    holds = [
        path for path in (folder / name).parent.glob("*.case") if re.match(re.escape(path.stem) + r"([_.]|$)", own)
    ]
    return max(holds, key=lambda path: len(path.stem), default=folder / f"{name}.case")


def joined(cases):
    """The text of a file with these cases, name -> text: a single case of the file's name needs no `=== name`."""
    return "\n".join(f"=== {name}\n{cases[name]}" for name in sorted(cases))


def write(name, text, folder=CASES):
    """Puts the case "folder/name" into its file, beside those that are there."""
    path = file_of(name, folder)
    own = name.partition("/")[2]
    cases = (read(path) if path.exists() else {}) | {own: text}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if list(cases) == [path.stem] else joined(cases), encoding="utf-8")


def main(folder):
    for path in folder.glob("*/*.case"):
        path.unlink()
    for name, text in texts().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.case").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
