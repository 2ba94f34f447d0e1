"""The compressed files of this folder, NAME.txt.gz: kernels with what JAX's lowering says of each. Seven megabytes of
text are a quarter of one. For the scripts that write them, for tests, and for people who review a change:

    golden_files.py show NAME [KERNEL]     the text, or the entry of one kernel
    golden_files.py diff [COMMIT]          how the texts differ from those of a commit (HEAD); exit code 1 where one
    does
    golden_files.py write NAME < TEXT      the file anew, from its text
    golden_files.py check                  makes every text again, for many minutes; exit code 1 where one differs

`git diff` shows texts, too, after `git config diff.golden.textconv "gzip -dc"` (.gitattributes beside this file). One
text is always the same file, for one release of zlib; so tests compare texts, not bytes. What it does not see: whether
the text is one of kernels.
"""

import argparse
import gzip
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MADE_WITH = "0.10."  # of JAX: other releases export the same kernels with other defaults


def read(path):
    """The text of a file, compressed or not."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" or data[:2] == b"\x1f\x8b" else data).decode()


def write(path, text):
    """Compressed where the path ends in .gz: without a time, so that the same text is the same file."""
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0) if path.suffix == ".gz" else text.encode())


def entry(text, kernel):
    """From the line `=== KERNEL ...` to the next one; in a sweep, the lines of that kernel with the line they belong
    to."""
    found, group = [], ""
    for line in text.splitlines(keepends=True):
        if line.startswith(("=== ", "@ ")):
            group = line
            within = line.startswith(f"=== {kernel} ")
            found += [line] * within
        elif line.startswith(f"{kernel} ") and group.startswith("@ "):
            found += [group, line]
        elif found and within:
            found.append(line)
    return "".join(found)


def differences(commit):
    """Git's diff of the texts; "" where they are equal."""
    command = ["git", "ls-tree", "--name-only", commit, "./"]
    names = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as temporary:
        old, new = (pathlib.Path(temporary, name) for name in ("old", "new"))
        old.mkdir()
        new.mkdir()
        for name in [name for name in names if name.endswith(".txt.gz")]:
            shown = subprocess.run(["git", "show", f"{commit}:./{name}"], cwd=HERE, check=True, capture_output=True)
            (old / name.removesuffix(".gz")).write_bytes(gzip.decompress(shown.stdout))
        for path in HERE.glob("*.txt.gz"):
            (new / path.stem).write_text(read(path), encoding="utf-8")
        command = ["git", "diff", "--no-index", "--no-color", "old", "new"]
        return subprocess.run(command, cwd=temporary, check=False, capture_output=True, text=True).stdout


def stale():
    """The names of the texts that their scripts make otherwise today, with the release of JAX that made them."""
    release = importlib.metadata.version("jax")
    if not release.startswith(MADE_WITH):
        raise SystemExit(fail(f"JAX {release} is installed; the files are what JAX {MADE_WITH}x says"))
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for path in sorted(HERE.glob("*.txt.gz")):
            made, script = pathlib.Path(temporary, path.stem), f"make_{path.name.removesuffix('.txt.gz')}_golden.py"
            subprocess.run([sys.executable, HERE / script, "--out", made], check=True)
            same = read(made) == read(path)
            print(f"{path.name}: {'as it is made' if same else f'stale: run conformance/golden/{script} and review'}")
            found += [] if same else [path.name]
        made = pathlib.Path(temporary, "dtypes.txt")
        subprocess.run([sys.executable, HERE / "make_dtype_golden.py", "--out", made], check=True)
        same = made.read_text() == (HERE / "dtypes.txt").read_text()
        print(f"dtypes.txt: {'as it is made' if same else 'stale: run make_dtype_golden.py and review'}")
        found += [] if same else ["dtypes.txt"]
    return found


def path_of(name):
    path = HERE / f"{name}.txt.gz"
    if not path.exists():
        there = ", ".join(sorted(file.name.removesuffix(".txt.gz") for file in HERE.glob("*.txt.gz")))
        raise SystemExit(fail(f"there is no {path.name}; there are {there}"))
    return path


def fail(message):
    print(f"golden_files.py: {message}", file=sys.stderr)
    return 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("show", "diff", "write", "check"))
    parser.add_argument("name", nargs="?", help="of a file; for diff, a commit")
    parser.add_argument("kernel", nargs="?")
    arguments = parser.parse_args()
    if arguments.what == "diff":
        text = differences(arguments.name or "HEAD")
        sys.stdout.write(text)
        return 1 if text else 0
    if arguments.what == "check":
        return 1 if stale() else 0
    if arguments.name is None:
        return fail(f"{arguments.what} needs the NAME of a file")
    if arguments.what == "write":
        write(HERE / f"{arguments.name}.txt.gz", sys.stdin.read())
        return 0
    text = read(path_of(arguments.name))
    shown = text if arguments.kernel is None else entry(text, arguments.kernel)
    if not shown:
        return fail(f"it has no kernel {arguments.kernel}")
    sys.stdout.write(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
