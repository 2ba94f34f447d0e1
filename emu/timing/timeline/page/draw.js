// The canvases: lanes below, the time axis, the overview and the strips of the chip on top. What is drawn is bounded by
// the pixels of a row, whatever the number of spans: where several lie in one pixel, that shows how much of its
// time they had, and the colour of the kind that had most.
const byId = id => document.getElementById(id);
const view = {from: 0, to: length, hover: -1, selected: -1, marked: null, drawn: 0};
let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement), get = name => style.getPropertyValue(name).trim();
  theme = {patterns: new Map(), kinds: ["--work", "--wait", "--copy-in", "--copy-out", "--multiply", "--phase", "--phase"].map(get), slots: []};
  for (const name of ["paper", "card", "ink", "soft", "line", "cell", "focus", "bad", "warn", "on", "strip", "hatch"]) theme[name] = get("--" + name);
  for (let s = 0; s < 8; ++s) theme.slots.push(get("--slot" + s));
}
// A lane of a slot says whose it is; its spans say what happens to it.
const slotColor = slot => theme.slots[slot % theme.slots.length];
const colorOf = i => spans.slot[i] >= 0 && lanes[spans.lane[i]].kind !== SLOT ? slotColor(spans.slot[i]) : theme.kinds[spans.kind[i]];

