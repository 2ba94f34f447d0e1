// Beside the source: the table of lines, the critical path, the measured range, the roofline.
const asides = new Map();  // by name: {title, fill, tab}
function showView(name) {
  const aside = asides.get(name);
  if (!aside) return;
  shown.view = name;
  for (const [other, one] of asides) { one.tab.setAttribute("aria-selected", other === name); one.tab.classList.toggle("on", other === name); }
  sources.forEach(source => { if (source.tab) { source.tab.setAttribute("aria-selected", false); source.tab.classList.remove("on"); } });
  byId("code").hidden = true; byId("view").hidden = false;
  document.querySelector("main").classList.add("tabled");
  refill();
}
function leaveView() {
  shown.view = "";
  for (const one of asides.values()) { one.tab.setAttribute("aria-selected", false); one.tab.classList.remove("on"); }
  byId("code").hidden = false; byId("view").hidden = true;
  document.querySelector("main").classList.remove("tabled");
}
function refill() {
  const aside = asides.get(shown.view);
  if (!aside) return;
  byId("view").replaceChildren();
  aside.fill(byId("view"));
}
function addView(name, title, fill) {
  const tab = make("button", "tab", name);
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-selected", false);
  tab.title = title;
  tab.dataset.view = name;
  tab.addEventListener("click", () => showView(name));
  asides.set(name, {title, fill, tab});
  byId("views").append(tab);
}

// A table whose columns sort it: each has a name, what it sorts by, and what it shows.
function sortable(columns, rows, state, again) {
  const table = make("table", "sortable"), head = make("tr");
  for (const column of columns) {
    const cell = make("th"), button = make("button", "", column.name);
    cell.setAttribute("aria-sort", state.by === column.name ? (state.down ? "descending" : "ascending") : "none");
    button.title = column.title + ". Click sorts.";
    if (state.by === column.name) button.append(make("span", "", state.down ? " \u2193" : " \u2191"));
    button.addEventListener("click", () => { state.down = state.by === column.name ? !state.down : column.down !== false; state.by = column.name; again(column.name); });
    cell.append(button);
    head.append(cell);
  }
  const by = columns.find(column => column.name === state.by), body = make("tbody");
  const order = rows.slice().sort((a, b) => { const x = by.key(a), y = by.key(b); return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1); });
  for (const row of order) {
    const line = make("tr");
    for (const column of columns) { const cell = make("td", column.number ? "num" : ""); column.show(row, cell); line.append(cell); }
    body.append(line);
  }
  const top = make("thead"); top.append(head);
  table.append(top, body);
  return table;
}
function lineButton(source, number) {
  const name = (source ? sources[source].short + ":" : "line ") + number, button = make("button", "jump", name);
  button.title = (textOfLine(source, number) || name) + "\nClick marks its spans.";
  button.addEventListener("click", () => markLine(source, number));
  return button;
}
function shareCell(share, cell, className, title) {
  if (!(share > 0)) return;
  cell.append(make("span", "", percent(share)), bar(share, className));
  cell.title = title;
}
const placeOfLine = line => { const frame = framesOf(line.place)[0]; return frame ? [frame[0] + 1, frame[1]] : [0, line.line]; };

