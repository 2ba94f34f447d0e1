# The other Debian in a folder: build/debian-N/root, made by debootstrap once and kept. Sourced by dev.
# The tree is copied into it, so no part of this checkout is mounted there. What is mounted (proc, devpts) is in a mount namespace
# of the command that runs inside, and is gone when that ends, however it ends.
# What this does not show: kernel, processor and locale are this machine's.

debian_suite() {
  case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    *) return 1 ;;
  esac
}

# The number of this system's Debian; nothing elsewhere.
host_debian() {
  (. /etc/os-release 2>/dev/null && [[ $ID == debian ]] && echo "${VERSION_ID:-}") || true
}

root_folder() { echo "$ROOT/build/debian-$1/root"; }

# Why no root can be made or entered here; nothing where one can. Needs no network and changes nothing.
debian_root_obstacle() {
  if [[ $(id -u) != 0 ]]; then
    echo "it needs root, because of debootstrap, chroot and mounts"
  elif ! command -v debootstrap >/dev/null; then
    echo "debootstrap is not installed (apt-get install debootstrap)"
  elif ! unshare --mount true 2>/dev/null; then
    echo "this machine allows no mount namespaces (unshare --mount fails), which a container can forbid"
  elif [[ ! -f $(debian_keyring) ]]; then
    echo "the keys of Debian's archive are missing (apt-get install debian-archive-keyring)"
  fi
}

debian_keyring() { echo "${PALLADION_DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}"; }

# Where this system's apt gets Debian from; debootstrap's own default where it doesn't say.
debian_mirror() {
  apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -F'|' '$1 == "Debian" && $2 == "Debian" && $3 == "main" { print $4; exit }' || true
}

# A mount below a folder that is about to be removed would lose what is mounted there.
remove_root() {
  local folder=$1
  [[ $folder == "$ROOT"/build/debian-*/root ]] || die "cannot happen: removing $folder"
  if awk -v folder="$folder/" 'index($2 "/", folder) == 1 { found = 1 } END { exit !found }' /proc/mounts; then
    say "something is mounted in $folder (see /proc/mounts), so it stays: unmount that first"
    return 1
  fi
  rm -rf --one-file-system "$folder"
}

# debian_root RELEASE: makes the root unless it is there. It fails with a message.
debian_root() {
  local release=$1 root suite mirror obstacle log="$ROOT/build/debian-$1/debootstrap.log" options
  root=$(root_folder "$release")
  obstacle=$(debian_root_obstacle)
  if [[ -n $obstacle ]]; then
    say "error: no Debian $release can be made or entered here: $obstacle"
    return 1
  fi
  [[ ! -f $root.ready ]] || return 0
  remove_root "$root" || return 1
  suite=$(debian_suite "$release")
  mirror=$(debian_mirror)
  say "making Debian $release in build/debian-$release/root (log: build/debian-$release/debootstrap.log)"
  options=(--variant=minbase --include=ca-certificates "--keyring=$(debian_keyring)")
  if ! debootstrap "${options[@]}" "$suite" "$root" ${mirror:+"$mirror"} >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    say "error: debootstrap could not make Debian $release. Is there a network, does ${mirror:-its default mirror} have $suite," \
      "and does the folder's file system allow devices? The log is build/debian-$release/debootstrap.log."
    return 1
  fi
  apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|Retries)\b' >"$root/etc/apt/apt.conf.d/90host" || true
  touch "$root.ready"
}

# The network as it is here: names, certificates, pip's settings with the files and folders that they name.
carry_settings() {
  local root=$1 path
  cp -L /etc/resolv.conf "$root/etc/resolv.conf" && cp -L /etc/hosts "$root/etc/hosts" || return 1
  for path in /etc/ssl/certs/ca-certificates.crt /etc/pip.conf "${PIP_CONFIG_FILE:-}" "${PIP_CERT:-}" "${SSL_CERT_FILE:-}" \
    "${REQUESTS_CA_BUNDLE:-}" "${CURL_CA_BUNDLE:-}" ${PIP_FIND_LINKS:-}; do
    [[ $path == /* && -e $path ]] || continue
    mkdir -p "$root$(dirname "$path")" && cp -rLT "$path" "$root$path" || return 1
  done
  for path in "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [[ -f $path ]] && install -D -m 600 "$path" "$root/root/.config/pip/pip.conf"
  done
  return 0
}

# The tree as it is here, with what is not committed and without what git ignores; times stay, so a second build is short.
carry_tree() {
  local to=$1/src list=$1/src.files
  mkdir -p "$to"
  git -C "$ROOT" -c safe.directory="$ROOT" ls-files --cached --others --exclude-standard |
    while IFS= read -r file; do [[ -e $ROOT/$file || -L $ROOT/$file ]] && printf '%s\n' "$file"; done | LC_ALL=C sort >"$list.new"
  if [[ ! -s $list.new ]]; then
    say "error: git does not list this checkout's files, which are to be copied into the Debian root"
    return 1
  fi
  if [[ -f $list ]]; then
    LC_ALL=C comm -23 "$list" "$list.new" | (cd "$to" && tr '\n' '\0' | xargs -0 -r rm -f)
  fi
  # The checks of the tree ask git what is there.
  tar -C "$ROOT" -c --no-recursion -T "$list.new" | tar -C "$to" -x --no-same-owner && mv "$list.new" "$list" &&
    git init -q "$to" && git -C "$to" add -A
}

# carry_build RELEASE: the programs of this release build, and what they need of libraries whose names carry a version, which another
# Debian has not. A newer C library runs what was built with an older one, and not the other way.
carry_build() {
  local root libraries
  root=$(root_folder "$1")
  mapfile -t libraries < <(ldd "$ROOT"/build/{libpalladion.so,palladion,conformance_run} | awk '$3 ~ /libabsl|libboost/ { print $3 }' | sort -u)
  mkdir -p "$root/src/build" &&
    cp -a "$ROOT"/build/{libpalladion.so*,palladion,conformance_run} "$root/src/build/" &&
    cp -L "${libraries[@]}" "$root/usr/local/lib/" && in_debian "$1" ldconfig
}

# in_debian RELEASE COMMAND...: runs it in the copied tree inside the root.
in_debian() {
  local root name kept=()
  root=$(root_folder "$1")
  shift
  for name in $(compgen -e | grep -E '^(PIP_.*|[a-zA-Z]+_proxy|[A-Z]+_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|TERM|PALLADION_(JOBS|SIMD))$'); do
    kept+=("$name=${!name}")
  done
  # shellcheck disable=SC2016
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "${kept[@]}" \
    unshare --mount --propagation private bash -c '
      { mount -t proc proc "$0/proc" || mount --rbind /proc "$0/proc"; } &&
      mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" &&
      exec chroot "$0" bash -c "cd /src && exec \"\$@\"" bash "$@"' "$root" "$@" 8>&-
}

# prepare_debian RELEASE: a root with this tree in it, for this process alone until it ends. It fails with a message.
prepare_debian() {
  local root
  root=$(root_folder "$1")
  mkdir -p "$ROOT/build/debian-$1"
  exec 8>"$ROOT/build/debian-$1/lock"
  flock -n 8 || { say "waiting for another ./dev that uses Debian $1" && flock 8; }
  debian_root "$1" && carry_settings "$root" && carry_tree "$root"
}
