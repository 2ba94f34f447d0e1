# The emulator for arm64 Linux, compiled and run on x86: the preset arm64 (cmake/arm64.cmake) and its tests under QEMU.
# Sourced by dev.

# Debian 12's packages for arm64, with what they need to run: unpacked into build/arm64-root, nothing of them is installed.
# The versions are those of Debian 12 as it is now: another may be built with another Abseil, whose names differ.
ARM64_PACKAGES='libabsl-dev=20220623.1-1+deb12u2 libabsl20220623=20220623.1-1+deb12u2
libhwy-dev=1.0.3-3+deb12u1 libhwy1=1.0.3-3+deb12u1
libboost1.74-dev=1.74.0+ds1-21 libboost-context1.74-dev=1.74.0+ds1-21 libboost-context1.74.0=1.74.0+ds1-21
libpng-dev=1.6.39-2+deb12u5 libpng16-16=1.6.39-2+deb12u5 zlib1g-dev=1:1.2.13.dfsg-1 zlib1g=1:1.2.13.dfsg-1
libgtest-dev=1.12.1-0.2 libmpfr-dev=4.2.0-1 libmpfr6=4.2.0-1 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1
nlohmann-json3-dev=3.11.2-2 libc6 libgcc-s1=12.2.0-14+deb12u1 libstdc++6=12.2.0-14+deb12u1'

# download_arm64 FOLDER: with lists of its own, so that this system's apt does not learn of another architecture.
download_arm64() {
  local mirror options packages package
  mirror=$(debian_mirror)
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
  {
    echo "deb [arch=arm64 signed-by=$(debian_keyring)] ${mirror:-http://deb.debian.org/debian} bookworm main"
    echo "deb [arch=arm64 signed-by=$(debian_keyring)] http://deb.debian.org/debian-security bookworm-security main"
  } >"$1/sources.list"
  options=(-q -o "Dir::Etc::sourcelist=$1/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$1/lists"
    -o "Dir::State::status=/dev/null" -o "Dir::Cache=$1/cache" -o APT::Sandbox::User= -o APT::Architecture=arm64
    -o APT::Architectures::=arm64)
  read -r -d '' -a packages <<<"$ARM64_PACKAGES" || true
  (cd "$1" && apt-get "${options[@]}" update && apt-get "${options[@]}" download "${packages[@]}") || return 1
  for package in "$1"/*.deb; do dpkg-deb -x "$package" "$1/root" || return 1; done
}

setup_arm64_root() {
  local root="$ROOT/build/arm64-root" from="$ROOT/build/arm64-download" log="$ROOT/build/logs/arm64-root.log"
  [[ -f $root/stamp && $(<"$root/stamp") == "$ARM64_PACKAGES" ]] && return 0
  say "fetching Debian 12's packages for arm64 (log: build/logs/arm64-root.log)"
  rm -rf "$root" "$from"
  mkdir -p "$from" "$ROOT/build/logs"
  if ! download_arm64 "$from" >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "packages for arm64 could not be fetched. Is there a network, and does the mirror of Debian 12 still have the" \
      "versions in tools/arm64.sh? The log is build/logs/arm64-root.log."
  fi
  mv "$from/root" "$root"
  rm -rf "$from"
  echo "$ARM64_PACKAGES" >"$root/stamp"
}

# build_arm64 [TARGET...]: in build-arm64; without a target, the command and the test programs that test_arm64 runs.
build_arm64() {
  setup_packages build arm64
  command -v aarch64-linux-gnu-g++ >/dev/null || die "aarch64-linux-gnu-g++ is missing: ./dev setup arm64"
  command -v qemu-aarch64 >/dev/null || die "qemu-aarch64 is missing: ./dev setup arm64"
  setup_arm64_root
  if (($#)); then build_preset arm64 "$@"; else build_preset arm64 palladion semantics_port_test semantics_simd_test; fi
}

# The arithmetic by its own tests, scalar against NEON in one process; then every case by both commands. What is called as
# a condition is not stopped by `set -e`, so each step says whether it failed.
test_arm64() {
  local program failed=0
  build_preset release palladion || return 1
  build_arm64 || return 1
  for program in semantics_port_test semantics_simd_test; do
    qemu-aarch64 -L build/arm64-root "build-arm64/semantics/$program" --gtest_brief=1 </dev/null || failed=1
  done
  "$PYTHON" conformance/arm64_cases.py "$@" || failed=1
  return "$failed"
}
