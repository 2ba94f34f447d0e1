// Another run beside this one: its page's data, put here by `--compare` or read from a file that the reader chooses.
// Lines of the two are matched by their text, so they may have moved. Of the other run the lanes are drawn at this
// one's scale of time, from the same begin.
const other = {data: null, roof: null, name: ""};
const dataOfPage = text => {
  const found = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(text);
  if (!found) throw new Error("this file is no page of palladion time");
  return JSON.parse(found[1]);
};
function takeOther(their, name) {
  other.data = their; other.name = name;
  const seconds = their.ns / 1e9;
  other.roof = their.flops > 0 && their.memory > 0 ? {x: their.flops / their.memory, y: their.flops / seconds} : null;
  other.lanes = their.lanes.map(lane => ({...lane, spans: []}));
  their.spans.begin.forEach((_, i) => other.lanes[their.spans.lane[i]].spans.push(i));
  if (shown.view === "compare" || shown.view === "roofline") refill();
  draw();
}
function readOther(file) {
  return file.text().then(text => takeOther(dataOfPage(text), file.name)).catch(error => { byId("view").append(make("p", "wrong", file.name + ": " + error.message)); });
}
function chooser() {
  const label = make("label", "choose", other.data ? "another page: " : "the other run\u2019s page: "), input = make("input");
  input.type = "file"; input.accept = ".html,text/html"; input.setAttribute("aria-label", "a page of another run");
  input.addEventListener("change", () => { if (input.files[0]) readOther(input.files[0]); });
  label.append(input);
  return label;
}

function textsOf(from) {
  const files = from.files.map(file => new Map(file.lines)), kernel = new Map(from.kernel_text);
  return line => {
    const frame = line.place < 0 ? undefined : from.places[line.place].frames[0];
    const text = frame ? files[frame[0]].get(frame[1]) : kernel.get(line.line);
    const name = frame ? from.files[frame[0]].name.split("/").pop() + ":" + frame[1] : "line " + line.line;
    return {text: (text || name).trim(), name};
  };
}
function linesByText(from, into, side) {
  const textOf = textsOf(from);
  for (const line of from.lines) {
    const {text, name} = textOf(line);
    if (!into.has(text)) into.set(text, {text, here: 0, there: 0, names: ["", ""]});
    const row = into.get(text);
    row[side === 0 ? "here" : "there"] += (line.busy + line.waited) / from.clock_hz * 1e9;
    row.names[side] = name;
  }
}
const signed = (here, there) => here === there ? "the same" : there === 0 ? "new" : here === 0 ? "gone" : (here >= there ? "+" : "\u2212") + percent(Math.abs(here / there - 1));
function versus(node, title, rows, told) {
  if (!rows.length) return;
  const table = make("table", "versus"), head = make("tr");
  for (const name of ["", "here", "other", "here is"]) head.append(make("th", "", name));
  table.append(head);
  for (const [name, here, there] of rows) {
    const line = make("tr"), cell = make("td", "", name);
    cell.title = name;
    line.append(cell, make("td", "num", here === null ? "" : told(here)), make("td", "num", there === null ? "" : told(there)), make("td", "num", here === null || there === null ? "" : signed(here, there)));
    table.append(line);
  }
  node.append(make("h2", "", title), table);
}
const pairs = (mine, theirs, name, value) => {
  const both = new Map(mine.map(one => [one[name], [value(one), null]]));
  for (const one of theirs) both.set(one[name], [both.has(one[name]) ? both.get(one[name])[0] : null, value(one)]);
  return [...both].map(([told, [here, there]]) => [told, here, there]);
};
const compareOrder = {by: "difference", down: true};
function fillCompare(node) {
  if (!other.data) {
    node.append(make("p", "soft", "Choose the page of another run: `palladion time \u2026 --page`, or `.page` of a kernel of `palladion.time`. It stays on this machine. `--compare OTHER.html` puts it here when this page is written."), chooser());
    return;
  }
  const their = other.data, faster = their.ns / data.ns;
  const sentence = make("p"), times = make("b", "", Math.abs(faster - 1) < .005 ? "as fast as" : digits(Math.max(faster, 1 / faster)) + " \u00d7 " + (faster > 1 ? "faster" : "slower") + " than");
  sentence.append("This run is ", times, " the other, @" + their.kernel + " on " + their.machine + (other.name ? " (" + other.name + ")" : "") + ".");
  node.append(sentence);
  const canvas = make("canvas", "both");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "lanes of the other run, " + their.of + ", at this page\u2019s scale of time");
  canvas.addEventListener("pointermove", event => { const lane = other.lanes.filter(one => one.spans.length)[Math.floor(event.offsetY / other.pitch)]; canvas.title = lane ? lane.group + ", " + lane.name : ""; });
  node.append(make("h2", "", "The other run, " + their.of + ", over the time in view"), canvas);
  versus(node, "Time", [["predicted", data.ns, their.ns], ["launch", data.launch_ns, their.launch_ns]], timeText);
  versus(node, "Least time that a limit allows", pairs(data.roofline, their.roofline, "limit", one => one.ns).slice(0, 8), timeText);
  versus(node, "Units busy", pairs(data.units, their.units, "unit", one => one.busy), percent);
  versus(node, "What all threads waited for", pairs(data.stalls || [], their.stalls || [], "reason", one => one.cycles).slice(0, 12), cycles => grouped(cycles) + " cycles");
  const lines = new Map();
  linesByText(data, lines, 0); linesByText(their, lines, 1);
  const columns = [
    {name: "line", title: "where it stands, here or in the other", down: false, key: row => row.names[0] || row.names[1], show: (row, cell) => { cell.append(row.names[0] || row.names[1], make("code", "", row.text)); cell.title = "here " + (row.names[0] || "not there") + ", other " + (row.names[1] || "not there") + "\n" + row.text; cell.className = "text"; }},
    {name: "here", title: "time of all threads", number: true, key: row => row.here, show: (row, cell) => cell.append(timeText(row.here))},
    {name: "other", title: "time of all threads", number: true, key: row => row.there, show: (row, cell) => cell.append(timeText(row.there))},
    {name: "difference", title: "here less the other", number: true, key: row => Math.abs(row.here - row.there), show: (row, cell) => cell.append((row.here >= row.there ? "+" : "\u2212") + timeText(Math.abs(row.here - row.there)))},
  ];
  node.append(make("h2", "", "Lines, matched by their text"), sortable(columns, [...lines.values()].filter(row => row.here + row.there > 0), compareOrder, again), chooser());
  drawOther();
}

