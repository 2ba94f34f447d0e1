"""`replay` of run, draw and time, and what a session keeps for it: the run that a finding of a check names, and not the
one in program order. That this run is the check's: conformance/replay_test.cc, of every case with a finding."""

import json
import re
import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from browser_pages import browser
from palladion.bridge import session_report
from small_kernels import last

TARGET = "triton/h100"


def copied(x):
    return pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]), out_shape=x)(x)


def handoff_kernel(x_ref, o_ref, tile, ready):
    wg = jax.lax.axis_index("wg")

    @pl.when(wg == 0)
    def produce():
        tile[...] = x_ref[...]
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


X, TILE = jnp.arange(4.0), jnp.arange(128.0)


@pytest.fixture(scope="module")
def reverse() -> str:
    report = palladion.check(last, X, target=TARGET, races=False)
    return next(one.replay for one in report.findings if one.code == "NONDET")


@pytest.fixture(scope="module")
def handed():
    return palladion.check(handoff, TILE, target="h100", seeds=8)


def test_run_gives_the_results_of_that_schedule(reverse):
    assert palladion.run(last, X, target=TARGET).tolist() == [3.0]
    with pytest.warns(palladion.PalladionWarning, match="RACE_WW"):  # what that schedule shows
        assert palladion.run(last, X, target=TARGET, replay=reverse).tolist() == [0.0]


def test_what_a_string_is_not_for_is_refused(reverse):
    for keywords, message in (
        ({"replay": "s9"}, "schedule: "),
        ({"replay": ""}, "replay needs the schedule that a report names"),
        ({"replay": reverse, "fill": "zero"}, "fill=zero"),
        ({"fill": "zero"}, "it goes with replay"),
    ):
        with pytest.raises(palladion.PalladionError, match=message):
            palladion.run(last, X, target=TARGET, **keywords)
        with pytest.raises(palladion.PalladionError, match=message):
            palladion.draw(last, X, target=TARGET, **keywords)
    with pytest.raises(palladion.PalladionError, match="inputs"):
        palladion.run(last, X + 1, target=TARGET, replay=reverse)
    with pytest.raises(palladion.PalladionError, match="queue for more memory"):
        palladion.time(last, X, target=TARGET, replay=reverse)


def test_draw_puts_the_instructions_in_the_order_of_the_schedule(reverse, tmp_path):
    picture = palladion.draw(last, X, target=TARGET, replay=reverse)
    words = "".join(ElementTree.fromstring(picture.svg()).itertext())
    assert "in the order of the schedule" in words.lower()
    assert [int(n) for n in re.findall(r"program \((\d)\)writes", words)] == [3, 2, 1, 0]
    assert "in the order of the schedule" not in palladion.draw(last, X, target=TARGET).svg().lower()
    data = json.loads(re.search(r'id="data">(.*?)</script>', picture.html(), re.DOTALL)[1])
    programs = [data["programs"][p]["i"][0] for p, _ in data["schedule"]]
    assert programs == sorted(programs, reverse=True) and len(set(programs)) == 4


def test_keys_step_through_the_schedule(reverse, tmp_path):
    picture = palladion.draw(last, X, target=TARGET, replay=reverse)
    data = json.loads(re.search(r'id="data">(.*?)</script>', picture.html(), re.DOTALL)[1])
    script = """<script>
const key = name => document.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
const seen = [], at = () => programs[current].i[0] + "." + step;
show(schedule[0][0]); seen.push(at());
for (let i = 0; i < schedule.length; ++i) { key("."); seen.push(at()); }
key(","); seen.push(at());
document.body.dataset.result = JSON.stringify([seen, byId("step-at").textContent]);
</script></body>"""
    page = tmp_path / "page.html"
    page.write_text(picture.html().replace("</body>", script), encoding="utf-8")
    dom = browser(page, "--dump-dom").stdout
    seen, shown = json.loads(
        ElementTree.fromstring(f'<a b="{dom.split("data-result=")[1].split(chr(34))[1]}"/>').get("b")
    )
    order = [f"{data['programs'][p]['i'][0]}.{s}" for p, s in data["schedule"]]
    assert seen == [f"{order[0].split('.')[0]}.-1", *order, order[-2]]
    assert shown.startswith(f"instruction {len(order) - 1} of {len(order)} in the order of the schedule")


def test_draw_replays_the_threads_of_a_block(handed):
    race = next(one for one in handed.findings if one.replay and one.code == "UNINIT")
    data = {}
    for name, replay in (("plain", None), ("replayed", race.replay)):
        page = palladion.draw(handoff, TILE, target="h100", replay=replay, check=False).html()
        data[name] = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert "schedule" not in data["plain"]
    programs = data["replayed"]["programs"]
    touched = [(p, kind, ref) for p, s in data["replayed"]["schedule"] for kind, ref, _ in programs[p]["s"][s][2]]
    tile = [(kind, ref) for _, kind, ref in touched if ref == "tile"]
    assert tile[0] == (0, "tile"), "the reader comes first"


@pytest.mark.parametrize("transport", ["", "callback"])
def test_a_finding_of_a_session_is_drawn(handed, transport, monkeypatch):
    monkeypatch.setenv("PALLADION_TRANSPORT", transport)
    with palladion.emulate("h100", seeds=8, on_defect="collect") as session:
        copied(TILE)
        jax.jit(handoff)(TILE).block_until_ready()
        handoff(TILE)
    kept = {call.kernel: call.launched for call in session.report.calls}
    assert kept.pop("handoff_kernel").inputs[0].tolist() == TILE.tolist()
    assert set(kept.values()) == {None}, "nothing is kept where nothing was found"
    drawn = palladion.draw_schedule(session.report, finding="RACE_RW")
    assert drawn.svg() == palladion.draw_schedule(handed, finding="RACE_RW").svg()
    with pytest.raises(palladion.DefectError) as raised, palladion.emulate("h100", seeds=8):
        handoff(TILE)
    assert palladion.draw_schedule(raised.value, finding="RACE_RW").svg() == drawn.svg()
    assert palladion.draw_schedule(palladion.last_report(), finding="RACE_RW").svg() == drawn.svg()


def test_what_a_session_keeps_has_a_limit(monkeypatch):
    monkeypatch.setattr(session_report, "KEPT_BYTES", TILE.nbytes)
    with palladion.emulate("h100", seeds=8, on_defect="collect") as session:
        handoff(TILE)
        handoff(TILE + 1)
    first, second = session.report.calls
    assert first.launched is not None and second.launched is None
    with pytest.raises(ValueError, match=r"were not kept.*palladion.draw_schedule\(f, \*args"):
        palladion.draw_schedule(second.findings[0])


def test_inputs_are_those_before_outputs_took_their_place():
    def own(x, o):
        def body(x_ref, _, o_ref):
            o_ref[0] = o_ref[0] + x_ref[pl.program_id(0)]

        return pl.pallas_call(
            body,
            grid=(4,),
            out_shape=jax.ShapeDtypeStruct((1,), x.dtype),
            input_output_aliases={1: 0},
        )(x, o)

    with palladion.emulate(TARGET, seeds=8, on_defect="collect") as session:
        jax.jit(own, donate_argnums=1)(X, jnp.full(1, 10.0)).block_until_ready()
    (call,) = session.report.calls
    assert call.findings and call.launched.inputs[1].tolist() == [10.0]
    palladion.draw_schedule(session.report)
