#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the library takes of every program that it is preloaded into: little memory under RLIMIT_DATA.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

bytes=$(readelf -SW "$GMT_LIB" | sed 's/^ *\[ *[0-9]*\] *//' |
    awk '$1 == ".data" || $1 == ".bss" { print $5 }' |
    while read -r hex; do echo $((16#$hex)); done | awk '{ sum += $1 } END { print sum + 0 }')
[ "$bytes" -gt 0 ] || fail "the sizes of .data and .bss cannot be read"
at_most "bytes of .data and .bss" 1000000 "$bytes"

# 2,000 KiB of data: /bin/echo needs a tenth of it.
equal "echo without gmtrace" plain "$(ulimit -d 2000 && /bin/echo plain)"
equal "echo with gmtrace" traced "$(ulimit -d 2000 && LD_PRELOAD=$GMT_LIB /bin/echo traced)"

# A CUDA program that has no room for its driver fails as it does without gmtrace.
for limit in 3000 6000 12000; do
    (
        ulimit -d "$limit"
        traced_like_plain "limited$limit" basic
    )
done

# With gmtrace it needs little more than without.
needs() { # needs WAY: the least limit in steps of 500 KiB with which the program works
    local limit
    for ((limit = 12000; limit <= 60000; limit += 500)); do
        (
            ulimit -d "$limit"
            OUTPUT=needs.db "$1" "needs$1" basic
        ) 2>/dev/null
        [ "$(cat "needs$1.status")" != 0 ] || break
    done
    echo "$limit"
}
plain=$(needs plain) traced=$(needs traced)
echo "$plain KiB plain, $traced KiB traced"
at_most "KiB of data that the program needs by itself" 50000 "$plain"
at_most "KiB of data that it needs more with gmtrace" 3000 $((traced - plain))
