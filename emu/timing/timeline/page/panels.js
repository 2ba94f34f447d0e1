// What stands around the lanes: the head with time, limits and stalls, the source, what is said of one span, the help.
function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
function bar(share, className) {
  const outer = make("span", "bar"), inner = make("i", className || "");
  inner.style.width = Math.max(0, Math.min(100, share * 100)) + "%";
  outer.append(inner);
  return outer;
}
function card(title, wide) {
  const node = make("section", wide ? "card wide" : "card");
  node.append(make("h2", "", title));
  byId("summary").append(node);
  return node;
}
function barRows(node, rows) {
  for (const [name, share, told, title] of rows) {
    const row = make("div", "row");
    row.append(make("span", "name", name), bar(share), make("span", "num", told));
    row.title = title || name + ": " + told;
    node.append(row);
  }
}

function fillHead() {
  document.title = "@" + data.kernel + " on " + data.machine;
  byId("title").textContent = "@" + data.kernel;
  byId("facts").textContent = [data.target, (data.clock_hz / 1e9).toPrecision(4).replace(/\.?0+$/, "") + " GHz", data.of,
    grouped(spans.count) + " spans" + (data.dropped ? ", " + grouped(data.dropped) + " more past the limit are not here" : "")].join("  \u00b7  ");
  const time = card("Predicted time"), big = make("div", "big", timeText(data.ns));
  big.append(make("small", "", " \u00b1 " + (data.uncertainty === null ? "?" : percent(data.uncertainty))));
  time.append(big, make("div", "soft", grouped(data.cycles) + " cycles + " + timeText(data.launch_ns) + " launch"));
  time.title = "How far it may be off: " + data.uncertainty_why;
  if (data.left_out.length) { const note = make("div", "soft note", "left out: " + data.left_out.join("; ")); note.title = note.textContent; time.append(note); }
  if (data.roofline.length)
    barRows(card("Limits, of the time"), data.roofline.slice(0, 4).map(bound =>
      [bound.limit, bound.ns / data.ns, percent(bound.ns / data.ns), bound.limit + ": at least " + timeText(bound.ns)]));
  if (data.units.length)
    barRows(card("Busy, of the cycles"), data.units.slice().sort((a, b) => b.busy - a.busy).slice(0, 4).map(use => [use.unit, use.busy, percent(use.busy)]));
  fillStalls();
  fillFindings();
}

// Where threads waited longest, by source line, over all of the chip.
function fillStalls() {
  const stalls = new Map();
  for (const line of data.lines) {
    const frame = framesOf(line.place)[0], [source, number] = frame ? [frame[0] + 1, frame[1]] : [0, line.line];
    const key = source + ":" + number, found = stalls.get(key) || {source, number, waited: 0, longest: -1, why: ""};
    found.waited += line.waited;
    if (line.waited > found.longest) { found.longest = line.waited; found.why = line.why; }
    stalls.set(key, found);
  }
  const top = [...stalls.values()].filter(s => s.waited > 0).sort((a, b) => b.waited - a.waited);
  if (!top.length) return;
  const node = card("Longest waits, of all at lines", "wide"), all = top.reduce((sum, s) => sum + s.waited, 0);
  for (const stall of top.slice(0, 4)) {
    const name = (stall.source ? sources[stall.source].short + ":" : "line ") + stall.number;
    const row = make("button", "row stall"), label = make("span", "name");
    label.append(make("code", "", name), make("span", "soft", stall.why ? "  " + stall.why : ""));
    row.append(label, bar(stall.waited / all, "waits"), make("span", "num", percent(stall.waited / all)));
    row.title = name + "  " + textOfLine(stall.source, stall.number) + "\n" + grouped(stall.waited) + " cycles of waiting, all threads together" + (stall.why ? "\nwaits for " + stall.why : "");
    row.addEventListener("click", () => { showSource(stall.source); markLine(stall.source, stall.number); });
    node.append(row);
  }
}
function fillFindings() {
  if (!data.findings.length) return;
  const node = card("Findings");
  node.classList.add("findings");
  for (const finding of data.findings) {
    const row = make("button", "finding " + finding.severity);
    row.append(make("b", "", finding.code + (finding.times > 1 ? " \u00d7 " + grouped(finding.times) : "")), make("span", "soft", "  " + finding.message));
    row.title = finding.message + (finding.source ? "\n" + finding.source : "") + (finding.at < 0 ? "\nnothing of this picture is at its line"
      : "\n" + (finding.placed ? "marked where its line is first met: " : "met at ") + "cycle " + grouped(finding.at));
    row.addEventListener("click", () => { if (finding.span >= 0) goTo(finding.span); else if (finding.at >= 0) pan(finding.at - (view.from + view.to) / 2); });
    node.append(row);
  }
}

