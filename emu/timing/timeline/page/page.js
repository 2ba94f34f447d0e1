// What a reader does: zoom, pan, point, select, search, fold; by mouse and by keyboard.
let waiting = false;
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawNow);
}
// The address says what is seen, so that it can be kept and sent; not while it moves.
let addressing = 0;
function address() {
  const asked = new URLSearchParams(), whole = t => String(Math.round(t));
  if (view.to - view.from < length - .5) { asked.set("from", whole(view.from)); asked.set("to", whole(view.to)); }
  if (view.selected >= 0) asked.set("span", view.selected);
  if (view.range) asked.set("range", view.range.from.toFixed(1) + "-" + view.range.to.toFixed(1));
  if (byId("search").value.trim()) asked.set("search", byId("search").value.trim());
  if (shown.view) asked.set("view", shown.view);
  else if (shown.source >= 0 && shown.source !== shown.first) asked.set("source", sources[shown.source].short);
  return asked.toString();
}
function writeAddress() {
  clearTimeout(addressing);
  addressing = setTimeout(() => { const now = address(); if (now !== location.hash.slice(1)) { try { history.replaceState(null, "", "#" + now); } catch { /* a document without an address of its own */ } } }, 250);
}
function drawNow() {
  const began = performance.now();
  waiting = false;
  view.drawn = 0;
  drawTop();
  drawLanes();
  document.body.dataset.drawn = view.drawn;
  document.body.dataset.ms = (performance.now() - began).toFixed(1);
  document.body.dataset.view = view.from.toFixed(1) + " " + view.to.toFixed(1);
  if (shown.view === "compare") drawOther();
  writeAddress();
  byId("range").textContent = (view.range ? "measured " + rangeText() + ": " + bothText(view.range.to - view.range.from) + "  \u00b7  view: " : "") + "cycles " + grouped(view.from) + " to " + grouped(view.to) + ", " + microsText(view.to - view.from);
}
function setView(from, to) {
  const wide = Math.min(length, Math.max(Math.min(8, length), to - from)), start = Math.min(Math.max(0, from), length - wide);
  view.from = start; view.to = start + wide;
  draw();
}
const zoom = (t, factor) => setView(t - (t - view.from) * factor, t + (view.to - t) * factor);
const pan = cycles => setView(view.from + cycles, view.to + cycles);
const fit = () => setView(0, length);
const middle = () => view.selected >= 0 && spans.end[view.selected] > view.from && spans.begin[view.selected] < view.to
  ? (Math.max(view.from, spans.begin[view.selected]) + Math.min(view.to, spans.end[view.selected])) / 2 : (view.from + view.to) / 2;

