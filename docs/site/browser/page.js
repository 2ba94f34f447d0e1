// The page: an editor of kernel text whose buttons call the command in a worker. COMMAND (command.js) holds the module,
// compressed, and the worker's scripts, because a page that was opened as a file may fetch nothing.
"use strict";

const at = (id) => document.getElementById(id);
const BUTTONS = ["run", "check", "draw"].map(at);
const SAID = ["success", "a defect was found", "results depend on the schedule", "not supported", "a mistake in the text, the inputs or the options",
  "an error of Palladion itself", "over a budget"];
const KERNEL = "kernel.pkir";
let worker = null;
let compiled = null;
let answer = null; // what takes the worker's next message

async function decompressed(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function startWorker() {
  const address = URL.createObjectURL(new Blob(COMMAND.scripts, { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = (event) => answer && answer(event.data);
  worker.onerror = (event) => answer && answer({ failed: event.message || "the worker could not be started" });
  worker.postMessage({ module: compiled });
}

function say(text, kind = "") {
  at("state").textContent = text;
  at("state").className = `state ${kind}`;
}

function busy(is) {
  for (const button of BUTTONS) button.disabled = is;
  at("stop").disabled = !is;
}

// --in for each line of the inputs.
function inputs() {
  const lines = at("inputs").value.replace(/\[[^\]]*\]/g, (list) => list.replace(/\s+/g, "")).split("\n");
  return lines.filter((line) => line.trim()).flatMap((line) => {
    const equals = line.indexOf("=");
    const name = line.slice(0, equals).trim();
    return ["--in", equals < 0 ? line.trim() : `${name}=${line.slice(equals + 1).replace(/\s+/g, "")}`];
  });
}

function target() {
  const word = at("target").value.trim();
  return word ? ["--target", word] : [];
}

function wordsFor(what) {
  const seeds = ["--seeds", at("seeds").value || "16"];
  if (what === "run") return ["run", KERNEL, ...inputs(), ...target(), "--out", "out", "--stats"];
  if (what === "check") return ["check", KERNEL, ...inputs(), ...target(), ...seeds];
  const failed = last.what === "check" && last.code > 0 && last.code < 3 ? ["--view", "schedule", ...seeds] : [];
  return ["trace", KERNEL, ...inputs(), ...target(), ...failed, "--page", "picture.html"];
}

let last = { what: "", code: 0 };

async function call(what) {
  const words = wordsFor(what);
  show();
  say(`palladion ${words.slice(0, 2).join(" ")} …`);
  busy(true);
  const began = performance.now();
  const done = await new Promise((resolve) => {
    answer = resolve;
    worker.postMessage({ call: { arguments: words, files: { [KERNEL]: at("kernel").value } } });
  });
  answer = null;
  busy(false);
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  if (done.failed !== undefined) {
    worker.terminate();
    startWorker();
    say(`The module failed: ${done.failed}`, "bad");
    return;
  }
  last = { what, code: done.code };
  say(`${seconds} s, exit code ${done.code}: ${SAID[done.code] || "unknown"}`, done.code === 0 ? "good" : "bad");
  show(done, words);
}

function text(bytes) {
  return new TextDecoder().decode(bytes);
}

// The report, the outputs in a few numbers each, or the picture.
function show(done, words) {
  const picture = done && done.files["picture.html"];
  at("picture").hidden = !picture;
  at("report").hidden = Boolean(picture);
  markLines([]);
  if (!done) {
    at("report").textContent = "";
    return;
  }
  if (picture) at("picture").srcdoc = text(picture);
  const outputs = Object.entries(done.files).filter(([name]) => name.endsWith(".npy"));
  const parts = [text(done.stdout), text(done.stderr), ...outputs.map(([name, bytes]) => arrayText(name, bytes))];
  const report = parts.filter(Boolean).join("\n");
  at("report").textContent = `$ palladion ${words.map(quoted).join(" ")}\n${report}`;
  const places = [...report.matchAll(/kernel\.pkir:(\d+)/g)].map((found) => Number(found[1]));
  if (done.code !== 0) markLines(places);
}

function quoted(word) {
  return /^[\w./=,:+-]+$/.test(word) ? word : `'${word}'`;
}

const READERS = {
  "<f4": [4, (view, i) => view.getFloat32(i, true)], "<f8": [8, (view, i) => view.getFloat64(i, true)],
  "<i4": [4, (view, i) => view.getInt32(i, true)], "<u4": [4, (view, i) => view.getUint32(i, true)],
  "<i2": [2, (view, i) => view.getInt16(i, true)], "<u2": [2, (view, i) => view.getUint16(i, true)],
  "|i1": [1, (view, i) => view.getInt8(i)], "|u1": [1, (view, i) => view.getUint8(i)],
  "|b1": [1, (view, i) => view.getUint8(i) !== 0], "<i8": [8, (view, i) => view.getBigInt64(i, true)],
  "<u8": [8, (view, i) => view.getBigUint64(i, true)],
};
const MOST_SHOWN = 64;

// The first elements of a .npy file; of a type that NumPy does not have, its name alone.
function arrayText(name, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = bytes[6] >= 2;
  const begin = (wide ? 12 : 10) + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = text(bytes.slice(10, begin));
  const type = /'descr':\s*'([^']*)'/.exec(header);
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header);
  const title = `${name.replace(/^out\//, "")} [${shape ? shape[1].replace(/,\s*$/, "") : "?"}]`;
  const reader = type && READERS[type[1]];
  if (!reader) return `${title}: ${type ? type[1] : "unknown type"}\n`;
  const count = Math.floor((bytes.length - begin) / reader[0]);
  const shown = Array.from({ length: Math.min(count, MOST_SHOWN) }, (_, i) => short(reader[1](view, begin + i * reader[0])));
  return `${title}: ${shown.join(" ")}${count > MOST_SHOWN ? ` … (${count} elements)` : ""}\n`;
}

