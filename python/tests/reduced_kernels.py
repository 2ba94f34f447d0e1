"""What `palladion reduce` makes of real kernels with planted mistakes: the table of docs/guides/reduce.md, kept in
conformance/reduced_kernels.json.

The kernels: mutants that a check reports, of the quick kernels that JAX ships and of documented TPU kernels with
copies, the first of each code; and kernels of the GPU corpus that are wrong on purpose. What is kept is the first code
that the kernel has and its original has not.

    PYTHONPATH=python .venv/bin/python python/tests/reduced_kernels.py      # writes the file; then ./dev docs
"""

import dataclasses
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

import documented_kernels
import scored
from palladion import _library
from palladion.real_kernels import checks, mutation, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

RECORDED = ROOT / "conformance" / "reduced_kernels.json"
PALLADION = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
SEEDS = 16
NOTHING_LEFT = ("OUT_MISSING", "ILLEGAL")  # no instruction is needed for them
CORPUS = (
    "006_ring_no_backpressure_4_racy",
    "012_tma_store_wait_other_thread_racy",
    "015_commit_smem_subset_wgmma_0000_racy",
    "033_bar_alternate_waiters_racy",
    "048_sem_credit_masked_racy",
    "080_multicast_of_two_threads_skips_racy",
    "086_scope_reuse_half_0_0_racy",
)


@dataclasses.dataclass(frozen=True)
class Mistake:
    kernel: str
    mistake: str  # "drop_store_0", or where the kernel is from
    text: str
    inputs: tuple  # NAME=VALUE of the command, an array in place of VALUE where it is a file
    target: str | None
    code: str


def mutants(kernels) -> list:
    """Of each kernel the first mutant of each code that a check reports."""
    found = {}
    for one in mutation.distinct(kernels):
        for mutant in _library.mutants(one.text, None, 1):
            if mutant["refused"]:
                continue
            outcome = mutation.judge(one, mutant, SEEDS)
            code = outcome.why.split(", ")[0]
            slow = code == "NONDET" and "mosaic_gpu" in one.text  # minutes: it takes values, of every block
            if (
                outcome.outcome == "reported"
                and re.fullmatch(r"[A-Z_]+", code)
                and code not in NOTHING_LEFT
                and not slow
            ):
                found.setdefault(
                    (one.case.name, code),
                    Mistake(one.case.name, mutant["name"], mutant["text"], tuple(one.inputs), one.case.target, code),
                )
    return list(found.values())


def corpus() -> list:
    found = []
    for name in CORPUS:
        case = case_files.text_of(f"gpu_corpus/{name}")
        text = case.split("--- kernel\n", 1)[1].split("\n--- ", 1)[0] + "\n"
        words = re.findall(r"^(\w+) = (.*)$", case.partition("--- inputs\n")[2].partition("\n---")[0], re.M)
        code = re.search(r"//~ (?:\w+ )?([A-Z_]+)", text)[1]
        found.append(Mistake(name, "GPU corpus", text, tuple(words), None, code))
    return found


def reduced(one: Mistake, folder: str) -> dict:
    """The row of one kernel. AssertionError where its finding is gone, or it can be made smaller still."""
    path = pathlib.Path(folder, "k.pkir")
    path.write_text(one.text, encoding="utf-8")
    given = []
    for number, value in enumerate(one.inputs):
        if isinstance(value, tuple):
            given += ["--in", "=".join(value)]
            continue
        np.save(pathlib.Path(folder, f"{number}.npy"), value)
        given += ["--in", f"{input_names(one)[number]}={folder}/{number}.npy"]
    target = ["--target", one.target] if one.target else []
    small = f"{folder}/small.pkir"
    command = [PALLADION, "reduce", str(path), *given, *target, "--keep", one.code, "--seeds", str(SEEDS)]
    output = subprocess.run([*command, "--out", small], check=True, capture_output=True, text=True).stdout
    sizes = [
        int(n)
        for n in re.search(
            r"instructions (\d+) to (\d+), programs (\d+) to (\d+), input elements (\d+) to (\d+)", output
        ).groups()
    ]
    again = shlex.split(output.partition("the finding again: palladion ")[2])
    checked = subprocess.run([PALLADION, *again, "--format=json"], capture_output=True, text=True).stdout
    assert one.code in {finding["code"] for finding in json.loads(checked)["findings"]}, (
        one.kernel,
        one.mistake,
        one.code,
    )
    given = list(itertools.takewhile(lambda word: word not in ("--replay", "--seeds"), again[1:]))
    subprocess.run(
        [PALLADION, "reduce", *given, "--keep", one.code, "--seeds", str(SEEDS), "--out", f"{folder}/again.pkir"],
        check=True,
        capture_output=True,
    )
    assert pathlib.Path(folder, "again.pkir").read_text() == pathlib.Path(small).read_text(), (
        one.kernel,
        one.mistake,
        one.code,
    )
    return {
        "kernel": one.kernel,
        "mistake": one.mistake,
        "finding": one.code,
        "sizes": sizes,
        "candidates": int(re.search(r"(\d+) candidates", output)[1]),
    }


def input_names(one: Mistake) -> list:
    """In the order of the text."""
    return re.findall(r"^  (?:bound|prefetch|in) %(\w+):", one.text, re.M)


def rows(given, progress=None) -> list:
    found = []
    for one in given:
        with tempfile.TemporaryDirectory() as folder:
            found.append(reduced(one, folder))
        if progress is not None:
            progress(found[-1])
    return found


def shipped() -> list:
    return [one for case in table.all_cases() if case.quick for one in checks.checked_kernels(case)]


def mistakes() -> list:
    return mutants(shipped()) + mutants(scored.checked(documented_kernels.cases(documented_kernels.SAMPLED))) + corpus()


def main():
    RECORDED.write_text(
        json.dumps({"rows": rows(mistakes(), progress=lambda row: print(row, flush=True))}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
