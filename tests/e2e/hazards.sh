#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Peer access keeps launches with memory of peers from being measured, if it was granted; the software device measures on.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export SIMGPU_DEVICES=2
# counters NAME: what the trace says about counters.
counters() { sql "$1.db" "SELECT state || ': ' || detail FROM capability WHERE name = 'counters'"; }
shared() { sql "$1.db" "SELECT state || ': ' || detail FROM capability WHERE name = 'counters.shared'"; }
# recorded NAME N: the scenario, with N as without, and nothing missing.
recorded() {
    traced_like_plain "$1" peer "$2"
    equal "$1: status" 0 "$(cat "$1.status")"
    finished "$1.db"
    all_calls_recorded "$1"
    nothing_lost "$1.db"
}

GMTRACE_COLLECT=standard recorded device 1
equal "software device" "ok: software device: exact for the PTX executed" "$(counters device)"
equal "launches not counted" 0 "$(sql device.db "SELECT count(*) FROM launch WHERE measured IS NOT 'simulated'")"

# As a driver like any other. (Nothing would be measured in these runs; the note says what the rule decides.)
export SIMGPU_INTERFACE=0
recorded refused 0
equal "access that was refused" "off: collect=light" "$(counters refused)$(shared refused)"
recorded granted 1
equal "access that was granted" \
    "partial: launches that are given memory of others are not measured: the program uses peer access between devices (cuCtxEnablePeerAccess)" \
    "$(shared granted)"
