#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the trace says of its own coverage: lookup paths, and calls of functions without a hook, however the process ends.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
CLIENT=$CLIENTS/pathsclient

requests() { sql "$1.db" "SELECT requests FROM coverage WHERE kind = 'lookup_path' AND what = '$2'"; }
# entry NAME FUNCTION: class, requests, calls, calls in the trace, lookup paths.
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
    equal "$end: a function that maps" "map|1|5|0|dlsym" "$(entry "$name" cuMemRetainAllocationHandle)"
    equal "$end: a function that asks" "other|1|-|0|dlsym" "$(entry "$name" cuMemGetInfo_v2)"
    equal "$end: a hooked function" "" "$(entry "$name" cuMemAlloc_v2)"
    equal "$end: calls missed" 5 "$(missed "$name" cuMemRetainAllocationHandle)"
    nothing_lost "$name.db"
done

for via in proc:cuGetProcAddress proc_v2:cuGetProcAddress_v2; do
    name=${via%%:*}
    via=${via#*:}
    traced "$name" "$name" kill
    finished "$name.db"
    equal "requests by $via" 4 "$(requests "$name" "$via")"
    equal "requests for $via itself" 4 "$(requests "$name" dlsym)"
    equal "version asked for" "for versions up to 12.0" \
        "$(sql "$name.db" "SELECT detail FROM coverage WHERE what = '$via'")"
    equal "the function by $via" "map|1|5|0|$via" "$(entry "$name" cuMemRetainAllocationHandle)"
done

# By RTLD_DEFAULT as by a handle.
traced default default exit
finished default.db
equal "a function by RTLD_DEFAULT" "map|1|5|0|dlsym" "$(entry default cuMemRetainAllocationHandle)"
equal "a hooked function" "" "$(entry default cuMemAlloc_v2)"
equal "calls missed" 5 "$(missed default cuMemRetainAllocationHandle)"

# Imports are read from the modules; a runtime by its form, also in a program without names.
CLIENT=$CLIENTS/driverclient_linked traced linked basic
finished linked.db
imported=$(nm -D --undefined-only "$CLIENTS/driverclient_linked" | awk '{ print $2 }' | grep -cE '^cu[A-Z]')
equal "names that the program imports" "$imported|imported by 1 module" \
    "$(sql linked.db "SELECT requests, detail FROM coverage WHERE what = 'linked'")"
equal "an imported function without a hook" "other|1|-|0|linked by driverclient_linked" \
    "$(entry linked cuMemGetInfo_v2)"
equal "an imported function with a hook" "" "$(entry linked cuMemAlloc_v2)"

runtime() { sql "$1.db" "SELECT class, coalesce(detail, '-') FROM coverage WHERE kind = 'runtime' AND what = '$2'"; }
equal "a program without the runtime" "none|-" "$(runtime linked "$CLIENTS/driverclient_linked")"
for form in cudart cudart_static; do
    CLIENT=$CLIENTS/runtimeclient_$form
    [ -x "$CLIENT" ] || continue
    traced $form
    finished $form.db
    found=$(runtime $form "$CLIENT")
    case $form in
    cudart)
        library=$(sql cudart.db "SELECT what FROM coverage WHERE class = 'is the runtime'")
        [ -f "$library" ] || fail "the runtime is not reported"
        [[ $found == "shared|version "*": $library" ]] || fail "shared runtime: $found"
        ;;
    *) [[ $found == "static|version "*.*" or later" ]] || fail "static runtime: $found" ;;
    esac
    strip -o "stripped_$form" "$CLIENT"
    CLIENT=$work/stripped_$form traced "stripped_$form"
    finished "stripped_$form.db"
    equal "a program without names" "$found" "$(runtime "stripped_$form" "$work/stripped_$form")"
done

# A forked child's calls are its own.
CLIENT=$CLIENTS/pathsclient
traced fork dlsym fork
finished fork.db
equal "calls of the parent" "map|1|9|0|dlsym" "$(entry fork cuMemRetainAllocationHandle)"

# Children that use CUDA have lookup paths in traces of their own.
CLIENT=$CLIENTS/driverclient OUTPUT="$work/child_%p.db" traced children fork_early 2
traces=0
for left in child_*; do
    case $left in
    *.db | *.db.spool) finished "${left%.spool}" ;;
    esac
done
for db in child_*.db; do
    [ "$(sql "$db" "SELECT sum(requests) FROM coverage WHERE kind = 'lookup_path'")" -gt 0 ] || fail "$db knows no lookup path"
    traces=$((traces + 1))
done
equal "traces" 3 "$traces"
