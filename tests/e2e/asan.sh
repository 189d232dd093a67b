#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of AddressSanitizer start under gmtrace: themselves, from a shell, and where the user preloads its runtime;
# and ASan still finds what it is there for.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
cat >overflow.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *bytes = malloc(8);
    (void)argv;
    bytes[argc > 1 ? 8 : 7] = 1;
    puts("ends");
    free(bytes);
    return 0;
}
END
cc -g -fsanitize=address -o overflow overflow.c 2>/dev/null || skip "no -fsanitize=address"
runtime=$(readelf -d overflow | sed -nE 's/.*\[(libasan\.so[^]]*)\].*/\1/p')
[ -n "$runtime" ] || skip "the runtime of ASan is not shared"
./overflow >/dev/null 2>&1 || skip "ASan does not work on this kernel"

# works NAME COMMAND...: the good run ends well, the bad one ends as ASan has it.
works() {
    local name=$1
    shift
    run "$name" "$@"
    equal "$name: status" 0 "$(cat "$name.status")"
    equal "$name: output" ends "$(cat "$name.out")"
    run "$name.bad" "$@" bad
    equal "$name: status with an overflow" 1 "$(cat "$name.bad.status")"
    grep -q 'heap-buffer-overflow' "$name.bad.err" || fail "$name: ASan does not find the overflow"
}
works plain ./overflow
works itself "$gmtrace" ./overflow
# shellcheck disable=SC2016
works from_shell "$gmtrace" sh -c './overflow "$@"; exit $?' sh
works with_options env ASAN_OPTIONS=detect_leaks=0 "$gmtrace" env ./overflow
works preloaded env LD_PRELOAD="$runtime" "$gmtrace" env ./overflow
works preloaded_itself env LD_PRELOAD="$runtime" "$gmtrace" ./overflow
works behind env LD_PRELOAD="$runtime:$GMT_LIB" ./overflow
works unverified env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$GMT_LIB" ./overflow

# shellcheck disable=SC2016
options='echo "$ASAN_OPTIONS"'
# What the user has set stays; what else is preloaded comes, behind ours.
equal "options" "detect_leaks=0:verify_asan_link_order=0" \
    "$(env ASAN_OPTIONS=detect_leaks=0 "$gmtrace" sh -c "$options" 2>/dev/null)"
equal "own choice" "verify_asan_link_order=1" \
    "$(env ASAN_OPTIONS=verify_asan_link_order=1 "$gmtrace" sh -c "$options" 2>/dev/null)"
equal "what is preloaded" "$runtime:libgmtrace.so:libm.so.6" "$(env LD_PRELOAD="$runtime libm.so.6" \
    "$gmtrace" env 2>/dev/null | sed -nE 's/^LD_PRELOAD=//; T; s|[^:]*/||gp')"

run doctor "$gmtrace" doctor ./overflow
grep -q "limited.*needs $runtime.*verify_asan_link_order=0" doctor.out || fail "doctor: $(cat doctor.out)"
