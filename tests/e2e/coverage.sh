#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the trace says of its own coverage: doors, and calls of functions without a hook, however the process ends.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
CLIENT=$CLIENTS/doorsclient

requests() { sql "$1.db" "SELECT requests FROM coverage WHERE kind = 'door' AND what = '$2'"; }
# entry NAME FUNCTION: class, requests, calls, calls in the trace, doors.
entry() {
    sql "$1.db" "SELECT class, requests, coalesce(expected, '-'), seen, detail FROM coverage
                 WHERE kind = 'entry point' AND what = '$2'"
}
missed() { sql "$1.db" "SELECT count FROM loss WHERE kind = 'entry point not covered' AND detail = '$2'"; }

for end in exit kill; do
    name=dlsym_$end
    traced_like_plain "$name" dlsym $end
    finished "$name.db"
    equal "$end: requests by dlsym" 4 "$(requests "$name" dlsym)"
    equal "$end: a function that moves bytes" "move|1|5|0|dlsym" "$(entry "$name" cuStreamWriteValue32_v2)"
    equal "$end: a function that asks" "other|1|-|0|dlsym" "$(entry "$name" cuMemGetInfo_v2)"
    equal "$end: a hooked function" "" "$(entry "$name" cuMemAlloc_v2)"
    equal "$end: calls missed" 5 "$(missed "$name" cuStreamWriteValue32_v2)"
    nothing_lost "$name.db"
done

for door in proc:cuGetProcAddress proc_v2:cuGetProcAddress_v2; do
    name=${door%%:*}
    door=${door#*:}
    traced "$name" "$name" kill
    finished "$name.db"
    equal "requests by $door" 4 "$(requests "$name" "$door")"
    equal "requests for $door itself" 4 "$(requests "$name" dlsym)"
    equal "version asked for" "for versions up to 12.0" \
        "$(sql "$name.db" "SELECT detail FROM coverage WHERE what = '$door'")"
    equal "the function by $door" "move|1|5|0|$door" "$(entry "$name" cuStreamWriteValue32)"
done

# By RTLD_DEFAULT the program gets the driver's own function: what it calls is not counted, and not said to be.
traced default default exit
finished default.db
equal "a function that cannot be counted" "move|1|-|0|dlsym" "$(entry default cuStreamWriteValue32_v2)"
equal "a hooked function" "" "$(entry default cuMemAlloc_v2)"
equal "calls missed" "" "$(missed default cuStreamWriteValue32_v2)"

# A forked child's calls are its own.
traced fork dlsym fork
finished fork.db
equal "calls of the parent" "move|1|9|0|dlsym" "$(entry fork cuStreamWriteValue32_v2)"
