"""Writes conformance cases of elementwise and random operations; what comes out is computed by NumPy, JAX or MPFR.

Usage: python conformance/make_cases.py [NAME ...]   (all, or those named; needs jax, ml_dtypes, numpy, scipy, libmpfr)

The files are what counts: they are read, reviewed and checked in. This script saves typing numbers and says which
oracle gave each. The tables are the *_cases.py beside it. Not here: cases whose point is a finding, a target or a
refusal; those are written by hand.
"""

import pathlib
import sys

import arithmetic_cases
import random_cases
import reduce_cases
import shape_cases
import tpu_cases
import value_cases

CASES = pathlib.Path(__file__).resolve().parent / "cases"
TABLES = (arithmetic_cases, value_cases, random_cases, shape_cases, reduce_cases, tpu_cases)


def all_cases():
    for table in TABLES:
        for family in table.FAMILIES:
            yield from family()


def main(names):
    written = 0
    for case in all_cases():
        if names and case.path not in names:
            continue
        path = CASES / f"{case.path}.case"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case.text())
        written += 1
    print(f"{written} cases written")


if __name__ == "__main__":
    main(sys.argv[1:])
