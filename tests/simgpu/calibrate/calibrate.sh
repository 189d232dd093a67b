#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmcalibrate measures copies and calls, fits them again, and shows the cached model instead of measuring.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${CALIBRATE:?}" "${SIM_LIB:?}" "${SPREAD:?}"
export LD_LIBRARY_PATH=$SIM_LIB XDG_CACHE_HOME=$work/cache
export SIMGPU_DEVICES=2 SIMGPU_MEMORY_MB=128

# expect STATUS ARGUMENT...
expect() {
    local wanted=$1 status=0
    shift
    "$CALIBRATE" "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "gmcalibrate $*: status $status, not $wanted"
}

one_line() {
    [ "$(wc -l <err)" = 1 ] || fail "$1: not one line"
}

# ---- what cannot be: one line each
expect 3 --device 2
one_line "a device that is not there"
expect 3 --device GPU-00000000-0000-0000-0000-000000000000
one_line "a UUID that is not there"
expect 2 --device first
one_line "no device at all"
expect 1 --show
one_line "nothing is cached"
expect 1 --check none.json none.json
one_line "no such file"
[ ! -e cache ] || fail "asking made a cache"

# ---- measuring, and fitting again
for part in costs batches transfers launch_bound; do
    expect 0 --quick --family $part --raw $part.raw.json --output $part.json
    expect 0 --check $part.raw.json $part.json
    expect 0 --fit $part.raw.json --output again.json
    cmp again.json $part.json || fail "$part: the fit is not the same again"
done
[ ! -e cache ] || fail "a part of a calibration went to the cache"
for name in h2d_registered_async d2h_pageable_sync d2d_async peer_async memset_async mapped_read; do
    grep -q "\"$name\"" transfers.json || fail "no $name"
done
for name in copies_2d_d2h_pinned_async batch_ns merged_ns; do
    grep -q "\"$name\"" batches.json || fail "no $name"
done
for name in register_unregister malloc_async_free_async launch_wait_ns; do
    grep -q "\"$name\"" costs.json || fail "no $name"
done
for part in costs batches transfers launch_bound; do
    [ "$(grep -c quickest_ns $part.raw.json)" -ge 2 ] || fail "$part: not measured in passes"
    grep -q '"pass": \[' $part.raw.json || fail "$part: samples without their pass"
    grep -q '"process": \[' $part.raw.json || fail "$part: samples without their process"
done
grep -q "little free memory" transfers.json || fail "128 MB did not count as little"
expect 1 --check costs.raw.json transfers.json

# ---- several processes
# rows_of FILE: the processes of its passes
rows_of() {
    sed -n '/^ "passes": \[/,/^ \]/s/.*"process": \([0-9]*\).*/\1/p' "$1" | tr '\n' ' '
}
# A machine that is too slow for all of them says so: then there are fewer.
is_slow() {
    grep -q "slow machine" "$1"
}
is_slow costs.json || [ "$(rows_of costs.raw.json)" = "0 0 0 1 1 1 " ] ||
    fail "not 2 processes of 3 passes each"
expect 0 --quick --family host --processes 3 --raw host.raw.json --output host.json
is_slow host.json || [ "$(rows_of host.raw.json)" = "0 0 0 1 1 1 2 2 2 " ] ||
    fail "not the 3 processes that were asked for"
is_slow host.json || python3 "$SPREAD" --raw host.raw.json --model host.json >out 2>err ||
    fail "the spread of processes is not known, or is of other figures than the model's"
is_slow host.json || python3 - host.raw.json <<'EOF' || fail "points are not in the passes they belong to"
import json
import sys

raw = json.load(open(sys.argv[1]))
for point in raw["transfers"]["h2d_pageable_sync"]:
    passes = set(range(len(raw["passes"])))
    if point["bytes"] >= 1 << 20:
        passes = {number for number in passes if number % 3 == 0}
    assert set(point["pass"]) == passes, (point["bytes"], point["pass"])
assert point["bytes"] >= 1 << 20, "no long point"
EOF
expect 0 --check host.raw.json host.json
for name in launch_wait_ns merged_ns d2d_async small_kernels launch_bound; do
    grep -q "\"$name\"" host.json || fail "no $name in what the host times"
done
! grep -q '"stride"' host.json || fail "a family of kernels is in what the host times"

# In this process where none can be started: the image that would be run again is the loader.
for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do
    [ ! -x "$loader" ] || break
done
"$loader" "$CALIBRATE" --quick --family costs --raw alone.raw.json -o alone.json >out 2>err ||
    fail "not measured where no process can be started"
[ "$(grep -c 'of 2 .*: its measurements are missing' alone.json)" = 2 ] ||
    fail "two missing processes are not said"
grep -q "measured in one process" alone.json || fail "one process is not said"
grep -q "note: .*one process" err || fail "nor printed"
! grep -q '"process"' alone.raw.json || fail "samples of no process"
expect 0 --check alone.raw.json alone.json
expect 0 --quick --family costs --processes 0 --raw alone.raw.json -o alone.json
! grep -q '"process"' alone.raw.json || fail "a process, where none was asked for"

# Whatever ends gmcalibrate ends the process that measures, too, even if that is stopped.
state_of() {
    sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null || echo gone
}
# Past gmt_child_begin: not the image of its parent any more, and its pipe is closed on exec.
has_begun() {
    local flags
    grep -aqs -- --process= "/proc/$1/cmdline" || return 1
    flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$1/fdinfo/3" 2>/dev/null) || return 1
    [ -n "$flags" ] && [ $((8#$flags & 8#2000000)) != 0 ]
}
"$CALIBRATE" --quick --family host --processes 64 -o never.json >out 2>err </dev/null &
parent=$!
until [ "$(state_of "${child:-none}")" = T ]; do
    # The first of them: there is one at a time.
    read -r child _ <"/proc/$parent/task/$parent/children" || true # no line end
    ! has_begun "${child:-none}" || kill -STOP "$child" 2>/dev/null || true
    kill -0 $parent || fail "ended before a process was met"
done
kill -TERM $parent
! wait $parent || fail "was not ended"
while :; do
    case $(state_of "$child") in
    gone | Z | X) break ;;
    esac
    sleep 0.05
done
[ ! -e never.json ] || fail "half a calibration was written"

# ---- the cache: a quick model of device 1 lies there
expect 0 --quick --family transfers --device 1 --output one.json
value() {
    sed -nE "s/^ *\"$1\": \"(.*)\",?\$/\1/p" one.json | head -1
}
cached=cache/gmtrace/models/$(value uuid)-$(value driver_version)-$(value tool_version).json
mkdir -p "${cached%/*}"
cp one.json "$cached"
expect 0 --device 1 --show
grep -q "$(value uuid)" out || fail "--show does not name the device"
expect 0 --device "$(value uuid)" --quick
grep -q "nothing was measured" err || fail "measured although there is a model"
cmp one.json "$cached" || fail "the cached model has changed"
expect 1 --device 0 --show
one_line "the other device has no model"
