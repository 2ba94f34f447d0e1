"""`python -m palladion.real_kernels [--filter X] [--quick] [--json FILE] [--check [--mutants N]]`: 0 when all is well,
else 1.
"""

import argparse
import dataclasses
import json
import statistics
import sys
import time

from palladion.base.whole_file import write_whole
from palladion.real_kernels import check_command, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m palladion.real_kernels", description=table.__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only the cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one case of each kernel")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON")
    parser.add_argument(
        "--check", action="store_true", help="check the kernels; fails on a finding without an argument"
    )
    parser.add_argument(
        "--mutants",
        metavar="N",
        type=int,
        help="with --check: the score of at most N mutants of each kind and kernel, 0: of all",
    )
    parser.add_argument(
        "--record-score", metavar="FILE", help="also write the score, as conformance/mutation_score.json keeps it"
    )
    parser.add_argument("--target", help="as for `palladion run --target`")
    parser.add_argument("--list", action="store_true", help="only print the names")
    options = parser.parse_args()
    chosen = [c for c in table.all_cases() if options.filter in c.name and (c.quick or not options.quick)]
    if not chosen:
        print(f"no case has {options.filter!r} in its name; --list prints all names", file=sys.stderr)
        return 4
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if options.check:
        return check_command.run(chosen, options.mutants is not None, options.mutants, options.record_score)
    start, rows = time.perf_counter(), []
    print(table.format_line(table.HEADER))
    for case in chosen:
        rows.append(table.run_case(case, options.target))
        print(table.format_line(table.cells(rows[-1])), flush=True)
    if options.json:
        write_whole(
            options.json,
            json.dumps([dataclasses.asdict(row) | {"ok": row.ok, "ratio": row.ratio} for row in rows], indent=1),
        )
    good = sum(row.ok for row in rows)
    ratios = [row.ratio for row in rows if row.ratio is not None]
    print(
        f"{good} of {len(rows)} ok, {time.perf_counter() - start:.0f} s"
        + (f", median time {statistics.median(ratios):.2f} of JAX's interpreter" if ratios else "")
    )
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
