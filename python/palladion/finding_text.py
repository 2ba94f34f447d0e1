"""Findings as text with the lines of Python they are about, as the command prints them (docs/reports.md).

The lines are those of the files as they are now. Input: the objects of palladion.report.
"""

import linecache

from palladion.report import tried

_LABELS = {"defect": "error", "warning": "warning", "note": "note"}


def call_text(call, allow=()) -> str:
    """One kernel call with its findings; those whose code is in `allow` are marked."""
    times = f" ({call.count} calls)" if call.count > 1 else ""
    lines = [f"kernel @{call.kernel} on {call.target}: {call.verdict}{tried(call)}{times}"]
    for finding in call.findings:
        lines += finding_lines(finding, allowed=finding.code in allow)
    if call.error is not None:
        lines.append(f"error: {call.error.message}")
    return "\n".join(lines)


def finding_lines(finding, allowed=False) -> list:
    """The lines of one finding: what, both accesses with their places, why, how to mend it, how to see it again."""
    marks = " (allowed)" if allowed else f" (suppressed: {finding.suppressed})" if finding.suppressed else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    lines = [f"{_LABELS[finding.severity]}[{finding.code}]: {finding.message}{times}{marks}"]
    accesses = [access for access in (finding.first, finding.second) if access is not None]
    for number, access in enumerate(accesses, 1):
        who = f" by {access.agent}" if access.agent else ""
        lines.append(f"  ({number}) {access.kind}{f' of {access.object}{access.box}' if access.object else ''}{who}")
        lines += _place(access.frames, access.text_line, "      ")
    if not accesses:
        lines += _place(finding.frames, finding.text_line, "  ")
    for name in ("why", "fix", "replay"):
        if getattr(finding, name):
            lines.append(f"  {name}: {getattr(finding, name)}")
    return lines


def _place(frames, text_line: int, indent: str) -> list:
    if not frames:
        return [f"{indent}at line {text_line} of the kernel text"] if text_line else []
    innermost, *callers = frames
    lines = [f"{indent}at {_frame(innermost)}"]
    source = linecache.getline(innermost.file, innermost.line).rstrip()
    if source:
        margin = f"{indent}{innermost.line:>6} | "
        stripped = source.lstrip()
        lines.append(margin + stripped)
        if innermost.column > len(source) - len(stripped):
            lines.append(" " * (len(margin) - 2) + "| " + " " * (innermost.column - 1 - len(source) + len(stripped)) + "^")
    return lines + [f"{indent}called from {_frame(caller)}" for caller in callers]


def _frame(frame) -> str:
    column = f":{frame.column}" if frame.column else ""
    return f"{frame.file}:{frame.line}{column}" + (f" in {frame.function}" if frame.function else "")
