#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GMTRACE_* variables: an unknown one and bad values are noted in the trace, stderr stays silent.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

GMTRACE_COLECT=standard GMTRACE_STACKS=sideways traced t churn 5
finished t.db
equal "standard error" "" "$(cat t.err)"
note=$(sql t.db "SELECT detail FROM capability WHERE name = 'options'")
[[ $note == *GMTRACE_COLECT* ]] || fail "the unknown variable is not noted: '$note'"
[[ $note == *GMTRACE_STACKS* ]] || fail "the bad value is not noted: '$note'"
equal "notes" 1 "$(sql t.db "SELECT count(*) FROM capability WHERE name = 'options'")"

# Those of other commands are none of its business.
GMTRACE_DUCKDB=/none/libduckdb.so GMTRACE_APPLY='' traced others churn 5
finished others.db
equal "notes about variables of other commands" "" "$(sql others.db "SELECT detail FROM capability WHERE name = 'options'")"

# Every option of the table reaches the trace's list of options.
GMTRACE_COLLECT=light GMTRACE_STACKS=off traced light churn 5
finished light.db
options=$(sql light.db 'SELECT options FROM process')
[[ $options == *collect=light* && $options == *stacks=off* ]] || fail "options are '$options'"
sed -nE 's/^GMT_OPTION\((\w+),.*/\1/p' "$GMT_SOURCE/libtrace/record/options.def" |
    while read -r field; do
        [[ $options == *"$field="* ]] || fail "$field is not among '$options'"
    done

# Labels: of the variable and of options, the last one given first; what is none is noted and not kept.
GMTRACE_LABEL=commit=1f3a9c2,branch=main traced labels churn 5
finished labels.db
equal "labels" "commit=1f3a9c2,branch=main" "$(sql labels.db "SELECT value FROM meta WHERE key = 'labels'")"
GMTRACE_LABEL="commit=a;b" traced bad churn 5
finished bad.db
equal "a label with a semicolon" 0 "$(sql bad.db "SELECT count(*) FROM meta WHERE key = 'labels'")"
[[ $(sql bad.db "SELECT detail FROM capability WHERE name = 'options'") == *GMTRACE_LABEL* ]] || fail "the bad label is not noted"
# All that fits is kept, behind all other options.
long=$(printf 'x%.0s' $(seq 500))
GMTRACE_LABEL=commit=$long traced long churn 5
finished long.db
equal "a long label" "commit=$long" "$(sql long.db "SELECT value FROM meta WHERE key = 'labels'")"
run options env GMTRACE_LABEL=branch=main LD_LIBRARY_PATH="$SIM_LIB" "$GMT_BUILD/bin/gmtrace" -o options.db \
    --label commit=1 --label commit=2 "$CLIENTS/driverclient" churn 5
finished options.db
equal "labels of options" "commit=2,commit=1,branch=main" "$(sql options.db "SELECT value FROM meta WHERE key = 'labels'")"
for bad in commit =1 commit= 'a=1,' "a=1;b=2" "a b=1" "commit=${long}xxxxxxxx"; do
    run refused "$GMT_BUILD/bin/gmtrace" --label "$bad" "$CLIENTS/driverclient" churn 5
    equal "status of --label '$bad'" 125 "$(cat refused.status)"
done
