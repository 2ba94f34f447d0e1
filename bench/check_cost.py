"""What a check costs: every kernel of palladion.real_kernels checked beside its plain run, by group of checks;
and its memory.

    ./dev bench checks [--filter X] [--quick] [--no-memory] [--json FILE] [--no-docs]

All of one kernel is measured in this process, in turns, through the C ABI: a plain run, checks on one host thread with
one group of checks each and with all, and the whole check on all threads. Least times count, and only their ratios are
kept. Memory is the peak of `palladion check` in a process of its own. Then the ratios become a part of
docs/explanation/benchmarks.md. Exit code 1 when a kernel gave no times.
What this does not show: the time of reading files, of parsing and of preparing.
"""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "python")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import measure_case  # noqa: E402
import measured_part  # noqa: E402
import numpy as np  # noqa: E402
from palladion.real_kernels import table  # noqa: E402

ROUNDS, SECONDS = 40, 2.0  # as many rounds for a kernel as that, or as long; at least three
_OFF = {"races": 0, "definedness": 0, "contracts": 0, "threads": 1, "seeds": 1}
# One schedule: what of a check on one thread takes how long for each of its schedules. Whole: as a user waits for it.
SCHEDULE = {
    "bounds": _OFF,
    "races": {**_OFF, "races": 1},
    "definedness": {**_OFF, "definedness": 1},
    "contracts": {**_OFF, "contracts": 1},
    "all": {"threads": 1, "seeds": 1},
}
WHOLE = {"whole check": {"seeds": 1}}
COLUMNS = [*SCHEDULE, "whole, one thread", *WHOLE, "memory"]


def measure(name, run, with_memory: bool) -> dict:
    program, inputs, outputs = run
    times = {"run": []}
    schedules = {}
    start = time.perf_counter()
    while len(times["run"]) < 3 or (len(times["run"]) < ROUNDS and time.perf_counter() - start < SECONDS):
        begin = time.perf_counter()
        program.run(inputs, outputs)
        times["run"].append(time.perf_counter() - begin)
        for what, options in {**SCHEDULE, **WHOLE}.items():
            begin = time.perf_counter()
            _, report = program.check(inputs, **options)
            times.setdefault(what, []).append(time.perf_counter() - begin)
            schedules[what] = report["schedules"]
    least = {what: min(values) for what, values in times.items()}
    row = {"name": name, "kernel": report["kernel"], "schedules": schedules["all"], "run": least["run"]}
    for what in SCHEDULE:
        row[what] = least[what] / schedules[what] / least["run"]
    row["whole, one thread"] = least["all"] / least["run"]
    row["whole check"] = least["whole check"] / least["run"]
    if with_memory:
        found = measure_case.check_memory(run)
        row["memory"] = found["used"] / found["allowed"]
    return row


# ---- kernels of our own, whose accesses never join to boxes

# Programs that each store to single elements which lie apart, so that neighbours belong to different programs.
SCATTERED = """pkir 1;
kernel @scattered {{
  backend triton;
  in %x: i32[1];
  grid [{programs}];
  out %o: {dtype}[{elements}];
  body @scattered (%xr: ref<default,i32[1]>, %or: ref<default,{dtype}[{elements}]>) {{
    %p = program_id{{axis=0}}() : i32[];
    %i = iota{{dim=0}}() : i32[{each}];
    %s = mul(%i, {programs}:i32) : i32[{each}];
    %at = add(%s, %p) : i32[{each}];
    %v = convert_element_type{{to={dtype}}}(%i) : {dtype}[{each}];
    _ = swap(%or.at[%at], %v) : {dtype}[{each}];
    return;
  }}
}}
"""


@dataclasses.dataclass
class _Text:
    text: str


