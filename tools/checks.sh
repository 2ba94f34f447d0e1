# What `./dev lint`, `fuzz`, `exhaustive` and `coverage` do once everything is installed, and what `test` is made of (tests.sh).
# Sourced by dev.
# Every step writes one line "passed failed skipped name" into RESULTS; a step that cannot run at all is a failure there,
# so nothing that was meant to run can go missing from the last line unseen.

RESULTS="$ROOT/build/logs/results.txt"
TIMES="$ROOT/build/logs/times.txt"  # "seconds part", for the table of report_results

# timed PART COMMAND...: its status is the command's.
timed() {
  local part=$1 started=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "$((SECONDS - started)) $part" >>"$TIMES"
  return "$status"
}

# check NAME COMMAND...: one yes-or-no check.
check() {
  local name=$1 log="$ROOT/build/logs/check-$1.log"
  shift
  say "check $name"
  if "$@" >"$log" 2>&1 </dev/null; then
    echo "1 0 0 $name" >>"$RESULTS"
  else
    echo "0 1 0 $name" >>"$RESULTS"
    say "check $name FAILED:"
    tail -n 40 "$log" >&2
  fi
}

# tests NAME JUNIT COMMAND...: a test runner that writes its cases to the file JUNIT.
tests() {
  local name=$1 junit=$2 log="$ROOT/build/logs/tests-$1.log" status=0 started=$SECONDS
  shift 2
  rm -f "$junit"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  python3 tools/count_tests.py "$name" "$status" "$junit" >>"$RESULTS" || {
    # The end of a log is its summary: what went wrong stands before it.
    grep -nE 'ERROR: |SUMMARY: |: Failure|Assertion|^E  |terminate called|libFuzzer: ' -A 6 "$log" | head -n 60 | cut -c 1-240 >&2 || true
    tail -n 40 "$log" >&2
    say "tests $name FAILED (log: build/logs/tests-$name.log)"
  }
  say "tests $name: $(tail -n 1 "$RESULTS" | awk '{print $1 " passed, " $2 " failed, " $3 " skipped"}') in $((SECONDS - started)) s"
}

# ctest_preset NAME PRESET [CTEST-ARG...]
ctest_preset() {
  local name=$1 preset=$2 junit="$ROOT/build/logs/junit-$1.xml"
  shift 2
  tests "$name" "$junit" \
    ctest --test-dir "$(preset_dir "$preset")" -j "$JOBS" --output-on-failure --output-junit "$junit" "$@"
}

# list_tests PRESET: ctest writes the list of a program's tests when it first reads it, and two that run side by side
# would write the same file.
list_tests() { ctest --test-dir "$(preset_dir "$1")" -N >/dev/null 2>&1 </dev/null || true; }

# A build that fails is one failure, and nothing of that build is tested.
build_or_record() {
  build_preset "$@" && return 0
  echo "0 1 0 build-$1" >>"$RESULTS"
  return 1
}

# The running processes of in_turn. Processes end at times of their own: a processor without work gets the next one, of whatever step.
RUNNING=()

