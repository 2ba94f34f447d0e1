"""Which conformance cases for a GPU have no recording, and why: the list of docs/explanation/hardware.md that is not of
kernels but of what lacks one.

Based on the case files, the corpus' cases in Python and the two indexes of recordings. What it does not say: whether a
recorded kernel is recorded for every input that would show a difference.
"""

import collections
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import case_files
import defects
import from_corpus
import store

BY_HAND = "kernel text written by hand: there is no JAX function to run"
REFUSED = "refused by JAX or its compilers"
NOT_YET = "not recorded yet: `./dev record`"


def gpu_cases() -> dict[str, str]:
    """The target of each case that names one of a GPU, by the case's name."""
    found = {}
    for name, text in case_files.texts().items():
        target = re.search(r"^# target: ((?:mosaic_gpu|triton)/\S+)$", text, re.MULTILINE)
        if target is not None:
            found[name] = target[1]
    return found


def _recordings(chip: str) -> dict[str, dict]:
    entries = {}
    for index in ("index", "defects"):
        _, some, _ = store.read(chip, index)
        entries |= {
            name.partition("/")[2]: entry
            for name, entry in some.items()
            if name.startswith(("corpus/", "races/", "hangs/"))
        }
    return entries


def reasons(chip: str = "h100") -> dict[str, list[str]]:
    """Why -> the cases. "" are those that ran there, of which outputs are kept, or how often they were wrong, or that
    they hung."""
    entries = _recordings(chip)
    corpus = {f"{folder}/{case.name}": case for folder, case in from_corpus.families.cases()}
    by_reason = collections.defaultdict(list)
    for path in gpu_cases():
        case, entry = corpus.get(path), entries.get(path.partition("/")[2])
        if case is None:
            by_reason[BY_HAND].append(path)
        elif entry is None:
            by_reason[from_corpus.left_out(case) or defects.left_out(case) or NOT_YET].append(path)
        else:
            ran = entry.keys() & {
                "outputs",
                "lane",
                "warpgroup",
                "failed",
            }  # what failed hung, or broke off, on the GPU
            by_reason["" if ran else REFUSED].append(path)
    return dict(by_reason)


def section() -> str:
    """The part of docs/explanation/hardware.md, its heading first."""
    by_reason = reasons()
    ran = by_reason.pop("", [])
    rows = [
        f"| {why} | {len(names)} | {_listed(names)} |"
        for why, names in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    return "\n".join(
        [
            "## Not recorded",
            "",
            f"Of {len(gpu_cases())} conformance cases for a GPU {len(ran)} ran there. The others have "
            "the answers of Palladion, and have run on no GPU:",
            "",
            "| why | cases | which |",
            "|---|---|---|",
            *rows,
        ]
    )


def _listed(names: list[str]) -> str:
    folders = collections.defaultdict(list)
    for name in names:
        folders[name.partition("/")[0]].append(f"`{name.partition('/')[2]}`")
    return "; ".join(f"{folder}: {', '.join(some)}" for folder, some in folders.items())
