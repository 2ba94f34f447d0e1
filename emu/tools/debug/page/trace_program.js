// The grid, the source and the instructions of the page of programs (trace_page.html, which has the rest and calls this).

// A grid as sheets of cells: the last dimension runs right, the one before it down, the others are sheets. A long grid
// of one dimension is wrapped into rows.
function gridLayout(grid) {
  const rank = grid.length, last = rank ? grid[rank - 1] : 1, long = [...grid.keys()].filter(d => grid[d] !== 1);
  if (long.length === 1 && grid[long[0]] > 16) {
    const size = grid[long[0]], columns = Math.max(16, 2 ** Math.ceil(Math.log2(Math.sqrt(size))));
    return {columns, rows: Math.ceil(size / columns), sheets: [[]], along: long[0], wrapped: true};
  }
  const sheets = new Map([[grid.slice(0, Math.max(0, rank - 2)).fill(0).join(), null]]);  // those of which programs are here
  for (const program of programs) sheets.set(program.i.slice(0, Math.max(0, rank - 2)).join(), null);
  return {columns: last, rows: rank > 1 ? grid[rank - 2] : 1, wrapped: false,
          sheets: [...sheets.keys()].map(key => key ? key.split(",").map(Number) : [])};
}
const layout = gridLayout(grid);
const sheetNumber = new Map(layout.sheets.map((sheet, s) => [sheet.join(), s]));
const axisName = d => data.axes[d] || "";

// The largest cells with which all sheets are at most `most` high; where none are, those that are least high.
function gridPlaces(width, most) {
  const {columns, rows, sheets} = layout, label = sheets.length > 1 ? 18 : 0, gap = sheets.length > 24 ? 8 : 14;
  let best = null;
  for (let across = 1; across <= Math.min(sheets.length, 16); ++across) {
    const room = (width - gap * (across - 1)) / across, lines = Math.ceil(sheets.length / across);
    const cell = Math.min(34, room / columns, Math.max(Math.min(5, 2000 / rows), (most / lines - label - gap) / rows));
    if (across > 1 && cell < 2) break;
    const high = lines * (rows * cell + label + gap), fits = high <= most + 1;
    const better = !best || (fits && !best.fits) || (fits === best.fits && (fits ? cell > best.cell + .01 : high < best.high));
    if (better) best = {cell, across, high, fits, step: room + gap};
  }
  const height = rows * best.cell + label + gap;
  return {cell: best.cell, across: best.across, step: best.step, height: best.high - gap + 2,
          at: sheets.map((_, i) => [(i % best.across) * best.step, Math.floor(i / best.across) * height + label])};
}
function cellOf(index) {  // [sheet, row, column]
  if (layout.wrapped) return [0, Math.floor(index[layout.along] / layout.columns), index[layout.along] % layout.columns];
  const n = index.length, sheet = sheetNumber.get(index.slice(0, Math.max(0, n - 2)).join());
  return [sheet, n > 1 ? index[n - 2] : 0, n ? index[n - 1] : 0];
}

