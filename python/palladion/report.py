"""What a check says, as attributes with the names of docs/report.schema.json."""

import dataclasses


class Fields:
    """An object of a report: each member of the JSON is an attribute, in the objects inside it too."""

    def __init__(self, members: dict):
        for name, value in members.items():
            setattr(self, name, _wrapped(value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class Finding(Fields):
    """code, severity, message, rule, source, count, first and second (accesses or None), why, fix, confidence, replay, ..."""

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message}" + (f" (at {self.source})" if self.source else "")


class KernelReport(Fields):
    """One kernel in one call: verdict, kernel, target, schedules, argument, findings, checks, never_ran, ..."""

    def __init__(self, members: dict):
        super().__init__({k: v for k, v in members.items() if k != "findings"})
        self.findings = [Finding(f) for f in members["findings"]]


def _wrapped(value):
    if isinstance(value, dict):
        return Fields(value)
    return [_wrapped(v) for v in value] if isinstance(value, list) else value


def tried(call: KernelReport) -> str:
    """How much was tried, to stand behind the verdict; of a call that was not checked, how to check it."""
    if call.error is not None:
        return ""
    if not call.checked:
        return ", not checked (seeds=16 checks it)" if call.verdict == "ran" else ""
    return f", {call.schedules} schedule{'s' * (call.schedules != 1)}"


@dataclasses.dataclass
class Difference:
    """Where a result and the reference differ first, and by how much."""

    result: int  # which of the results, flattened
    index: tuple
    found: object
    expected: object
    count: int  # elements that differ
    worst: float  # |found - expected| / (atol + rtol |expected|); above 1 it counts

    def __str__(self) -> str:
        return (f"result {self.result}{list(self.index)} is {self.found} and the reference says {self.expected}; {self.count} of "
                f"its elements differ, by up to {self.worst:.3g} times the tolerance")


def plain(value):
    """An object of a report as JSON has it."""
    if isinstance(value, Fields):
        return {name: plain(member) for name, member in vars(value).items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


# The worst of several kernels' verdicts, which is the last of these, is that of all.
VERDICTS = ("proved", "clean", "ran", "warning", "nondeterministic", "defect", "unsupported")


class DefectError(AssertionError):
    """A check found something that counts; `report` says what."""

    def __init__(self, report: object, text: str | None = None):
        super().__init__(str(report) if text is None else text)
        self.report = report


@dataclasses.dataclass
class Report:
    """What a check of a function says. `kernels` has one report for each kernel call, in the order of execution."""

    results: object  # of the function, each kernel's under its first schedule
    kernels: list
    difference: Difference | None = None  # from the reference; None: equal, or none was given

    @property
    def verdict(self) -> str:
        """The worst of the kernels'; a difference from the reference is a defect."""
        worst = max((k.verdict for k in self.kernels), key=VERDICTS.index)
        return "defect" if self.difference is not None and VERDICTS.index(worst) < VERDICTS.index("defect") else worst

    @property
    def findings(self) -> list[Finding]:
        """Those of all kernels."""
        return [finding for kernel in self.kernels for finding in kernel.findings]

    @property
    def schedules(self) -> int:
        """How many were tried, of all kernels together."""
        return sum(kernel.schedules for kernel in self.kernels)

    @property
    def ok(self) -> bool:
        """Nothing that counts was found, and everything was tried."""
        return self.difference is None and all(kernel.exit_code == 0 for kernel in self.kernels)

    def raise_if_defect(self) -> "Report":
        """DefectError unless `ok`; returns the report, so that calls can be chained."""
        if not self.ok:
            raise DefectError(self)
        return self

    def __str__(self) -> str:
        lines = []
        for kernel in self.kernels:
            lines.append(f"kernel {kernel.kernel} on {kernel.target}: {kernel.verdict}{tried(kernel)}")
            lines += [f"  {finding}" for finding in kernel.findings]
            lines += [f"  stopped by an error: {kernel.error.message}"] if kernel.error else []
        if self.difference is not None:
            lines.append(f"differs from the reference: {self.difference}")
        return "\n".join(lines)
