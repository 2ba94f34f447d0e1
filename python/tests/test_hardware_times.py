"""The times recorded on a GPU (conformance/hardware): docs/explanation/time.md has what was measured and what the model
says, and it still says so.

All kernels take minutes: those that are quick are timed here, all of them by conformance/hardware/times.py --write. How
far a time may be off is no test: the page has it.
"""

import os
import sys

import pytest

import palladion

HARDWARE = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "conformance", "hardware"
)
sys.path.insert(0, HARDWARE)

import times  # noqa: E402

QUICK = (
    "copy of 66 MiB, tiles of 16 KiB, 1 slot",
    "ring 2 slots, no product under way",
    "elementwise exp2",
    "matmul 1024x4096x4096 wide",
)


@pytest.fixture(scope="module")
def recorded():
    return times.read(times.RECORDED)


@pytest.fixture(scope="module")
def of_model():
    return times.read(times.FOUND)


def test_what_ran_is_compared(recorded, of_model):
    timed_kernels = pytest.importorskip("timed_kernels")
    assert set(recorded["kernels"]) == set(timed_kernels.kernels())
    assert set(of_model) == set(times.compared(recorded))
    assert len(of_model) > len(recorded["kernels"]) // 2


def test_the_page_has_what_was_measured(recorded, of_model):
    page = times.PAGE.read_text(encoding="utf-8")
    assert times.written(page, recorded, of_model) == page, "conformance/hardware/times.py --write"


@pytest.mark.parametrize("name", QUICK)
def test_the_model_still_says_so(recorded, of_model, name):
    now = times.found(name, recorded["kernels"][name])
    assert now["cycles"] == pytest.approx(
        of_model[name]["cycles"], rel=1e-6
    ), "the model has changed: conformance/hardware/times.py --write"


@pytest.mark.parametrize(
    "quick, without_products",
    [("copy of 66 MiB, tiles of 16 KiB, 1 slot", True), ("ring 2 slots, no product under way", False)],
)
def test_the_uncertainty_is_the_largest_miss(recorded, of_model, quick, without_products):
    names = [
        name
        for name in times.timed(recorded, of_model)
        if not of_model[name]["spills"] and name.startswith(("copy", "elementwise")) == without_products
    ]
    worst = max(times.errors(recorded, of_model, names))
    timed_kernels = pytest.importorskip("timed_kernels")
    function, args = timed_kernels.kernels()[quick].make()
    (kernel,) = palladion.time(function, *args, target=times.CHIP).kernels
    assert worst - 0.01 <= kernel.uncertainty <= worst + 0.01
