"use strict";
// What the page knows: the columns of spans as typed arrays, which row of its lane each span is drawn in, who ended
// whom, and how much time each source line had. Nothing here draws.
const data = JSON.parse(document.getElementById("data").textContent);
const [WORK, WAIT, COPY_IN, COPY_OUT, MULTIPLY, PHASE, PENDING] = [0, 1, 2, 3, 4, 5, 6];
const KINDS = ["work", "wait", "copy in", "copy out", "multiply", "phase", "arrivals pending"];
const [THREAD, BARRIER, SLOT, ENGINE, UNIT] = [0, 1, 2, 3, 4], MOST_ROWS = 12;
const spans = {
  count: data.spans.begin.length,
  lane: Int32Array.from(data.spans.lane), kind: Uint8Array.from(data.spans.kind),
  begin: Float64Array.from(data.spans.begin), end: Float64Array.from(data.spans.end),
  place: Int32Array.from(data.spans.place), line: Int32Array.from(data.spans.line),
  slot: Int32Array.from(data.spans.slot), by: Int32Array.from(data.spans.by), what: Int32Array.from(data.spans.what),
};
delete data.spans;
const lanes = data.lanes, length = Math.max(1, data.length, spans.count ? spans.end.reduce((a, b) => Math.max(a, b)) : 0);
const whatOf = i => data.texts[spans.what[i]];
const laneName = l => lanes[l].group + (lanes[l].group && lanes[l].name ? ", " : "") + lanes[l].name;
const isEnded = i => spans.kind[i] === WAIT || spans.kind[i] === PHASE || spans.kind[i] === PENDING;  // by another; else that one issued it
const cyclesOf = i => spans.end[i] - spans.begin[i];

const grouped = n => n.toLocaleString("en-US", {maximumFractionDigits: Math.abs(n) < 10 ? 2 : Math.abs(n) < 100 ? 1 : 0});
const microseconds = cycles => cycles / data.clock_hz * 1e6;
function digits(n) {
  const whole = n ? Math.floor(Math.log10(Math.abs(n))) + 1 : 0;
  return n.toFixed(Math.min(6, Math.max(0, 3 - whole)));
}
const microsText = cycles => digits(microseconds(cycles)) + " \u00b5s";
const timeText = ns => ns >= 1e6 ? digits(ns / 1e6) + " ms" : ns >= 1e3 ? digits(ns / 1e3) + " \u00b5s" : digits(ns) + " ns";
const bothText = cycles => grouped(cycles) + " cycles (" + microsText(cycles) + ")";
const percent = share => (share * 100).toFixed(share < 0.0995 ? 1 : 0) + " %";

// The first of these spans, none of which overlap, that ends after t; the first that begins at t or later.
function firstEndingAfter(list, t, from = 0) {
  let low = from, high = list.length;
  while (low < high) { const mid = (low + high) >> 1; if (spans.end[list[mid]] > t) high = mid; else low = mid + 1; }
  return low;
}
function firstFrom(list, t, from = 0) {
  let low = from, high = list.length;
  while (low < high) { const mid = (low + high) >> 1; if (spans.begin[list[mid]] >= t) high = mid; else low = mid + 1; }
  return low;
}

// A row's spans with sums of their time by kind, from which a pixel that holds many spans has its colour.
function makeRow(list) {
  const ids = Int32Array.from(list), sums = KINDS.map(() => new Float64Array(ids.length + 1));
  for (let n = 0; n < ids.length; ++n)
    for (let k = 0; k < sums.length; ++k) sums[k][n + 1] = sums[k][n] + (spans.kind[ids[n]] === k ? cyclesOf(ids[n]) : 0);
  return {ids, sums};
}

// Spans of a lane that overlap are in rows below each other. Past MOST_ROWS they are counted, not drawn.
function placeInRows() {
  const byLane = lanes.map(() => []);
  for (let i = 0; i < spans.count; ++i) byLane[spans.lane[i]].push(i);
  lanes.forEach((lane, l) => {
    const order = byLane[l].sort((a, b) => spans.begin[a] - spans.begin[b] || a - b), rows = [], ends = [];
    lane.spans = Int32Array.from(order);
    lane.hidden = 0;
    for (const i of order) {
      let r = lane.kind === BARRIER ? (spans.kind[i] === PENDING ? 1 : 0) : ends.findIndex(end => end <= spans.begin[i] + 0.005);
      if (r < 0) r = ends.length;
      if (r >= MOST_ROWS) { ++lane.hidden; spans.row[i] = MOST_ROWS - 1; continue; }
      while (r >= rows.length) rows.push([]);
      rows[r].push(i);
      ends[r] = spans.end[i];
      spans.row[i] = r;
    }
    lane.rows = (rows.length ? rows : [[]]).map(makeRow);
    lane.busy = order.reduce((sum, i) => sum + (spans.kind[i] === WAIT || spans.kind[i] === PENDING ? 0 : cyclesOf(i)), 0);
    lane.slot = order.length && (lane.kind === SLOT || lane.kind === BARRIER) ? spans.slot[order[order.length - 1]] : -1;
    lane.waited = order.reduce((sum, i) => sum + (spans.kind[i] === WAIT ? cyclesOf(i) : 0), 0);
    lane.life = order.length ? order.reduce((last, i) => Math.max(last, spans.end[i]), 0) - spans.begin[order[0]] : 0;  // a thread's: from its first span to its last
  });
}
spans.row = new Int32Array(spans.count);
placeInRows();

