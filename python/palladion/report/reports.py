"""What a check says, as attributes with the names of docs/reference/report.schema.json;
as text in the command's words, which the library finds.
"""

import dataclasses
import json

from palladion import _library
from palladion.base.printable import one_line, printable
from palladion.report import notebook_error, report_html
from palladion.report.kernel_time import KernelTime, kernel_time
from palladion.report.rendering import Fields, many, plain, render


class Finding(Fields):
    """code, severity, message, rule, source, count, first and second (accesses or None), why, fix,
    edits (the fix as changes of the kernel text), ...

    What follows from another finding is a symptom: `cause` is that one, or None,
    and `symptoms` are those that follow from this one.
    """

    def __init__(self, members: dict, call: "KernelReport | None" = None):
        super().__init__({name: value for name, value in members.items() if name not in ("cause", "symptoms")})
        self._call, self._cause, self._symptoms = call, members.get("cause"), members.get("symptoms", ())

    @property
    def cause(self) -> "Finding | None":
        """The finding that this one follows from; None where it stands for itself."""
        return next(iter(self._named([self._cause])), None)

    @property
    def call(self) -> "KernelReport | None":
        """The report that it is of."""
        return self._call

    @property
    def symptoms(self) -> "list[Finding]":
        """The findings that follow from this one, and go when it is fixed."""
        return self._named(self._symptoms)

    def _more(self) -> dict:
        return {"cause": self._cause, "symptoms": list(self._symptoms)}

    def _named(self, fingerprints) -> "list[Finding]":
        return [other for other in getattr(self._call, "findings", ()) if other.fingerprint in fingerprints]

    def __str__(self) -> str:
        return render([self._alone()], "findings").rstrip("\n")

    def __repr__(self) -> str:
        return f"<Finding {one_line(f'{self.severity}[{self.code}]: {self.message}')}>"

    def _repr_html_(self) -> str:
        return report_html.finding_html(self._alone())

    def _alone(self) -> "KernelReport":
        """A report of nothing else."""
        call, these = self._call, [self, *self.symptoms]
        known = getattr(call, "findings", ())
        alone = KernelReport(
            {"kernel": "", "target": "", "verdict": "", "findings": [plain(one) for one in these]},
            getattr(call, "_replay", ()),
            getattr(call, "_source", None),
        )
        alone.grid = getattr(call, "grid", ())
        if all(one in known for one in these):
            alone.handle = _library.findings_alone(call.handle, [known.index(one) for one in these])
        return alone


@dataclasses.dataclass(frozen=True, repr=False)
class Launched:
    """A kernel with its inputs and the options of its check: all that a replay needs."""

    text: str
    kernel: str | None
    target: str | None
    launches: int
    inputs: list
    options: dict


# More bytes of inputs than this are not kept with a report.
KEPT_BYTES = 1 << 28


def launched(which: tuple, inputs: list, options: dict, found: dict) -> Launched | None:
    """To be kept with a report; `which`: text, kernel, target, launches. None: nothing is wrong, or it is too much."""
    if not found["findings"] or sum(one.nbytes for one in inputs) > KEPT_BYTES:
        return None
    return Launched(*which, [one.copy() for one in inputs], options)


