// Calls of the command's module under Node, for browser_cases.py:
//
//     node browser_calls.js FOLDER RESULTS < CALLS
//
// FOLDER has palladion.js and palladion.wasm. CALLS is a JSON list of {arguments, files}; RESULTS becomes a JSON list of
// {code, stdout, stderr, files}, bytes as base64. What cannot be called at all is {failed: why}.
"use strict";

const fs = require("fs");
const path = require("path");
const { callPalladion } = require("../docs/site/browser/call.js");

const text = (bytes) => Buffer.from(bytes).toString("base64");

async function main(folder, written) {
  process.setMaxListeners(0); // each instance listens for what nothing has caught
  const makeInstance = require(path.resolve(folder, "palladion.js"));
  const module = new WebAssembly.Module(fs.readFileSync(path.join(folder, "palladion.wasm")));
  const results = [];
  for (const call of JSON.parse(fs.readFileSync(0, "utf8"))) {
    try {
      const done = await callPalladion(makeInstance, module, call);
      const files = Object.fromEntries(Object.entries(done.files).map(([name, bytes]) => [name, text(bytes)]));
      results.push({ code: done.code, stdout: text(done.stdout), stderr: text(done.stderr), files });
    } catch (thrown) {
      results.push({ failed: String(thrown && thrown.stack ? thrown.stack : thrown) });
    }
  }
  fs.writeFileSync(written, JSON.stringify(results));
}

main(process.argv[2], process.argv[3]);
