"""The scoreboard of docs/explanation/scoreboard.md: what each backend passes of the conformance suite,
by page of the specification.

    python3 tools/scoreboard.py [--timeout SECONDS] [--jobs N] [BACKEND...]
        asks the backends (all), records conformance/scoreboard/BACKEND.json

Run by `./dev scoreboard`, which then writes the page (gen_docs.py makes its tables from the records alone; no test asks
a backend). The results of a run that was stopped are in build/scoreboard; the next one goes on from there. A backend
that supports nothing on this host, for want of a device or of a package (`triton`), keeps the record that it has.
What a record does not have: the reasons of each case that is not supported, only how many there are.
"""

import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDS = os.path.join(ROOT, "conformance/scoreboard")
CONFIRMED = os.path.join(ROOT, "conformance/confirmed_failures.json")

# In the order of the page: the module of palladion.backends, and what it is.
BACKENDS = {
    "palladion_itself": "Palladion through the protocol",
    "jax_interpret": "`pallas_call(interpret=True)`",
    "jax_tpu_interpret": "JAX's TPU interpreter, races detected",
    "jax_gpu_interpret": "JAX's Mosaic GPU interpreter, races detected",
    "triton_interpret": "Triton's interpreter, of the kernels that can be written in its language",
    "accelerator": "Pallas on the GPU or TPU of the host",
}
TEMPLATE = ("template", "Pallas on JAX's default device: a file to start from")
OUTCOMES = ("passed", "failed", "unsupported")
CODES = ("found", "missed", "wrong")
LONGEST_REASON = 160  # characters that a record keeps of what differs


def page_of(spec: str) -> str:
    return spec.partition("#")[0]


def record_of(report: dict, versions: str) -> dict:
    """What is kept of the JSON of `palladion conformance`: a case counts once on each page that its `# spec:` lines
    name.
    """
    families, codes = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    failed = {}
    for case in report["cases"]:
        for page in {page_of(spec) for spec in case["specs"]}:
            families[page][case["outcome"]] += 1
        for kind in CODES:
            for code in case.get("codes", {}).get(kind, ()):
                codes[code][kind] += 1
        if case["outcome"] == "failed":
            failed[case["case"]] = case["messages"][0][:LONGEST_REASON]
    return {
        "versions": versions,
        "totals": {outcome: report[outcome] for outcome in OUTCOMES},
        "families": {
            page: {outcome: counts[outcome] for outcome in OUTCOMES} for page, counts in sorted(families.items())
        },
        "codes": {code: {kind: counts[kind] for kind in CODES} for code, counts in sorted(codes.items())},
        "failed": failed,
    }


def read_records(folder: str = RECORDS) -> dict:
    """By the backend's name, in the order of the page."""
    records = {}
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path, encoding="utf-8") as file:
            records[os.path.splitext(os.path.basename(path))[0]] = json.load(file)
    return {name: records[name] for name in sorted(records, key=lambda name: (list(BACKENDS) + [name]).index(name))}


def backends_table() -> str:
    rows = [f"| `{name}` | {what} |" for name, what in (*BACKENDS.items(), TEMPLATE)]
    return "\n".join(["| NAME | what runs the kernels |", "|---|---|", *rows]) + "\n"


def _cell(counts: dict | None) -> str:
    return " / ".join(str(counts[outcome]) for outcome in OUTCOMES) if counts else ""


def families_table(records: dict) -> str:
    lines = [f"- `{name}`: {BACKENDS.get(name, name)}; {record['versions']}." for name, record in records.items()]
    lines += ["", "| page | " + " | ".join(f"`{name}`" for name in records) + " |", "|---" * (len(records) + 1) + "|"]
    for page in sorted({page for record in records.values() for page in record["families"]}):
        cells = [_cell(record["families"].get(page)) for record in records.values()]
        place = "spec/" if os.path.exists(os.path.join(ROOT, "docs/spec", page)) else ""
        lines.append(f"| [{page.removesuffix('.md')}]({place}{page}) | " + " | ".join(cells) + " |")
    lines.append("| all cases | " + " | ".join(_cell(record["totals"]) for record in records.values()) + " |")
    return "\n".join(lines) + "\n"