def scattered_memory() -> list:
    """(what, peak over what is allowed) of an output of 64 MiB that is written element by element, by element size."""
    rows = []
    for dtype, size in (("f32", 4), ("f16", 2), ("u8", 1)):
        elements, each = (64 << 20) // size, 256
        text = SCATTERED.format(programs=elements // each, elements=elements, each=each, dtype=dtype)
        run = (_Text(text), [np.zeros(1, np.int32)], [np.zeros(64 << 20, np.uint8)])
        found = measure_case.check_memory(run)
        rows.append(
            {
                "what": f"{elements // each} programs store {each} single elements each, {dtype}",
                "memory": found["used"] / found["allowed"],
            }
        )
    return rows


# ---- the page

AIMS = [
    ("a schedule with every check, median", "all", "median", 1.3),
    ("a schedule with every check, worst", "all", "worst", 2.0),
    ("a whole check on all threads, median", "whole check", "median", 1.3),
    ("a whole check on all threads, worst", "whole check", "worst", 2.0),
    ("memory, most", "memory", "worst", 1.0),
]


def aim_lines(rows) -> list:
    lines = ["| what | aim: at most | measured | |", "|---|---|---|---|"]
    for what, column, kind, limit in AIMS:
        values = [(row[column], f"{row['name']}, {row['kernel']}") for row in rows if column in row]
        if not values:
            continue
        value, where = max(values)
        if kind == "median":
            value, where = statistics.median(v for v, _ in values), ""
        lines.append(
            f"| {what} | {limit:g} | {value:.2f}{f' ({where})' if where else ''} | "
            f"{'met' if value <= limit else 'missed'} |"
        )
    return lines


def page_lines(rows) -> list:
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for name, choose in (("median", statistics.median), ("worst", max)):
        cells = [
            f"{choose([row[c] for row in rows if c in row]):.2f}" if any(c in row for row in rows) else ""
            for c in COLUMNS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "| kernel | schedules | " + " | ".join(COLUMNS) + " |", "|---" * (2 + len(COLUMNS)) + "|"]
    for row in rows:
        cells = [f"{row[c]:.2f}" if c in row else "" for c in COLUMNS]
        lines.append(f"| {row['name']}, `{row['kernel']}` | {row['schedules']} | " + " | ".join(cells) + " |")
    return lines


def line(row) -> str:
    return f"{row['name'] + ', ' + row['kernel']:90} {row['run'] * 1e6:9.0f} us " + "".join(
        f" {column} {row[column]:.2f}" for column in COLUMNS if column in row
    )


def scattered_lines(scattered) -> list:
    return [f"- {row['what']}: {row['memory']:.2f} of the memory allowed." for row in scattered]


def write(page: str, rows: list, scattered: list, subset: bool):
    scope = "A part of the cases." if subset else f"{len(rows)} kernels of all cases."
    text = (
        "\n".join(
            [
                f"{measured_part.host_sentence()} {scope}",
                "",
                *aim_lines(rows),
                "",
                *scattered_lines(scattered),
                "",
                *page_lines(rows),
            ]
        )
        + "\n"
    )
    measured_part.write(page, "checks", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only the cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one case of each kernel")
    parser.add_argument("--no-memory", action="store_true", help="leave the peaks of memory out")
    parser.add_argument("--json", metavar="FILE", help="also write the ratios as JSON")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    cases = [c for c in table.all_cases() if options.filter in c.name and (c.quick or not options.quick)]
    rows = []
    for case in cases:
        for run in measure_case.record(case.make(), case.target):
            rows.append(measure(case.name, run, not options.no_memory))
            print(line(rows[-1]), flush=True)
    if not rows:
        print(f"no case has {options.filter!r} in its name", file=sys.stderr)
        return 1
    scattered = [] if options.no_memory else scattered_memory()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    print("\n".join([*aim_lines(rows), *scattered_lines(scattered), *page_lines(rows)[:4]]))
    if not options.no_docs:
        write(
            os.path.join(ROOT, "docs/explanation/benchmarks.md"),
            rows,
            scattered,
            subset=bool(options.filter or options.quick),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