# in_turn COMMAND...: starts it in the background as soon as fewer than JOBS of them run.
in_turn() {
  local process
  while ((${#RUNNING[@]} >= JOBS)); do
    wait -n "${RUNNING[@]}" || true
    local going_on=()
    for process in "${RUNNING[@]}"; do
      if kill -0 "$process" 2>/dev/null; then going_on+=("$process"); fi
    done
    RUNNING=(${going_on[@]+"${going_on[@]}"})
  done
  "$@" &
  RUNNING+=($!)
}

all_ended() {
  if ((${#RUNNING[@]})); then wait "${RUNNING[@]}" || true; fi
  RUNNING=()
}

# binaries_of PRESET [SHARE]: starts each of its GoogleTest binaries (tools/test_binaries.py) as so many processes as there are processors,
# which share its tests, in turn. ctest's process for each test takes longer to start, in a sanitized build, than most tests do.
# The last in its list take longest, so they come first: little is left when the others have ended. With SHARE only one test of
# SHARE runs, from every suite; none of those that cases_on runs is among them.
binaries_of() {
  local preset=$1 share=${2:-1} binaries binary shard
  if ! binaries=$(python3 tools/test_binaries.py "$(preset_dir "$preset")" | tac); then
    echo "0 1 0 $preset-binaries" >>"$RESULTS"
    return 0
  fi
  for binary in $binaries; do
    for ((shard = 0; shard < JOBS; shard++)); do in_turn shard_of "$preset" "$binary" "$shard" "$share"; done
  done
}

# shard_of PRESET BINARY NUMBER SHARE
shard_of() {
  local name junit filter='*'
  name="$1-$(basename "$2")-$3"
  junit="$ROOT/build/logs/junit-$name.xml"
  if (($4 > 1)); then filter="-$(cases_alone)"; fi
  GTEST_TOTAL_SHARDS=$((JOBS * $4)) GTEST_SHARD_INDEX=$3 tests "$name" "$junit" \
    timeout 1800 "$2" --gtest_brief=1 --gtest_filter="$filter" --gtest_output="xml:$junit"
}

# cases_on PRESET FILTER TARGET...: starts, in turn, the conformance cases that GoogleTest's filter names under each of these SIMD
# targets: their outputs are hashed in the case files, so a target that gives other bits fails. One process for each target, as the
# start of a process takes longer than a case.
cases_on() {
  local preset=$1 filter=$2 target
  shift 2
  for target in "$@"; do in_turn cases_of "$preset" "$filter" "$target"; done
}

# cases_of PRESET FILTER TARGET
cases_of() {
  local junit="$ROOT/build/logs/junit-$1-$3.xml"
  PALLADION_SIMD=$3 tests "$1-$3" "$junit" \
    "$(preset_dir "$1")/conformance/conformance_test" --gtest_brief=1 --gtest_filter="$2" --gtest_output="xml:$junit"
}

# The tests of the tree itself, for lint; in `test` they are part of the release build's ctest (cmake/PalladionChecks.cmake).
run_light_checks() {
  check limits python3 tools/limits.py
  check links python3 tools/links.py
  check prose python3 tools/prose.py
  check words python3 tools/words.py
  check include-arrows python3 conformance/include_arrows_test.py
  check import-arrows python3 conformance/import_arrows_test.py
  check one-definition python3 conformance/one_definition_test.py
  check namespaces python3 conformance/namespaces_test.py
  check standard-includes python3 conformance/standard_includes_test.py
  check own-includes python3 conformance/own_includes_test.py
  check generated-docs python3 tools/gen_docs.py --check --palladion build/palladion
}

# A part that cannot run here: a failure where everything must (.ci/run), and listed in the last lines anywhere.
# not_run NAME REASON
not_run() {
  say "NOT RUN: $1: $2"
  if [[ ${PALLADION_TEST_EVERYTHING:-} == 1 ]]; then
    echo "0 1 0 $1" >>"$RESULTS"
  else
    echo "0 0 0 $1 not-run $2" >>"$RESULTS"
  fi
}

# The last line is read by machines: nothing may be printed after it.
report_results() {
  if [[ -s ${TIMES:-} ]]; then
    awk '{ seconds = $1; sub(/^[0-9]+ /, ""); printf "%5.1f min  %s\n", seconds / 60, $0 }' "$TIMES"
  fi
  awk '$2 > 0 { print "failed: " $4 " (" $2 ")" }
       $3 > 0 { print "skipped: " $3 " in " $4 }
       $5 == "not-run" { missing++; name = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print "not run: " name ": " $0 }
       { passed += $1; failed += $2 }
       END { printf "%d passed, %d failed%s\n", passed, failed, missing ? ", " missing " not run" : ""; exit failed > 0 || passed == 0 }' \
    "$RESULTS"
}

run_lint() {
  begin_results
  build_or_record release || { report_results; return 1; }
  local base files
  if [[ ${1:-} == --all ]]; then
    files=$(cpp_files)
  else
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    files=$(cpp_files | grep -Fxf <(git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard) || true)
  fi
  files=$(grep '\.cc$' <<<"$files" | grep -Ev '_fuzz\.cc$' || true)
  if [[ -n $files ]]; then
    check clang-tidy bash -c 'xargs -P "$1" -n 1 clang-tidy --quiet -p build --extra-arg=-Wno-unknown-warning-option' \
      _ "$JOBS" <<<"$files"
  fi
  check format command_fmt --check
  check ruff ruff check
  run_light_checks
  report_results
}

# run_fuzzers NAME|all SECONDS: new inputs stay in build-clang-asan/fuzz/corpus, so a later run goes on from there.
run_fuzzers() {
  build_preset clang-asan
  local binary found=0
  for binary in build-clang-asan/fuzz/*_fuzz; do
    [[ -x $binary && ($1 == all || $1 == "$(basename "$binary")") ]] || continue
    found=1
    say "fuzzing $(basename "$binary") for $2 seconds"
    "$binary" -dict=semantics/registry/parse_fuzz.dict -max_total_time="$2" -max_len=65536 -timeout=25 -rss_limit_mb=1024 -print_final_stats=1 \
      -artifact_prefix=build-clang-asan/fuzz/ "build-clang-asan/fuzz/corpus/$(basename "$binary")" conformance/fuzz_seeds build-clang-asan/fuzz/cases
  done
  ((found)) || die "there is no fuzz target '$1'; there are: $(cd build-clang-asan/fuzz && echo *_fuzz)"
}

# run_exhaustive NAME|all: the *_exhaustive binaries, each of which exits nonzero when an input is wrong.
run_exhaustive() {
  build_preset release
  local binary found=0 failed=0
  for binary in build/exhaustive/*; do
    [[ -x $binary && -f $binary && ($1 == all || $1 == "$(basename "$binary")") ]] || continue
    found=1
    say "running $(basename "$binary")"
    "$binary" || failed=1
  done
  ((found)) || die "there is no exhaustive check '$1'; there are: $(cd build/exhaustive && echo *)"
  return $failed
}

# What uses host threads: strips of large operations, seeds side by side, interruption, many runs at once. Left out are the
# agents that are C++ functions: ThreadSanitizer does not know of a switch to another stack.
run_threads() {
  build_preset clang-tsan semantics_simd_test scheduler_test emu_test
  local test failed=0 coroutines
  coroutines=$(sed -nE 's/^TEST(_F)?\((\w+),.*/\2.*/p' emu/front/cpp/*_test.cc scheduler/coroutine_agent_test.cc | sort -u | paste -sd:)
  for test in semantics/semantics_simd_test scheduler/scheduler_test emu/emu_test; do
    say "running $test under ThreadSanitizer"
    TSAN_OPTIONS=halt_on_error=1 "build-clang-tsan/$test" --gtest_brief=1 --gtest_filter="-$coroutines" || failed=1
  done
  return $failed
}

run_coverage() {
  build_preset coverage
  local dir=build-coverage binary objects=()
  rm -rf "$dir/profiles"
  LLVM_PROFILE_FILE="$ROOT/$dir/profiles/%p.profraw" ctest --test-dir "$dir" -j "$JOBS" --output-on-failure -LE release_only
  llvm-profdata merge -sparse "$dir"/profiles/*.profraw -o "$dir/merged.profdata"
  while IFS= read -r binary; do objects+=(-object "$binary"); done < <(find "$dir" -maxdepth 3 -type f -name '*_test' -perm -u+x)
  llvm-cov report "${objects[@]}" -instr-profile="$dir/merged.profdata" -ignore-filename-regex='_test\.cc$|/usr/'
}

# packages_environment FOLDER LIST [BARE]: an environment in FOLDER, which stays until the versions change. What BARE lists is
# installed without what it asks for.
packages_environment() {
  local dir=$1 list=$2 bare=${3:-}
  if cat "$list" ${bare:+"$bare"} | cmp -s - "$dir/ready"; then return; fi
  say "making $dir"
  rm -rf "$dir"
  "$(find_python)" -m venv "$dir"
  local pip=("$dir/bin/python" -m pip install --quiet --disable-pip-version-check)
  { "${pip[@]}" -r "$list" && { [[ -z $bare ]] || "${pip[@]}" --no-deps -r "$bare"; }; } ||
    die "pip could not install $list $bare for $("$dir/bin/python" -V)"
  cat "$list" ${bare:+"$bare"} >"$dir/ready"
}

# test_packages [tokamax | tpu-inference] ARG...: in build/packages; tokamax also with the oldest JAX that it takes, in a
# folder of its own, for the rows that need it.
test_packages() {
  local dir="$ROOT/build/packages" older="$ROOT/build/packages-jax-0.9.2" lists="$ROOT/python/packages"
  packages_environment "$dir" "$lists/requirements.txt" "$lists/requirements_bare.txt"
  local packages=(tokamax tpu-inference)
  if [[ ${1:-} == tokamax || ${1:-} == tpu-inference ]]; then
    packages=("$1")
    shift
  fi
  local package failed=0
  for package in "${packages[@]}"; do
    PYTHONPATH="$ROOT/python" "$dir/bin/python" "python/packages/run_${package//-/_}.py" "$@" || failed=1
    [[ $package == tokamax ]] || continue
    packages_environment "$older" "$lists/requirements_jax_0.9.txt"
    PYTHONPATH="$ROOT/python" "$older/bin/python" python/packages/run_tokamax.py "$@" || failed=1
  done
  return "$failed"
}
