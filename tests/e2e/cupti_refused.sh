#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `standard` where CUPTI is missing, or does not take this driver: host side complete, and it is said.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

check() {
    local name=$1
    same_behaviour "$name"
    finished "$name.db"
    equal "integrity" ok "$(sql "$name.db" 'PRAGMA integrity_check')"
    equal "notes about timestamps" 1 \
        "$(sql "$name.db" "SELECT count(*) FROM capability
                           WHERE name IN ('cupti', 'timestamps') AND state = 'missing'")"
    equal "device times" 0 \
        "$(sql "$name.db" 'SELECT count(*) FROM transfer WHERE device_start_ns IS NOT NULL')"
}

export GMTRACE_COLLECT=standard
export SIMGPU_INTERFACE=0 # a driver like any other, that CUPTI does not take
for scenario in basic "threads 16" "exit_thread 4" fork_late late_free; do
    read -ra words <<<"$scenario"
    name=${words[0]}
    plain "$name.plain" "${words[@]}"
    traced "$name" "${words[@]}" # whichever CUPTI is found
    check "$name"
done
all_calls_recorded basic

echo "not a library" >broken.so
for library in "$work/absent.so" "$work/broken.so"; do
    plain named.plain basic
    GMTRACE_CUPTI=$library traced named basic
    check named
    all_calls_recorded named
    rm -f named.*
done
