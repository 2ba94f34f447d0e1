"""The page of `palladion time` in a real browser: events of mouse and keyboard come from a script put behind the page's
own, and what they do is read from the page. The timeline is the toy of emu/timing/timeline/shown_test_util.h, which the
C++ tests write. What is not looked at: whether it is beautiful."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import threading

import pytest

from browser_pages import browser, colors

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMU_TEST = pathlib.Path(os.environ.get("PALLADION_EMU_TEST", ROOT / "build" / "emu" / "emu_test"))
MULTIPLY, SLOT_2, PAPER, DARK_PAPER = (122, 69, 196), (44, 138, 87), (250, 249, 246), (20, 23, 31)
DARK = "--blink-settings=preferredColorScheme=0"

# Before each script. `seen` is what the test gets back.
TOOLS = """
const seen = {}, lanesCanvas = byId("lanes");
const settle = async () => { if (waiting) drawNow(); };  // chromium without a window draws no frame after the first
const place = (x, y) => { const box = lanesCanvas.getBoundingClientRect(); return {clientX: box.left + x, clientY: box.top + y - byId("pane").scrollTop, bubbles: true, cancelable: true, pointerId: 1}; };
const on = i => { const box = rectOf(i); return place(box.x + Math.min(box.w, layout.width - box.x) / 2, box.y + box.h / 2); };
const pointer = (kind, at, target) => (target || lanesCanvas).dispatchEvent(new PointerEvent(kind, at));
const key = (name, more) => (document.activeElement || document.body).dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true, ...more}));
const type = text => { byId("search").value = text; byId("search").dispatchEvent(new Event("input")); };
const first = (kind, what) => { for (let i = 0; i < spans.count; ++i) if (spans.kind[i] === kind && whatOf(i).includes(what)) return i; throw what; };
const ink = l => { const d = lanesCanvas.getContext("2d").getImageData(0, lanes[l].top, lanesCanvas.width, lanes[l].height).data; let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] === 29 && d[i + 1] === 36 && d[i + 2] === 51) ++n; return n; };
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    assert EMU_TEST.exists(), f"{EMU_TEST} is missing: build the target emu_test"
    folder = tmp_path_factory.mktemp("timeline")
    command = [EMU_TEST, "--gtest_filter=TimelinePage.AreWrittenForBrowsers"]
    subprocess.run(command, env=os.environ | {"PALLADION_TIMELINE_PAGES": str(folder)}, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def page(folder) -> pathlib.Path:
    return folder / "toy_timeline.html"


def data_of(page: pathlib.Path) -> dict:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    return json.loads(found[1])


def acted(page: pathlib.Path, script: str, at: str = "", arguments: tuple = ()) -> dict:
    """What `script` has put into `seen` on this page."""
    behind = f"""<script>{TOOLS}
(async () => {{ try {{ {script} }} catch (error) {{ seen.error = String(error && error.stack || error); }}
document.body.append(make("pre", "seen", JSON.stringify(seen))); }})();</script></body>"""
    copy = page.with_name("acted.html")
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", behind), encoding="utf-8")
    dom = browser(copy, "--dump-dom", *arguments, at=at).stdout
    found = re.search(r'<pre class="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found, "the script did not come to its end"
    seen = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert "error" not in seen, seen["error"]
    return seen


def test_the_page_runs_to_its_end(page):
    dom = browser(page, "--dump-dom").stdout
    assert 'data-ready="yes"' in dom
    for part in (
        "@matmul",
        "mosaic_gpu/h100",
        "1.755 GHz",
        "SM 3",
        "±",
        "f16 matrix products",
        "an arrival at empty",
        "RACE_RW",
    ):
        assert part in dom, part
    assert re.search(
        r'<button class="lane"[^>]*aria-label="block \(3, 0\), warpgroup 1: \d+ spans, busy [\d.]+ %, waits [\d.]+ % of its life"',
        dom,
    )


def test_it_paints_slots_and_engines_and_the_dark_differs(page, tmp_path):
    browser(page, f"--screenshot={tmp_path / 'light.png'}")
    browser(page, f"--screenshot={tmp_path / 'dark.png'}", DARK)
    light, dark = colors((tmp_path / "light.png").read_bytes()), colors((tmp_path / "dark.png").read_bytes())
    assert {MULTIPLY, SLOT_2, PAPER} <= light and DARK_PAPER not in light
    assert DARK_PAPER in dark and not {MULTIPLY, SLOT_2, PAPER} & dark


def test_pointing_at_a_wait_says_who_ended_it_and_draws_the_arrow(page):
    seen = acted(
        page,
        """
      const wait = first(WAIT, "wait full[0]"); setView(0, 1500); await settle();
      seen.before = ink(2); pointer("pointermove", on(wait)); await settle();
      seen.tip = byId("tip").innerText; seen.after = ink(2); seen.lit = document.querySelector("#code .lit code").textContent;
      pointer("pointerleave", {}); await settle(); seen.gone = byId("tip").hidden; seen.left = ink(2);
    """,
    )
    assert "wait full[0], phase 0" in seen["tip"] and "ended by block (3, 0), TMA: b -> b_smem[0]" in seen["tip"]
    assert "cycles (" in seen["tip"] and "µs)" in seen["tip"]
    assert seen["after"] > seen["before"] + 8, "no arrow crosses the lane between the two"
    assert seen["gone"] and seen["left"] == seen["before"]
    assert "plgpu.barrier_wait(full.at[slot])" in seen["lit"]


def test_the_arrow_comes_from_who_ended_the_wait(page):
    seen = acted(
        page,
        """
      const wait = first(WAIT, "wait full[0]"); select(wait); seen.chain = chainOf(wait, 3).map(([from, to, linked]) => [whatOf(from), whatOf(to), linked]);
      seen.moment = momentOf(wait) === spans.end[spans.by[wait]]; seen.at = [spans.end[wait], momentOf(wait)];
    """,
    )
    assert seen["chain"][0] == ["b -> b_smem[0]", "wait full[0], phase 0", True]
    assert seen["chain"][1] == ["copy b -> b_smem[0]", "b -> b_smem[0]", True]
    assert seen["moment"] and seen["at"][0] == seen["at"][1]


def test_wheel_drag_and_double_click(page):
    seen = acted(
        page,
        """
      const wheel = (dy, x, more) => lanesCanvas.dispatchEvent(new WheelEvent("wheel", {...place(x, 60), deltaY: dy, ...more}));
      const at = timeAt(200); for (let n = 0; n < 4; ++n) wheel(-240, 200); await settle(); seen.narrow = (view.to - view.from) / length; seen.stays = Math.abs(timeAt(200) - at) / length;
      const from = view.from; wheel(100, 200, {shiftKey: true}); await settle(); seen.moved = view.from - from;
      const before = view.from; pointer("pointerdown", place(300, 60)); pointer("pointermove", place(250, 60)); pointer("pointerup", place(250, 60)); await settle();
      seen.dragged = (view.from - before) / (view.to - view.from) * layout.width; seen.selected = view.selected;
      lanesCanvas.dispatchEvent(new MouseEvent("dblclick", {bubbles: true})); await settle(); seen.fit = document.body.dataset.view;
      seen.length = length;
    """,
    )
    assert 0.3 < seen["narrow"] < 0.5 and seen["stays"] < 1e-6 and seen["moved"] > 0
    assert abs(seen["dragged"] - 50) < 0.5 and seen["selected"] == -1, "a drag selects nothing"
    assert seen["fit"] == f"0.0 {seen['length']:.1f}"


def test_keys(page):
    seen = acted(
        page,
        """
      document.querySelector('#labels button[data-lane="1"]').focus();
      key("ArrowRight"); seen.first = [spans.lane[view.selected], whatOf(view.selected)];
      key("ArrowRight"); seen.second = whatOf(view.selected); key("ArrowLeft"); seen.back = whatOf(view.selected);
      key("Enter"); seen.ended = [laneName(spans.lane[view.selected]), whatOf(view.selected)];
      key("ArrowDown"); seen.down = laneName(spans.lane[view.selected]); key("ArrowUp"); key("ArrowUp"); seen.up = laneName(spans.lane[view.selected]);
      key("+"); await settle(); seen.closer = (view.to - view.from) / length; key("0"); await settle(); seen.all = view.to - view.from === length;
      key("z"); await settle(); seen.close = cyclesOf(view.selected) / (view.to - view.from);
      key("?"); seen.help = byId("help").open; seen.keys = byId("help").innerText; key("?"); seen.closed = !byId("help").open;
      key("/"); seen.search = document.activeElement.id; type("wgmma"); await settle(); seen.marked = byId("found-text").textContent;
      key("Escape"); seen.unmarked = view.marked === null && document.activeElement.id !== "search";
      key("Escape"); seen.unselected = view.selected;
      seen.tabs = [...document.querySelectorAll("#labels button")].every(node => node.tabIndex === 0);
    """,
    )
    assert seen["first"] == [1, "wait full[0], phase 0"] == [1, seen["back"]] and seen["second"].startswith("wgmma acc")
    assert seen["ended"] == ["block (3, 0), TMA", "b -> b_smem[0]"]
    assert seen["down"] == "block (3, 0), wgmma" and seen["up"] == "block (3, 0), warpgroup 2"
    assert seen["closer"] < 0.7 and seen["all"] and 0.5 < seen["close"] < 0.9
    assert seen["help"] and seen["closed"] and "who issued" in seen["keys"]
    assert seen["search"] == "search" and "spans" in seen["marked"] and seen["unmarked"] and seen["unselected"] == -1
    assert seen["tabs"]


def test_search_finds_by_what_by_ref_and_by_line(page):
    seen = acted(
        page,
        """
      const count = () => [view.marked.hits.length, view.marked.hits.every(i => whatOf(i).includes("full["))];
      type("wait full["); seen.what = count(); type("matmul.py:19"); seen.line = count(); type("19"); seen.number = count();
      type("BARRIER_WAIT(full"); seen.text = count(); type("no such thing"); seen.none = byId("found-text").textContent;
      type("wait full["); key("/"); key("Enter"); const one = view.selected; key("Enter"); seen.next = [one === view.marked.hits[0], view.selected === view.marked.hits[1]];
      type(""); seen.cleared = view.marked === null;
    """,
    )
    assert seen["what"][0] > 20 and seen["what"] == seen["line"] == seen["number"] == seen["text"]
    assert seen["what"][1] and seen["next"] == [True, True]
    assert seen["none"].endswith("nothing") and seen["cleared"]


def test_a_line_of_the_source_marks_its_spans_and_the_others_are_faint(page):
    seen = acted(
        page,
        """
      const strong = () => { const d = lanesCanvas.getContext("2d").getImageData(0, 0, lanesCanvas.width, lanesCanvas.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] === 122 && d[i + 1] === 69 && d[i + 2] === 196 && d[i + 3] === 255) ++n; return n; };
      await settle(); seen.before = strong();
      shown.nodes.get(12).click(); await settle(); seen.after = strong(); seen.hits = view.marked.hits.length; seen.right = view.marked.hits.every(i => whatOf(i).startsWith("wait empty"));
      seen.marked = document.querySelector("#code .marked .no").textContent; shown.nodes.get(12).click(); await settle(); seen.again = strong();
      document.querySelector(".tab:not([data-view])").click(); seen.text = byId("code").textContent.includes("wgmma_ref"); seen.covered = byId("code").textContent.includes("lines that say where");
      select(first(MULTIPLY, "64x128x64")); seen.lit = document.querySelector("#code .lit .no").textContent;
    """,
    )
    assert seen["before"] > 1000 and seen["after"] < seen["before"] / 10 and seen["again"] == seen["before"]
    assert seen["hits"] > 10 and seen["right"] and seen["marked"] == "12"
    assert seen["text"] and seen["covered"] and seen["lit"] == "13"


def test_findings_and_stalls_lead_to_their_place(page):
    seen = acted(
        page,
        """
      document.querySelector(".finding").click(); seen.line = spans.line[view.selected];
      const x = xOf(spans.begin[view.selected]), box = byId("top").getBoundingClientRect(); select(-1);
      byId("top").dispatchEvent(new PointerEvent("pointerdown", {clientX: box.left + x, clientY: box.top + OVERVIEW + AXIS - 3, bubbles: true})); seen.flag = spans.line[view.selected];
      document.querySelector(".stall").click(); seen.stall = byId("found-text").textContent;
      const head = document.querySelector("#labels .group"); head.click(); await settle(); seen.folded = [document.querySelector("#labels .group").getAttribute("aria-expanded"), document.querySelectorAll("#labels .lane").length];
      goTo(first(WAIT, "full")); await settle(); seen.opened = document.querySelectorAll("#labels .lane").length;
    """,
    )
    assert seen["line"] == 13 == seen["flag"] and "matmul.py:19" in seen["stall"]
    assert seen["folded"] == ["false", 4] and seen["opened"] == 9


def test_a_barrier_has_its_phases_and_what_is_pending_and_a_slot_who_fills_and_reads_it(page):
    seen = acted(
        page,
        """
      const barrier = lanes.findIndex(lane => lane.kind === BARRIER), slot = lanes.findIndex(lane => lane.kind === SLOT);
      seen.rows = lanes[barrier].rows.map(row => [...row.ids].map(whatOf).slice(0, 2));
      const phase = lanes[barrier].rows[0].ids[1]; select(phase); seen.details = byId("details").innerText;
      seen.moment = momentOf(phase) === spans.end[phase]; seen.lit = document.querySelector("#code .lit .no").textContent;
      const box = rectOf(lanes[barrier].rows[1].ids[0]); seen.below = [box.y - lanes[barrier].top > 8, spanAt(box.x + 2, box.y + 2) === lanes[barrier].rows[1].ids[0]];
      seen.label = lanes[barrier].node.getAttribute("aria-label"); seen.dots = [barrier, slot].map(l => lanes[l].node.querySelectorAll(".dot").length);
      const colors = l => { setView(0, length / 8); drawNow(); const d = lanesCanvas.getContext("2d").getImageData(0, lanes[l].top + 4, lanesCanvas.width, 1).data, found = new Set(); for (let i = 0; i < d.length; i += 4) found.add([d[i], d[i + 1], d[i + 2]].join()); return [...found]; };
      seen.slot = colors(slot).includes("47,111,219");
    """,
    )
    assert seen["rows"] == [["full[0], phase 0", "full[0], phase 1"], ["2 of 2 pending", "1 of 2 pending"]]
    assert "ended by block (3, 0), TMA: b -> b_smem[0]" in seen["details"] and seen["moment"] and seen["lit"] == "14"
    assert seen["below"] == [True, True] and re.fullmatch(r"barriers, full\[0\]: \d+ phases", seen["label"])
    assert seen["dots"] == [1, 1] and seen["slot"], "a fill in the colour of copies, the slot's in its name"


def test_the_data_parses_and_everything_in_it_has_a_name(page):
    data = data_of(page)
    spans = data["spans"]
    assert len({len(column) for column in spans.values()}) == 1 and len(spans["begin"]) > 500
    assert all(lane["group"] and lane["name"] for lane in data["lanes"]) and all(s["name"] for s in data["strips"])
    assert all(data["texts"]) and max(spans["what"]) < len(data["texts"]) and max(spans["lane"]) < len(data["lanes"])
    assert all(begin <= end for begin, end in zip(spans["begin"], spans["end"], strict=True))
    assert -1 <= min(spans["by"]) and max(spans["by"]) < len(spans["begin"])


def test_names_are_whole_where_they_fit_and_else_on_hover(page):
    seen = acted(
        page,
        """
      const cut = () => [...document.querySelectorAll("#labels .lane .name")].filter(node => node.scrollWidth > node.clientWidth + 1).length;
      seen.cut = cut();
      seen.titles = [...document.querySelectorAll("#labels button, #top-labels span, .row, #tabs button")].filter(node => !node.title).length;
      const long = "a_name_that_is_much_longer_than_a_third_of_the_picture_".repeat(3); lanes[0].name = long; resize();
      seen.wide = byId("labels").offsetWidth / byId("stage").clientWidth; seen.told = lanes[0].node.title.includes(long);
    """,
    )
    assert seen == {"cut": 0, "titles": 0, "wide": seen["wide"], "told": True} and seen["wide"] < 0.34


def test_slots_have_no_colour_of_a_role(page):
    for dark in ((), (DARK,)):
        seen = acted(
            page,
            """
          const rgb = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
          const apart = (a, b) => Math.hypot(...rgb(a).map((v, n) => v - rgb(b)[n]));
          seen.paper = theme.paper;
          seen.near = theme.slots.flatMap(slot => theme.kinds.filter(role => apart(slot, role) < 45).map(role => slot + " " + role));
          seen.same = theme.slots.flatMap((slot, n) => theme.slots.slice(n + 1).filter(other => apart(slot, other) < 45));
        """,
            arguments=dark,
        )
        assert seen["near"] == [] and seen["same"] == [], seen
        assert (seen["paper"] == "#14171f") == bool(dark)


def test_a_table_of_lines_sorts_by_its_columns(page):
    seen = acted(
        page,
        """
      const column = n => [...document.querySelectorAll("#view tbody tr")].map(row => row.cells[n].innerText);
      const head = name => [...document.querySelectorAll("#view th button")].find(node => node.textContent.startsWith(name));
      [...document.querySelectorAll(".tab")].find(tab => tab.textContent === "by line").click();
      seen.of = document.querySelector("#view p").innerText; seen.first = column(0); seen.shares = column(1).map(parseFloat); head("waited").click(); seen.waited = column(3).map(text => parseFloat(text) || 0);
      seen.focus = document.activeElement.textContent.startsWith("waited"); seen.sort = head("waited").parentNode.getAttribute("aria-sort");
      head("waited").click(); seen.up = column(3).map(text => parseFloat(text) || 0); seen.stalls = column(5); seen.path = column(4).map(text => parseFloat(text) || 0);
      document.querySelector("#view tbody tr:last-child .jump").click(); seen.marked = view.marked.line; seen.last = column(0).at(-1);
      document.querySelector('.tab[role=tab]:not([data-view])').click(); seen.left = [byId("view").hidden, byId("code").hidden];
    """,
    )
    assert 97 < sum(seen["shares"]) < 103 and seen["shares"] == sorted(seen["shares"], reverse=True)
    assert seen["waited"] == sorted(seen["waited"], reverse=True) and seen["up"] == seen["waited"][::-1]
    assert (
        seen["focus"] and seen["sort"] == "descending" and {"a barrier", "a matrix product", ""} == set(seen["stalls"])
    )
    assert sorted(seen["path"])[-2:] == [20, 75] and f"matmul.py:{seen['marked']}" in seen["last"]
    assert seen["left"] == [True, False]
    assert seen["of"].startswith("Shares of 3 threads of places for blocks for all of the ")
    assert {"launch of the kernel", "tail: places without a block at the end"} <= set(seen["first"])


def test_the_critical_path_is_listed_and_marked(page):
    seen = acted(
        page,
        """
      showView("path"); seen.parts = [...document.querySelectorAll("#view .part")].map(node => node.innerText);
      const path = pathBack(); seen.sum = path.reduce((sum, part) => sum + part.cycles, 0) / spans.end[path[0].span];
      seen.linked = path.slice(1).every(({span}, n) => { const after = path[n].span; return spans.by[after] === span || spans.lane[after] === spans.lane[span]; });
      seen.kinds = [...new Set(path.map(part => spans.kind[part.span]))].sort(); seen.begin = spans.begin[path.at(-1).span];
      key("c"); seen.marked = view.marked.hits.length === path.length; key("c"); seen.unmarked = view.marked;
    """,
    )
    assert len(seen["parts"]) == 3 and "75 %" in seen["parts"][0] and "under way" in seen["parts"][0]
    assert "plgpu.wgmma(acc" in seen["parts"][0] and "blocks begin where others have ended" in seen["parts"][2]
    assert 0.9 < seen["sum"] <= 1.001 and seen["linked"] and {1, 2} <= set(seen["kinds"]) and seen["begin"] == 0
    assert seen["marked"] and seen["unmarked"] is None


def test_a_range_is_measured_by_mouse_and_by_keyboard(page):
    seen = acted(
        page,
        """
      setView(0, 2000); await settle();
      const wait = first(WAIT, "wait full[0]"), box = rectOf(wait), y = box.y + 4, shift = x => ({...place(x, y), shiftKey: true});
      pointer("pointerdown", shift(box.x + 3)); pointer("pointermove", shift(box.x + box.w - 2)); pointer("pointerup", shift(box.x + box.w - 2)); await settle();
      seen.snapped = [view.range.from === spans.begin[wait], view.range.to === spans.end[wait]]; seen.selected = view.selected; seen.moved = view.from;
      seen.view = shown.view; seen.text = byId("view").innerText; seen.foot = byId("range").textContent;
      const lane = lanes[spans.lane[wait]], time = timeIn(lane, view.range.from, view.range.to); seen.waits = time.waited / (view.range.to - view.range.from);
      seen.once = timeIn({spans: [wait, wait]}, view.range.from, view.range.to).waited === cyclesOf(wait);
      const top = byId("top").getBoundingClientRect(), at = x => ({clientX: top.left + x, clientY: top.top + OVERVIEW + 8, bubbles: true, pointerId: 1});
      pointer("pointerdown", at(100), byId("top")); pointer("pointermove", at(200), byId("top")); pointer("pointerup", at(200), byId("top")); await settle();
      seen.axis = [Math.abs(view.range.from - timeAt(100)) < 1e-6, Math.abs(view.range.to - timeAt(200)) < 1e-6, view.from];
      seen.all = lanes.map(one => { const t = timeIn(one, 0, length), busy = new Uint8Array(Math.ceil(length)); for (const i of one.spans) if (![WAIT, PENDING].includes(spans.kind[i])) busy.fill(1, Math.round(spans.begin[i]), Math.round(spans.end[i])); return Math.abs(t.busy - busy.reduce((a, b) => a + b)) / length; });
      key("Escape"); seen.dropped = view.range;
      select(wait); key("m"); seen.m = view.range.to === spans.end[wait]; select(neighbour(wait, 2)); key("]"); seen.longer = [view.range.from === spans.begin[wait], view.range.to === spans.end[view.selected]];
    """,
    )
    assert seen["snapped"] == [True, True] and seen["selected"] == -1 and seen["moved"] == 0 and seen["view"] == "range"
    assert "LENGTH" in seen["text"].upper() and "warpgroup 1" in seen["text"] and "measured" in seen["foot"]
    assert seen["waits"] == 1 and seen["once"] and seen["axis"] == [True, True, 0] and max(seen["all"]) < 0.02
    assert seen["dropped"] is None and seen["m"] and seen["longer"] == [True, True]


def test_the_address_says_what_is_seen_and_opens_it(page):
    seen = acted(
        page,
        """
      seen.view = [view.from, view.to]; seen.span = view.selected; seen.range = view.range; seen.search = byId("search").value; seen.shown = shown.view;
      const asked = new URLSearchParams(address()); seen.again = Object.fromEntries(asked);
      writeAddress(); await new Promise(done => setTimeout(done, 400)); seen.hash = location.hash.length > 20;
    """,
        at="#from=2000&to=4000&span=15&search=barrier&range=2100-2500.5&view=path",
    )
    assert (
        seen["view"] == [2000, 4000] and seen["span"] == 15 and seen["search"] == "barrier"
    ), "the view is what is asked"
    assert seen["range"] == {"from": 2100, "to": 2500.5} and seen["shown"] == "path" and seen["hash"]
    assert seen["again"] == {
        "from": "2000",
        "to": "4000",
        "span": "15",
        "range": "2100.0-2500.5",
        "search": "barrier",
        "view": "path",
    }
    alone = acted(
        page,
        "seen.of = spans.count; seen.sees = spans.end[view.selected] > view.from && spans.begin[view.selected] < view.to;",
        "#span=600",
    )
    assert alone["sees"], f"{alone} without a view, it goes to the span"


def test_a_roofline_is_drawn_to_scale(page):
    seen = acted(
        page,
        """
      showView("roofline"); const at = rooflineOf(); seen.x = at.x; seen.y = at.y; seen.peak = at.peak; seen.limits = at.limits.map(limit => [limit.name, limit.rate / at.y]);
      const here = document.querySelector(".plot .here"), memory = document.querySelector(".plot .memory"), n = (node, name) => Number(node.getAttribute(name));
      seen.below = n(here, "cy") > 0; seen.rises = n(memory, "y2") < n(memory, "y1"); seen.text = byId("view").innerText;
      const decade = n(memory, "x2") - n(memory, "x1") ; seen.slope = decade > 0;
      data.flops = 0; refill(); seen.none = byId("view").innerText;
    """,
    )
    assert (
        seen["x"] == 750
        and seen["peak"] == 3.35e12
        and seen["y"] > 0
        and seen["below"]
        and seen["rises"]
        and seen["slope"]
    )
    assert seen["limits"][0][0] == "f16 matrix products" and abs(seen["limits"][0][1] - 1 / 0.71) < 1e-3
    assert "750" in seen["text"] and "no arithmetic" in seen["none"]


def test_another_run_stands_beside_this_one(page, folder):
    text = page.read_text(encoding="utf-8")
    theirs = data_of(page)
    theirs["ns"] *= 2
    theirs["kernel_text"] = [[number + 5, line] for number, line in theirs["kernel_text"]]
    for file in theirs["files"]:
        file["lines"] = [[number + 5, line] for number, line in file["lines"]]
    for place in theirs["places"]:
        place["frames"] = [[file, line + 5] for file, line in place["frames"]]
    theirs["lines"][0]["busy"] += 1000
    given = json.dumps(theirs).replace("<", "\\u003c")
    copy = folder / "beside.html"
    copy.write_text(
        text.replace('id="other">null<', 'id="other">' + given.replace("\\\\", "\\") + "<"), encoding="utf-8"
    )
    seen = acted(
        copy,
        """
      showView("compare"); await settle(); seen.text = byId("view").innerText; const canvas = document.querySelector("canvas.both");
      const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data; const found = new Set(); for (let i = 0; i < d.length; i += 4) found.add([d[i], d[i + 1], d[i + 2]].join()); seen.colors = [...found];
      seen.lines = [...document.querySelectorAll("#view .sortable tbody tr")].map(row => [...row.cells].map(cell => cell.innerText));
      await readOther(new File(["<html>"], "nothing.html")); await new Promise(done => setTimeout(done, 50)); seen.wrong = document.querySelector("#view .wrong").textContent;
      const same = dataOfPage(document.documentElement.outerHTML.replace("seen.text", "")); seen.again = same.kernel;
    """,
    )
    assert "This run is 2.00 × faster than the other" in seen["text"] and "47,111,219" in seen["colors"]
    assert all(line[1] == line[2] for line in seen["lines"][1:]), "lines that moved are matched by their text"
    assert seen["lines"][0][3].startswith("−") and "no page" in seen["wrong"] and seen["again"] == "matmul"


def test_it_asks_no_network_even_when_a_script_does(page):
    asked = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        seen = acted(
            page,
            f"""
          const there = "http://127.0.0.1:{server.server_port}/";
          seen.before = performance.getEntriesByType("resource").length;
          seen.fetched = await fetch(there + "fetch").then(() => "came", () => "refused");
          const image = new Image(); seen.image = await new Promise(done => {{ image.onload = () => done("came"); image.onerror = () => done("refused"); image.src = there + "image"; }});
        """,
        )
    finally:
        server.shutdown()
        server.server_close()
    assert seen == {"before": 0, "fetched": "refused", "image": "refused"} and not asked


def test_what_is_drawn_is_bounded_by_pixels_not_by_spans(folder):
    seen = acted(
        folder / "large_timeline.html",
        """
      seen.count = spans.count; seen.rows = lanes.reduce((sum, lane) => sum + lane.rows.length, 0); seen.width = layout.width; seen.drawn = [];
      for (const part of [1, .5, .1, .01, .001]) { setView(0, length * part); await settle(); seen.drawn.push(view.drawn); }
      type("wait"); await settle(); seen.marked = [view.marked.hits.length, view.drawn];
    """,
    )
    assert seen["count"] > 200_000
    bound = 2.2 * (seen["rows"] + 7) * seen["width"]
    assert all(0 < drawn < bound for drawn in seen["drawn"]), (seen, bound)
    assert seen["marked"][0] > 20_000 and seen["marked"][1] < 2 * bound


def test_the_trace_is_json_whose_slices_of_a_track_lie_apart(folder):
    trace = json.loads((folder / "toy_timeline.json").read_text(encoding="utf-8"))
    events, ends = trace["traceEvents"], {}
    slices = sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"])
    assert len(slices) > 500
    for event in slices:
        track = event["pid"], event["tid"], event["cat"] == "pending"  # which lies in its phase
        assert event["dur"] >= 0 and event["ts"] >= ends.get(track, 0) - 1e-9, event
        ends[track] = event["ts"] + event["dur"]
    flows = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
    assert flows["s"].keys() == flows["f"].keys() and len(flows["s"]) > 100
    for one in [*flows["s"].values(), *flows["f"].values()]:
        assert any(
            (e["pid"], e["tid"]) == (one["pid"], one["tid"])
            and e["ts"] - 1e-9 <= one["ts"] <= e["ts"] + e["dur"] + 1e-9
            for e in slices
        )
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in slices} <= named
