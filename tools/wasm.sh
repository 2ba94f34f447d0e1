# The command as WebAssembly: the preset wasm (cmake/PalladionWasm.cmake), the page of the site that runs it, and its tests.
# Sourced by dev.

# Abseil is compiled for WebAssembly from the source of Debian 12's package, whose libraries are the host's.
ABSEIL_VERSION=20220623.1-1+deb12u2
ABSEIL_FILES='abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe  abseil_20220623.1.orig.tar.gz
e08490fc7b6f3beca1925953b0c4fb92df2de5e2a01295e4641e2a3d4e528eeb  abseil_20220623.1-1+deb12u2.debian.tar.xz'

# download_abseil FOLDER: with a list of sources of its own, as most systems list packages alone.
download_abseil() {
  local mirror options
  mirror=$(debian_mirror)
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
  echo "deb-src [signed-by=$(debian_keyring)] ${mirror:-http://deb.debian.org/debian} bookworm main" >"$1/sources.list"
  options=(-q -o "Dir::Etc::sourcelist=$1/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$1/lists"
    -o "Dir::Cache=$1/cache" -o APT::Sandbox::User=)
  (cd "$1" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only "abseil=$ABSEIL_VERSION" &&
    sha256sum --check <<<"$ABSEIL_FILES")
}

# The source in build/abseil-source, with Debian's patches, of which one mends CVE-2025-0838.
setup_abseil() {
  local source="$ROOT/build/abseil-source" from="$ROOT/build/abseil-download" log="$ROOT/build/logs/abseil.log" patch
  [[ -f $source/stamp && $(<"$source/stamp") == "$ABSEIL_VERSION" ]] && return 0
  say "fetching Abseil's source, version $ABSEIL_VERSION (log: build/logs/abseil.log)"
  rm -rf "$source" "$from"
  mkdir -p "$source" "$from" "$ROOT/build/logs"
  if ! download_abseil "$from" >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "Abseil's source could not be fetched, or is not the file whose SHA-256 stands in tools/wasm.sh. Is there a" \
      "network, and does the mirror of Debian 12 still have version $ABSEIL_VERSION?"
  fi
  tar -xf "$from/abseil_20220623.1.orig.tar.gz" -C "$source" --strip-components=1
  tar -xf "$from/abseil_$ABSEIL_VERSION.debian.tar.xz" -C "$from"
  # latomic.diff has options of the host's linker.
  for patch in $(grep -vE '^#|^latomic.diff$' "$from/debian/patches/series"); do
    # Outside of any checkout: git applies nothing to files of this one that it does not know.
    (cd "$source" && GIT_CEILING_DIRECTORIES="$ROOT/build" git apply "$from/debian/patches/$patch") ||
      die "Debian's patch $patch of Abseil could not be applied"
  done
  echo "$ABSEIL_VERSION" >"$source/stamp"
}

# palladion.js and palladion.wasm in build-wasm.
build_wasm() {
  setup_packages build wasm
  command -v em++ >/dev/null || die "em++ is missing: ./dev setup wasm"
  setup_abseil
  build_preset wasm palladion
}

# What is run is what the native command does: every case by both.
test_browser() {
  build_preset release palladion
  build_wasm
  "$PYTHON" conformance/browser_cases.py "$@"
}
