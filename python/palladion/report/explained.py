"""`palladion.explain`: what a finding code means, as `palladion explain` prints it, and as a page of a notebook.

The texts are those of emu/front/reports/explain, which the library holds. Needs no JAX.
"""

import dataclasses
import html
import re

from palladion import _library
from palladion._library import PalladionError
from palladion.base.printable import one_line
from palladion.report.report_html import CODE, link_html, page_html
from palladion.report.short_errors import short_errors

_COLUMNS = ("code", "severity", "rule")
_LINE = {"+": "#3a9d4030", "-": "#e0484830", "mark": "#e0484830"}  # behind a line; it can be read on dark and on light


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """What a finding code or a limit means. Shows itself as the page of `palladion explain`, in a notebook as HTML.

    name: the code (`OOB`), or the limit (`copy.strides`). Of a limit only `text` is there, the others are empty.
    wrong: a Python program that prints its report, which has the mistake.
    right: the same without it.
    fix: how they differ. `pkir_wrong`, `pkir_right` and `pkir_fix` are the three as kernel text.
    link: where the page is in the documentation.
    """

    name: str
    text: str
    severity: str = ""
    rule: str = ""
    why: str = ""  # paragraphs
    limits: str = ""  # of ILLEGAL and COMPILER: a line for each
    link: str = ""
    wrong: str = ""
    right: str = ""
    fix: str = ""
    pkir_wrong: str = ""
    pkir_right: str = ""
    pkir_fix: str = ""

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        if not self.rule:
            return page_html([_pre(self.text)])
        parts = [f"<div><b>{_text(self.name)}</b> ({_text(self.severity)}): <i>{_text(self.rule)}</i></div>"]
        parts += [f"<p>{_code_words(paragraph)}</p>" for paragraph in self.why.strip().split("\n\n")]
        parts += ["<div>A kernel that is wrong:</div>", _pre(self.wrong, self._is_marked)]
        parts += ["<div>The fix:</div>", _pre(self.fix, _side_of)]
        kernels = _pre(self.pkir_wrong) + "<div>The fix:</div>" + _pre(self.pkir_fix, _side_of)
        parts.append(_folded("the same as kernel text", kernels))
        if self.limits:
            parts.append(_folded("limits", _pre(self.limits.strip("\n"))))
        parts.append(f"<div><small>{link_html(self.link)}</small></div>")
        return page_html(parts)

    def _is_marked(self, line: str) -> str:
        return "mark" if f"# {self.name}: " in line else ""


class FindingCodes(tuple):
    """Every finding code: objects with code, severity and rule. Shows itself as the list of `palladion explain`."""

    __slots__ = ()

    def __repr__(self) -> str:
        widths = [max(len(row[name]) for row in self) for name in ("code", "severity")]
        return "\n".join(f"{row['code']:<{widths[0]}}  {row['severity']:<{widths[1]}}  {row['rule']}" for row in self)

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td style='text-align:left'>{_text(row[name])}</td>" for name in _COLUMNS) for row in self)
        return page_html([f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>"])


@short_errors
def explain(code: str | None = None) -> Explanation | FindingCodes:
    """What a finding code means: its rule, why it matters, a program that is wrong, and its fix.

    code: of a finding (`finding.code`), or a limit that its message ends with (`copy.strides`). Without one: all codes.

    PalladionError: nothing has that name; it says which names are near.
    """
    if code is None:
        return FindingCodes(_library.finding_codes())
    if not isinstance(code, str):
        raise TypeError(f"code must be a text such as 'OOB'; found {one_line(repr(code), 80)}")
    try:
        page = _library.explained(code)
    except PalladionError as error:
        raise PalladionError(str(error).replace("`palladion explain`", "palladion.explain()"), error.code) from None
    python, pkir = page.pop("kernels") or ({}, {})
    return Explanation(**page, **python, **{f"pkir_{name}": text for name, text in pkir.items()})


def _text(value: str) -> str:
    return html.escape(value)


def _code_words(paragraph: str) -> str:
    """What stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(paragraph))


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{content}</details>"


def _side_of(line: str) -> str:
    return line.lstrip()[:1]


def _pre(text: str, kind=lambda line: "") -> str:
    """Lines, those with a colour of their kind on it."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
        colour = _LINE.get(kind(line))
        lines.append(f"<span style='background:{colour}'>{_text(line)}</span>" if colour else _text(line))
    return f"<pre style='{CODE}'>{chr(10).join(lines)}</pre>"
