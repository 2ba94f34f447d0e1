"""`palladion.draw_schedule` of real JAX kernels: what may be drawn, what the picture says, and the page in a real
browser (keys, collapsed stretches, narrow windows, dark). What is recorded and chosen: emu/tools/schedule. What is not
looked at: whether it is beautiful."""

import inspect
import json
import linecache
import pathlib
import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from browser_pages import browser, colors

BAD, DARK_BAD, DARK = (200, 50, 60), (255, 123, 131), "--blink-settings=preferredColorScheme=0"
LOOPS = 400


def handoff_kernel(x_ref, o_ref, tile, ready):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def produce():
        @pl.loop(0, LOOPS)
        def _(step):
            tile[...] = x_ref[...] + step.astype(jnp.float32)

        plgpu.barrier_arrive(ready)

    @pl.when(wg == 1)
    def consume():
        o_ref[...] = tile[...]
        plgpu.barrier_wait(ready)


def handoff(x):
    return plgpu.kernel(
        handoff_kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        num_threads=2,
        thread_name="wg",
        scratch_types=[plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier()],
    )(x)


X = jnp.arange(128, dtype=jnp.float32)


@pytest.fixture(scope="module")
def report():
    return palladion.check(handoff, X, target="h100", seeds=4)


@pytest.fixture(scope="module")
def picture(report):
    return palladion.draw_schedule(report, finding="RACE_RW")


@pytest.fixture(scope="module")
def page(picture, tmp_path_factory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("schedule") / "page.html"
    picture.save(path)
    return path


def test_a_race_is_drawn_from_its_report(report, picture):
    assert isinstance(picture, palladion.Picture)
    ElementTree.fromstring(picture.svg())
    for words in (
        "RACE_RW",
        "writes tile[0:128]",
        "reads tile[0:128]",
        "o_ref[...] = tile[...]",
        "nothing orders the two",
    ):
        assert words in picture.svg() and words in picture.html(), words
    assert "operations\n" in repr(picture) and picture.svg() in picture._repr_html_()
    assert report.findings[0].code != "RACE_RW" and palladion.draw_schedule(report).svg() == picture.svg(), "the cause"
    finding = next(one for one in report.findings if one.code == "RACE_RW")
    assert palladion.draw_schedule(finding).svg() == picture.svg()
    assert palladion.draw_schedule(palladion.DefectError(report), finding="RACE_RW").svg() == picture.svg()


def test_a_function_is_checked_first(picture):
    drawn = palladion.draw_schedule(handoff, X, target="h100", seeds=4, finding="RACE_RW")
    assert drawn.svg() == picture.svg()


def test_lines_of_a_notebook_are_shown():
    name = "<ipython-input-8-of-a-test>"
    cell = inspect.getsource(handoff_kernel) + "\n\n" + inspect.getsource(handoff)
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    names = {"jax": jax, "jnp": jnp, "pl": pl, "plgpu": plgpu, "LOOPS": LOOPS}
    exec(compile(cell, name, "exec"), names)
    drawn = palladion.draw_schedule(names["handoff"], X, target="h100", seeds=4, finding="RACE_RW")
    assert "o_ref[...] = tile[...]" in drawn.svg()


def test_what_cannot_be_drawn_says_why(report):
    with pytest.raises(ValueError, match="nothing was found with the code OOB.*found: .*RACE_RW"):
        palladion.draw_schedule(report, finding="OOB")
    with pytest.raises(TypeError, match="go with a function"):
        palladion.draw_schedule(report, seeds=3)
    copied = pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]), out_shape=X)
    with pytest.raises(ValueError, match="palladion.draw draws a run that is right"):
        palladion.draw_schedule(copied, X, target="v5e")
    finding = next(one for one in report.findings if one.code == "RACE_RW")
    kept, report.kernels[0].launched = report.kernels[0].launched, None
    with pytest.raises(
        ValueError, match=r'were not kept.*palladion.draw_schedule\(f, \*args, target="mosaic_gpu/h100"'
    ):
        palladion.draw_schedule(finding)
    report.kernels[0].launched = kept


def test_the_page_steps_by_keys_and_shows_what_is_collapsed(page, tmp_path):
    script = """<script>
const seen = {selected: () => document.querySelector('[aria-selected=true] .words').textContent};
const key = name => document.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
const result = {first: seen.selected(), rows: document.querySelectorAll(".row").length};
key("ArrowUp"); result.up = seen.selected(); key("j"); result.down = seen.selected();
key("ArrowLeft"); result.left = seen.selected();
document.querySelector(".gap button").click();
result.more = document.querySelectorAll(".row").length;
document.querySelectorAll(".side")[0].click(); result.side = seen.selected();
result.panel = byId("picked").textContent;
result.wide = document.documentElement.scrollWidth - window.innerWidth;
document.body.dataset.result = JSON.stringify(result);
</script></body>"""
    acted = tmp_path / "acted.html"
    acted.write_text(page.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")
    dom = browser(acted, "--dump-dom", "--window-size=500,900").stdout
    result = json.loads(ElementTree.fromstring(f'<a b="{dom.split("data-result=")[1].split(chr(34))[1]}"/>').get("b"))
    assert "tile[0:128]" in result["first"] and result["down"] == result["first"] != result["up"]
    assert result["more"] == result["rows"] + 200
    assert "tile[0:128]" in result["side"] and "nothing orders the two" in result["panel"]
    assert result["wide"] <= 0


def test_the_page_is_for_light_and_dark(page, tmp_path):
    for name, more, bad in (("light", (), BAD), ("dark", (DARK,), DARK_BAD)):
        browser(page, f"--screenshot={tmp_path / name}.png", "--window-size=1400,900", *more)
        assert bad in colors((tmp_path / f"{name}.png").read_bytes()), name
