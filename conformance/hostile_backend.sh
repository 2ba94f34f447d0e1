#!/bin/sh
# A backend for backend_process_test.cc: `hostile_backend.sh MISTAKE`. Its kernel copies x to o, so a copy of the file is the right answer.
# It answers every case rightly but the one called a/hostile, where it makes the mistake. Reads the request with sed: names without quotes.
mistake=$1

part() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
answer() { printf '{"case":"%s","status":"ran","outputs":{"o":"o.npy"}}\n' "$1"; }
# A .npy of version 1.0: the length of the header, and the header.
header() { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$1"; }

while IFS= read -r line; do
  case=$(part case)
  cd "$(part folder)" || exit 1
  cp x.npy o.npy
  if [ "$case" != a/hostile ]; then
    answer "$case"
    continue
  fi
  case $mistake in
    none) answer "$case" ;;
    crash) echo "out of cheese" >&2; kill -SEGV $$ ;;
    crash_below) echo "out of cheese" >&2; exit 139 ;;
    exit) echo "out of cheese" >&2; exit 7 ;;
    hang) while :; do sleep 1; done ;;
    flood) while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done ;;
    lines) while :; do echo "step"; done ;;
    chatter) yes "warning" | head -c 3000000 >&2; answer "$case" ;;
    two_lines) printf 'loading\n{}\n' ;;
    half_line) printf '{"case":"a/hos'; exit 0 ;;
    deaf) exec 0<&-; exec 1>&-; sleep 30 ;;
    child) sleep 30 & exit 3 ;;
    words) echo "done" ;;
    deep) head -c 200000 /dev/zero | tr '\0' '['; echo ;;
    other_case) answer a/first ;;
    control) printf '{"case":"\\u001b[31m","status":"ran"}\n' ;;
    status) printf '{"case":"%s","status":"passed"}\n' "$case" ;;
    member) printf '{"case":"%s","status":"ran","outputs":["o.npy"]}\n' "$case" ;;
    no_outputs) printf '{"case":"%s","status":"ran"}\n' "$case" ;;
    too_many) printf '{"case":"%s","status":"ran","outputs":{"o":"o.npy","p":"o.npy"}}\n' "$case" ;;
    no_file) rm o.npy; answer "$case" ;;
    outside) printf '{"case":"%s","status":"ran","outputs":{"o":"../o.npy"}}\n' "$case" ;;
    device) rm o.npy; ln -s /dev/zero o.npy; answer "$case" ;;
    pipe) rm o.npy; mkfifo o.npy; answer "$case" ;;
    empty) : >o.npy; answer "$case" ;;
    truncated) head -c 130 x.npy >o.npy; answer "$case" ;;
    huge) { header "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 4), }"; echo; } >o.npy; answer "$case" ;;
    shape) { header "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }"; printf '\0\0\0\0\0\0\0\0\0\0\0\0'; } >o.npy; answer "$case" ;;
    dtype) { header "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"; printf '\0\0\0\0\0\0\0\0\0\0\0\0'; } >o.npy; answer "$case" ;;
    value) { header "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"; printf '\0\0\0\0\0\0\0\0\0\0\0\0'; } >o.npy; answer "$case" ;;
    findings) printf '{"case":"%s","status":"ran","outputs":{"o":"o.npy"},"findings":["OOB"]}\n' "$case" ;;
    error) printf '{"case":"%s","status":"error","message":"no \\u001b such thing"}\n' "$case" ;;
    not_supported) printf '{"case":"%s","status":"not_supported","message":"no copies"}\n' "$case" ;;
    *) echo "no mistake is called $mistake" >&2; exit 1 ;;
  esac
done
