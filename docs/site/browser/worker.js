// The page's worker, behind palladion.js and call.js: it is given the compiled module, then one call after another. The
// page ends it to stop a call.
let compiled = null;

onmessage = async (event) => {
  const { module, call } = event.data;
  if (module) {
    compiled = module;
    return;
  }
  try {
    postMessage(await callPalladion(PalladionModule, compiled, call));
  } catch (thrown) {
    postMessage({ failed: String(thrown && thrown.message ? thrown.message : thrown) });
  }
};
