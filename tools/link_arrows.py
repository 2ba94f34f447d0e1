"""Fails where a library of the emulator needs a symbol that only a library above it defines
(docs/develop/architecture.md, "Who includes whom").

    link_arrows.py BUILD_FOLDER

An include is seen in the text; what is declared low and defined high is seen here only. Read is what nm says of the
archives: undefined symbols of one that another defines. A weak symbol (an inline function, a template) counts as
defined by each that has it. The order is that of WINGS; what a wing may see by include is tools/includes.py's to say.
Not seen: circles between folders of one wing.
"""

import os
import subprocess
import sys

# From below. Each may need what stands before it.
WINGS = ("kernel", "chip", "run", "check", "timing", "tools", "front")
BELOW = (
    "semantics/libpalladion_semantics.a",
    "memory_model/libpalladion_memory_model.a",
    "scheduler/libpalladion_scheduler.a",
)


def symbols(archive: str) -> tuple[set[str], set[str]]:
    """Defined, and undefined, of an archive's objects together."""
    defined, undefined = set(), set()
    listed = subprocess.run(["nm", "--format=posix", archive], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) < 2 or line.endswith(":"):
            continue
        (undefined if words[1] in ("U", "w", "v") else defined).add(words[0])
    return defined, undefined - defined


def wrong_needs(archives: list[tuple[str, str]]) -> list[str]:
    """Of archives from below, (name, path): "run needs X, which check defines"."""
    read = [(name, *symbols(path)) for name, path in archives]
    found = []
    for at, (name, _, needed) in enumerate(read):
        below = set().union(*(defined for _, defined, _ in read[:at]), set())
        for above, defined, _ in read[at + 1 :]:
            found += [(name, symbol, above) for symbol in sorted(needed & defined - below)]
    names = subprocess.run(
        ["c++filt"], input="\n".join(symbol for _, symbol, _ in found), capture_output=True, text=True, check=True
    )
    return [
        f"{name} needs {text}, which {above} defines"
        for (name, _, above), text in zip(found, names.stdout.splitlines())
    ]


def main() -> int:
    build = sys.argv[1]
    archives = [(os.path.dirname(path), os.path.join(build, path)) for path in BELOW]
    archives += [(f"emu/{wing}", os.path.join(build, "emu", f"libpalladion_{wing}.a")) for wing in WINGS]
    wrong = wrong_needs(archives)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
