"""One report, the same everywhere: what Python prints is what the command prints, but for the line that replays it.
Texts of the user's cannot move a terminal's cursor or leave their place in a page. Representations are short.
"""

import contextlib
import html.parser
import inspect
import json
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion
from palladion.base.printable import one_line, printable
from palladion.report.reports import Finding, KernelReport, Report
from small_kernels import last, past_the_end

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
WILD = "\x1b[31mred\x07\r\x9b2J\u202e\u2066<script>&'\""


def rows_summed(x):
    def kernel(x_ref, o_ref):
        o_ref[...] += x_ref[...]

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )(x)


def without_a_fence(x):
    """A Hopper kernel that sends what a thread wrote without a fence for the copy engine."""

    def kernel(x_ref, o_ref, smem):
        smem[...] = x_ref[...]
        plgpu.copy_smem_to_gmem(smem, o_ref)
        plgpu.wait_smem_to_gmem(0)

    known = inspect.signature(plgpu.kernel).parameters
    out, scratch = ("out_type", "scratch_types") if "out_type" in known else ("out_shape", "scratch_shapes")
    return plgpu.kernel(
        kernel, **{out: jax.ShapeDtypeStruct(x.shape, x.dtype), scratch: [plgpu.SMEM(x.shape, x.dtype)]}
    )(x)


def clean(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


CASES = [
    pytest.param(last, np.arange(4, dtype=np.float32), "triton/h100", id="triton"),
    pytest.param(past_the_end, np.arange(3, dtype=np.float32), "generic", id="bounds"),
    pytest.param(rows_summed, np.ones((32, 128), np.float32), "mosaic_tpu/v5p", id="tpu"),
    pytest.param(without_a_fence, np.ones((128,), np.float32), "mosaic_gpu/h100", id="gpu-threads"),
    pytest.param(clean, np.ones((4,), np.float32), "generic", id="clean"),
]


def by_the_command(folder, text, x, target, *options):
    (folder / "k.pkir").write_text(text)
    np.save(folder / "x.npy", x)
    name = re.search(r"\bin %(\w+)", text)[1]
    return subprocess.run(
        [COMMAND, "check", "k.pkir", "--in", f"{name}=x.npy", "--target", target, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    ).stdout


@pytest.mark.parametrize("f, x, target", CASES)
def test_python_and_the_command_print_the_same(tmp_path, f, x, target):
    found = palladion.check(f, x, target=target)
    with contextlib.nullcontext() if target == "generic" else palladion.target(target):
        text = palladion.export(f, x)
    printed = by_the_command(tmp_path, text, x, target)

    def without_replay(report):
        # Exported at two lines of this file, so the outermost callers differ, and are left out.
        lines = [
            line
            for line in report.splitlines()
            if not line.lstrip().startswith("replay: ") and "called from" not in line
        ]
        return [line for line in lines if not re.fullmatch(r" +and \d+ more", line)]

    assert without_replay(str(found)) == without_replay(printed)
    if f is not clean:
        assert found.findings and "error[" in printed
        called = f'palladion.check(f, x, target="{target}", replay="'
        assert str(found).count(called) == sum(bool(finding.replay) for finding in found.findings) > 0
        for finding in found.findings:  # the line to paste does show it again
            again = palladion.check(f, x, target=target, replay=finding.replay)
            assert finding.code in [other.code for other in again.findings]


def test_a_session_counts_what_repeats_and_has_the_worst_first():
    x = jnp.arange(4, dtype=jnp.float32)
    with palladion.emulate("triton/h100", seeds=4, on_defect="collect") as session:
        clean(x)
        for step in range(3):
            last(x + step)
    text = str(session.report)
    assert text.count("error[RACE_WW]") == 1 and re.search(
        r"error\[RACE_WW\].*\(9 times in 3 calls, the first is shown\)", text
    )
    assert re.search(r'replay: palladion\.emulate\("triton/h100", replay="s2:[^"]+"\)', text)
    assert re.search(
        r"^verdict: defect: 1 defect with 1 symptom\n +kernel +target +calls +verdict +schedules +findings\n"
        r" +@last_kernel +triton/h100 +3 +defect +\d+ +1 NONDET, 1 RACE_WW\n +@kernel +triton/h100 +1 +proved",
        text,
        re.MULTILINE,
    )


def test_representations_are_short():
    found = palladion.check(last, jnp.arange(4, dtype=jnp.float32), target="triton/h100")
    with palladion.emulate(on_defect="collect") as session:
        past_the_end(jnp.ones(3))
    for value in (
        found,
        found.kernels[0],
        found.findings[0],
        found.findings[0].first,
        session.report,
        session.report.calls[0],
    ):
        assert "\n" not in repr(value) and 10 < len(repr(value)) <= 200, repr(value)
    assert repr(found) == f"<Report defect, 1 kernel call, {len(found.findings)} findings>"
    assert repr(session.report) == "<SessionReport ran, 1 kernel call, 1 finding>" or "defect" in repr(session.report)


# What users write.


def wild_report() -> KernelReport:
    found = palladion.check(last, jnp.arange(4, dtype=jnp.float32), target="triton/h100").kernels[0]

    def changed(value):
        if isinstance(value, dict):
            words = (
                "severity",
                "verdict",
                "code",
                "confidence",
                "kind",
                "where",
                "facts",
                "checks",
            )  # of which there are but a few
            return {k: v if k in words else changed(v) for k, v in value.items()}
        if isinstance(value, list):
            return [changed(v) for v in value]
        return value + WILD if isinstance(value, str) and value else value

    from palladion.report.rendering import plain

    report = KernelReport(changed(plain(found)))
    report.error, report.grid = None, (4,)
    return report


def raw(text: str) -> list:
    return [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) <= 0x9F or c in "\u202e\u2066")]


