#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tarball holds runs where there is nothing but an old glibc: its programs start, record a program on the software
# device, and analyse that and a recording of an H200.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
needs unshare chroot apt-get dpkg sqlite3

root=$work/root
version=$(old_root "$root") || exit
unpack_tarball "$root/opt/gmtrace"
at=/opt/gmtrace

# The same constructors and results here and there.
"$GMT_BUILD/bin/package_start" >here
same "a program that is linked as these, under this machine's glibc" "$GMT_SOURCE/tests/package/start.expected" here
inside "$root" /test/package_start >there
same "a program that is linked as these, under glibc $version" "$GMT_SOURCE/tests/package/start.expected" there

for program in gmtrace gmanalyze gmcalibrate; do
    inside "$root" $at/bin/$program --version >out
    grep -qE "^$program [0-9]+\.[0-9]+\.[0-9]+" out || fail "$program --version under glibc $version"
done
inside "$root" $at/bin/gmanalyze --calibrate never /test/h200.db -o /test/h200.html -o /test/h200.json >out
grep -q 'GM102 pageable-transfer' out || fail "no finding in the recording of an H200"
python3 -c 'import json, sys; sys.exit(not json.load(open(sys.argv[1]))["findings"])' "$root/test/h200.json"

inside "$root" $at/bin/gmtrace --device sim -o /test/sim.db /test/package_sample --size 512 --frames 3 --check >out 2>err
grep -qx 'check ok' out || fail "the sample's results are wrong under gmtrace"
grep -q 'nothing was lost' err || fail "something was lost"
equal "launches" 21 "$(sqlite3 "$root/test/sim.db" 'SELECT count(*) FROM launch')"
equal "the trace is complete" 1 "$(sqlite3 "$root/test/sim.db" "SELECT value FROM meta WHERE key = 'complete'")"
[ "$(sqlite3 "$root/test/sim.db" "SELECT count(*) FROM frame WHERE line > 0")" -gt 0 ] || fail "no frame has a line"
inside "$root" $at/bin/gmanalyze /test/sim.db >out
grep -q 'GM306 local-memory' out || fail "no finding in the recording of the software device"
inside "$root" $at/bin/gmtrace doctor >out || true
grep -qE "^ok +library +$at" out || fail "doctor does not find the library"
echo "old_glibc: $version"
