# What `./dev` installs on Debian 12 and 13: Debian packages that are missing, and a Python environment with pinned versions.
# Sourced by dev. Other systems that have apt-get are tried; what they lack is said by apt-get.
# Both steps ask first what is there, so a second call costs milliseconds and needs no network.

# The packages of the groups given, one a line.
wanted_packages() {
  awk -v groups=" $* " '!/^#/ && NF && index(groups, " " $1 " ") { print $2 }' "$ROOT/tools/apt_packages.txt"
}

# setup_packages GROUP...: installs what is missing. PALLADION_NO_APT=1 trusts that it is there under another name.
setup_packages() {
  [[ ${PALLADION_NO_APT:-} == 1 ]] && return 0
  local wanted missing=() package
  mapfile -t wanted < <(wanted_packages "$@")
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not a Debian system, so ./dev can't install what it needs. Install what these Debian packages hold" \
      "and set PALLADION_NO_APT=1: ${wanted[*]}"
  fi
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      die "these packages are missing, and installing them needs root or sudo: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  mkdir -p "$ROOT/build/logs"
  local log="$ROOT/build/logs/apt.log"
  if ! { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "apt-get could not install: ${missing[*]}. Is there a network, and is this Debian 12 or 13? The log is" \
      "build/logs/apt.log."
  fi
}

# Debian's own interpreter first, because that is the one the pinned versions are tested with: 3.11 in Debian 12, 3.13 in 13.
find_python() {
  local candidate
  for candidate in "${PALLADION_VENV_PYTHON:-}" /usr/bin/python3 python3.13 python3.12 python3.11 python3.14 python3; do
    [[ -n $candidate ]] && command -v "$candidate" >/dev/null || continue
    "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    command -v "$candidate"
    return 0
  done
  return 1
}

# The environment is made anew when the requirements or the interpreter change; .venv/requirements.stamp tells.
setup_venv() {
  local python requirements="$ROOT/python/requirements.txt" stamp="$ROOT/.venv/requirements.stamp" key
  python=$(find_python) || die "no Python 3.11 or later with the venv module was found. On Debian 12 or 13: apt-get" \
    "install python3-venv; elsewhere set PALLADION_VENV_PYTHON to an interpreter."
  key="$(cat "$requirements" pyproject.toml tools/link_checkout.py | sha256sum) $ROOT $("$python" -V) $python"
  if [[ ! -f $stamp || $(<"$stamp") != "$key" ]]; then
    say "making .venv with $("$python" -V) and the versions of python/requirements.txt"
    mkdir -p "$ROOT/build/logs"
    local log="$ROOT/build/logs/pip.log"
    rm -rf "$ROOT/.venv"
    if ! { "$python" -m venv "$ROOT/.venv" &&
      "$ROOT/.venv/bin/python" -m pip install --disable-pip-version-check -r "$requirements"; } >"$log" 2>&1 </dev/null
    then
      tail -n 15 "$log" >&2
      rm -rf "$ROOT/.venv"
      die "pip could not install python/requirements.txt. Is there a network, or a mirror in PIP_INDEX_URL? The log is" \
        "build/logs/pip.log."
    fi
    "$ROOT/.venv/bin/python" tools/link_checkout.py
    echo "$key" >"$stamp"
  fi
  PYTHON="$ROOT/.venv/bin/python"
}
