"""The shipped kernels in Palladion beside JAX's own interpreters: the same function, the same inputs,
one run of this file.

    ./dev bench peers [--filter X] [--quick] [--tpu-interpreter none|quick|all] [--only-races | --only-gpu]
                      [--json FILE] [--no-docs]

Each case of palladion.real_kernels gets a process of its own (measure_case.py), so that no case finds another's traces;
then the ratios become the page docs/explanation/benchmarks.md. Kernels for GPUs are beside JAX's GPU interpreter
(gpu_peers.py). Ratios compare times of one process only. Exit code 1 when a case gave no times.
"""

import argparse
import json
import os
import subprocess
import sys

import gpu_peers
import peers_page

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CASE_SECONDS = 600  # JAX's interpreters and ours, one case
TPU_SECONDS = 240  # JAX's TPU interpreter, one case: it runs every block copy as a callback


def measure(name: str, what: str, limit: float, script: str = "measure_case.py") -> dict:
    """What the script says of a case, or {"error": why not}."""
    command = [sys.executable, os.path.join(HERE, script), what, name]
    environment = dict(os.environ, JAX_PLATFORMS="cpu", JAX_TRACEBACK_FILTERING="off")
    path = [os.path.join(ROOT, "python"), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(part for part in path if part)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {limit:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"error": " ".join(lines[-1].split())[:200]}
    return json.loads(done.stdout.splitlines()[-1])


def measure_gpu(options) -> list:
    """The part of the page about kernels for GPUs, and its rows."""

    def run(name, what, limit):
        return measure(name, what, limit, "measure_gpu_case.py")

    cases = run("", "list", 120)["cases"]
    rows = gpu_peers.measure_all(
        run, [c for c in cases if options.filter in c["name"] and (c["quick"] or not options.quick)]
    )
    print("\n".join(gpu_peers.aim_lines(rows)))
    if rows and not options.no_docs:
        gpu_peers.write(
            os.path.join(ROOT, "docs/explanation/benchmarks.md"), rows, bool(options.filter or options.quick)
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only the cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one case of each kernel")
    parser.add_argument(
        "--tpu-interpreter",
        choices=["none", "quick", "all"],
        default="quick",
        help="the cases for JAX's TPU interpreter: by default one of each kernel",
    )
    parser.add_argument(
        "--only-races", action="store_true", help="only the race detection of JAX's TPU interpreter beside a check"
    )
    parser.add_argument("--only-gpu", action="store_true", help="only kernels for GPUs, beside JAX's GPU interpreter")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers as JSON")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    if options.only_gpu:
        return 1 if gpu_peers.failed(measure_gpu(options)) else 0
    listed = measure("", "list", 120)
    if "error" in listed:
        print(f"the cases cannot be listed: {listed['error']}", file=sys.stderr)
        return 1
    cases = [c for c in listed["cases"] if options.filter in c["name"] and (c["quick"] or not options.quick)]
    rows = []
    for case in cases:
        in_tpu = case["tpu"] and (
            options.tpu_interpreter == "all" or (options.tpu_interpreter == "quick" and case["quick"])
        )
        row = {"name": case["name"]}
        if in_tpu:
            row["races"] = measure(case["name"], "races", TPU_SECONDS)
            print(f"{row['name']:70} race detection {peers_page.race_cell(row['races'])}", flush=True)
        if not options.only_races:
            row.update(measure(case["name"], "interpreters", CASE_SECONDS))
            if in_tpu:
                row["tpu"] = measure(case["name"], "tpu", TPU_SECONDS)
            print(peers_page.line(row), flush=True)
        rows.append(row)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    page, subset = os.path.join(ROOT, "docs/explanation/benchmarks.md"), bool(options.filter or options.quick)
    print("\n".join(peers_page.race_aims(rows)))
    if not options.only_races:
        print(peers_page.aims(rows))
    if not options.no_docs:
        peers_page.write_races(page, rows, subset)
        if not options.only_races:
            peers_page.write(page, rows, subset)
    gpu = [] if options.only_races else measure_gpu(options)  # the filter may choose none of them
    failed = any("error" in row or "error" in row.get("races", {}) for row in rows) or (gpu and gpu_peers.failed(gpu))
    return 1 if failed or not rows + gpu else 0


if __name__ == "__main__":
    sys.exit(main())