function select(i) {
  view.selected = i;
  document.body.dataset.selected = i;
  fillDetails();
  lightLines(i, true);
  document.querySelectorAll("#labels .on").forEach(node => node.classList.remove("on"));
  if (i >= 0 && lanes[spans.lane[i]].node) lanes[spans.lane[i]].node.classList.add("on");
  draw();
}
// Select it and see to it that it can be seen, in time and from top to bottom.
function goTo(i) {
  const lane = lanes[spans.lane[i]], wide = view.to - view.from, pane = byId("pane");
  if (!lane.visible) fold(lane.group);
  if (spans.end[i] < view.from + wide * .02 || spans.begin[i] > view.to - wide * .02 || cyclesOf(i) > wide)
    setView((spans.begin[i] + spans.end[i] - Math.max(wide, cyclesOf(i) * 1.2)) / 2, (spans.begin[i] + spans.end[i] + Math.max(wide, cyclesOf(i) * 1.2)) / 2);
  else if (cyclesOf(i) * layout.width / wide < 4) setView((spans.begin[i] + spans.end[i]) / 2 - cyclesOf(i) * 20, (spans.begin[i] + spans.end[i]) / 2 + cyclesOf(i) * 20);
  const box = rectOf(i);
  if (box.y < pane.scrollTop || box.y + box.h > pane.scrollTop + layout.height) pane.scrollTop = box.y - layout.height / 2;
  if (document.activeElement.dataset.lane !== undefined) lane.node.focus({preventScroll: true});
  view.hover = -1;
  select(i);
}
function spanAt(x, y) {
  const t = timeAt(x), slack = 2.5 * (view.to - view.from) / layout.width;
  for (const lane of lanes) {
    if (!lane.visible || y < lane.top || y >= lane.top + lane.height) continue;
    const row = lane.rows[Math.min(lane.rows.length - 1, rowAt(lane, y - lane.top))], ids = row.ids, n = firstEndingAfter(ids, t);
    if (n < ids.length && spans.begin[ids[n]] <= t) return ids[n];
    const near = [n - 1, n].filter(k => k >= 0 && k < ids.length).map(k => [Math.max(spans.begin[ids[k]] - t, t - spans.end[ids[k]]), ids[k]]).sort((a, b) => a[0] - b[0])[0];
    return near && near[0] <= slack ? near[1] : -1;
  }
  return -1;
}
function hover(i, x, y) {
  if (i !== view.hover) { view.hover = i; document.body.dataset.hover = i; lightLines(i >= 0 ? i : view.selected, false); draw(); }
  placeTip(x, y);
}
function fold(group) {
  if (!layout.folded.delete(group)) layout.folded.add(group);
  resize();
}

// Spans that are marked: all others are faint. `of` tells them apart by number.
let marks = 0;
function mark(of, label, where) {
  if (!of) { view.marked = null; byId("found").hidden = true; lightMarked(); draw(); return; }
  const hits = [];
  let time = 0;
  for (let i = 0; i < spans.count; ++i) if (of(i)) { hits.push(i); time += cyclesOf(i); }
  const chosen = new Uint8Array(spans.count);
  for (const i of hits) chosen[i] = 1;
  hits.sort((a, b) => spans.begin[a] - spans.begin[b]);
  view.marked = {number: ++marks, hits, rows: lanes.map(lane => lane.rows.map(row => makeRow(row.ids.filter(i => chosen[i])))), ...where};
  byId("found").hidden = false;
  byId("found-text").textContent = label + ": " + (hits.length ? grouped(hits.length) + " spans, " + bothText(time) + " together" : "nothing");
  lightMarked();
  draw();
}
function markLine(source, line) {
  if (view.marked && view.marked.source === source && view.marked.line === line) { mark(null); return; }
  byId("search").value = "";
  mark(i => linesOf(i).some(at => at[0] === source && at[1] === line), (source ? sources[source].short + ":" : "line ") + line, {source, line});
}
// A number, or FILE:NUMBER, is a line; any other text is part of what a span did, or of the line that did it.
function search(text) {
  const query = text.trim().toLowerCase();
  if (!query) { mark(null); return; }
  const line = /^(?:(.*):)?(?:line )?(\d+)$/.exec(query), known = new Map();
  mark(i => {
    const key = spans.what[i] + ":" + spans.line[i] + ":" + spans.place[i];
    if (!known.has(key)) known.set(key, line
      ? linesOf(i).some(([s, n]) => n === Number(line[2]) && (!line[1] || sources[s].name.toLowerCase().endsWith(line[1])))
      : whatOf(i).toLowerCase().includes(query) || linesOf(i).some(([s, n]) => textOfLine(s, n).toLowerCase().includes(query)));
    return known.get(key);
  }, "\u201c" + text.trim() + "\u201d", {});
}
function nextHit(step) {
  const hits = view.marked ? view.marked.hits : [];
  if (!hits.length) return;
  const at = hits.indexOf(view.selected);
  goTo(hits[at >= 0 ? (at + step + hits.length) % hits.length : step > 0 ? Math.min(firstFrom(hits, view.from), hits.length - 1) : hits.length - 1]);
}
function clear() {
  byId("search").value = "";
  if (view.marked) mark(null);
  else if (view.range) { view.range = null; refill(); draw(); }
  else select(-1);
}

