#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that asks whether CUDA is there gets the answer that it gets without gmtrace, in the same words; where
# the driver is there the answer is the hook.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
unset SIMGPU_COUNTS
# Without the driver in its run path.
cp "$CLIENTS/asks_client" "$CLIENTS/asks_client_linked" "$CLIENTS"/libasks_*.so .
export LD_LIBRARY_PATH=$work:$SIM_LIB
PRELOAD=$GMT_LIB

# For CUPTI's names and our own the loader finds ours: what failed then is not the program, but the file of ours.
# An interposer in front of ours may ask the loader past us, which hides the driver's names only. The loader then
# names the interposer as the one that asked, unless the compiler made a jump of that call.
words() {
    if [ "$PRELOAD" != "$GMT_LIB" ] && [ "${PRELOAD#"$GMT_LIB"}" = "$PRELOAD" ]; then
        grep -vE ' (cupti|InitializeInjection)' "$1" | sed 's/, [^,]*: undefined symbol/, undefined symbol/'
        return
    fi
    sed -E '/(^program|dlopen\(NULL\)) .*(cupti|InitializeInjection)/s/, [^,]*: undefined symbol/, undefined symbol/' "$1"
}

# both_ways NAME CLIENT ARGUMENT...: same answers; the trace of the calls that the program could make then.
both_ways() {
    local name=$1
    shift
    run "$name.plain" "$@"
    GMTRACE_OUTPUT=$work/$name.db LD_PRELOAD=$PRELOAD run "$name" "$@"
    equal "$name: exit status" 0 "$(cat "$name.status")"
    same "$name: answers without (-) and with gmtrace (+)" <(words "$name.plain.out") <(words "$name.out")
    equal "$name: standard error" "" "$(cat "$name.err")"
}
recorded() {
    finished "$1.db"
    equal "$1: recorded" "4096|1" "$(sql "$1.db" 'SELECT bytes, free_end_ns > 0 FROM allocation')"
    nothing_lost "$1.db"
}

for driver in none local; do
    both_ways $driver ./asks_client $driver
    equal "$driver: what is found" "" "$(grep ': found' $driver.out || true)"
    equal "$driver: traces" "" "$(compgen -G "$driver.db*" || true)"
done
both_ways global ./asks_client global
both_ways linked ./asks_client_linked none
both_ways scope ./asks_client scope
for driver in global linked scope; do
    grep -q '^calls: 0 0 0 0 0$' $driver.out || fail "$driver: the calls fail: $(tail -1 $driver.out)"
    recorded $driver
done
# Every question of the library that is linked with the driver, and of the one beside it, is answered.
equal "scope: who finds cuInit" "linked library RTLD_DEFAULT|library beside it RTLD_DEFAULT|linked library RTLD_NEXT" \
    "$(sed -n 's/ cuInit: found, no error//p' scope.out | sort -t_ -k2 -s | paste -sd'|')"
# Another interposer, in front of gmtrace's or behind it, changes nothing.
for order in "$GMT_LIB:$CLIENTS/libotherdlsym.so" "$CLIENTS/libotherdlsym.so:$GMT_LIB"; do
    PRELOAD=$order both_ways other_none ./asks_client none
    PRELOAD=$order both_ways other_global ./asks_client global
done
# Looked up by a handle that is no library's, as Python does.
run plain python3 -c 'import ctypes; ctypes.CDLL(None).cuInit'
LD_PRELOAD=$GMT_LIB run python python3 -c 'import ctypes; ctypes.CDLL(None).cuInit'
equal "python: status" 1 "$(cat python.status)"
same "python gets another answer" plain.err python.err
