"""What `palladion time` says of the kernels whose time was recorded on a GPU, and how far it is off: python
conformance/hardware/times.py.

`--write` puts the tables into docs/explanation/time.md and what was found beside the recording (h200/found_times.json);
`PART OF A NAME...` shows those kernels alone. A kernel is timed at the clock that the GPU had meanwhile. Does not
catch: what differs between the JAX that lowered the kernel on the GPU and the one that is installed.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/explanation/time.md"
CHIP = "h200"
RECORDED, FOUND = HERE / CHIP / "times.json", HERE / CHIP / "found_times.json"
# Numbers of the description come from these: division, sums with a product, and what copies and products share of
# shared memory.
FITTED = ("elementwise 1 / (1 + x x)", "elementwise x * 0.5 + 0.25", "matmul 4096x4096x4096 square")
BEGIN, END = "<!-- measured:gpu-times -->\n", "<!-- /measured:gpu-times -->\n"

sys.path[:0] = [str(HERE), str(ROOT / "python")]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def compared(recorded):
    """The entries of kernels that ran, by name."""
    return {name: entry for name, entry in recorded["kernels"].items() if "failed" not in entry}


def timed(recorded, of_model):
    """The names of those that the installed JAX compiles, too."""
    return [name for name in compared(recorded) if "refused" not in of_model[name]]


def found(name, entry):
    """What the model says: seconds, cycles, the share of time of each unit, and whether it says that registers spill;
    or why the installed JAX, which may be older than the GPU's, does not compile it."""
    import palladion
    import timed_kernels

    function, args = timed_kernels.kernels()[name].make()
    clock = f"{entry['ghz']} GHz"
    try:
        report = palladion.time(function, *args, target=CHIP, changes={"clock.short": clock, "clock.loaded": clock})
    except palladion.PalladionError as error:
        if "has no lowering on" not in str(error):
            raise
        return {
            "refused": re.sub(r".*?([\w.]+:\d+: .* has no lowering on [\w/]+).*", r"\1", str(error), flags=re.DOTALL)
        }
    return {
        "seconds": report.seconds,
        "cycles": sum(one.cycles for one in report.kernels),
        "units": {unit: round(share, 3) for unit, share in report.kernels[0].units.items()},
        "spills": any("registers that spill" in left for one in report.kernels for left in one.left_out),
    }


def row(name, entry, of_model):
    error = of_model["seconds"] / entry["seconds"] - 1
    return (
        f"| {name}{', spills' if of_model['spills'] else ''} | {entry['seconds'] * 1e6:.1f} us | "
        f"{entry['again']['seconds'] * 1e6:.1f} us "
        f"| {entry['ghz']:.2f} GHz | {of_model['seconds'] * 1e6:.1f} us | {100 * error:+.0f} % |"
    )


def groups(recorded, of_model):
    named = {}
    for name in timed(recorded, of_model):
        named.setdefault(name.split()[0], []).append(name)
    return named


def errors(recorded, of_model, names):
    return [abs(of_model[name]["seconds"] / recorded["kernels"][name]["seconds"] - 1) for name in names]


def tables(recorded, of_model):
    lines = []
    for group, names in groups(recorded, of_model).items():
        lines += [f"| {group} | measured | again | clock | found | error |", "|---|---|---|---|---|---|"]
        lines += [row(name.partition(" ")[2], recorded["kernels"][name], of_model[name]) for name in names]
        lines += ["", f"Mean absolute error: {100 * statistics.mean(errors(recorded, of_model, names)):.0f} %.", ""]
    held = [name for name in timed(recorded, of_model) if not of_model[name]["spills"] and name not in FITTED]
    every = errors(recorded, of_model, held)
    lines.append(
        f"Mean absolute error of the {len(every)} that do not spill and to which nothing was fitted: "
        f"{100 * statistics.mean(every):.1f} %; "
        f"half of them are off by at most {100 * statistics.median(every):.1f} %."
    )
    lines += [
        f"`{name}` did not run: {entry['failed'][:100]}."
        for name, entry in recorded["kernels"].items()
        if "failed" in entry
    ]
    lines += [
        f"`{name}` is not compared: {one['refused']} of the installed JAX."
        for name, one in of_model.items()
        if "refused" in one
    ]
    return "\n".join(lines) + "\n"


def written(page, recorded, of_model):
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + tables(recorded, of_model) + END + after


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", help="only kernels whose names have one of these in them")
    parser.add_argument("--recorded", type=pathlib.Path, default=RECORDED)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    recorded, of_model = read(chosen.recorded), {}
    for name, entry in compared(recorded).items():
        if chosen.parts and not any(part in name for part in chosen.parts):
            continue
        of_model[name] = found(name, entry)
        refused = of_model[name].get("refused")
        print(refused or f"{row(name, entry, of_model[name])} {of_model[name]['units']}", flush=True)
    if chosen.write:
        FOUND.write_text(json.dumps(of_model, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), recorded, of_model), encoding="utf-8")


if __name__ == "__main__":
    main()
