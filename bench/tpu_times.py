"""The time that the model finds for kernels on TPUs whose time is published (docs/explanation/time.md).

python bench/tpu_times.py [--again] [--set NUMBER=VALUE]... [NAME...]: rows whose names have one of the words. Kernels
are exported once, into build/tpu_times; --again exports them anew. Based on: tpu_published.py.
"""

import argparse
import json
import pathlib
import re
import subprocess

import numpy as np
import tpu_published
from palladion import _library
from palladion.api import running

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEXTS = ROOT / "build" / "tpu_times"


class Saved(_library.Program):
    """A kernel that is written down, not run: its outputs are zeros."""

    def __init__(self, text, target, folder):
        self._program, self._text, self._folder = None, text, folder

    def run(self, inputs, outputs, *_):
        kernel = self._folder / str(len(list(self._folder.glob("*.pkir"))))
        kernel.with_suffix(".pkir").write_text(self._text, encoding="utf-8")
        lines = []
        names = re.findall(r"^  (?:bound|prefetch|in) %(\w+):", self._text, re.M)
        for i, (name, array) in enumerate(zip(names, inputs, strict=True)):
            if np.any(array):
                np.save(f"{kernel}.{i}.npy", array)
            lines.append(f"{name}={kernel}.{i}.npy" if np.any(array) else f"{name}=zeros")
        kernel.with_suffix(".in").write_text("\n".join(lines), encoding="utf-8")
        for output in outputs:
            output[...] = 0
        return 0, {"kernel": kernel.name, "target": "", "findings": [], "notes": [], "error": None}


def texts(row, again):
    folder = TEXTS / re.sub(r"\W+", "_", row.name)
    if again or not list(folder.glob("*.pkir")):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        function, args = row.make()
        running.execute(function, args, row.chip, program=lambda text, target: Saved(text, target, folder))
    return sorted(folder.glob("*.pkir"))


def timed(kernel, chip, sets, command):
    """What the model says of a kernel text."""
    lines = [line for line in kernel.with_suffix(".in").read_text(encoding="utf-8").split("\n") if line]
    ins = [word for line in lines for word in ("--in", line)]
    given = [word for one in sets for word in ("--set", one)]
    line = [command, "time", str(kernel), "--target", chip, *ins, *given, "--format=json"]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--command", default=str(ROOT / "build" / "palladion"))
    options = parser.parse_args()
    for row in tpu_published.rows():
        if options.names and not any(word in row.name for word in options.names):
            continue
        (time,) = [timed(kernel, row.chip, options.set, options.command) for kernel in texts(row, options.again)]
        found = (row.times * (time["ns"] - time["launch_ns"]) + time["launch_ns"]) / 1e3
        most = max(time["units"], key=lambda unit: unit["busy"])
        print(
            f"| {row.name} | {row.bound} | {microseconds(row.microseconds)} | {microseconds(found)} | "
            f"{100 * (found / row.microseconds - 1):+.0f} % | {row.fitted or 'nothing'} |",
            f"{most['unit']} {100 * most['busy']:.0f} %",
            flush=True,
        )


def microseconds(time):
    return f"{time / 1e3:.2f} ms" if time >= 1000 else f"{time:.1f} us"


if __name__ == "__main__":
    main()
