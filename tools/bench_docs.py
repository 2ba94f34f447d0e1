"""The micro-benchmarks' part of docs/explanation/benchmarks.md from the JSON of `palladion_bench`: the aims,
then a table for each family.

    python3 tools/bench_docs.py build/bench/latest.json docs/explanation/benchmarks.md

A family is what stands before the first slash of a benchmark's name. The cells are the benchmark's own counters; of the
elementary functions, whose cases are function x type x SIMD target, only the nanoseconds for one element are shown,
the types as columns.
"""

import collections
import json
import re
import sys

import measured_part

_BUILT_IN = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index",
    "threads", "iterations", "real_time", "cpu_time", "time_unit", "label", "aggregate_name", "aggregate_unit",
    "error_occurred", "error_message", "items_per_second",
}  # fmt: skip

# (what, names as a pattern, counter, limit): the aims of the project's first release; the worst case counts.
AIMS = [
    ("dot at 128^3 and 512^3, f32, bf16, f16, f8, any operand transposed, over Eigen's double product",
     r"BM_Dot/(avx512|avx2)/(f32|bf16|f16|f8e4m3fn)_f32/(128x128x128|512x512x512)/[nt][nt]$", "vs_eigen", 1.2),
    ("exp on AVX-512, nanoseconds for one f32 element", r"math/exp/f32/avx512$", "ns_per_element", 0.45),
    ("the same, in double operations of this core's peak (the aim's core did 128 in a nanosecond)",
     r"math/exp/f32/avx512$", "flops_at_peak", 57.6),
    ("exp on AVX2", r"math/exp/f32/avx2$", "ns_per_element", 1.0),
    ("exp on SSSE3", r"math/exp/f32/ssse3$", "ns_per_element", 2.5),
    ("an (8,128) f32 add in a program, nanoseconds", r"op/add_f32/8x128$", "ns_per_op", 100),
    ("the same over the raw loop", r"op/add_f32/8x128$", "vs_raw", 1.15),
]  # fmt: skip


def rows_of(report: dict) -> list:
    rows = []
    for row in report["benchmarks"]:
        if row.get("run_type", "iteration") == "iteration" or row.get("aggregate_name") == "median":
            row["name"] = re.sub(r"/(manual_time|min_time:[\d.]+)", "", row["name"])
            rows.append(row)
    return rows


def aims(rows: list) -> list:
    lines = ["| what | aim: at most | measured | |", "|---|---|---|---|"]
    for what, pattern, counter, limit in AIMS:
        found = [(row[counter], row["name"]) for row in rows if re.match(pattern, row["name"]) and counter in row]
        if found:
            value, name = max(found)
            case = f" ({name.partition('/')[2]})" if len(found) > 1 else ""
            lines.append(f"| {what} | {limit:g} | {value:.3g}{case} | {'met' if value <= limit else 'missed'} |")
    return [*lines, ""]


def family_table(family: str, rows: list) -> list:
    counters = sorted({key for row in rows for key in row} - _BUILT_IN)
    lines = [f"### {family}", "", "| " + " | ".join(["case", *counters]) + " |", "|---" * (1 + len(counters)) + "|"]
    for row in rows:
        case = row["name"].partition("/")[2] or "-"
        cells = [f"{row[c]:.3g}" if c in row else "" for c in counters]
        if row.get("error_occurred"):
            case += f": failed, {row.get('error_message', '')}"
        lines.append("| " + " | ".join([case, *cells]) + " |")
    return [*lines, ""]


def math_table(rows: list) -> list:
    cells = {tuple(row["name"].split("/")[1:]): row.get("ns_per_element") for row in rows}
    best = next(t for t in ("avx512", "avx2", "ssse3", "scalar") if any(key[-1] == t for key in cells))
    functions = dict.fromkeys(key[0] for key in cells)
    dtypes = dict.fromkeys(key[1] for key in cells)
    lines = [f"### Elementary functions, nanoseconds for one element on {best}", ""]
    lines += ["| function | " + " | ".join(dtypes) + " |", "|---" * (1 + len(dtypes)) + "|"]
    for function in functions:
        values = [cells.get((function, dtype, best)) for dtype in dtypes]
        lines.append(f"| {function} | " + " | ".join("" if v is None else f"{v:.3g}" for v in values) + " |")
    return [*lines, ""]


def main(source: str, page: str) -> int:
    with open(source, encoding="utf-8") as file:
        rows = rows_of(json.load(file))
    if not rows:
        print(f"{source} holds no benchmark", file=sys.stderr)
        return 1
    families = collections.defaultdict(list)
    for row in rows:
        families[row["name"].split("/")[0]].append(row)
    lines = [measured_part.host_sentence(), "", *aims(rows)]
    for family, members in families.items():
        lines += math_table(members) if family == "math" else family_table(family, members)
    measured_part.write(page, "micro", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