// The lane of the selection, else the one that has the focus, else the first.
function laneAtHand() {
  const node = document.activeElement && document.activeElement.dataset.lane;
  return node !== undefined && node !== null ? Number(node) : view.selected >= 0 ? spans.lane[view.selected] : lanes.findIndex(lane => lane.visible && lane.spans.length);
}
function stepSpan(step) {
  const l = laneAtHand();
  if (l < 0 || !lanes[l].spans.length) return;
  if (view.selected >= 0 && spans.lane[view.selected] === l) {
    const next = neighbour(view.selected, step);
    if (next >= 0) goTo(next);
  } else {
    goTo(lanes[l].spans[Math.min(firstFrom(lanes[l].spans, view.selected >= 0 ? spans.begin[view.selected] : view.from), lanes[l].spans.length - 1)]);
  }
}
function stepLane(step) {
  const t = view.selected >= 0 ? (spans.begin[view.selected] + spans.end[view.selected]) / 2 : view.from;
  for (let l = laneAtHand() + step; l >= 0 && l < lanes.length; l += step) {
    if (!lanes[l].visible || !lanes[l].spans.length) continue;
    const list = lanes[l].spans, n = Math.min(firstFrom(list, t), list.length - 1);
    goTo(list[n > 0 && spans.end[list[n - 1]] > t ? n - 1 : n]);
    return;
  }
}
// In the help's order; those without words belong to the one before.
const KEYS = new Map([
  ["ArrowLeft", ["\u2190 \u2192", "the span before and after, in its lane", event => event.shiftKey ? pan((view.from - view.to) / 5) : stepSpan(-1)]],
  ["ArrowRight", ["", "", event => event.shiftKey ? pan((view.to - view.from) / 5) : stepSpan(1)]],
  ["ArrowUp", ["\u2191 \u2193", "the lane above and below, at that time", () => stepLane(-1)]],
  ["ArrowDown", ["", "", () => stepLane(1)]],
  ["Tab", ["Tab", "the next lane, for the arrows", null]],
  ["Enter", ["Enter", "what ended this wait, or issued this operation", () => { if (view.selected >= 0 && spans.by[view.selected] >= 0) goTo(spans.by[view.selected]); }]],
  ["+", ["+ \u2212", "closer and farther; so does the wheel", () => zoom(middle(), .6)]],
  ["=", ["", "", () => zoom(middle(), .6)]],
  ["-", ["", "", () => zoom(middle(), 1 / .6)]],
  ["z", ["z", "as close as the selected span is long", () => { const i = view.selected; if (i >= 0) setView(spans.begin[i] - cyclesOf(i) * .2, spans.end[i] + cyclesOf(i) * .2); }]],
  ["0", ["0", "all of it; so does a double click", fit]],
  ["Home", ["Home End", "the begin and the end", () => pan(-length)]],
  ["End", ["", "", () => pan(length)]],
  ["m", ["m", "measure the selected span, or all in view", measureAtHand]],
  ["[", ["[ ]", "the measured range begins, ends, where the selected span does", () => moveEdge("from")]],
  ["]", ["", "", () => moveEdge("to")]],
  ["c", ["c", "mark the path back from the last span", togglePath]],
  ["/", ["/", "search: what a span did, a line's text, a line's number", () => byId("search").focus()]],
  ["n", ["n p", "the next and the previous of what is marked", () => nextHit(1)]],
  ["p", ["", "", () => nextHit(-1)]],
  ["Escape", ["Esc", "unmark, then drop the range, then unselect", clear]],
  ["?", ["?", "this help", () => toggleHelp()]],
]);
function toggleHelp() { const help = byId("help"); if (help.open) help.close(); else help.showModal(); }
function fillHelp() {
  for (const [sign, told] of [...KEYS.values()].concat([["Shift \u2190 \u2192", "move in time; so does dragging, and Shift with the wheel"], ["Shift, drag", "measure a range; so does a drag along the time axis"]])) {
    if (!sign) continue;
    byId("keys").append(make("dt", "", sign), make("dd", "", told));
  }
}
function pressed(event) {
  const typing = event.target === byId("search");
  if (typing && event.key === "Enter") { nextHit(event.shiftKey ? -1 : 1); return; }
  if (typing && event.key === "Escape") { clear(); byId("search").blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = KEYS.get(event.key), pressable = event.target.tagName === "BUTTON" && event.target.dataset.lane === undefined;
  if (!key || !key[2] || (byId("help").open && event.key !== "?") || (event.key === "Enter" && pressable)) return;
  event.preventDefault();
  key[2](event);
}

function listenLanes() {
  const canvas = byId("lanes"), pane = byId("pane");
  let drag = null;
  const at = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top + pane.scrollTop]; };
  const wheel = event => {
    event.preventDefault();
    const [x] = at(event), unit = event.deltaMode === 1 ? 16 : 1, perPixel = (view.to - view.from) / layout.width;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) * unit * perPixel);
    else zoom(timeAt(x), Math.exp(Math.max(-60, Math.min(60, event.deltaY * unit)) * .004));
  };
  canvas.addEventListener("wheel", wheel, {passive: false});
  byId("top").addEventListener("wheel", wheel, {passive: false});
  canvas.addEventListener("pointerdown", event => { const [x, y] = at(event); drag = {x: event.clientX, y: event.clientY, from: view.from, top: pane.scrollTop, moved: false, measures: event.shiftKey ? snapped(x, y) : null}; try { canvas.setPointerCapture(event.pointerId); } catch { /* made by a script */ } });
  canvas.addEventListener("pointermove", event => {
    if (!drag) { const [x, y] = at(event); hover(spanAt(x, y), event.clientX, event.clientY); return; }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
    if (!drag.moved) return;
    hover(-1, 0, 0);
    if (drag.measures !== null) { const [x, y] = at(event); setRange(drag.measures, snapped(x, y)); return; }
    canvas.classList.add("dragging");
    const shift = dx * (view.to - view.from) / layout.width;
    setView(drag.from - shift, drag.from - shift + view.to - view.from);
    pane.scrollTop = drag.top - dy;
  });
  canvas.addEventListener("pointerup", event => {
    if (drag && !drag.moved) { const [x, y] = at(event); select(spanAt(x, y)); }
    if (drag && drag.moved && drag.measures !== null) showView("range");
    drag = null;
    canvas.classList.remove("dragging");
  });
  canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("dragging"); });
  canvas.addEventListener("pointerleave", () => hover(-1, 0, 0));
  canvas.addEventListener("dblclick", fit);
  pane.addEventListener("scroll", draw);
}
// On the overview a drag moves the window, on the axis it measures, a click on a finding goes there.
function listenTop() {
  const top = byId("top");
  let drag = null;
  const to = event => { const t = (event.clientX - top.getBoundingClientRect().left) / layout.width * length, half = (view.to - view.from) / 2; setView(t - half, t + half); };
  top.addEventListener("pointerdown", event => {
    const box = top.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    try { top.setPointerCapture(event.pointerId); } catch { /* made by a script */ }
    drag = {over: y < OVERVIEW, x: event.clientX, from: timeAt(x), moved: false};
    const flag = y < OVERVIEW ? null : data.findings.find(finding => finding.span >= 0 && Math.abs(xOf(finding.at) - x) < 7 && y > OVERVIEW + AXIS - 12 && y < OVERVIEW + AXIS + 3);
    if (flag) { drag = null; goTo(flag.span); } else if (drag.over) to(event);
  });
  top.addEventListener("pointermove", event => {
    if (!drag) return;
    if (drag.over) { to(event); return; }
    if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
    if (drag.moved) setRange(drag.from, timeAt(event.clientX - top.getBoundingClientRect().left));
  });
  for (const over of ["pointerup", "pointercancel"]) top.addEventListener(over, () => { if (drag && drag.moved) showView("range"); drag = null; });
  top.addEventListener("dblclick", fit);
}

