"""Writes tpu_legality.txt: small TPU kernels, and whether JAX's own Mosaic lowering takes or refuses each.

Usage: make_tpu_legality_golden.py [--out FILE] [--why] [--all]
    (default: tpu_legality.txt.gz beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME mosaic_tpu/v5e lowered|refused` and the kernel's text. The C++ test
emu/check/legality/tpu/golden_test.cc looks for ILLEGAL in each: where JAX lowers there must be none, where it refuses
at least one. JAX lowers for a TPU that is not there (`lowering_platforms`), up to the module that it hands to the TPU's
compiler. Of the kernels about values one in four is kept, drawn by its name, and those of KEPT, so that the file stays
small; --all keeps all. Left out: what JAX refuses while it traces, which is no kernel yet. Does not catch: what the
TPU's compiler refuses (docs/spec/tpu-limits.md lists what is known of that).
"""

import argparse
import pathlib
import sys
import warnings
import zlib

import golden_files
from tpu_legality_control import control_cases
from tpu_legality_memory import memory_cases
from tpu_legality_values import value_cases

# What rules are about that few kernels break.
KEPT = (
    "cast_bfloat16_float16",
    "cast_float8_e4m3fn_float8_e5m2",
    "squeeze_to_scalar",
    "reduce_sum",
    "dot_batch",
    "dot_vectors",
    "dot_row",
    "dot_one_row",
    "dot_precision",
    "dot_two",
    "argmax_float32",
    "population_count",
    "nextafter",
    "erf_inv",
    "select_",
    "pad_",
    "unpack_",
    "iota_float32",
    "take_r",
)


def first_line(message):
    """Or what MLIR's verifier says, where it refused."""
    lines = str(message).split("Error details:")[-1].strip().splitlines()
    return (lines or [""])[0][:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("tpu_legality.txt.gz"))
    parser.add_argument("--all", action="store_true", help="leave none of them out")
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    entries = {}
    for family in (value_cases, memory_cases, control_cases):
        for case in family():
            if (
                family is value_cases
                and not arguments.all
                and zlib.crc32(case.name.encode()) % 4
                and not case.name.startswith(KEPT)
            ):
                continue
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
    golden_files.write(arguments.out, "".join(entries.values()))
    refused = sum(" refused" in entry.splitlines()[0] for entry in entries.values())
    print(f"{len(entries)} kernels, {refused} refused", file=sys.stderr)


if __name__ == "__main__":
    main()
