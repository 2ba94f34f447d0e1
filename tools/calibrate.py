"""Measures the GPU at hand with micro-kernels and writes its description: `./dev calibrate`
(docs/guides/calibration.md).

    tools/calibrate.py [--out FILE] [--only PROBE]

The clock is measured on the GPU while each probe's longest kernel runs (calibration/clock.py); one that moves meanwhile
is an error. The file is that of the nearest machine in emu/chip/machines, with what was measured in its place: what,
when, by which driver and at which clock.
Limits: what no probe measures keeps the number and the source that it has;
kernels are timed by CUPTI, through JAX's own profiler.
"""

import argparse
import dataclasses
import datetime
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "tools")]

# by compute capability; the machine that stands for the family
FAMILIES = {9: ("hopper", "h100"), 10: ("blackwell", "b200")}
ITERATIONS = 10  # of each kernel; the median counts
MOVED = 0.02  # of the clock, at most, from its 5th to its 95th percentile: readings are some 0.3 % off themselves


class CalibrationError(Exception):
    pass


def number(value: float) -> str:
    return f"{value:.4g}"


def line_of(name: str, value: float, unit: str, note: str, how: str) -> str:
    return f"{name.ljust(29)} = {(number(value) + ' ' + unit).ljust(19)} # measured [calibrate]: {note}; {how}"


# Numbers that others of a description determine (emu/chip/machines/relations.cc), and how far off they may be.
TIED = {
    "smem.port": 0.0,
    "fp32.interval": 0.01,
    "mufu.interval": 0.01,
    "wgmma.smem_per_n": 0.01,
    "wgmma.per_n": 0.03,
    "tcgen05.ss128_smem_per_n": 0.01,
    "tcgen05.ss128_per_n": 0.03,
}


def described(base: str, found, kind: str, how: str) -> str:
    """The text of a machine's file with what was found in its place. `how`: when and by which driver.

    What would contradict other numbers of the file stands beside the number that stays, as a remark.
    """
    measured = {one.name: one for one in found}
    text = []
    for line in base.splitlines():
        name, _, rest = (part.strip() for part in line.partition("="))
        one = measured.pop(name, None)
        if name == "kind":
            line = f"kind = {kind}"
        elif one is not None and name in TIED and abs(one.value / float(rest.split()[0]) - 1) > TIED[name]:
            text.append(
                f"# measured [calibrate]: {name} {number(one.value)} {one.unit}, {one.note}; {how}; it contradicts "
                "other numbers"
            )
        elif one is not None:
            line = line_of(name, one.value, one.unit, one.note, how)
        text.append(line)
    text += [line_of(one.name, one.value, one.unit, one.note, how) for one in measured.values()]
    return "\n".join(text) + "\n"


def base_for(kind: str, capability: int, kinds: dict) -> tuple[str, str]:
    """(family, machine whose file is the base): the card's own, or else the one that stands for its family."""
    if capability not in FAMILIES:
        raise CalibrationError(
            f"{kind} has compute capability {capability}; micro-kernels are there for Hopper (9) and Blackwell (10)"
        )
    family, standing = FAMILIES[capability]
    return family, next((name for name, of_name in kinds.items() if of_name == kind), standing)


