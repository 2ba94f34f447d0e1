"""Writes tpu_legality.txt: small TPU kernels, and whether JAX's own Mosaic lowering takes or refuses each.

Usage: make_tpu_legality_golden.py [--out FILE] [--why]     (default: tpu_legality.txt beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME mosaic_tpu/v5e lowered|refused` and the kernel's text. The C++ test emu/legality/tpu_legality_golden_test.cc
looks for ILLEGAL in each: where JAX lowers there must be none, where it refuses at least one. JAX lowers for a TPU that is not there
(`lowering_platforms`), up to the module that it hands to the TPU's compiler. Left out: what JAX refuses while it traces, which is no
kernel yet. Does not catch: what the TPU's compiler refuses.
"""
import argparse
import pathlib
import sys
import warnings

from tpu_legality_control import control_cases
from tpu_legality_memory import memory_cases
from tpu_legality_values import value_cases


def first_line(message):
    """Or what MLIR's verifier says, where it refused."""
    lines = str(message).split("Error details:")[-1].strip().splitlines()
    return (lines or [""])[0][:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("tpu_legality.txt"))
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    entries = {}
    for family in (memory_cases, control_cases, value_cases):
        for case in family():
            try:
                text = case.text()
            except Exception as error:  # refused while it is traced, or in newer releases only
                print(f"{case.name}: not a kernel: {type(error).__name__}: {first_line(error)}", file=sys.stderr)
                continue
            verdict, why = case.verdict()
            if arguments.why:
                print(f"{case.name}: {verdict} {first_line(why)}", file=sys.stderr)
            assert case.name not in entries, case.name
            entries[case.name] = f"=== {case.name} mosaic_tpu/v5e {verdict}\n{text}\n"
    arguments.out.write_text("".join(entries.values()), encoding="utf-8")
    refused = sum(" refused" in entry.splitlines()[0] for entry in entries.values())
    print(f"{len(entries)} kernels, {refused} refused", file=sys.stderr)


if __name__ == "__main__":
    main()
