# Versions of everything that matters to a build or a report of a fault. Installs and builds nothing. Sourced by dev.

version_of() {
  if command -v "$1" >/dev/null; then
    "$@" 2>&1 | grep -m1 -E '[0-9]' || echo "found, but '$*' prints no version"
  else
    echo "not found"
  fi
}

package_version() {
  command -v dpkg-query >/dev/null || { echo "unknown (no dpkg-query)"; return; }
  local version
  version=$(dpkg-query -W -f='${db:Status-Abbrev}${Version}' "$1" 2>/dev/null) || version=
  if [[ $version == ii* ]]; then echo "${version#ii }"; else echo "not installed"; fi
}

row() { printf '%-24s %s\n' "$1" "$2"; }

row system "$( (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null || uname -s), $(uname -m)"
case $(host_debian) in
  12 | 13) row "" "one of the two Debians that are tested" ;;
  *) row "" "not Debian 12 or 13, which are tested: PALLADION_NO_APT=1 uses what is installed" ;;
esac
row processor "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) cores"
row commit "$(git describe --always --dirty 2>/dev/null || echo 'not a git checkout')"
row g++ "$(version_of g++ --version)"
row clang++ "$(version_of clang++ --version)"
row cmake "$(version_of cmake --version)"
row ninja "$(version_of ninja --version)"
row ccache "$(version_of ccache --version)"
while read -r package; do
  [[ $package == lib* ]] && row "$package" "$(package_version "$package")"
done < <(wanted_packages build test)
row "SIMD, this host" "$(host_simd_targets | paste -sd' ')"
if [[ -x build/palladion ]]; then
  echo
  build/palladion doctor || true
else
  row "SIMD, in use" "build/palladion is not built: ./dev build"
fi
echo
if python=$(find_python); then
  row "python for .venv" "$("$python" -V) ($python)"
  row "newest JAX for it" "$("$python" tools/pins.py jax) (python/requirements.txt)"
else
  row "python for .venv" "no Python 3.11 or later with venv"
fi
if [[ -x .venv/bin/python ]]; then
  row python "$(.venv/bin/python -V) in .venv"
  .venv/bin/python - <<'PY'
import importlib.metadata
for name in ("jax", "jaxlib", "ml_dtypes", "numpy", "scipy", "pytest"):
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        found = "not found"
    print(f"{name:<24} {found}")
PY
else
  row python "$(find_python || echo 'no Python 3.11 or later with venv') (no .venv yet: ./dev setup)"
  row jax "not found: no .venv"
fi
echo
for release in 12 13; do
  [[ $(host_debian) != "$release" ]] || continue
  if obstacle=$(debian_root_obstacle) && [[ -n $obstacle ]]; then
    row "Debian $release" "can't be tested here: $obstacle"
  elif [[ -f $(root_folder "$release").ready ]]; then
    row "Debian $release" "in build/debian-$release/root: ./dev test-debian $release"
  else
    row "Debian $release" "can be made here: ./dev test-debian $release"
  fi
done
