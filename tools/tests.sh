# What `./dev test`, `test-debian` and `test-jax-versions` run. Sourced by dev.

run_all_tests() {
  begin_results
  # Mirrors are waited for while processors work.
  prepare_newest_jax >"$ROOT/build/logs/debian-early.log" 2>&1 </dev/null &
  if test_release_but_site; then
    timed "the site, beside the next build" check site test_site & # Sphinx uses one processor
  fi
  sanitized 4
  wait
  timed "the other Debian, all together" test_newest_jax
  report_results
}

# sanitized SHARE: with sanitizers everything that runs kernels whole (every case, the fuzzers' seeds), and of the tests
# of each GoogleTest program one of SHARE: they call what the cases call, ten to forty times as slowly as the release build. With
# a SHARE of 1 each test runs.
sanitized() {
  if timed "building clang-asan" build_or_record clang-asan palladion_test_programs; then
    timed "tests of clang-asan" test_sanitized "$1"
  fi
}

test_sanitized() {
  list_tests clang-asan
  in_turn ctest_preset clang-asan-programs clang-asan -L whole_program
  cases_on clang-asan "$(cases_alone)" scalar
  binaries_of clang-asan "$1"
  all_ended
}

run_sanitized_tests() {
  begin_results
  sanitized 1
  report_results
}