let placed = null;
function drawGrid() {
  const width = byId("grid").parentElement.clientWidth - 38;
  placed = gridPlaces(width, 380);
  const context = prepare(byId("grid"), width, placed.height), size = placed.cell;
  const gap = size > 9 ? 2 : size > 4 ? 1 : .4;
  context.font = "11px ui-monospace, monospace"; context.fillStyle = css("--soft");
  // With the names of axes where they have room, else each row's first alone.
  const room = placed.step - 4, fits = texts => texts.every(text => context.measureText(text).width <= room);
  const named = layout.sheets.map(sheet => sheet.map((at, d) => (axisName(d) ? axisName(d) + " = " : "") + at).join(", "));
  const short = layout.sheets.map(sheet => sheet.join(", ")), labels = fits(named) ? named : short, all = fits(labels);
  if (layout.sheets.length > 1) labels.forEach((text, s) => {
    if (all || s % placed.across === 0) context.fillText(text, placed.at[s][0], placed.at[s][1] - 5);
  });
  const colours = {past: css("--read"), now: css("--focus"), next: css("--cell"), bad: css("--bad")};
  programs.forEach((program, i) => {
    const [sheet, row, column] = cellOf(program.i);
    const x = placed.at[sheet][0] + column * size, y = placed.at[sheet][1] + row * size;
    context.fillStyle = i === current ? colours.now : i < current ? colours.past : colours.next;
    context.globalAlpha = i < current ? .45 : 1;
    context.beginPath();
    context.roundRect(x, y, size - gap, size - gap, size > 10 ? 4 : size > 5 ? 1 : 0);
    context.fill();
    context.globalAlpha = 1;
    if (flawed.has(i)) { context.strokeStyle = colours.bad; context.lineWidth = 2; context.strokeRect(x + 1, y + 1, size - gap - 2, size - gap - 2); }
    if (i === current && size < 10) { context.strokeStyle = colours.now; context.lineWidth = 1.5; context.strokeRect(x - 3, y - 3, size + 5, size + 5); }
  });
}
function programAt(x, y) {
  for (let s = 0; s < layout.sheets.length; ++s) {
    const column = Math.floor((x - placed.at[s][0]) / placed.cell), row = Math.floor((y - placed.at[s][1]) / placed.cell);
    if (column < 0 || row < 0 || column >= layout.columns || row >= layout.rows) continue;
    const at = layout.wrapped ? grid.map((_, d) => d === layout.along ? row * layout.columns + column : 0)
        : [...layout.sheets[s], ...(grid.length > 1 ? [row] : []), ...(grid.length ? [column] : [])];
    return numberOf.get(at.join(","));
  }
  return undefined;
}