function prepare(canvas, width, height) {
  const scale = window.devicePixelRatio || 1, w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
function hatchOf(context, color) {
  if (!theme.patterns.has(color)) {
    const scale = window.devicePixelRatio || 1, tile = document.createElement("canvas"), size = Math.round(6 * scale);
    tile.width = tile.height = size;
    const pen = tile.getContext("2d");
    pen.strokeStyle = color; pen.lineWidth = 1.1 * scale; pen.globalAlpha = .8;
    for (const shift of [-size, 0, size]) { pen.beginPath(); pen.moveTo(shift - 1, size + 1); pen.lineTo(shift + size + 1, -1); pen.stroke(); }
    const pattern = context.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    theme.patterns.set(color, pattern);
  }
  return theme.patterns.get(color);
}

// Where each lane is, from the top of the tall pane. A folded group is its head alone.
const HEAD = 24, LANE_GAP = 5, layout = {groups: [], total: 0, width: 600, height: 300, grown: 1};
const rowHeight = (lane, r) => (lane.kind === THREAD ? 22 : lane.kind === BARRIER ? (r === 1 ? 7 : 15) : lane.rows.length > 3 ? 13 : 16) * layout.grown;
const rowTop = (lane, r) => lane.kind === BARRIER ? (r === 1 ? rowHeight(lane, 0) : 0) : r * rowHeight(lane, r);
const rowAt = (lane, y) => lane.kind === BARRIER ? (y < rowHeight(lane, 0) ? 0 : 1) : Math.floor(y / rowHeight(lane, 0));
// Where there is room, rows are higher.
function layOut() {
  layout.grown = 1;
  layRows();
  layout.grown = Math.min(1.6, Math.max(1, (layout.height - 24) / layout.total));
  layRows();
}
function layRows() {
  let top = 0, group = null;
  layout.groups = [];
  lanes.forEach((lane, l) => {
    if (!group || group.name !== lane.group) {
      const before = layout.folded && layout.folded.has(lane.group);
      group = {name: lane.group, top, folded: before, lanes: []};
      layout.groups.push(group);
      top += HEAD;
    }
    group.lanes.push(l);
    lane.visible = !group.folded;
    lane.top = lane.visible ? top : group.top + 4;
    lane.height = lane.visible ? rowTop(lane, lane.rows.length - 1) + rowHeight(lane, lane.rows.length - 1) : HEAD - 8;
    if (lane.visible) top += lane.height + LANE_GAP;
  });
  layout.total = top + 8;
}
layout.folded = new Set();

const xOf = t => (t - view.from) / (view.to - view.from) * layout.width;
const timeAt = x => view.from + x / layout.width * (view.to - view.from);
function rectOf(i) {
  const lane = lanes[spans.lane[i]], h = lane.visible ? rowHeight(lane, spans.row[i]) : lane.height;
  return {x: xOf(spans.begin[i]), w: Math.max(1, xOf(spans.end[i]) - xOf(spans.begin[i])),
          y: lane.top + (lane.visible ? rowTop(lane, spans.row[i]) : 0), h: h - 1.5};
}

// A phase is paler, every other one more so, and ends with a mark; what has not arrived yet is as high as its share.
function drawPhase(context, i, box, labels) {
  const alpha = context.globalAlpha, color = colorOf(i);
  context.fillStyle = color;
  if (spans.kind[i] === PENDING) {
    const [, left, all] = /(\d+) of (\d+)/.exec(whatOf(i)) || [0, 1, 1], high = Math.max(1.5, box.h * left / all);
    context.globalAlpha = alpha * .75; context.fillRect(box.x, box.y + box.h - high, box.w > 3 ? box.w - .6 : box.w, high);
  } else {
    context.globalAlpha = alpha * (/phase \d*[13579]\b/.test(whatOf(i)) ? .34 : .2); context.fillRect(box.x, box.y, box.w, box.h);
    context.globalAlpha = alpha; context.fillRect(box.x + box.w - Math.min(2, box.w / 2), box.y, Math.min(2, box.w / 2), box.h);
    const from = Math.max(box.x, 0), fits = Math.floor((Math.min(box.x + box.w, layout.width) - from - 9) / 6.33), text = "phase " + (/phase (.*)/.exec(whatOf(i)) || ["", ""])[1];
    context.fillStyle = theme.ink;
    if (labels && box.h >= 11 && fits >= text.length) context.fillText(text, from + 4, box.y + box.h / 2);
    else if (labels && box.h >= 11 && fits >= text.length - 6) context.fillText(text.slice(6), from + 4, box.y + box.h / 2);
  }
  context.globalAlpha = alpha;
  ++view.drawn;
}
function drawSpan(context, i, box, labels) {
  if (spans.kind[i] === PHASE || spans.kind[i] === PENDING) { drawPhase(context, i, box, labels); return; }
  const waits = spans.kind[i] === WAIT, color = colorOf(i), alpha = context.globalAlpha;
  if (waits) {
    context.fillStyle = theme.cell; context.fillRect(box.x, box.y, box.w, box.h);
    context.fillStyle = box.w > 2.5 ? hatchOf(context, spans.slot[i] >= 0 ? color : theme.hatch) : theme.kinds[WAIT];
  } else {
    context.fillStyle = color;
  }
  context.fillRect(box.x, box.y, box.w > 3 ? box.w - .6 : box.w, box.h);
  if (!waits && spans.slot[i] >= 0 && box.w > 3) {
    context.fillStyle = lanes[spans.lane[i]].kind === SLOT ? slotColor(spans.slot[i]) : theme.kinds[spans.kind[i]]; context.fillRect(box.x, box.y + box.h - 2.5, box.w - .6, 2.5);
  }
  ++view.drawn;
  if (!labels || box.w < 34 || box.h < 11) return;
  const from = Math.max(box.x, 0), room = Math.min(box.x + box.w, layout.width) - from - 8, fits = Math.floor(room / 6.33);
  if (fits < Math.min(6, whatOf(i).length)) return;
  let text = whatOf(i);
  if (text.length > fits) text = text.slice(0, fits - 1) + "\u2026";
  const y = box.y + box.h / 2 + (waits ? 0 : -.5);
  if (waits) { context.globalAlpha = alpha * .82; context.fillStyle = theme.card; context.fillRect(from + 2, box.y + 2, Math.min(text.length * 6.33 + 5, room + 4), box.h - 4); context.globalAlpha = alpha; }
  context.fillStyle = waits ? theme.ink : theme.on;
  context.fillText(text, from + 4, y);
}

// Spans n to next of a row in one pixel: waits fill it, the rest stands in it as high as its share of the time.
function drawPixel(context, row, n, next, {x, y, h, scale}) {
  const share = row.sums.map(sum => Math.min(1, (sum[next] - sum[n]) * scale)), waits = share[WAIT];
  const busy = Math.min(1, share.reduce((sum, one) => sum + one) - waits);
  share[WAIT] = -1;
  const best = share.indexOf(Math.max(...share));
  if (waits > 0) {
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * Math.max(.3, Math.min(1, waits + busy));
    context.fillStyle = theme.kinds[WAIT]; context.fillRect(x, y, 1, h);
    context.globalAlpha = alpha;
  }
  if (busy > 0) {
    const high = Math.max(Math.min(2, h), busy * h);
    context.fillStyle = next === n + 1 ? colorOf(row.ids[n]) : theme.kinds[best];
    context.fillRect(x, y + h - high, 1, high);
  }
  ++view.drawn;
}

// The spans of one row between the view's ends. `scale` and `shift` lead from cycles to pixels.
function drawRow(context, row, place, labels) {
  const {y, h, scale, shift, width} = place, ids = row.ids, last = shift + width / scale;
  for (let n = firstEndingAfter(ids, shift); n < ids.length && spans.begin[ids[n]] < last;) {
    const i = ids[n], x = (spans.begin[i] - shift) * scale, w = cyclesOf(i) * scale;
    if (w >= 1) { drawSpan(context, i, {x, y, w, h}, labels); ++n; continue; }
    const column = Math.floor(x), ends = shift + (column + 1) / scale;
    let next = Math.max(n + 1, firstFrom(ids, ends, n));
    if (next > n + 1 && cyclesOf(ids[next - 1]) * scale >= 1) --next;
    drawPixel(context, row, n, next, {x: column, y, h, scale});
    n = next;
  }
}

function drawLanes() {
  const canvas = byId("lanes"), pane = byId("pane"), scroll = pane.scrollTop;
  const context = prepare(canvas, layout.width, layout.height);
  const scale = layout.width / (view.to - view.from);
  context.font = "10.5px ui-monospace, \"DejaVu Sans Mono\", monospace"; context.textBaseline = "middle";
  context.translate(0, -scroll);
  drawGuides(context, scroll);
  for (const group of layout.groups) {
    context.fillStyle = theme.cell; context.fillRect(0, group.top, layout.width, HEAD - 4);
    for (const l of group.lanes) {
      const lane = lanes[l];
      if (lane.top > scroll + layout.height || lane.top + lane.height < scroll) continue;
      const rows = lane.visible ? lane.rows : lane.rows.slice(0, 1);
      rows.forEach((row, r) => {
        const h = lane.visible ? rowHeight(lane, r) : lane.height;
        const place = {y: lane.top + (lane.visible ? rowTop(lane, r) : 0), h: h - 1.5, scale, shift: view.from, width: layout.width};
        context.globalAlpha = (view.marked ? .16 : 1) * (lane.visible ? 1 : .5);
        drawRow(context, row, place, !view.marked);
        context.globalAlpha = 1;
        if (view.marked) drawRow(context, view.marked.rows[l][r], place, true);
      });
    }
  }
  drawRange(context, scroll, layout.height);
  drawArrows(context);
}
function drawGuides(context, scroll) {
  context.fillStyle = theme.line;
  for (const t of ticks(110).at) context.fillRect(Math.round(xOf(t)), scroll, 1, layout.height);
}

// Round numbers of cycles about `apart` pixels from each other.
function ticks(apart, perUnit = 1) {
  const span = (view.to - view.from) * perUnit, raw = span / Math.max(1, layout.width / apart), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw), at = [];
  for (let n = Math.ceil(view.from * perUnit / step - 1e-9); n * step <= view.to * perUnit + step * 1e-9; ++n) at.push((n || 0) * step / perUnit);
  return {at, step};
}