// As wide as the longest name, but no more than a third of the picture.
function widthOfLabels() {
  const pen = overview.canvas.getContext("2d");
  pen.font = "12px system-ui, \"Segoe UI\", \"DejaVu Sans\", sans-serif";
  const widest = Math.max(...lanes.map(lane => pen.measureText(lane.name).width + (lane.kind === THREAD ? 74 : 44)), ...data.strips.map(strip => pen.measureText(strip.name).width - 10), 0);
  return Math.round(Math.max(150, Math.min(46 + widest, byId("stage").clientWidth / 3)));
}
function resize() {
  byId("stage").style.setProperty("--labels", widthOfLabels() + "px");
  byId("head").style.height = topHeight() + "px";
  layout.height = byId("pane").clientHeight;
  layOut();
  fillLabels();
  byId("tall").style.height = Math.max(layout.total, layout.height) + "px";
  layout.width = Math.max(80, byId("pane").clientWidth - byId("labels").offsetWidth);
  const top = byId("top-labels");
  top.replaceChildren();
  for (const [text, y] of [["all", 4], ["cycles", OVERVIEW + 1], ["\u00b5s", OVERVIEW + 17]].concat(data.strips.map((strip, s) => [strip.name, OVERVIEW + AXIS + s * STRIP + 3]))) {
    const node = make("span", "", text);
    node.title = text;
    node.style.top = y + "px";
    top.append(node);
  }
  overview.key = "";
  draw();
}
// PAGE.html#from=1200&to=2400&span=17&search=full opens there: the view is what was asked for, also where the span is
// outside of it; without one, the view goes to the span.
function openAsAsked() {
  const asked = new URLSearchParams(location.hash.slice(1)), number = name => asked.has(name) ? Number(asked.get(name)) : NaN;
  if (asked.get("search")) { byId("search").value = asked.get("search"); search(asked.get("search")); }
  if (asked.get("source")) { const s = sources.findIndex(source => source.tab && source.short === asked.get("source")); if (s >= 0) showSource(s); }
  const [begin, end] = (asked.get("range") || "").split("-").map(Number);
  if (begin >= 0 && end > begin) setRange(begin, end);
  const from = asked.has("from") ? number("from") : 0, to = asked.has("to") ? number("to") : length;
  const i = number("span"), is = Number.isInteger(i) && i >= 0 && i < spans.count, viewed = (asked.has("from") || asked.has("to")) && from >= 0 && to > from;
  if (is) goTo(i);
  if (viewed) setView(from, to);
  if (asked.has("view")) showView(asked.get("view"));
}
readTheme();
fillHead();
fillTabs();
shown.first = shown.source;
fillViews();
fillHelp();
fillLegend();
fillDetails();
resize();
listenLanes();
listenTop();
byId("search").addEventListener("input", event => search(event.target.value));
byId("unmark").addEventListener("click", () => { byId("search").value = ""; mark(null); });
byId("next-hit").addEventListener("click", () => nextHit(1));
byId("closer").addEventListener("click", () => zoom(middle(), .6));
byId("farther").addEventListener("click", () => zoom(middle(), 1 / .6));
byId("fit").addEventListener("click", fit);
byId("help-button").addEventListener("click", toggleHelp);
document.addEventListener("keydown", pressed);
byId("labels").addEventListener("focusin", event => {
  const l = event.target.dataset.lane;
  if (l !== undefined && (view.selected < 0 || spans.lane[view.selected] !== Number(l))) byId("said-lane").textContent = event.target.getAttribute("aria-label");
});
new ResizeObserver(resize).observe(byId("stage"));
new ResizeObserver(() => { if (shown.view === "compare") drawOther(); }).observe(byId("side"));
window.addEventListener("hashchange", openAsAsked);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); resize(); });
takeGivenOther();
openAsAsked();
drawNow();
document.body.dataset.ready = "yes";