// Lines of the user's source over all threads of the chip; instructions of one line are added up. What threads waited
// for at no line is a row, too: blocks that begin where others have ended. So is what else of the whole is of no line.
const LAUNCH = "the launch of its block";
function lineRows() {
  const rows = new Map(), cell = line => {
    const [source, number] = placeOfLine(line), key = source + ":" + number;
    if (!rows.has(key)) rows.set(key, {source, number, busy: 0, waited: 0, runs: 0, path: 0, why: "", longest: 0, stalls: new Map()});
    return rows.get(key);
  };
  for (const line of data.lines) {
    const row = cell(line);
    row.busy += line.busy; row.waited += line.waited; row.runs = Math.max(row.runs, line.runs || 0);
    if (line.waited > row.longest) { row.longest = line.waited; row.why = line.why; }
    for (const stall of line.stalls || []) row.stalls.set(stall.reason, (row.stalls.get(stall.reason) || 0) + stall.cycles);
  }
  for (const part of data.path || []) if (part.line || part.place >= 0) cell(part).path += part.cycles;
  for (const stall of data.stalls || []) {
    const rest = [...rows.values()].reduce((left, row) => left - (row.stalls.get(stall.reason) || 0), stall.cycles);
    if (rest < .5) continue;
    const path = (data.path || []).reduce((sum, part) => sum + (!part.line && part.doing.endsWith(stall.reason) ? part.cycles : 0), 0);
    const name = stall.reason === LAUNCH ? "launches of later blocks" : stall.reason;
    rows.set(name, {source: 0, number: 0, name, busy: 0, waited: rest, runs: 0, path, why: "", longest: 0, stalls: new Map([[stall.reason, rest]])});
  }
  for (const {name, cycles} of data.whole ? data.whole.rest : []) {
    if (!rows.has(name)) rows.set(name, {source: 0, number: 0, name, busy: 0, waited: cycles, runs: 0, path: 0, why: "", longest: 0, stalls: new Map()});
  }
  for (const row of rows.values()) row.stall = ([...row.stalls].sort((a, b) => b[1] - a[1])[0] || [""])[0];
  return [...rows.values()];
}
const lineOrder = {by: "time", down: true};
function fillLines(node) {
  const rows = lineRows(), sum = rows.reduce((sum, row) => sum + row.busy + row.waited, 0) || 1, all = data.whole ? data.whole.cycles : sum;
  const of = data.whole ? "Shares of " + data.whole.of + " for all of the " + timeText(data.ns) : "Time of all threads of the chip, as a share of their time together";
  node.append(make("p", "soft", of + " (" + grouped(all) + " cycles)" + (data.path && data.path.length ? "; \u201cpath\u201d is the share of the kernel\u2019s time on its critical path." : ".")));
  const columns = [
    {name: "line", title: "where it stands in the source", down: false, key: row => row.source * 1e7 + row.number, show: (row, cell) => { if (row.name) { cell.append(row.name); return; } const text = textOfLine(row.source, row.number); cell.append(lineButton(row.source, row.number), make("code", "", text)); cell.title = text; cell.className = "text"; }},
    {name: "time", title: "busy and waiting together", number: true, key: row => row.busy + row.waited, show: (row, cell) => shareCell((row.busy + row.waited) / all, cell, "", grouped(row.busy + row.waited) + " cycles")},
    {name: "busy", title: "the thread could not do anything else", number: true, key: row => row.busy, show: (row, cell) => shareCell(row.busy / all, cell, "", grouped(row.busy) + " cycles")},
    {name: "waited", title: "until it could begin, or for its operands", number: true, key: row => row.waited, show: (row, cell) => shareCell(row.waited / all, cell, "waits", grouped(row.waited) + " cycles")},
    {name: "waits for", title: "the class of stall that took most of its waiting", down: false, key: row => row.stall || row.why || "\uffff", show: (row, cell) => { cell.append(row.stall || row.why); cell.title = [...row.stalls].map(([why, cycles]) => why + ": " + grouped(cycles) + " cycles").concat(row.why ? ["mostly: " + row.why] : []).join("\n"); }},
  ];
  if (data.path && data.path.length)
    columns.splice(4, 0, {name: "path", title: "share of the kernel\u2019s time on its critical path", number: true, key: row => row.path, show: (row, cell) => shareCell(row.path / data.cycles, cell, "path", grouped(row.path) + " cycles")});
  node.append(sortable(columns, rows, lineOrder, again));
  if (data.stalls && data.stalls.length) {
    const waited = data.stalls.reduce((sum, stall) => sum + stall.cycles, 0) || 1, list = make("div", "bars");
    node.append(make("h2", "", "What all threads waited for, of these waits"), list);
    barRows(list, data.stalls.map(stall => [stall.reason, stall.cycles / waited, percent(stall.cycles / waited), stall.reason + ": " + grouped(stall.cycles) + " cycles"]));
  }
}
// The table is made anew; the focus stays on the column.
const again = name => { refill(); const button = [...document.querySelectorAll("#view th button")].find(one => one.textContent.startsWith(name)); if (button) button.focus(); };