# The filter of GoogleTest for every case, a folder of which is a suite, and for ExtremeNumbers, kernels with numbers that
# no case has. The other suites run no case, or all cases again (in parts, without values, copied in other ways, with
# harmless operations, once more for each finding) to hold one report against another of the same build. A SIMD target is
# the loops of semantics/simd, whose results the cases hash: where those are equal under each target, so is what a suite
# makes of them. So the sanitized build runs the suites at most once, and the release build twice, on the two targets that differ
# most: the fastest and scalar, our own loops. What a sanitizer sees of the loops of the targets between it sees in
# semantics_simd_test, which calls each target of the host.
cases_alone() {
  local folder filter=ExtremeNumbers.*:
  for folder in "$ROOT"/conformance/cases/*/; do filter+="$(basename "$folder").*:"; done
  echo "$filter"
}

run_release_tests() {
  begin_results
  test_release
  report_results
}

# run_tests_of FILE...: what tools/tests_of.py names, after building that; the status says whether all passed.
run_tests_of() {
  local lines what filter targets failed=0
  lines=$(python3 tools/tests_of.py "$@") || exit 1
  mapfile -t targets < <(awk '$1 != "pytest" { print $1 }' <<<"$lines")
  if grep -q '^pytest' <<<"$lines"; then targets+=(palladion palladion_shared conformance_run); fi
  build_preset release "${targets[@]}" || exit 1
  while read -r what filter; do
    if [[ $what == pytest ]]; then
      "$PYTHON" -m pytest -q -p no:cacheprovider "$filter" </dev/null || failed=1
    else
      "$(find build -maxdepth 2 -type f -name "$what" -perm -u+x -print -quit)" --gtest_brief=1 --gtest_filter="$filter" </dev/null || failed=1
    fi
  done <<<"$lines"
  return "$failed"
}

# run_python_tests [--carried]: with --carried, of the programs that carry_build put into build/, after this system's compiler has
# checked their sources.
run_python_tests() {
  begin_results
  if [[ ${1:-} == --carried ]]; then
    timed "the compiler's checks" check syntax check_syntax
  elif ! timed "building release" build_or_record release palladion palladion_shared conformance_run; then
    report_results
    return 1
  fi
  meet_jax
  report_results
}

# Left out is what asks nothing of JAX, what needs more than was built, and what is held against records of the older JAX; a GPU's
# recordings are held once, with the release. Random kernels and pipelines are others than the older JAX meets. Keys, and the page
# that runs kernels, need a browser, which that Debian does not have.
meet_jax() {
  local ignored=() file
  for file in trace_page timeline_page compare_page page_pictures pictures draw_schedule packaging mutation_score hardware hardware_times bench_scripts calibrate dtypes_golden browser_page \
    reduced_kernels cases_are_fresh long_tests conformance_command command_interrupts; do
    ignored+=("--ignore=python/tests/test_$file.py")
  done
  timed "Python tests" python_tests -n "$JOBS" --dist loadfile "${ignored[@]}" \
    -k 'not keys_step_through_the_schedule'
}

begin_results() {
  mkdir -p "$ROOT/build/logs"
  : >"$RESULTS"
  : >"$TIMES"
}

test_release() {
  test_release_but_site || return 0
  timed "the site" check site test_site
}

# False: it does not build, and nothing was tested.
test_release_but_site() {
  timed "building release" build_or_record release || return 1
  timed "C++ tests" test_release_programs
  timed "Python tests" python_tests -n "$JOBS" --dist loadfile
  return 0
}

# ctest runs what is no GoogleTest and what is long (tools/test_binaries.py); the other binaries are run whole, as those of the
# sanitized build are. With a process for each of 4,000 tests, most of which take a hundredth of a second, half of the processes'
# time was their start.
test_release_programs() {
  local between
  list_tests release
  in_turn ctest_preset release release -L 'release_only|whole_program'
  binaries_of release
  between=$(host_simd_targets | head -n -1 | tail -n +2) # the fastest is what all tests run with
  cases_on release '*' $(host_simd_targets | head -n -1 | head -n 1)
  cases_on release "$(cases_alone)" $between
  all_ended
}

# python_tests [PYTEST-ARG...]
python_tests() {
  tests python "$ROOT/build/logs/junit-python.xml" \
    "$PYTHON" -m pytest python/tests -q -p no:cacheprovider --junitxml="$ROOT/build/logs/junit-python.xml" "$@"
}

# The newest JAX needs a newer Python than Debian 12's. On Debian 13 it is the one that everything ran with, and Debian 12 has
# the older one.
other_debian() { if [[ $(host_debian) == 13 ]]; then echo 12; else echo 13; fi; }

# What fails here is tried again, and reported, by test_newest_jax.
prepare_newest_jax() {
  local other
  other=$(other_debian)
  [[ -z $(debian_root_obstacle) ]] && prepare_debian "$other" && in_debian "$other" ./dev setup build || true
}

# On the newer Debian the release build of the older one is tested, as a wheel brings it there, and its compiler reads the sources.
# The whole build there is a part of test-long.
test_newest_jax() {
  local other obstacle
  other=$(other_debian)
  obstacle=$(debian_root_obstacle)
  if [[ -z $obstacle && $(host_debian) == 12 ]] && prepare_debian "$other" && carry_build "$other"; then
    test_in_debian "$other" python --carried
    return 0
  fi
  if [[ -n $obstacle ]]; then not_run "debian-$other" "$obstacle"; else test_in_debian "$other" python; fi
}

# test_in_debian RELEASE PART...: `./dev test PART...` there; its results count here.
test_in_debian() {
  local release=$1 part=("${@:2}") name="debian-$1" log="$ROOT/build/logs/debian-$1.log" logs results started=$SECONDS status=0
  logs="$(root_folder "$release")/src/build/logs"
  results="$logs/results.txt"
  if ! prepare_debian "$release"; then
    echo "0 1 0 $name" >>"$RESULTS"
    return 0
  fi
  rm -f "$results" "$logs/times.txt"
  say "tests on Debian $release (log: build/logs/debian-$release.log)"
  in_debian "$release" ./dev test "${part[@]}" >"$log" 2>&1 </dev/null || status=$?
  if [[ -s $logs/times.txt ]]; then sed "s/\$/ on Debian $release/" "$logs/times.txt" >>"$TIMES"; fi
  if [[ -s $results ]]; then
    awk -v name="$name" '{ $4 = name "-" $4; print }' "$results" >>"$RESULTS"
    if ((status != 0)); then tail -n 60 "$log" >&2; fi
  else
    tail -n 40 "$log" >&2
    echo "0 1 0 $name" >>"$RESULTS"
  fi
  say "tests on Debian $release: $(tail -n 1 "$log") in $((SECONDS - started)) s"
}

# `./dev test-debian`: both commands of README.md as a user of that Debian types them, but for the sanitizers, which are
# compiled by clang. The outcome is recorded in docs/develop/contributing.md.
test_debian() {
  local release=$1
  begin_results
  prepare_debian "$release" || exit 1
  check "debian-$release-run" in_debian "$release" ./dev run
  test_in_debian "$release" release
  in_debian "$release" ./dev doctor >"$ROOT/build/logs/debian-$release-doctor.log" 2>&1 || true
  python3 tools/debian_record.py "$release" "$RESULTS" "$ROOT/build/logs/debian-$release-doctor.log"
  report_results
}

# test_jax_versions VERSION...: each in an environment of its own, build/jax-VERSION, which stays for the next time. Those from
# 0.11 need Python 3.12: where this system's is older they run on Debian 13.
test_jax_versions() {
  local version elsewhere=() python
  python=$(find_python)
  [[ $* != all ]] || set -- 0.8.0 0.9.2 0.10.2 0.11.2 0.12.0.1
  for version in "$@"; do
    if [[ $(printf '%s\n' 0.11 "$version" | sort -V | head -n 1) == 0.11 ]] &&
      ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
      elsewhere+=("$version")
    else
      test_jax_version "$version" "$python"
    fi
  done
  ((${#elsewhere[@]})) || return 0
  say "JAX ${elsewhere[*]} needs Python 3.12 or later, which Debian 13 has"
  prepare_debian 13 || exit 1
  in_debian 13 ./dev test-jax-versions "${elsewhere[@]}"
}

test_jax_version() {
  local version=$1 python=$2 dir="$ROOT/build/jax-$1"
  if [[ ! -f $dir/ready ]]; then
    say "making build/jax-$version"
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "jax==$version" "jaxlib==$version" absl-py "ml_dtypes>=0.5" pytest ||
      die "pip could not install JAX $version for $("$dir/bin/python" -V)"
    touch "$dir/ready"
  fi
  say "JAX $version"
  PYTHONPATH="$ROOT/python" "$dir/bin/python" -m pytest -q -p no:cacheprovider python/tests/test_emulate*.py
}