const COVERED = /^(loc|file) #/;  // the head of kernel text: where its lines come from
const shown = {source: -1, view: "", lit: [], nodes: new Map()};
function fillTabs() {
  sources.forEach((source, s) => {
    if (!source.lines.length || (s === 0 && source.lines.length === 1 && !source.lines[0][1])) return;
    const tab = make("button", "tab", source.short);
    tab.setAttribute("role", "tab");
    tab.title = source.name;
    tab.addEventListener("click", () => showSource(s));
    source.tab = tab;
    byId("sources").append(tab);
  });
  const users = sources.map((source, s) => s).filter(s => s && sources[s].tab);
  const time = s => [...sources[s].time.values()].reduce((sum, cell) => sum + cell.spans, 0);
  showSource(users.sort((a, b) => time(b) - time(a))[0] || 0);
}
function lineNode(source, number, text, most) {
  const time = sources[source].time.get(number), node = make("div", "ln");
  node.append(make("span", "no", number));
  const heat = make("span", "heat");
  if (time) {
    const busy = make("i", "busy"), waits = make("i", "waits");
    busy.style.width = 100 * time.busy / most + "%"; waits.style.width = 100 * time.waited / most + "%";
    heat.append(busy, waits);
    node.classList.add("has");
    node.tabIndex = -1;
    node.title = grouped(time.spans) + " spans: busy " + grouped(time.busy) + ", waited " + grouped(time.waited) + " cycles. Click marks them.";
    node.addEventListener("click", () => markLine(source, number));
  }
  node.append(heat, make("code", "", text || " "));
  return node;
}
function showSource(s) {
  if ((shown.source === s && !shown.view) || !sources[s].tab) return;
  leaveView();
  shown.source = s; shown.lit = []; shown.nodes = new Map();
  sources.forEach((source, n) => { if (source.tab) { source.tab.setAttribute("aria-selected", n === s); source.tab.classList.toggle("on", n === s); } });
  const list = document.createDocumentFragment();
  const most = Math.max(1, ...[...sources[s].time.values()].map(time => time.busy + time.waited));
  let last = 0, covered = 0;
  for (const [number, text] of sources[s].lines) {
    if (s === 0 && COVERED.test(text)) { ++covered; last = number; continue; }
    if (covered) { list.append(make("div", "gap", covered + " lines that say where the others come from")); covered = 0; }
    if (last && number !== last + 1) list.append(make("div", "gap", "\u22ef"));
    const node = lineNode(s, number, text, most);
    shown.nodes.set(number, node);
    list.append(node);
    last = number;
  }
  byId("code").replaceChildren(list);
  byId("code").scrollTop = 0;
  lightMarked();
  lightLines(view.hover >= 0 ? view.hover : view.selected, false);
}
function lightMarked() {
  for (const [number, node] of shown.nodes) node.classList.toggle("marked", !!view.marked && view.marked.source === shown.source && view.marked.line === number);
}
function lightLines(i, mayChange) {
  for (const node of shown.lit) node.classList.remove("lit", "outer");
  shown.lit = [];
  if (i < 0 || shown.view) return;
  const here = linesOf(i);
  if (mayChange && here.length && !here.some(([source]) => source === shown.source)) {
    const other = here.find(([source]) => sources[source].tab && sources[source].lines.length);
    if (other) { showSource(other[0]); return; }
  }
  let first = true;
  for (const [source, line] of here) {
    const node = source === shown.source ? shown.nodes.get(line) : undefined;
    if (!node) continue;
    node.classList.add(first ? "lit" : "outer");
    shown.lit.push(node);
    if (first) intoView(node);
    first = false;
  }
}
function intoView(node) {
  const pane = byId("code"), top = node.offsetTop;
  if (top < pane.scrollTop + 10 || top > pane.scrollTop + pane.clientHeight - 40) pane.scrollTop = top - pane.clientHeight / 3;
}