const OVERVIEW = 34, AXIS = 34, STRIP = 30, topHeight = () => OVERVIEW + AXIS + data.strips.length * STRIP + 4;
const overview = {canvas: document.createElement("canvas"), key: ""};
function drawOverview(context) {
  const key = [layout.width, theme.paper, view.marked ? view.marked.number : 0, window.devicePixelRatio].join();
  if (overview.key !== key) {
    overview.key = key;
    const pen = prepare(overview.canvas, layout.width, OVERVIEW), h = (OVERVIEW - 6) / Math.max(1, lanes.length);
    lanes.forEach((lane, l) => {
      const place = {y: 2 + l * h, h: Math.max(.7, h - .4), scale: layout.width / length, shift: 0, width: layout.width};
      drawRow(pen, (view.marked ? view.marked.rows[l] : lane.rows)[0], place, false);
    });
  }
  context.drawImage(overview.canvas, 0, 0, layout.width, OVERVIEW);
  const x0 = view.from / length * layout.width, x1 = view.to / length * layout.width;
  context.globalAlpha = .62; context.fillStyle = theme.paper;
  context.fillRect(0, 0, x0, OVERVIEW - 3); context.fillRect(x1, 0, layout.width - x1, OVERVIEW - 3);
  context.globalAlpha = 1; context.strokeStyle = theme.focus; context.lineWidth = 1;
  context.strokeRect(x0 + .5, .5, Math.max(2, x1 - x0 - 1), OVERVIEW - 4);
}
function drawAxis(context, top) {
  context.font = "11px system-ui, \"DejaVu Sans\", sans-serif"; context.textBaseline = "middle";
  const write = (t, text, y) => { const w = context.measureText(text).width; context.fillText(text, Math.min(Math.max(xOf(t) + 4, 0), layout.width - w - 2), y); };
  for (const t of ticks(110).at) {
    context.fillStyle = theme.line; context.fillRect(Math.round(xOf(t)), top, 1, AXIS);
    context.fillStyle = theme.ink; write(t, grouped(t), top + 9);
  }
  const {at, step} = ticks(110, microseconds(1));
  context.fillStyle = theme.soft;
  for (const t of at) {
    context.fillRect(Math.round(xOf(t)), top + 18, 1, 5);
    const places = Math.max(0, -Math.floor(Math.log10(step)));
    write(t, microseconds(t).toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places}), top + 25);
  }
}
function drawStrip(context, strip, top) {
  const n = strip.share.length, h = STRIP - 6;
  context.fillStyle = theme.cell; context.fillRect(0, top, layout.width, h);
  context.fillStyle = theme.strip;
  for (let x = 0; x < layout.width; ++x) {
    const first = Math.max(0, Math.floor(timeAt(x) / length * n)), end = Math.max(first + 1, Math.ceil(timeAt(x + 1) / length * n));
    let sum = 0;
    for (let k = first; k < Math.min(end, n); ++k) sum += strip.share[k];
    const share = Math.min(1, sum / (end - first));
    context.fillRect(x, top + h * (1 - share), 1, h * share);
  }
}
function drawFindings(context, top) {
  for (const finding of data.findings) {
    if (finding.at < 0) continue;
    const x = xOf(finding.at);
    if (x < -8 || x > layout.width + 8) continue;
    context.fillStyle = finding.severity === "defect" ? theme.bad : finding.severity === "warning" ? theme.warn : theme.soft;
    context.beginPath(); context.moveTo(x, top + AXIS + 2); context.lineTo(x - 6, top + AXIS - 9); context.lineTo(x + 6, top + AXIS - 9); context.fill();
  }
}
function drawTop() {
  const context = prepare(byId("top"), layout.width, topHeight());
  drawOverview(context);
  drawAxis(context, OVERVIEW);
  data.strips.forEach((strip, s) => drawStrip(context, strip, OVERVIEW + AXIS + s * STRIP));
  drawRange(context, OVERVIEW, topHeight() - OVERVIEW);
  drawFindings(context, OVERVIEW);
}
