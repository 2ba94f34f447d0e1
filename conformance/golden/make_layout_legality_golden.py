"""Writes layout_legality.txt: random kernels with lane semantics, and whether JAX's own lowering takes or refuses each.

Usage: make_layout_legality_golden.py [--out FILE]
    (default: layout_legality.txt.gz beside this script; needs PYTHONPATH=python)

As make_gpu_legality_golden.py; what decides is where a layout of registers comes from and whether operations keep it
(layout_legality_kernels.py). Does not catch: warpgroup semantics, where the compiler infers layouts; tensor memory.
"""

import argparse
import pathlib
import warnings

from gpu_legality_case import write_cases
from layout_legality_kernels import kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("layout_legality.txt.gz"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N of them")
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    write_cases(kernels(), "h100", arguments)


if __name__ == "__main__":
    main()
