#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmcalibrate measures copies and calls, fits them again, and shows the cached model instead of measuring.
set -euo pipefail
: "${CALIBRATE:?}" "${SIM_LIB:?}"

work=$(mktemp -d "${TMPDIR:-/tmp}/gmtrace-calibrate.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C LD_LIBRARY_PATH=$SIM_LIB XDG_CACHE_HOME=$work/cache
export SIMGPU_DEVICES=2 SIMGPU_MEMORY_MB=128

fail() {
    echo "FAIL: $*" >&2
    head -20 out err >&2
    exit 1
}

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
done
grep -q "little free memory" transfers.json || fail "128 MB did not count as little"
expect 1 --check costs.raw.json transfers.json

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
