// One call of the command, in an instance of the module of its own: a program ends with its exit code and leaves its
// memory as it was then. In a worker of the page and under Node (conformance/browser_calls.js).

// `makeInstance`: what palladion.js defines; `module`: palladion.wasm, compiled. `call` has the command's `arguments`
// and `files`, {name: text or bytes} in the folder it runs in. The promise is of its exit `code`, its `stdout` and
// `stderr` as bytes, and the `files` that are there afterwards and were not before, {name: bytes}.
async function callPalladion(makeInstance, module, call) {
  const streams = { stdout: [], stderr: [] };
  const given = call.files || {};
  let code = null;
  const take = (stream) => (byte) => {
    if (byte !== null) stream.push(byte & 255);
  };
  const instance = await makeInstance({
    thisProgram: "palladion",
    stdin: () => null,
    stdout: take(streams.stdout),
    stderr: take(streams.stderr),
    quit: (status, thrown) => {
      code = status;
      throw thrown;
    },
    instantiateWasm: (imports, receive) => {
      const made = new WebAssembly.Instance(module, imports);
      receive(made);
      return made.exports;
    },
  });
  const fs = instance.FS;
  fs.mkdir("/folder");
  fs.chdir("/folder");
  for (const [name, content] of Object.entries(given)) fs.writeFile(name, content);
  try {
    const returned = instance.callMain(call.arguments);
    if (code === null) code = returned;
  } catch (thrown) {
    if (thrown.name !== "ExitStatus") throw thrown;
  }
  return {
    code,
    stdout: Uint8Array.from(streams.stdout),
    stderr: Uint8Array.from(streams.stderr),
    files: filesOf(fs, "/folder", given),
  };
}

function filesOf(fs, folder, given, inside = "") {
  const found = {};
  for (const name of fs.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const path = `${folder}/${name}`;
    if (fs.isDir(fs.stat(path).mode)) Object.assign(found, filesOf(fs, path, given, `${inside}${name}/`));
    else if (!(`${inside}${name}` in given)) found[`${inside}${name}`] = fs.readFile(path);
  }
  return found;
}

if (typeof module !== "undefined") module.exports = { callPalladion };