function fillPath(node) {
  const button = make("button", "", "mark the path on the lanes (c)");
  button.title = "from the last span of " + data.of + " back through what ended each of its waits";
  button.addEventListener("click", togglePath);
  if (!data.path || !data.path.length) {
    node.append(make("p", "soft", "The critical path of the whole chip is not known for " + data.machine + ". That of " + data.of + " is on its lanes: from its last span back through what ended each wait."), button);
    const list = make("div", "bars"), parts = new Map();
    for (const {span, cycles} of pathBack()) { const key = placeText(span) + "  " + (whatOf(span) || KINDS[spans.kind[span]]).replace(/\d+/g, "\u2026"); parts.set(key, (parts.get(key) || 0) + cycles); }
    barRows(list, [...parts].filter(part => part[1] >= length * .0005).sort((a, b) => b[1] - a[1]).slice(0, 20).map(([name, cycles]) => [name, cycles / length, percent(cycles / length), name + ": " + bothText(cycles)]));
    node.append(list);
    return;
  }
  node.append(make("p", "soft", "What the last thread to end waited for, back to the start. The parts add up to the kernel\u2019s " + grouped(data.cycles) + " cycles; shares are of these."), button);
  const list = make("div", "parts");
  let told = 0;
  for (const part of data.path.slice(0, 40)) {
    const [source, number] = placeOfLine(part), row = make("div", "part");
    told += part.cycles;
    row.append(part.line ? lineButton(source, number) : make("span", "", part.op || part.doing || "no instruction"), make("span", "num", percent(part.cycles / data.cycles)), bar(part.cycles / data.cycles, "path"));
    const text = make("div", "what");
    text.append(make("b", "", [part.op, part.doing].filter(Boolean).join(", ") || "works"), make("code", "soft", "  " + textOfLine(source, number)));
    if (part.line) row.append(text);
    row.title = grouped(part.cycles) + " cycles (" + microsText(part.cycles) + ")";
    list.append(row);
  }
  node.append(list);
  if (told < data.cycles - 1) node.append(make("p", "soft", "and " + (data.path.length - 40) + " shorter parts, " + percent(1 - told / data.cycles) + " together"));
}

function fillRange(node) {
  if (!view.range) {
    node.append(make("p", "soft", "Drag along the time axis, or over the lanes with Shift held: how long that is and what was busy in it. By keyboard: m measures the selected span, or all in view; [ and ] move the begin and the end to those of the selected span."));
    return;
  }
  const {from, to} = view.range, long = to - from, facts = make("dl", "facts");
  for (const [name, value] of [["from", bothText(from)], ["to", bothText(to)], ["length", bothText(long)], ["of the run", percent(long / length)]]) facts.append(make("dt", "", name), make("dd", "num", value));
  const tools = make("div", "tools-row"), zoomTo = make("button", "", "zoom to it"), drop = make("button", "", "drop it (Esc)");
  zoomTo.addEventListener("click", () => setView(from - long * .05, to + long * .05));
  drop.addEventListener("click", () => { view.range = null; refill(); draw(); });
  tools.append(zoomTo, drop);
  node.append(facts, tools);
  const strips = data.strips.filter(strip => strip.share.length).map(strip => { const share = stripIn(strip, from, to); return [strip.name, share, percent(share), strip.name + ", of the whole chip"]; });
  if (strips.length) { const list = make("div", "bars"); node.append(make("h2", "", "The chip, mean of the range"), list); barRows(list, strips); }
  let group = null, list = null;
  for (const lane of lanes) {
    const time = timeIn(lane, from, to);
    if (!time.spans) continue;
    if (lane.group !== group) { group = lane.group; list = make("div", "lanes-in"); node.append(make("h2", "", group || "all"), list); }
    const row = make("div", "in"), bars = make("span", "two");
    const busy = make("i"), waits = make("i", "waits");
    busy.style.width = 100 * time.busy / long + "%"; waits.style.width = 100 * Math.min(1 - time.busy / long, time.waited / long) + "%";
    bars.append(busy, waits);
    row.append(make("span", "name", lane.name), bars, make("span", "num", percent(time.busy / long)), make("span", "num soft", time.waited > 0 ? "waits " + percent(time.waited / long) : ""));
    row.title = lane.name + ": busy " + grouped(time.busy) + ", waits " + grouped(time.waited) + " cycles, " + grouped(time.spans) + " spans";
    list.append(row);
  }
}

