#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory of a pool that another process got is not called unused, nor are uploads into it; where it was not given away, it is.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# record N: the scenario; traces are NAME_PID.db
record() {
    OUTPUT="$work/$1_%p.db" traced_like_plain "$1" shared_pool "$2"
    equal "$1: status" 0 "$(cat "$1.status")"
    for db in $(compgen -G "$1_*.db*" | sed -E 's/\.db.*/.db/' | sort -u); do
        finished "$db"
        nothing_lost "$db"
    done
}

# trace_of NAME API: the trace in which an API was called.
trace_of() {
    local db
    for db in "$1"_*.db; do
        [ "$(sql "$db" "SELECT count(*) FROM api a JOIN (SELECT api_id FROM api_call UNION ALL
            SELECT api_id FROM allocation) c ON c.api_id = a.id WHERE a.name = '$2'")" = 0 ] || echo "$db"
    done
}

# outcome DB RULE: what gmanalyze says of it
outcome() {
    "$GMT_BUILD/bin/gmanalyze" "$1" --rule "$2" -o "$1.json" >/dev/null || fail "gmanalyze $1"
    jq -r --arg rule "$2" '.rules[] | select(.id == $rule) | .outcome' "$1.json"
}

record alone 0
record shared 1
equal "what the other process read" "$(sed -n 's/uploaded //p' shared.out)" "$(sed -n 's/imported //p' shared.out)"
equal "traces" "1 2" "$(compgen -G 'alone_*.db' | wc -l) $(compgen -G 'shared_*.db' | wc -l)"
alone=$(trace_of alone cuMemPoolCreate) exporter=$(trace_of shared cuMemPoolExportPointer)
importer=$(trace_of shared cuMemPoolImportPointer)
equal "calls that share" "cuMemPoolExportPointer 0|cuMemPoolExportToShareableHandle 0" "$(sql "$exporter" "
    SELECT a.name || ' ' || c.result FROM api_call c JOIN api a ON a.id = c.api_id WHERE a.name LIKE '%Export%'
    ORDER BY a.name" | paste -sd'|')"
equal "imported memory" "ipc $((16 << 20)) 1" \
    "$(sql "$importer" "SELECT kind || ' ' || bytes || ' ' || (free_end_ns > 0) FROM allocation")"
equal "the handle's hash on both sides" 1 "$(sqlite3 "$importer" "ATTACH '$exporter' AS other; SELECT count(*) FROM memory_handle h
    JOIN allocation a ON a.id = h.allocation_id JOIN other.memory_handle o USING (hash) JOIN other.allocation b ON b.id = o.allocation_id
    WHERE h.kind = 'imported' AND o.kind = 'exported' AND a.kind = 'ipc' AND b.kind = 'pool' AND h.bytes = a.bytes AND o.bytes = b.bytes")"

for rule in GM107 GM205; do
    equal "$rule, memory of its own" fail "$(outcome "$alone" $rule)"
    equal "$rule, memory that was given away" "could not check" "$(outcome "$exporter" $rule)"
done
# Memory of another process: nothing is allocated here, and who uses the uploads is not known.
equal "GM107, memory of another process" "not applicable" "$(outcome "$importer" GM107)"
equal "GM205, memory of another process" "could not check" "$(outcome "$importer" GM205)"