// What a program does: its instructions, beside the source.
// A place in short, with the whole of it where the pointer rests.
function placeOf(loc, line) {
  const [file, number] = loc >= 0 ? data.places[loc] : ["", 0];
  const node = make("span", "soft", number ? file.slice(file.lastIndexOf("/") + 1) + ":" + number : "line " + line + " of the kernel text");
  if (loc >= 0) node.title = data.locs[loc];
  return node;
}
const VERBS = ["reads", "writes", "updates"];
let step = -1;  // the instruction that is shown; -1: none
const stepsOf = i => programs.length ? programs[i].s || [] : [];
// Of a copy of a block, the side that is the array's.
function accessesOf(one) {
  const [name, , , , around] = data.instrs[one[0]], touched = one[2];
  if (!around || touched.length !== 2 || touched[0][1] !== touched[1][1]) return touched;
  return [touched[name.startsWith("flush") ? 1 : 0]];
}
const rangesOf = box => /^\[.*\]$/.test(box) ? box.slice(1, -1).split(",").map(part => {
  const ends = part.trim().split(":").map(Number);
  return ends.length > 1 ? [ends[0], ends[1]] : [ends[0], ends[0] + 1];
}) : [];
// The rectangle of operand k that the shown instruction touches, as an access of the operand; null: none. What a
// kernel touches of a block that is memory of its own is counted from the block's first element.
function stepAccess(k, block) {
  if (step < 0) return null;
  const one = stepsOf(current)[step], operand = operands[k], around = data.instrs[one[0]][4];
  const found = accessesOf(one).find(access => access[1] === operand.ref || access[1] === operand.name);
  if (!found) return null;
  const ranges = rangesOf(found[2]), n = operand.shape.length;
  if (operand.resident && !around) {
    if (!block) return null;
    const whole = ranges.length !== n;
    return [found[0], k, 0, 1, block[4].map((start, d) => whole ? start : start + ranges[d][0]),
            block[5].map((count, d) => whole ? count : ranges[d][1] - ranges[d][0]), block[6]];
  }
  if (ranges.length !== n || ranges.flat().some(Number.isNaN)) return null;
  return [found[0], k, 0, 1, ranges.map(range => range[0]), ranges.map(range => range[1] - range[0]), ranges.map(() => 1)];
}
function valueTable(value) {
  const [name, type, rows, columns, elements] = value, box = make("div", "value"), table = make("table");
  box.append(make("div", "soft mono", (name ? name + ": " : "") + type));
  for (let r = 0; r < rows; ++r) {
    const line = make("tr");
    for (let c = 0; c < columns; ++c) {
      const text = elements[r * columns + c], number = Number(text);
      const cell = make("td", "", text.length > 8 && !Number.isNaN(number) ? number.toPrecision(4) : text);
      cell.title = text;
      line.append(cell);
    }
    table.append(line);
  }
  box.append(table);
  return box;
}
function drawSteps() {
  const steps = stepsOf(current);
  byId("steps").replaceChildren(...steps.map((one, i) => {
    const [name, line, loc, made] = data.instrs[one[0]], row = make("li", i === step ? "now" : "");
    row.style.paddingLeft = (8 + 14 * one[1]) + "px";
    row.title = loc >= 0 ? data.locs[loc] : "line " + line + " of the kernel text";
    row.append(make("code", "op", name));
    const what = make("span", "what"), touched = accessesOf(one);
    touched.slice(0, 3).forEach(access => what.append(make("b", KINDS[access[0]] + "-ink", VERBS[access[0]] + " "), make("code", "", access[1] + access[2] + " ")));
    if (touched.length > 3) what.append(make("span", "soft", "and " + (touched.length - 3) + " more"));
    if (!touched.length && made) what.append(make("code", "soft", made));
    row.append(what);
    row.addEventListener("click", () => showStep(i === step ? -1 : i));
    return row;
  }));
  byId("no-steps").hidden = steps.length > 0;
  const values = step >= 0 && steps[step] ? steps[step][3] || [] : [];
  byId("values").replaceChildren(...values.map(valueTable));
}
function drawSource() {
  const now = step >= 0 ? data.places[data.instrs[stepsOf(current)[step][0]][2]] : null, kinds = new Map();
  for (const one of stepsOf(current)) {
    const [, , loc, , around] = data.instrs[one[0]];
    if (loc < 0 || around) continue;
    const key = data.places[loc].join(":");
    if (!kinds.has(key)) kinds.set(key, new Set());
    one[2].forEach(access => kinds.get(key).add(access[0]));
  }
  byId("source").replaceChildren(...data.sources.flatMap(([file, lines]) => {
    const rows = [make("div", "soft mono file", file.slice(file.lastIndexOf("/") + 1))];
    let before = 0;
    for (const [number, text] of lines) {
      const row = make("div", "line"), touched = kinds.get(file + ":" + number);
      if (before && number > before + 1) rows.push(make("div", "soft mono", "\u22ef"));
      before = number;
      if (!touched) row.classList.add("soft");
      if (now && now[0] === file && now[1] === number) row.classList.add("now");
      const bars = make("span", "bars");
      for (const kind of [0, 1, 2]) if (touched && touched.has(kind)) bars.append(make("i", KINDS[kind]));
      row.append(bars, make("span", "number", number), make("code", "", text));
      rows.push(row);
    }
    return rows;
  }));
}
// Of a run under a schedule the instructions of all programs are one list, in the order in which they began.
const schedule = data.schedule || null;
const scheduledAt = new Map((schedule || []).map((place, n) => [place.join("."), n]));
function moveStep(by) {
  if (!schedule) return showStep(step + by);
  const own = schedule.findIndex(place => place[0] === current);  // where nothing is chosen: the program's first
  const to = step < 0 ? Math.max(0, own) : Math.min(Math.max(0, scheduledAt.get(current + "." + step) + by), schedule.length - 1);
  if (!schedule.length) return;
  if (schedule[to][0] !== current) show(schedule[to][0]);
  showStep(schedule[to][1]);
}
function showStep(i) {
  step = Math.min(Math.max(-1, i), stepsOf(current).length - 1);
  if (schedule) byId("step-at").textContent = (step < 0 ? schedule.length + " instructions" : "instruction " + (scheduledAt.get(current + "." + step) + 1) + " of " + schedule.length) + " in the order of the schedule: keys , and .";
  drawSteps();
  drawSource();
  operands.forEach((operand, k) => operand.card && drawOperand(k));
  const row = byId("steps").children[step], list = byId("steps");
  if (row && (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight))
    list.scrollTop = row.offsetTop - list.clientHeight / 2;
  const line = byId("source").querySelector(".now");
  if (line) byId("source").scrollTop = line.offsetTop - byId("source").clientHeight / 2;
}