// One sentence for each thing that is known of a span: title, when, why, where.
function saidOf(i) {
  const by = spans.by[i], waits = isEnded(i), best = bestLine(i);
  return {
    what: whatOf(i) || KINDS[spans.kind[i]], lane: laneName(spans.lane[i]), kind: KINDS[spans.kind[i]],
    when: "from cycle " + grouped(spans.begin[i]) + " (" + microsText(spans.begin[i]) + ") for " + bothText(cyclesOf(i)),
    why: by < 0 ? "" : (waits ? "ended by " : "issued by ") + laneName(spans.lane[by]) + ": " + (whatOf(by) || KINDS[spans.kind[by]]),
    where: best ? placeText(i) + "  " + textOfLine(best[0], best[1]) : "",
    held: heirsOf(i).length,
  };
}
function fillDetails() {
  const i = view.selected, node = byId("details");
  if (i < 0) { node.replaceChildren(make("span", "soft", "Point at a span, or click one: what it is, why it waited, and the line that did it.")); return; }
  const said = saidOf(i), line = make("div", "said");
  const chip = make("i", "dot"); chip.style.background = colorOf(i);
  line.append(chip, make("b", "", said.what), make("span", "soft", said.lane), make("span", "", said.when));
  if (said.why) {
    const why = make("button", "jump", said.why);
    why.title = said.why + "\ngo there (Enter)";
    why.addEventListener("click", () => goTo(spans.by[i]));
    line.append(why);
  }
  if (said.held) {
    const held = make("button", "jump", (spans.kind[i] === WORK ? "issued or ended " : "ended ") + said.held + (said.held === 1 ? " other" : " others"));
    held.title = "go to the first";
    held.addEventListener("click", () => goTo(heirsOf(i)[0]));
    line.append(held);
  }
  if (said.where) line.append(make("code", "soft", said.where));
  node.replaceChildren(line);
}
function placeTip(x, y) {
  const tip = byId("tip");
  if (view.hover < 0) { tip.hidden = true; return; }
  const said = saidOf(view.hover);
  tip.replaceChildren(make("b", "", said.what), make("div", "soft", said.lane + " \u00b7 " + said.kind), make("div", "", bothText(cyclesOf(view.hover))));
  if (said.why) tip.append(make("div", "why", said.why));
  if (said.where) tip.append(make("code", "", said.where));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 16, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y - box.height - 14 > 4 ? y - box.height - 14 : y + 22) + "px";  // arrows lead down, mostly
}

// What a lane's shares are of: a thread's own life, of others the whole time.
const lifeOf = lane => lane.kind === THREAD && lane.life > 0 ? lane.life : length;
// Lanes as buttons, so that they are reached by Tab and read aloud.
function fillLabels() {
  const labels = document.createDocumentFragment();
  for (const group of layout.groups) {
    const head = make("button", "group", (group.folded ? "\u25b8 " : "\u25be ") + (group.name || "all"));
    head.style.top = group.top + "px";
    head.setAttribute("aria-expanded", !group.folded);
    head.title = (group.name || "all") + ": " + group.lanes.length + (group.lanes.length === 1 ? " lane" : " lanes");
    head.addEventListener("click", () => { fold(group.name); });
    labels.append(head);
    for (const l of group.folded ? [] : group.lanes) {
      const lane = lanes[l], node = make("button", "lane");
      node.append(make("span", "name", lane.name));
      node.style.top = lane.top + "px"; node.style.height = lane.height + "px";
      const phases = lane.kind === BARRIER ? lane.rows[0].ids.length : 0;
      node.setAttribute("aria-label", laneName(l) + ": " + (lane.kind === BARRIER ? phases + (phases === 1 ? " phase" : " phases")
        : lane.spans.length + " spans, busy " + percent(Math.min(1, lane.busy / lifeOf(lane))) + ", waits " + percent(Math.min(1, lane.waited / lifeOf(lane))) + (lane.kind === THREAD ? " of its life" : "")));
      node.title = node.getAttribute("aria-label") + (lane.hidden ? "; " + lane.hidden + " of them lie below the rows that are drawn" : "");
      const share = lane.kind === THREAD ? lane.waited / lifeOf(lane) : 0;
      if (share >= .005) node.append(make("small", "", "waits " + percent(share)));
      if (lane.kind === UNIT && lane.busy > 0) node.append(make("small", "", percent(Math.min(1, lane.busy / length))));
      if (lane.slot >= 0) { const dot = make("i", "dot"); dot.style.background = "var(--slot" + lane.slot % theme.slots.length + ")"; node.append(dot); }
      lane.node = node;
      node.dataset.lane = l;
      labels.append(node);
    }
  }
  byId("labels").replaceChildren(labels);
}
function fillLegend() {
  const used = new Set(spans.kind), slots = [...new Set(spans.slot)].filter(s => s >= 0).sort((a, b) => a - b);
  KINDS.forEach((name, k) => {
    if (!used.has(k) || k === PENDING) return;
    const item = make("span", "", name), dot = make("i", k === WAIT ? "dot hatch" : "dot");
    if (k !== WAIT) dot.style.background = theme.kinds[k];
    item.prepend(dot);
    byId("legend").append(item);
  });
  if (slots.length) byId("legend").append(make("span", "rule", "slots of buffers:"));
  for (const s of slots.slice(0, theme.slots.length)) {
    const item = make("span", "", String(s) + (slots.some(other => other !== s && other % theme.slots.length === s) ? ", " + (s + theme.slots.length) + "\u2026" : ""));
    const dot = make("i", "dot"); dot.style.background = "var(--slot" + s % theme.slots.length + ")";
    item.prepend(dot);
    byId("legend").append(item);
  }
}