class Card:
    """The GPU that JAX sees, and what nvidia-smi says of it."""

    def __init__(self):
        import jax

        try:
            devices = [device for device in jax.devices() if device.platform == "gpu"]
        except RuntimeError as error:
            raise CalibrationError(f"JAX has no device: {error}") from error
        if not devices:
            raise CalibrationError(
                f"no GPU is here: JAX sees {', '.join(sorted({d.device_kind for d in jax.devices()}))}. Run this on a "
                "machine with an NVIDIA H100, H200 or B200, with JAX for CUDA (PALLADION_GPU_PYTHON names its Python)"
            )
        self.kind, self.sms = devices[0].device_kind, devices[0].core_count
        self.capability = int(float(devices[0].compute_capability))
        self.driver = self._asked("driver_version")

    @staticmethod
    def _asked(what: str) -> str:
        try:
            answer = subprocess.run(
                ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", "--id=0"],
                capture_output=True,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise CalibrationError(f"nvidia-smi does not report {what}: {error}") from error
        return answer.stdout.strip()

    @staticmethod
    def clock(function, args):
        """The Rate of it while the kernel runs again and again."""
        import jax
        from calibration.clock import rate_during

        compiled = jax.jit(function)
        return rate_during(lambda: compiled(*args))

    @staticmethod
    def seconds(function, args) -> float:
        from jax.experimental.mosaic.gpu import profiler

        _, times = profiler.measure(function, iterations=ITERATIONS)(*args)
        if times is None:
            raise CalibrationError("CUPTI saw no kernel; is its library of the driver's version?")
        return statistics.median(times) * 1e-3


class Once:
    """The seconds of kernels, asked for once each and in the same order every time; and the longest of them."""

    def __init__(self, seconds):
        self._seconds, self._known, self.longest = seconds, [], (0.0, None, ())

    def again(self):
        """What gives each kernel's seconds, from the first on."""
        place = iter(range(1 << 30))

        def seconds(function, args):
            at = next(place)
            if at == len(self._known):
                self._known.append(self._seconds(function, args))
                self.longest = max(self.longest, (self._known[at], function, args), key=lambda one: one[0])
            return self._known[at]

        return seconds


def steady(rate, probe: str) -> float:
    if rate.most / rate.least - 1 > MOVED:
        raise CalibrationError(
            f"the clock went from {rate.least / 1e9:.3f} to {rate.most / 1e9:.3f} GHz during '{probe}'; lock it: "
            f"nvidia-smi --lock-gpu-clocks={rate.least / 1e6:.0f},{rate.least / 1e6:.0f}"
        )
    return rate.mean


def measured(card, family: str, only=None) -> list:
    from calibration import fit

    probes = fit.probes_of(family, card.sms)
    if unknown := set(only or ()) - set(probes):
        raise CalibrationError(f"no probe {', '.join(sorted(unknown))}; there are {', '.join(probes)}")
    found = []
    for name, probe in probes.items():
        if only and name not in only:
            continue
        times = Once(card.seconds)
        probe(times.again(), 1.0)  # runs its kernels
        clock = steady(card.clock(*times.longest[1:]), name)
        now = [
            dataclasses.replace(one, note=f"{one.note}; at {clock / 1e9:.3f} GHz")
            for one in probe(times.again(), clock)
        ]
        print(
            f"{name}: {', '.join(f'{one.name} {number(one.value)} {one.unit}' for one in now)}, at {clock / 1e9:.3f} "
            "GHz",
            file=sys.stderr,
        )
        found += now
    return found


def file_of(name: str) -> str:
    return os.path.join(ROOT, "emu", "chip", "machines", f"{name}.machine")


def kinds() -> dict:
    names = [
        file[: -len(".machine")]
        for file in sorted(os.listdir(os.path.join(ROOT, "emu", "chip", "machines")))
        if file.endswith(".machine")
    ]
    texts = {name: open(file_of(name), encoding="utf-8").read() for name in names}
    return {name: re.search(r"^kind = (.*)$", text, re.MULTILINE).group(1) for name, text in texts.items()}


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="./dev calibrate", description=__doc__.splitlines()[0])
    parser.add_argument("--out", metavar="FILE", help="else calibrated-DATE.machine")
    parser.add_argument("--only", action="append", metavar="PROBE", help="this probe alone; several times for several")
    options = parser.parse_args(arguments)
    try:
        card = Card()
        family, base = base_for(card.kind, card.capability, kinds())
        found = measured(card, family, options.only)
    except CalibrationError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 1
    today = datetime.date.today().isoformat()
    how = f"{today}, driver {card.driver}"
    path = options.out or f"calibrated-{today}.machine"
    with open(file_of(base), encoding="utf-8") as file, open(path, "w", encoding="utf-8") as out:
        out.write(described(file.read(), found, card.kind, how))
    print(f"{path}: {len(found)} numbers measured; the others are {base}'s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