def codes_table(records: dict) -> str:
    detectors = {name: record["codes"] for name, record in records.items() if record["codes"]}
    lines = ["| code | " + " | ".join(f"`{name}`" for name in detectors) + " |", "|---" * (len(detectors) + 1) + "|"]
    for code in sorted({code for codes in detectors.values() for code in codes}):
        cells = [
            " / ".join(str(codes[code][kind]) for kind in CODES) if code in codes else ""
            for codes in detectors.values()
        ]
        lines.append(f"| {code} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def failures_list(records: dict) -> str:
    """How often each kind, the most frequent first; the records have the cases."""
    lines = []
    for name, record in records.items():
        kinds = collections.Counter(kind_of(reason) for reason in record["failed"].values())
        lines.append(
            f"- `{name}`: " + ("; ".join(f"{kind}: {count}" for kind, count in kinds.most_common()) or "none") + "."
        )
    return "\n".join(lines) + "\n"


def read_confirmed() -> list:
    """Failures that are the backend's: cases with the argument and its source, each a failure of the record."""
    with open(CONFIRMED, encoding="utf-8") as file:
        return json.load(file)


def confirmed_table(confirmed: list) -> str:
    lines = [
        f"{sum(len(one['cases']) for one in confirmed)} failures, of {len(confirmed)} causes:",
        "",
        "| backend | cases | why it is the backend's | by |",
        "|---|---|---|---|",
    ]
    for one in confirmed:
        lines.append(
            f"| `{one['backend']}` | {', '.join(f'`{case}`' for case in one['cases'])} | {one['argument']} | "
            f"{one['source']} |"
        )
    return "\n".join(lines) + "\n"


def kind_of(reason: str) -> str:
    """Of the runner's words (conformance/backend_case.cc)."""
    if error := re.match(r"the backend answers with an error: (\w+)", reason):
        return f"error {error[1]}"
    for beginning, kind in (
        ("finding ", "findings missed or wrong"),
        ("the backend:", "crashes and hangs"),
        ("the backend ran", "refusals missed"),
    ):
        if reason.startswith(beginning):
            return kind
    return "outputs that differ"


def versions_of(backend: str, python: str) -> str:
    """What was asked. Palladion is this tree's, and needs no number."""
    if backend == "palladion_itself":
        return "this tree"
    if backend == "triton_interpret":
        return subprocess.run(
            [python, "-c", "import triton; print('Triton', triton.__version__)"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    program = "import jax; print('JAX', jax.__version__, 'on', jax.devices()[0].device_kind)"
    return subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def ask(backend: str, arguments) -> dict:
    results = os.path.join(ROOT, "build/scoreboard", f"{backend}.results")
    os.makedirs(os.path.dirname(results), exist_ok=True)
    command = [
        os.path.join(ROOT, "build/palladion"),
        "conformance",
        "--exec",
        f"{sys.executable} -m palladion.backends.{backend}",
        "--timeout",
        str(arguments.timeout),
        "--jobs",
        str(arguments.jobs),
        "--resume",
        results,
        "--format",
        "json",
    ]
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}; run it again to go on")
    os.remove(results)
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timeout", type=float, default=30, help="seconds for one case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help=", ".join(BACKENDS))
    arguments = parser.parse_args()
    if unknown := set(arguments.backends) - set(BACKENDS):
        parser.error(f"no backend is called {', '.join(sorted(unknown))}; expected {', '.join(BACKENDS)}")
    for backend in arguments.backends or BACKENDS:
        report = ask(backend, arguments)
        if report["passed"] + report["failed"] == 0 and backend in read_records():
            print(backend, "supports nothing on this host: its record stays as it is")
            continue
        record = record_of(report, versions_of(backend, sys.executable))
        with open(os.path.join(RECORDS, f"{backend}.json"), "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
        print(backend, _cell(record["totals"]), "passed / failed / unsupported")
    return 0


if __name__ == "__main__":
    sys.exit(main())
