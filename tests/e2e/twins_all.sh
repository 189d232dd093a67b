#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every rule of transfers and memory has its pair of programs, and every marked line belongs to a row.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

folder=$GMT_SOURCE/tests/gpu/programs
table=$folder/twins/expected.txt
grep -rhoE '\.id = "GM[12][0-9]{2}"' "$GMT_SOURCE/analyzer/rules" | grep -oE 'GM[0-9]+' | sort -u >rules
[ "$(wc -l <rules)" -ge 10 ] || fail "no rules were found in analyzer/rules"
while read -r rule; do
    grep -q "^$rule " "$table" || fail "$rule has no pair of programs in expected.txt"
done <rules
grep -hoE '// GM[12][0-9]{2}$' "$folder/twins/"*.cu "$folder/transfer_pairs.cu" | cut -c4- | sort -u >marked
grep -oE '^GM[0-9]+' "$table" | sort >rows
same "rows (-) and marked lines (+) differ" rows marked
equal "rules with two rows" "" "$(uniq -d rows)"
