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

# Every option of the table reaches the trace's list of options.
GMTRACE_COLLECT=light GMTRACE_STACKS=off traced light churn 5
finished light.db
options=$(sql light.db 'SELECT options FROM process')
[[ $options == *collect=light* && $options == *stacks=off* ]] || fail "options are '$options'"
sed -nE 's/^GMT_OPTION\((\w+),.*/\1/p' "$GMT_SOURCE/libtrace/record/options.def" |
    while read -r field; do
        [[ $options == *"$field="* ]] || fail "$field is not among '$options'"
    done