// Of each span those that it ended or issued.
const heirs = {start: new Int32Array(spans.count + 1), ids: new Int32Array(spans.count)};
for (let i = 0; i < spans.count; ++i) if (spans.by[i] >= 0) ++heirs.start[spans.by[i] + 1];
for (let i = 0; i < spans.count; ++i) heirs.start[i + 1] += heirs.start[i];
{
  const at = heirs.start.slice();
  for (let i = 0; i < spans.count; ++i) if (spans.by[i] >= 0) heirs.ids[at[spans.by[i]]++] = i;
}
const heirsOf = i => heirs.ids.subarray(heirs.start[i], heirs.start[i + 1]);

// When it was that `by[i]` ended, or issued, span i.
function momentOf(i) {
  const from = spans.by[i];
  return isEnded(i) && spans.end[from] <= spans.end[i] + 0.005 ? spans.end[from] : spans.begin[from];
}

function neighbour(i, step) {
  const list = lanes[spans.lane[i]].spans;
  let at = firstFrom(list, spans.begin[i]);
  while (list[at] !== i) ++at;
  return at + step >= 0 && at + step < list.length ? list[at + step] : -1;
}
// What held span i up before `by` did: the wait in its lane that ended as it began.
function waitBefore(i) {
  for (let before = neighbour(i, -1), n = 0; before >= 0 && n < 8; before = neighbour(before, -1), ++n)
    if (spans.kind[before] === WAIT) return before;
  return -1;
}
// From what ended a span back to what held that up, and so on: [from, to] of each hop, at most `most`.
function chainOf(i, most) {
  const hops = [], seen = new Set([i]);
  for (let at = i; hops.length < most;) {
    let from = spans.by[at];
    if (from < 0) from = waitBefore(at);
    if (from < 0 || seen.has(from)) break;
    hops.push([from, at, spans.by[at] === from]);
    seen.add(from);
    at = from;
  }
  return hops;
}

// Sources: 0 is the kernel's text, the others are files of the user's Python. Of each its lines, and of each line the
// spans' time.
const sources = [{name: data.kernel_path, short: "kernel text", lines: data.kernel_text}]
  .concat(data.files.map(file => ({name: file.name, short: file.name.split("/").pop(), lines: file.lines})));
const framesOf = place => place < 0 ? [] : data.places[place].frames;
function linesOf(i) {
  const found = framesOf(spans.place[i]).map(([file, line]) => [file + 1, line]);
  if (spans.line[i]) found.push([0, spans.line[i]]);
  return found;
}
function sumLines() {
  sources.forEach(source => { source.time = new Map(); });
  const cells = new Map();  // of a place and a line of the text: spans with the same two have the same lines
  for (let i = 0; i < spans.count; ++i) {
    if (![THREAD, ENGINE].includes(lanes[spans.lane[i]].kind)) continue;  // what threads and engines did once more
    const key = spans.place[i] * 1e6 + spans.line[i];
    if (!cells.has(key)) {
      const mine = new Map();
      for (const [source, line] of linesOf(i)) mine.set(source + ":" + line, [source, line]);
      cells.set(key, [...mine.values()].map(([source, line]) => {
        const time = sources[source].time;
        if (!time.has(line)) time.set(line, {busy: 0, waited: 0, spans: 0});
        return time.get(line);
      }));
    }
    for (const cell of cells.get(key)) { cell[spans.kind[i] === WAIT ? "waited" : "busy"] += cyclesOf(i); ++cell.spans; }
  }
}
sumLines();
const textOfLine = (source, line) => { const found = sources[source].lines.find(l => l[0] === line); return found ? found[1].trim() : ""; };
const bestLine = i => linesOf(i).find(([source]) => source > 0 && sources[source].lines.length) || linesOf(i)[0];
function placeText(i) {
  const best = bestLine(i);
  return best ? (best[0] ? sources[best[0]].short + ":" : "line ") + best[1] : "";
}

// Findings of another run than this one have no time: they are put where their line and agent are first met.
function spanOfFinding(finding) {
  for (const side of finding.sides.slice().reverse()) {
    const here = [];
    for (let i = 0; i < spans.count && here.length < 5000; ++i) if (side.line && spans.line[i] === side.line) here.push(i);
    if (!here.length) continue;
    return here.find(i => side.agent && side.agent.includes(lanes[spans.lane[i]].name)) ?? here[0];
  }
  return -1;
}
// One for those that differ only in the block or the object.
{
  const folded = new Map();
  for (const finding of data.findings) {
    const key = finding.code + ":" + finding.sides.map(side => side.line).join(":");
    if (folded.has(key)) {
      const first = folded.get(key);
      ++first.times;
      if (first.span < 0 && finding.span >= 0 && first.at >= 0) { first.span = finding.span; first.at = finding.at; }
      continue;
    }
    finding.times = 1;
    if (finding.span < 0) finding.span = spanOfFinding(finding);
    if (finding.at < 0 && finding.span >= 0) { finding.at = spans.begin[finding.span]; finding.placed = true; }
    folded.set(key, finding);
  }
  data.findings = [...folded.values()];
}
