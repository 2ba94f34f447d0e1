"""What the exporter writes is kernel text: the library reads the shipped kernels' texts and prints them alike."""

import contextlib

import pytest

import palladion
from palladion import _library
from palladion.real_kernels import table


@pytest.mark.parametrize("case", table.all_cases(), ids=lambda case: case.name.replace("/", "_"))
def test_the_library_reads_every_real_kernel(case):
    problem = case.make()
    with palladion.target(case.target) if case.target else contextlib.nullcontext():
        text = palladion.export(problem.function, *problem.args)
    canonical = _library.canonical(text)
    assert _library.canonical(canonical) == canonical
    names = [line.split()[1].removeprefix("@") for line in text.split("\n") if line.startswith("kernel @")]
    assert _library.kernel_names(text) == names and names
