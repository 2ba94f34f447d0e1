"""Runs the kernels of the list on this machine's GPU and stores what they gave: ./dev record [--out FOLDER] [PART OF A
NAME...].

Needs JAX with CUDA; nothing of Palladion but its Python lists. Kernels run in processes of their own, several at a
time: one that hangs is ended after --patience seconds and noted as such, one that fails is noted, and the rest goes on.
What has been recorded is written every 20 seconds, so that little is lost where the machine is taken away. `--full`
keeps outputs whole, to study them.
"""

import argparse
import collections
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import kernel_lists
import numpy as np
import store

HERE = os.path.dirname(os.path.abspath(__file__))


class Workers:
    """Processes that take kernels from one list, and write what they have done to a folder."""

    def __init__(self, names, options):
        self.waiting = collections.deque(names)
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="recording-")
        self.running = {}  # process -> (names it was given, time of its last output, bytes of output by then)
        self.hung, self.crashed = [], []

    def start(self, share):
        names = [self.waiting.popleft() for _ in range(min(share, len(self.waiting)))]
        environment = os.environ | {
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "JAX_PLATFORMS": os.environ.get("JAX_PLATFORMS", "cuda,cpu"),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        log = open(os.path.join(self.folder, "log"), "ab")
        process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "worker.py"), self.folder, str(self.options.runs)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
            text=True,
        )
        process.stdin.write("\n".join(names))
        process.stdin.close()
        self.running[process] = [names, time.monotonic(), 0]

    def progress_of(self, process):
        """(name of each begun kernel, name -> entry of each that is done)."""
        begun, done = [], {}
        try:
            with open(os.path.join(self.folder, f"done.{process.pid}.jsonl"), encoding="utf-8") as source:
                for line in source:
                    message = json.loads(line) if line.endswith("\n") else {}
                    if "begun" in message:
                        begun.append(message["begun"])
                    elif message:
                        done[message["name"]] = message["entry"]
        except FileNotFoundError:
            pass
        return begun, done

    def look(self):
        """Ends what has said nothing for too long; gives back to the list what ended processes did not come to."""
        for process, state in list(self.running.items()):
            names, last_output, said = state
            begun, done = self.progress_of(process)
            if len(begun) + len(done) > said:
                state[1:] = [time.monotonic(), len(begun) + len(done)]
            elif time.monotonic() - last_output > self.options.patience:
                process.kill()
                process.wait()
                self.hung += [name for name in begun if name not in done]
            if process.poll() is not None:
                del self.running[process]
                self.crashed += [name for name in begun if name not in done and name not in self.hung]
                self.waiting.extendleft(reversed([name for name in names if name not in begun]))
                if not begun:
                    raise RuntimeError(f"a worker ended before its first kernel; its log: {self.folder}/log")

    def collected(self):
        """(entries, arrays) of all that is done."""
        entries, arrays = {}, {}
        for path in glob.glob(os.path.join(self.folder, "done.*.jsonl")):
            for line in open(path, encoding="utf-8"):
                message = json.loads(line) if line.endswith("\n") else {}
                if "name" not in message:
                    continue
                entry = entries[message["name"]] = message["entry"]
                if file := entry.pop("file", None):
                    stored = np.load(os.path.join(self.folder, file))
                    for member in stored.files:
                        whole = self.options.full or self.options.defects
                        arrays[f"{message['name']}/{member}"] = stored[member] if whole else store.kept(stored[member])
        entries |= {name: {"failed": "it hung"} for name in self.hung} | {
            name: {"failed": "its process ended"} for name in self.crashed
        }
        return entries, arrays


def about():
    """The device, what drives it, and when this was."""
    import jax
    import jaxlib

    asked = ["nvidia-smi", "--query-gpu=name,driver_version,vbios_version", "--format=csv,noheader"]
    name, driver, bios = [
        x.strip()
        for x in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split("\n")[0].split(",")
    ]
    return {
        "device": name,
        "driver": driver,
        "vbios": bios,
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
    }


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", help="only kernels whose names have one of these in them")
    parser.add_argument("--out", default=os.path.join(HERE, "h100"), help="the folder to write")
    parser.add_argument("--runs", type=int, default=10, help="how often each kernel runs")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--share", type=int, default=12, help="kernels for one process")
    parser.add_argument("--patience", type=int, default=60, help="seconds after which a kernel hangs")
    parser.add_argument("--limit", type=int, default=100000, help="seconds for all")
    parser.add_argument("--full", action="store_true", help="keep whole outputs")
    parser.add_argument(
        "--repeat",
        action="store_true",
        help="keep what is there, and note in its index which kernels gave other bits now",
    )
    parser.add_argument(
        "--defects",
        action="store_true",
        help="the kernels with a defect, into defects.json and .npz: how often they are wrong",
    )
    return parser.parse_args()


def main():
    chosen = options()
    listed = kernel_lists.defective() if chosen.defects else kernel_lists.kernels()
    names = [name for name in listed if not chosen.parts or any(part in name for part in chosen.parts)]
    machine, workers = about(), Workers(names, chosen)
    start = wrote = time.monotonic()
    while workers.waiting or workers.running:
        late = time.monotonic() - start > chosen.limit
        while workers.waiting and len(workers.running) < chosen.jobs and not late:
            workers.start(chosen.share)
        time.sleep(0.5)
        workers.look()
        if time.monotonic() - wrote > 20:
            write(chosen, machine, *workers.collected())
            wrote = time.monotonic()
        if late:
            for process in workers.running:
                process.kill()
            break
    entries, arrays = workers.collected()
    write(chosen, machine, entries, arrays)
    bad = {
        name: entry
        for name, entry in entries.items()
        if "failed" in entry or ("refused" in entry and "outputs" not in entry)
    }
    for name, entry in sorted(bad.items()):
        print(f"{name}: {str(entry.get('failed') or entry['refused'])[:150]}")
    print(
        f"{len(entries) - len(bad)} of {len(names)} kernels recorded in {time.monotonic() - start:.0f} s; without "
        f"outputs: {len(bad)}"
    )


def repetition(stored, machine, entries):
    """When it was, and which of the kernels that gave outputs both times gave other bits."""
    both = [name for name in entries if "outputs" in entries[name] and "outputs" in stored.get(name, ())]
    return {
        "date": machine["date"],
        "driver": machine["driver"],
        "jax": machine["jax"],
        "kernels": len(both),
        "other_bits": sorted(name for name in both if entries[name]["outputs"] != stored[name]["outputs"]),
    }


def write(chosen, machine, entries, arrays):
    if chosen.repeat:
        about, stored, _ = store.read(os.path.abspath(chosen.out))
        store.write_index(chosen.out, about | {"repeated": repetition(stored, machine, entries)}, stored)
        return
    store.write(chosen.out, machine, entries, arrays, "defects" if chosen.defects else "index")


if __name__ == "__main__":
    main()
