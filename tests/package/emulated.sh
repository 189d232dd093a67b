#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# emulated.sh EMULATOR: what the tarball for another machine holds runs by that machine's emulator where there is nothing but an
# old glibc, and records a program over the software device.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
needs sqlite3 apt-get dpkg
qemu=${1%% *}
command -v "$qemu" >/dev/null || skip "no $qemu"

cache=$GMT_BUILD/old-glibc
bash "$GMT_SOURCE/tests/package/fetch_glibc.sh" "$cache" arm64 >fetch.log 2>&1 || skip "no old glibc: $(tail -n 1 fetch.log)"
unpack_tarball unpacked aarch64
at=$work/unpacked
# old COMMAND...: with that glibc.
old() {
    "$qemu" -L "$cache/root" "$@"
}

# By its loader: -L would look for / in that folder, too.
"$qemu" "$cache"/root/lib/ld-linux-aarch64.so.1 --library-path "$cache/root/lib/aarch64-linux-gnu" "$GMT_BUILD/bin/package_start" >there
same "a program that is linked as these, under glibc $(cat "$cache/version")" "$GMT_SOURCE/tests/package/start.expected" there
for program in gmtrace gmanalyze; do
    old "$at/bin/$program" --version >out
    grep -qE "^$program [0-9]+\.[0-9]+\.[0-9]+" out || fail "$program --version"
done
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >h200.db
old "$at/bin/gmanalyze" --calibrate never h200.db -o h200.html >out
grep -q 'GM102 pageable-transfer' out || fail "no finding in the recording of an H200"
[ -s h200.html ] || fail "no page"

old -E LD_PRELOAD="$at/lib/libgmtrace.so" -E LD_LIBRARY_PATH="$at/libexec/gmtrace/simgpu" -E GMTRACE_OUTPUT="$work/t.db" \
    -E GMTRACE_COLLECT=light "$GMT_BUILD/bin/package_driver" >out
equal "output of the program" "3 copies" "$(cat out)"
# The recorder is a program of that machine: where it cannot be started, gmanalyze does its work.
old "$at/bin/gmanalyze" t.db >report 2>log || fail "gmanalyze: $(cat log)"
equal "copies" 3 "$(sqlite3 t.db 'SELECT count(*) FROM transfer')"
equal "what was lost" 0 "$(sqlite3 t.db 'SELECT count(*) FROM loss')"
echo "emulated: $(cat "$cache/version")"