// Flops a second over flops for each byte of main memory, both logarithmic. The line that rises is main memory; each
// level line is what this kernel would reach if that limit alone held it.
function svg(tag, attributes, text) {
  const node = document.createElementNS(byId("drawing").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
function scaled(n, unit) {
  const [by, prefix] = PREFIXES.find(([least]) => n >= least) || [1, ""];
  return digits(n / by) + " " + prefix + unit;
}
const devicesOf = () => Math.max(1, (data.devices || []).length);
function rooflineOf() {
  const seconds = data.ns / 1e9, peak = (data.memory_peak || 0) * devicesOf();
  if (!(data.flops > 0) || !(data.memory > 0) || !(peak > 0)) return null;
  const limits = data.roofline.filter(bound => !bound.limit.startsWith("bytes of ") && bound.ns > 0).slice(0, 4)
    .map(bound => ({name: bound.limit, rate: data.flops / bound.ns * 1e9})).filter(limit => limit.rate < 40 * data.flops / seconds);
  const once = data.roofline.find(bound => bound.limit.startsWith("bytes of DRAM"));
  return {x: data.flops / data.memory, y: data.flops / seconds, peak, limits, once: once && once.ns > 0 ? data.flops / (once.ns / 1e9 * peak) : 0};
}
function fillRoofline(node) {
  const at = rooflineOf();
  if (!at) {
    node.append(make("p", "soft", data.flops > 0 ? "No bytes of main memory, or no peak of it, are known here." : "This kernel does no arithmetic on floating-point numbers."));
    if (data.memory > 0 && data.memory_peak > 0) node.append(make("p", "", "Main memory: " + scaled(data.memory / data.ns * 1e9, "B/s") + " of " + scaled(data.memory_peak * devicesOf(), "B/s")));
    return;
  }
  const W = 460, H = 320, left = 62, right = 26, top = 14, bottom = 44, top_rate = Math.max(at.y, ...at.limits.map(limit => limit.rate));
  const ridge = Math.max(...at.limits.map(limit => limit.rate), at.y) / at.peak;
  const xs = [at.x, at.once || at.x, ridge, at.x / 8], lowX = Math.floor(Math.log10(Math.min(...xs))), highX = Math.ceil(Math.log10(Math.max(...xs) * 1.6));
  const highY = Math.ceil(Math.log10(top_rate * 1.15)), lowY = Math.min(highY - 2, Math.floor(Math.log10(at.y / 3)));
  const X = v => left + (Math.log10(v) - lowX) / (highX - lowX) * (W - left - right), Y = v => H - bottom - (Math.log10(v) - lowY) / (highY - lowY) * (H - top - bottom);
  const plot = svg("svg", {viewBox: "0 0 " + W + " " + H, role: "img", class: "plot", "aria-label": "roofline: " + scaled(at.y, "flop/s") + " at " + digits(at.x) + " flop for each byte"});
  for (let e = lowX; e <= highX; ++e) plot.append(svg("line", {x1: X(10 ** e), x2: X(10 ** e), y1: top, y2: H - bottom, class: "grid"}), svg("text", {x: X(10 ** e), y: H - bottom + 15, class: "tick", "text-anchor": "middle"}, e < 0 ? String(10 ** e) : e < 4 ? grouped(10 ** e) : "10^" + e));
  for (let e = lowY; e <= highY; ++e) plot.append(svg("line", {x1: left, x2: W - right, y1: Y(10 ** e), y2: Y(10 ** e), class: "grid"}), svg("text", {x: left - 6, y: Y(10 ** e) + 4, class: "tick", "text-anchor": "end"}, scaled(10 ** e, "").trim()));
  plot.append(svg("text", {x: (left + W - right) / 2, y: H - 8, class: "tick", "text-anchor": "middle"}, "flop for each byte of main memory"), svg("text", {x: 14, y: (top + H - bottom) / 2, class: "tick", "text-anchor": "middle", transform: "rotate(-90 14 " + (top + H - bottom) / 2 + ")"}, "flop/s"));
  const clip = v => Math.min(10 ** highY, Math.max(10 ** lowY, v)), from = Math.max(10 ** lowX, 10 ** lowY / at.peak), end = Math.min(10 ** highX, top_rate / at.peak);
  plot.append(svg("line", {x1: X(from), y1: Y(clip(from * at.peak)), x2: X(end), y2: Y(clip(end * at.peak)), class: "roof memory"}));
  const used = [];
  for (const limit of at.limits.slice().sort((a, b) => b.rate - a.rate)) {
    if (limit.rate > 10 ** highY) continue;
    plot.append(svg("line", {x1: X(Math.max(10 ** lowX, Math.min(at.x, limit.rate / at.peak))), x2: W - right, y1: Y(limit.rate), y2: Y(limit.rate), class: "roof"}));
    let y = Y(limit.rate) - 4;
    while (used.some(other => Math.abs(other - y) < 12)) y += 13;
    used.push(y);
    plot.append(svg("text", {x: W - right - 2, y, class: "name", "text-anchor": "end"}, limit.name));
  }
  const middle = Math.sqrt(from * end), angle = Math.atan2(Y(end * at.peak) - Y(from * at.peak), X(end) - X(from)) * 180 / Math.PI;
  plot.append(svg("text", {x: X(middle), y: Y(middle * at.peak) - 6, class: "name", "text-anchor": "middle", transform: "rotate(" + angle + " " + X(middle) + " " + Y(middle * at.peak) + ")"}, "main memory, " + scaled(at.peak, "B/s")));
  if (at.once > at.x * 1.02) plot.append(svg("line", {x1: X(at.x), x2: X(at.once), y1: Y(at.y), y2: Y(at.y), class: "once"}), svg("circle", {cx: X(at.once), cy: Y(at.y), r: 4.5, class: "ideal"}));
  plot.append(svg("circle", {cx: X(at.x), cy: Y(at.y), r: 5.5, class: "here"}));
  if (other.roof) plot.append(svg("circle", {cx: X(Math.max(10 ** lowX, Math.min(10 ** highX, other.roof.x))), cy: Y(clip(other.roof.y)), r: 5.5, class: "other"}));
  node.append(plot);
  const facts = make("dl", "facts");
  const rows = [["\u25cf here", scaled(at.y, "flop/s") + " at " + digits(at.x) + " flop for each byte"]];
  if (at.once > at.x * 1.02) rows.push(["\u25cb each byte once", digits(at.once) + " flop for each byte: bytes came " + digits(at.once / at.x) + " times"]);
  if (other.roof) rows.push(["\u25cf the other run", scaled(other.roof.y, "flop/s") + " at " + digits(other.roof.x) + " flop for each byte"]);
  for (const bound of data.roofline.slice(0, 6)) rows.push([bound.limit, "at least " + timeText(bound.ns) + ", " + percent(bound.ns / data.ns) + " of the time"]);
  for (const [name, value] of rows) facts.append(make("dt", "", name), make("dd", "", value));
  node.append(facts, make("p", "soft", "A level line is what this kernel would reach if that limit alone held it; a limit far above the dot is not what costs time."));
}
function fillViews() {
  addView("by line", "busy and waiting time, and the class of stalls, of each source line", fillLines);
  addView("path", "the critical path: what the last to end waited for, back to the start", fillPath);
  addView("range", "a measured range of time and what was busy in it", fillRange);
  addView("roofline", "flops a second over flops for each byte of main memory", fillRoofline);
  addView("compare", "another run beside this one", fillCompare);
}
