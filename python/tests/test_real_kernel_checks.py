"""No finding on a shipped kernel without an argument, no argument without its finding."""

import dataclasses

import pytest

from palladion.real_kernels import checks, findings, table


@pytest.fixture(scope="module")
def kernels():
    return [one for case in table.all_cases() for one in checks.checked_kernels(case)]


def test_every_finding_has_an_argument(kernels):
    assert [
        (one.case.name, one.name, f["severity"], f["code"], f["message"]) for one, f in checks.unargued(kernels)
    ] == []


def test_every_argument_has_its_finding(kernels):
    assert checks.unused(kernels) == []
    assert all(len(entry.why) > 40 and entry.truth in ("true", "harmless") for entry in findings.ARGUED)
    invented = dataclasses.replace(findings.ARGUED[0], code="CAPACITY")
    assert checks.unused(kernels, (invented,)) == [invented]


def test_a_check_of_each_kernel_looked_at_something(kernels):
    for one in kernels:
        assert one.report["checked"] and one.report["schedules"] >= 1
        tallies = {check["name"]: check["times"] for check in one.report["checks"]}
        assert tallies.get("bounds", 0) > 0, (one.case.name, one.name, tallies)
