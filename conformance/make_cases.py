"""Writes conformance cases from the tables beside it; what comes out is computed by NumPy, ml_dtypes, JAX or MPFR, and
what is refused is what JAX's lowering refused.

Usage: python conformance/make_cases.py [NAME ...]   (all, or those named; needs jax, ml_dtypes, numpy, scipy, libmpfr)
       python conformance/make_cases.py --check      (writes nothing; which cases are not what the tables give)

The tables are the source of these cases: python/tests/test_cases_are_fresh.py fails where one is edited by hand, or is
left behind in a folder that is all of a table's. case_files.py says in which file a case is written. Not here: the
kernels for GPUs (make_gpu_cases.py), and cases that are written by hand because each is one of its kind.
"""

import sys

import arithmetic_cases
import case_files
import chip_cases
import compiler_cases
import family_blocks
import family_cases
import finding_cases
import flow_cases
import limit_cases
import random_cases
import reduce_cases
import shape_cases
import tpu_cases
import value_cases

# Folders in which all cases but these are the tables'.
GENERATED = ("chips", "compiler_tpu", "families", "findings", "limits_gpu")
BY_HAND = {f"findings/{code}_{word}" for code in ("peer_lifetime", "wgmma_order") for word in ("wrong", "right")}
TABLES = (
    arithmetic_cases,
    value_cases,
    random_cases,
    shape_cases,
    reduce_cases,
    tpu_cases,
    limit_cases,
    finding_cases,
    family_cases,
    family_blocks,
    chip_cases,
    compiler_cases,
    flow_cases,
)


def all_cases():
    for table in TABLES:
        for family in table.FAMILIES:
            yield from family()


def stale():
    """The cases that are not as the tables have them, and those that no table has."""
    wanted, there = {case.path: case.text() for case in all_cases()}, case_files.texts()
    yield from (name for name, text in wanted.items() if there.get(name) != text)
    left = {name for name in there if name.partition("/")[0] in GENERATED} - wanted.keys() - BY_HAND
    yield from (f"{name} (no table has it)" for name in sorted(left))


def main(names):
    if names == ["--check"]:
        found = list(stale())
        print("\n".join(found) or "all cases are as the tables have them")
        return 1 if found else 0
    written = 0
    for case in all_cases():
        if names and case.path not in names:
            continue
        case_files.write(case.path, case.text())
        written += 1
    print(f"{written} cases written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
