# Configuring and building a preset of CMakePresets.json. Sourced by dev.

# The folder of a preset: release is `build`, because users type build/palladion; the others are build-NAME.
preset_dir() {
  if [[ $1 == release ]]; then echo build; else echo "build-$1"; fi
}

# build_preset PRESET [TARGET...]: quiet on success, the end of the log on failure. ccache is used where it is installed.
# The variable WERROR=ON makes warnings errors in release too (the other presets have it), UNITY=ON compiles files together in
# folders that are made anew; a folder keeps the settings that it was made with.
build_preset() {
  local preset=$1 dir log unity=
  shift
  dir=$(preset_dir "$preset")
  log="$ROOT/build/logs/$preset-build.log"
  mkdir -p "$ROOT/build/logs"
  [[ ${UNITY:-} != ON || -f $ROOT/$dir/CMakeCache.txt ]] || unity=-DPALLADION_UNITY=ON
  command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  say "building $preset in $dir (log: build/logs/$preset-build.log)"
  if ! { cmake --preset "$preset" ${WERROR:+"-DPALLADION_WERROR=$WERROR"} $unity && cmake --build "$dir" -j "$JOBS" ${1:+--target "$@"}; } >"$log" 2>&1 </dev/null; then
    grep -nE 'error|FAILED' "$log" | head -n 20 >&2 || true
    tail -n 30 "$log" >&2
    say "building $preset failed"
    return 1
  fi
}

# check_syntax: this system's compiler reads what users build, without making code and with warnings as errors
# (tools/syntax_only). Files are read in groups, as `./dev test` builds them: that a file includes what it uses is found by
# conformance/own_includes_test.py, and by `./dev run`, which compiles each file by itself (test-long's part `debian`).
check_syntax() {
  local dir=$ROOT/build-syntax
  cmake -S "$ROOT" -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ -DPALLADION_WERROR=ON -DPALLADION_UNITY=ON \
    -DPALLADION_TESTS=OFF -DPALLADION_BENCH=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$ROOT/tools/syntax_only" -DCMAKE_CXX_LINKER_LAUNCHER="$ROOT/tools/syntax_only" &&
    cmake --build "$dir" -j "$JOBS" --target palladion palladion_shared conformance_run
}

cpp_files() {
  git -C "$ROOT" ls-files --cached --others --exclude-standard -- '*.cc' '*.h'
}

# ruff COMMAND [ARGUMENT...]: on the Python that is formatted (pyproject.toml), from python/requirements.txt's version.
ruff() {
  (cd "$ROOT" && "$ROOT/.venv/bin/ruff" "$@" --no-cache .)
}

# The SIMD targets that this host can run, slowest first; scalar is always there.
host_simd_targets() {
  local flags has
  flags=" $(grep -m1 '^flags' /proc/cpuinfo || true) "
  has() { local f; for f in "$@"; do [[ $flags == *" $f "* ]] || return 1; done; }
  echo scalar
  has ssse3 && echo ssse3
  has avx2 fma bmi1 bmi2 f16c && echo avx2
  has avx512f avx512bw avx512dq avx512vl avx512cd && echo avx512
  return 0
}