def test_no_text_reaches_a_terminal_raw():
    report = wild_report()
    both = Report(None, [report, report])
    for text in (
        str(report),
        str(both),
        str(report.findings[0]),
        repr(report),
        repr(report.findings[0]),
        repr(report.findings[0].first),
        str(palladion.DefectError(both)),
        str(palladion.PalladionError(WILD)),
        str(palladion.ExportError(WILD, WILD)),
        str(palladion.PalladionWarning(WILD)),
        report._repr_html_(),
    ):
        assert text and not raw(text), repr(text)
    assert (
        printable(WILD).startswith("\\x1b[31mred\\x07\\x0d\\x9b2J\\u202e\\u2066<script>")
        and one_line("a\nb") == "a\\nb"
    )


def test_names_of_kernels_in_errors_are_escaped():
    with pytest.raises(palladion.PalladionError) as caught:
        palladion._library.Program(f'pkir 1;\nfile #f = "{WILD[:8]}";\nkernel @k {{ nonsense }}')
    assert not raw(str(caught.value))


class Page(html.parser.HTMLParser):
    """Tags are closed in their order, and there are only those that are meant."""

    ALLOWED = {"div", "b", "small", "details", "summary", "pre", "table", "tr", "th", "td", "svg", "rect", "text"}

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.words = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.ALLOWED and not any(
            name.startswith("on") or "http" in (value or "") for name, value in attrs if name != "xmlns"
        )
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def test_pages_have_all_of_the_text():
    x = jnp.arange(4, dtype=jnp.float32)
    with palladion.emulate("triton/h100", seeds=4, on_defect="collect") as session:
        last(x)
    found = palladion.check(last, x, target="triton/h100", reference=lambda x: x[:1] * 0)
    for value in (session.report, found, session.report.calls[0], session.report.findings[0]):
        page = Page(value._repr_html_())
        assert "error[RACE_WW]" in page.words and "o_ref[0] = x_ref[pl.program_id(0)]\n     |     ^" in page.words
        assert "(1) write of o_ref[0] by program (0)" in page.words and ", at the same place" in page.words
        linked = '(palladion.explain("RACE_WW"); docs/reference/findings.md#race_ww)'
        for part in ("why: ", "fix: ", "replay: palladion.", linked):
            assert part in page.words, part
        # Two programs of four, and the element that both write: its frame, each box, what they share.
        cells = [attrs["fill"] for tag, attrs in page.seen if tag == "rect"][:8]
        assert cells == ["#d9730d", "#9a5bc4", "#7aa7d0", "#7aa7d0", "#7aa7d0", "#d9730d", "#9a5bc4", "#e04848"]
        if value is not session.report.findings[0]:
            assert (
                "2 schedules tried" in page.words and "looked at: " not in page.words and "@last_kernel" in page.words
            )
    assert "differs from the reference" in Page(found._repr_html_()).words
    assert Page(type(session.report)()._repr_html_()).words == "no kernel ran"


def test_pages_escape_what_users_write():
    page = Page(wild_report()._repr_html_())
    assert "<script>" in page.words and "script" not in {tag for tag, _ in page.seen}


def test_lines_of_what_is_in_no_file_are_shown():
    import linecache

    source = (
        "def cell(x):\n    def kernel(x_ref, y_ref):\n        y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 2, 2)]  # of "
        "a notebook\n"
        "    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((2,), x.dtype), grid=(1,))(x)\n"
    )
    linecache.cache["<cell 3>"] = (len(source), None, source.splitlines(True), "<cell 3>")
    scope = {"pl": pl, "jax": jax}
    exec(compile(source, "<cell 3>", "exec"), scope)
    found = palladion.check(scope["cell"], np.ones(3, np.float32))
    assert "     3 |         y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 2, 2)]  # of a notebook\n" in str(found), str(
        found
    )
    assert isinstance(found.findings[0], Finding) and json.loads(
        json.dumps(palladion.report.rendering.plain(found.kernels))
    )
