"""`./dev calibrate` without a GPU: its micro-kernels are legal, and timed by our own model they give the description's
numbers back; the fit on made-up measurements; the file that is written. The measurement itself is CUPTI's, on a card:
docs/guides/calibration.md has what it gave."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import palladion
from palladion import machines

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

import calibrate  # noqa: E402
from calibration import clock, fit  # noqa: E402

FAMILY = {"h100": "hopper", "b200": "blackwell"}
FOUND = {"fp32.interval", "alu.interval", "mufu.interval", "smem.port", "dram.achieved", "launch.empty"}
OF_FAMILY = {
    "h100": {"wgmma.floor", "wgmma.smem_per_n", "wgmma.per_n"},
    "b200": {"tcgen05.ss128_floor", "tcgen05.ss128_smem_per_n", "tcgen05.ss128_per_n"},
}
# The intervals of arithmetic follow from its lanes. The port is changed alone, as a narrower one is the limit of
# products, too.
OTHER = {"fp32.lanes": 64, "alu.interval": 3, "mufu.lanes": 32, "dram.achieved": 2, "launch.empty": 3}
OTHER_FLOOR = {"h100": ("wgmma.floor", 20), "b200": ("tcgen05.ss128_floor", 38)}


def by_the_model(chip, changes=None):
    """What `seconds` is where the card is the model of one."""
    return lambda function, args: palladion.time(function, *args, target=chip, changes=changes).seconds


def of_model(chip, changes=None):
    description = machines.show(chip, changes).numbers
    clock, sms = description["clock.short"].base_value, int(description["chip.cores"].value)
    return description, fit.found(FAMILY[chip], sms, clock, by_the_model(chip, changes))


@pytest.mark.parametrize("chip", FAMILY)
def test_each_number_of_the_description_comes_out_again(chip):
    description, found = of_model(chip)
    assert {one.name for one in found} == FOUND | OF_FAMILY[chip]
    for one in found:
        assert one.unit == description[one.name].unit
        assert one.value == pytest.approx(description[one.name].value, rel=0.01), one


@pytest.mark.parametrize("chip", FAMILY)
def test_another_card_has_other_numbers(chip):
    units = {name: number.unit for name, number in machines.show(chip).numbers.items()}
    changes = {name: f"{value} {units[name]}" for name, value in (*OTHER.items(), OTHER_FLOOR[chip])}
    description, found = of_model(chip, changes)
    changed = [one.name for one in found if description[one.name].value != machines.show(chip).numbers[one.name].value]
    assert len(changed) == len(FOUND), changed
    for one in found:
        assert one.value == pytest.approx(description[one.name].value, rel=0.01), one


@pytest.mark.parametrize("chip", FAMILY)
def test_a_narrower_port_comes_out(chip):
    _, found = of_model(chip, {"smem.port": "64 B/cycle"})
    assert [one.value for one in found if one.name == "smem.port"] == [pytest.approx(64, rel=0.01)]


def test_the_fit_finds_what_measurements_were_made_of():
    random = np.random.default_rng(3)
    floor, by, wide, clock = 17.0, 0.25, 0.505, 1.5e9

    def make(columns, turns, each):
        return columns, (turns, each)

    def seconds(columns, how):
        turns, each = how
        cycles = 5000 + turns * (40 + 4 * each * max(floor + columns * by, columns * wide))
        return cycles / clock * random.normal(1, 1e-4)

    names = ("wgmma.floor", "wgmma.smem_per_n", "wgmma.per_n")
    found = {one.name: one.value for one in fit.products(make, 4, (16, 32, 64), (128, 256), names)(seconds, clock)}
    assert found == {
        "wgmma.floor": pytest.approx(floor, rel=0.03),
        "wgmma.smem_per_n": pytest.approx(by, rel=0.05),
        "wgmma.per_n": pytest.approx(wide, rel=0.01),
    }


HOW = "2026-11-25, driver 580.1"
LINE = re.compile(
    r"[a-z0-9_.]+ += \S+( \S+)? +# (vendor|measured|model|derived|assumed|fitted)( \[[a-z0-9, -]+\])?(: .*)?$"
)


def test_the_file_is_the_bases_with_what_was_measured():
    with open(calibrate.file_of("h100"), encoding="utf-8") as file:
        base = file.read()
    found = [
        fit.Found("mufu.interval", 8.0123456, "cycles", "16 to 64 elements"),
        fit.Found("fp32.interval", 1.02, "cycles", "slow"),
        fit.Found("link.atomic", 1500.0, "ns", "new"),
    ]
    text = calibrate.described(base, found, "NVIDIA H100 PCIe", HOW)
    lines = text.splitlines()
    assert "kind = NVIDIA H100 PCIe" in lines and "machine = h100" in lines
    assert (
        f"mufu.interval                 = 8.012 cycles        # measured [calibrate]: 16 to 64 elements; {HOW}" in lines
    )
    assert sum(line.startswith("link.atomic ") for line in lines) == 1
    # What no number of the file allows is a remark, and the number stays.
    at = lines.index(f"# measured [calibrate]: fp32.interval 1.02 cycles, slow; {HOW}; it contradicts other numbers")
    assert lines[at + 1].startswith("fp32.interval                 = 1 cycles ")
    for line in lines[3:]:
        assert not line or line.startswith("#") or LINE.match(line), line
    numbers = {line.split(" =")[0].strip() for line in lines if LINE.match(line)}
    assert numbers == {line.split(" =")[0].strip() for line in base.splitlines() if LINE.match(line)} | {"link.atomic"}
    # The library takes all of it.
    written = {
        line.split(" =")[0].strip(): line.split("= ")[1].split("#")[0].strip() for line in lines if LINE.match(line)
    }
    machines.show(
        "h100", {name: value for name, value in written.items() if name.split(".")[0] in ("mufu", "fp32", "clock")}
    )


def test_which_file_is_the_base():
    kinds = calibrate.kinds()
    assert calibrate.base_for(kinds["h200"], 9, kinds) == ("hopper", "h200")
    assert calibrate.base_for("NVIDIA H100 PCIe", 9, kinds) == ("hopper", "h100")
    assert calibrate.base_for("NVIDIA B300", 10, kinds) == ("blackwell", "b200")
    with pytest.raises(calibrate.CalibrationError, match="capability 8; micro-kernels are there for Hopper"):
        calibrate.base_for("NVIDIA A100", 8, kinds)


class OneCard:
    """A card whose kernels take what the model says, at the clock that it has while they run."""

    sms = 132

    def __init__(self, least, most):
        self._rate = clock.Rate(most, least, most)
        self.seconds = by_the_model("h100")

    def clock(self, function, args):
        return self._rate


def test_a_clock_that_moves_is_an_error():
    found = calibrate.measured(OneCard(1.755e9, 1.756e9), "hopper", ["launches"])
    assert [one.name for one in found] == ["launch.empty"] and found[0].note.endswith("; at 1.756 GHz")
    with pytest.raises(
        calibrate.CalibrationError,
        match="from 1.500 to 1.755 GHz during 'launches'; lock it: nvidia-smi --lock-gpu-clocks=1500",
    ):
        calibrate.measured(OneCard(1.5e9, 1.755e9), "hopper", ["launches"])
    with pytest.raises(calibrate.CalibrationError, match="no probe clocks; there are f32 arithmetic"):
        calibrate.measured(OneCard(1.755e9, 1.755e9), "hopper", ["clocks"])


def test_each_kernel_is_timed_once():
    times, asked = calibrate.Once(lambda function, args: asked.append(function) or float(len(asked))), []
    assert [times.again()(name, ()) for name in "ab"] == [1.0, 1.0] and asked == ["a"]
    again = times.again()
    assert [again(name, ()) for name in "abc"] == [1.0, 2.0, 3.0] and asked == ["a", "b", "c"]
    assert times.longest[:2] == (3.0, "c")


def test_the_rate_of_a_clock_is_that_of_its_readings():
    # 1.5 cycles a nanosecond, after a fifth at twice that.
    readings = [(3 * 10 * t, 10 * t) for t in range(20)] + [(600 + 15 * t, 200 + 10 * t) for t in range(81)]
    rate = clock.rate_of(readings)
    assert (
        rate.mean == pytest.approx(1.5e9) and rate.least == pytest.approx(1.5e9) and rate.most == pytest.approx(1.5e9)
    )


def test_a_machine_without_a_gpu_is_refused():
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools", "calibrate.py")],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(
        "calibrate: no GPU is here: JAX sees cpu. Run this on a machine with an NVIDIA H100"
    ), done.stderr
