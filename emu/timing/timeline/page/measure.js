// A range of time that the reader measures, and the path back from the last span: both are computed from the spans of
// this page alone.
view.range = null;
const rangeText = () => grouped(view.range.from) + " to " + grouped(view.range.to);
function setRange(from, to) {
  const ends = [from, to].map(t => Math.min(length, Math.max(0, t))).sort((a, b) => a - b);
  view.range = ends[1] > ends[0] ? {from: ends[0], to: ends[1]} : null;
  draw();
}
// For the selected span, else for what is in view.
function measureAtHand() {
  const i = view.selected;
  if (i >= 0) setRange(spans.begin[i], spans.end[i]); else setRange(view.from, view.to);
  showView("range");
}
function moveEdge(edge) {
  const i = view.selected;
  if (i < 0) return;
  const before = view.range || {from: spans.begin[i], to: spans.end[i]};
  if (edge === "from") setRange(spans.begin[i], Math.max(before.to, spans.end[i]));
  else setRange(Math.min(before.from, spans.begin[i]), spans.end[i]);
  showView("range");
}
// An edge of a span near the pointer is meant exactly.
function snapped(x, y) {
  const t = timeAt(x), slack = 6 * (view.to - view.from) / layout.width;
  let best = t, least = slack;
  for (const lane of lanes) {
    if (!lane.visible || y < lane.top || y >= lane.top + lane.height) continue;
    const ids = lane.rows[Math.min(lane.rows.length - 1, rowAt(lane, y - lane.top))].ids, n = firstEndingAfter(ids, t - slack);
    for (let k = n; k < Math.min(ids.length, n + 3); ++k)
      for (const edge of [spans.begin[ids[k]], spans.end[ids[k]]])
        if (Math.abs(edge - t) < least) { least = Math.abs(edge - t); best = edge; }
  }
  return best;
}
function drawRange(context, top, height) {
  if (!view.range) return;
  const x0 = xOf(view.range.from), x1 = xOf(view.range.to);
  context.save();
  context.globalAlpha = .13; context.fillStyle = theme.kinds[COPY_IN];
  context.fillRect(x0, top, Math.max(1, x1 - x0), height);
  context.globalAlpha = .9;
  for (const x of [x0, x1]) context.fillRect(Math.round(x), top, 1, height);
  context.restore();
}

// How long, of a lane and a range, something other than a wait was on it, and a wait: each moment once.
function timeIn(lane, from, to) {
  const time = {busy: 0, waited: 0, spans: 0};
  let busyTo = from, waitedTo = from;
  for (const i of lane.spans) {
    if (spans.begin[i] >= to) break;
    if (spans.end[i] <= from || spans.kind[i] === PENDING) continue;
    const begin = Math.max(from, spans.begin[i]), end = Math.min(to, spans.end[i]);
    ++time.spans;
    if (spans.kind[i] === WAIT) { time.waited += Math.max(0, end - Math.max(begin, waitedTo)); waitedTo = Math.max(waitedTo, end); }
    else { time.busy += Math.max(0, end - Math.max(begin, busyTo)); busyTo = Math.max(busyTo, end); }
  }
  return time;
}
function stripIn(strip, from, to) {
  const n = strip.share.length, first = Math.floor(from / length * n), end = Math.min(n, Math.max(first + 1, Math.ceil(to / length * n)));
  let sum = 0;
  for (let k = first; k < end; ++k) sum += strip.share[k];
  return end > first ? sum / (end - first) : 0;
}

// From the last span of a thread back to the start: a wait goes on at what ended it, an operation at who issued it, and
// anything else at what its lane did before. What another SM did is not on this page: there the lane itself goes on.
// Each with the part of the time that it is on the path, from the end of the one before: what queued has that time.
function pathBack() {
  let at = -1;
  for (let i = 0; i < spans.count; ++i)
    if (lanes[spans.lane[i]].kind === THREAD && (at < 0 || spans.end[i] > spans.end[at])) at = i;
  const path = [], seen = new Set();
  let until = at < 0 ? 0 : spans.end[at];
  while (at >= 0 && !seen.has(at)) {
    seen.add(at);
    const by = spans.by[at], beside = lanes[spans.lane[at]].kind !== THREAD, jumps = by >= 0 && (isEnded(at) || beside) && !seen.has(by);
    const next = jumps ? by : beside ? -1 : neighbour(at, -1);
    const moment = jumps && isEnded(at) ? Math.max(spans.begin[at], momentOf(at)) : next >= 0 ? Math.min(spans.begin[at], spans.end[next]) : spans.begin[at];
    const from = Math.min(until, moment);
    path.push({span: at, cycles: until - from});
    until = from;
    at = next;
  }
  return path;
}
function togglePath() {
  if (view.marked && view.marked.path) { mark(null); return; }
  byId("search").value = "";
  const path = new Set(pathBack().map(part => part.span));
  mark(i => path.has(i), "path back from the last span", {path: true});
}