function short(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(7))) : String(value);
}

function markLines(lines) {
  const marked = new Set(lines);
  const count = at("kernel").value.split("\n").length;
  at("numbers").replaceChildren(...Array.from({ length: count }, (_, i) => {
    const number = document.createElement("div");
    number.textContent = i + 1;
    if (marked.has(i + 1)) number.className = "found";
    return number;
  }));
  at("numbers").scrollTop = at("kernel").scrollTop;
}

function choose(example) {
  at("kernel").value = example.kernel;
  at("inputs").value = example.inputs;
  at("target").value = example.target;
  at("seeds").value = example.seeds;
  last = { what: "", code: 0 };
  show();
  at("report").textContent = example.text;
}

async function start() {
  at("example").replaceChildren(...EXAMPLES.map((example, i) => new Option(example.title, i)));
  at("targets").replaceChildren(...TARGETS.map((name) => new Option(name)));
  at("example").onchange = () => choose(EXAMPLES[at("example").value]);
  at("kernel").oninput = () => markLines([]);
  at("kernel").onscroll = () => { at("numbers").scrollTop = at("kernel").scrollTop; };
  for (const button of BUTTONS) {
    button.disabled = true;
    button.onclick = () => call(button.id);
  }
  at("stop").onclick = () => {
    worker.terminate();
    startWorker();
    if (answer) answer({ failed: "it was stopped" });
  };
  choose(EXAMPLES[0]);
  try {
    compiled = await WebAssembly.compile(await decompressed(COMMAND.module));
    startWorker();
  } catch (thrown) {
    say(`This browser cannot load the command: ${thrown.message}`, "bad");
    return;
  }
  busy(false);
  say("Ready.");
  const wanted = new URLSearchParams(location.search); // ?example=1&press=check, for a link to what a reader should see
  if (EXAMPLES[wanted.get("example")]) {
    at("example").value = wanted.get("example");
    choose(EXAMPLES[wanted.get("example")]);
  }
  if (["run", "check", "draw"].includes(wanted.get("press"))) await call(wanted.get("press"));
}

start();