class KernelReport(Fields):
    """One kernel in one call: verdict, kernel, target, schedules, argument, findings, checks, never_ran, ...

    `replay` are the texts before and after a schedule, in a line that shows a finding again; `source` is (name, text)
    where a kernel text was given instead of a function.
    """

    def __init__(self, members: dict, replay: tuple = (), source: tuple[str, str] | None = None):
        super().__init__({name: value for name, value in members.items() if name != "findings"})
        self.findings = [Finding(f, self) for f in members["findings"]]
        self._replay, self._source = replay, source
        self._handle = getattr(members, "handle", None)
        self._time, self._time_refused = None, ""
        self._launched = None

    @property
    def handle(self) -> _library.Handle:
        """The library's, which renders it; a report that came from another process is read there first."""
        if self._handle is None:
            self._handle = _library.read_report(plain(self))
        return self._handle

    @handle.setter
    def handle(self, handle: _library.Handle) -> None:
        self._handle = handle

    @property
    def launched(self) -> "Launched | None":
        """What was checked, where it was kept: for a kernel with a finding."""
        return self._launched

    @launched.setter
    def launched(self, launched: "Launched | None") -> None:
        self._launched = launched

    @property
    def time(self) -> KernelTime | None:
        """How long it takes on its chip: of calls in `emulate(..., time=True)`,
        where `time_refused` does not say why it has none.
        """
        return self._time

    @property
    def time_refused(self) -> str:
        """Why there is no time, where one was asked for."""
        return self._time_refused

    def add_time(self, answer: dict) -> None:
        """Takes the time of a call, if it was asked for."""
        if "time" in answer:
            self._time = kernel_time(answer["time"], answer["time_text"])
        self._time_refused = answer.get("time_refused", "")

    @property
    def mistakes(self) -> list[Finding]:
        """The findings without their symptoms: one for each mistake."""
        return [finding for finding in self.findings if finding.cause is None]

    @property
    def details(self) -> str:
        """The text of the report with how often each check looked at something, and what the schedules are worth."""
        return render([self], details=True).rstrip("\n")

    def __str__(self) -> str:
        return render([self]).rstrip("\n")

    def __repr__(self) -> str:
        found = many(len(self.findings), _FINDING)
        return f"<KernelReport {one_line(f'@{self.kernel} on {self.target}: {self.verdict}, {found}')}>"

    def _repr_html_(self) -> str:
        return report_html.report_html([self])


_FINDING = "finding"  # in texts that are inside of others


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
        return (
            f"result {self.result}{list(self.index)} is {self.found} and the reference says {self.expected}; "
            f"{self.count} of its elements differ, by up to {self.worst:.3g} times the tolerance"
        )


def call_around(callee: str, arguments, options: dict) -> tuple:
    """(before, after) of a schedule in a Python call: palladion.check(f, *args, target="h100", replay="...")."""
    shown = [json.dumps(value) if isinstance(value, str) else repr(value) for value in options.values()]
    given = [*arguments, *(f"{name}={value}" for name, value in zip(options, shown))]
    return f'{callee}({", ".join(given)}{", " if given else ""}replay="', '")'


def same_call(callee: str) -> tuple:
    """The same for a call that cannot be written down."""
    return f'the same {callee} with replay="', '"'


def of_kernel(call: KernelReport) -> str:
    """The error of a call, with the kernel's name."""
    message = call.error.message
    return message if message.startswith("kernel @") else f"kernel @{call.kernel}: {message}"


# The worst of several kernels' verdicts, which is the last of these, is that of all.
VERDICTS = ("proved", "clean", "ran", "warning", "nondeterministic", "defect", "unsupported")


class DefectError(AssertionError):
    """A check found something that counts; `report` says what."""

    __module__ = "palladion"  # where users find it

    def __init__(self, report: object, text: str | None = None):
        super().__init__(printable(report if text is None else text))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """For IPython: one screen."""
        return notebook_error.rendered(self)


@dataclasses.dataclass(repr=False)
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
    def mistakes(self) -> list[Finding]:
        """The findings of all kernels without their symptoms: one for each mistake."""
        return [finding for kernel in self.kernels for finding in kernel.mistakes]

    @property
    def details(self) -> str:
        """The text of the report with how often each check looked at something, and what the schedules are worth."""
        return self._text(details=True)

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
        __tracebackhide__ = True  # of pytest and IPython
        if not self.ok:
            raise DefectError(self)
        return self

    def __str__(self) -> str:
        return self._text()

    def _text(self, **more) -> str:
        difference = "" if self.difference is None else str(self.difference)
        return render(self.kernels, difference=difference, **more).rstrip("\n")

    def __repr__(self) -> str:
        found = f"{self.verdict}, {many(len(self.kernels), 'kernel call')}, {many(len(self.findings), _FINDING)}"
        return f"<Report {found}{'' if self.difference is None else ', differs from the reference'}>"

    def _repr_html_(self) -> str:
        return report_html.report_html(self.kernels, difference="" if self.difference is None else str(self.difference))