// As the view's time, in microseconds, would show the other run.
function drawOther() {
  const canvas = document.querySelector("canvas.both");
  if (!canvas || !other.data) return;
  const their = other.data, s = their.spans, rows = other.lanes.filter(lane => lane.spans.length), h = Math.max(3, Math.min(12, 260 / Math.max(1, rows.length)));
  other.pitch = h + 1;
  const width = Math.max(120, byId("view").clientWidth - 28), context = prepare(canvas, width, rows.length * (h + 1) + 14);
  const ratio = their.clock_hz / data.clock_hz, from = view.from * ratio, scale = width / ((view.to - view.from) * ratio);
  context.font = "10px system-ui, \"DejaVu Sans\", sans-serif"; context.textBaseline = "top";
  rows.forEach((lane, r) => {
    context.fillStyle = theme.cell; context.fillRect(0, r * (h + 1), width, h);
    let covered = -1;
    for (const i of lane.spans) {
      const x = (s.begin[i] - from) * scale, w = Math.max(1, (s.end[i] - s.begin[i]) * scale);
      if (x > width || x + w < 0 || x + w <= covered) continue;
      covered = w <= 1 ? Math.floor(x) + 1 : covered;
      context.fillStyle = theme.kinds[s.kind[i]] || theme.soft; context.fillRect(x, r * (h + 1), w > 3 ? w - .6 : w, h);
    }
  });
  const end = (their.length - from) * scale;
  if (end > 0 && end < width) { context.fillStyle = theme.focus; context.fillRect(end, 0, 1, rows.length * (h + 1)); context.fillText("ends", Math.min(end + 3, width - 28), rows.length * (h + 1) + 2); }
}
function takeGivenOther() {
  const given = JSON.parse(byId("other").textContent);
  if (given) takeOther(given, "");
}
