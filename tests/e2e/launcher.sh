#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace, the launcher: exit statuses, where the trace goes, what it says when there is none.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
export LD_LIBRARY_PATH=$SIM_LIB
client=$CLIENTS/driverclient

status_of() {
    local status=0
    "$@" >last.out 2>last.err </dev/null || status=$?
    echo $status
}

equal "status of a good run" 0 "$(status_of "$gmtrace" -o a.db "$client" churn 5)"
finished a.db
equal "output" "5 rounds" "$(cat last.out)"
equal "launches" 5 "$(sql a.db 'SELECT count(*) FROM launch')"
equal "the program's own status" 7 "$(status_of "$gmtrace" -o b.db "$client" exit_return)"
equal "status after SIGSEGV" 139 "$(status_of "$gmtrace" -o c.db "$client" exit_segv)"
equal "status after SIGABRT" 134 "$(status_of "$gmtrace" -o d.db "$client" exit_abort)"
equal "status with SIGCHLD ignored" 3 \
    "$(status_of env --ignore-signal=CHLD "$gmtrace" sh -c 'exit 3')"
same_signals=(env --ignore-signal=CHLD --ignore-signal=HUP --ignore-signal=TERM)
show_signals=(grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status)
equal "signals of the program" "$("${same_signals[@]}" "${show_signals[@]}")" \
    "$("${same_signals[@]}" "$gmtrace" "${show_signals[@]}" 2>last.err)"
for words in --version --help -h help "help doctor" "doctor --help" "doctor -h" "doctor --version"; do
    # shellcheck disable=SC2086 # several words
    equal "status of gmtrace $words" 0 "$(status_of "$gmtrace" $words)"
    if [ ! -s last.out ] || [ -s last.err ]; then fail "gmtrace $words says nothing"; fi
done
# A process whose memory may not be read, as the first one of a container, is not somebody else's for that.
python3 -c 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); time.sleep(100)' >closed.out &
closed=$!
at_exit "kill $closed 2>/dev/null"
while [ ! -s closed.out ]; do sleep 0.02; done
may_not_read=()
[ "$(id -u)" != 0 ] || may_not_read=(setpriv --bounding-set=-all)
equal "status of gmtrace status of a closed process" 125 "$(status_of "${may_not_read[@]}" "$gmtrace" status $closed)"
equal "what it says" "gmtrace: process $closed: its memory may not be read, so it is not known whether it is recorded" "$(cat last.err)"
for word in on off status; do
    equal "status of gmtrace $word --help" 0 "$(status_of "$gmtrace" $word --help)"
    equal "the first line of its help" "Usage: gmtrace $word" "$(sed -n '1s/ [[P].*//p' last.out)"
    equal "lines of its help" 2 "$(wc -l <last.out)"
done
for words in --version --help help "doctor --help" "status --help"; do
    status=0
    # shellcheck disable=SC2086 # several words
    "$gmtrace" $words >/dev/full 2>last.err || status=$?
    equal "status of gmtrace $words where nothing can be written" "125 gmtrace: standard output: No space left on device" \
        "$status $(cat last.err)"
done
if [ -x "$GMT_BUILD/bin/gmcalibrate" ]; then
    equal "status of gmtrace calibrate --help" 0 "$(status_of "$gmtrace" calibrate --help)"
    equal "usage of gmtrace calibrate" "Usage: gmtrace calibrate " "$(grep -o '^Usage: .*calibrate ' last.out)"
    for word in --version -h; do
        equal "status of gmcalibrate $word" 0 "$(status_of "$GMT_BUILD/bin/gmcalibrate" $word)"
        [ -s last.out ] || fail "gmcalibrate $word says nothing"
    done
fi
cp "$client" here
equal "status of a program that needs its folder" 127 "$(status_of "$gmtrace" here)"
grep -q 'the one here is ./here$' last.err || fail "what is here is not said: $(cat last.err)"
equal "status of a missing program" 127 "$(status_of "$gmtrace" ./absent)"
touch not-executable
equal "status of a file that is no program" 126 "$(status_of "$gmtrace" ./not-executable)"
equal "status of a bad option" 125 "$(status_of "$gmtrace" --no-such-option "$client" churn 5)"
equal "status of a bad value" 125 "$(status_of "$gmtrace" --collect sideways "$client" churn 5)"
# Numbers are held to their limits before the program runs, under the name that the user typed.
while read -r option value; do
    equal "status of --$option $value" 125 "$(status_of "$gmtrace" --"$option" "$value" "$client" nothing)"
    grep -qE -- "^gmtrace: --$option takes a number from [0-9]+ to [0-9]+(, or unlimited)?, not '$value'" last.err ||
        fail "--$option $value: $(cat last.err)"
done <<'END'
counter-budget 500
counter-budget -5
counter-budget PERCENT
counter-samples 0
spool-limit 0
fingerprint-budget 101
fingerprint-limit many
END
for words in "--counter-budget 5" "--counter-budget=unlimited" "--counter-budget 0" "--spool-limit 16" "--fingerprint-limit 0"; do
    # shellcheck disable=SC2086 # several words
    equal "status with $words" 0 "$(status_of "$gmtrace" $words "$client" nothing)"
done
# What was likely meant is said. The program's own options are none of gmtrace's business.
equal "status of a mistyped option" 125 "$(status_of "$gmtrace" -o t.db --devcie=sim "$client" churn 5)"
grep -qxF "gmtrace: no option '--devcie'; did you mean '--device'?" last.err || fail "$(cat last.err)"
equal "status of an option of the program" 0 "$(status_of "$gmtrace" echo --devcie)"
equal "status of the beginning of an option" 0 "$(status_of "$gmtrace" --coll light true)"
equal "status of a mistyped command" 127 "$(status_of "$gmtrace" doctro)"
grep -q "did you mean: gmtrace doctor$" last.err || fail "$(cat last.err)"
equal "status of help on what is no command" 125 "$(status_of "$gmtrace" help absent)"

equal "status without CUDA" 0 "$(status_of "$gmtrace" "$client" nothing)"
[ -s last.err ] || fail "gmtrace does not say that there is no trace"
[ ! -e e.db ] || fail "a trace of a program without CUDA"

# What is preloaded before gmtrace follows from what a program needs, not from what it holds as text.
printf 'int main(void) { return 0; }\n' >empty.c
if cc -fsanitize=address -o asan empty.c 2>/dev/null && readelf -d asan | grep libasan >/dev/null; then
    equal "status under ASan" 0 "$(status_of "$gmtrace" ./asan)"
fi
for kind in -static -static-pie; do
    if cc $kind -o static empty.c 2>/dev/null; then
        equal "status of a program linked $kind" 0 "$(status_of "$gmtrace" ./static)"
        equal "warnings with $kind" 1 "$(grep -c 'linked statically' last.err)"
    fi
done
cat >mentions.c <<'END'
#include <stdio.h>
#include <stdlib.h>
const char *volatile known[] = {"libasan.so.6"};
int main(void) { return puts(getenv("LD_PRELOAD")) < 0 || known[0] == NULL; }
END
if cc -o mentions mentions.c 2>/dev/null; then
    equal "status of a program that mentions ASan" 0 "$(status_of "$gmtrace" ./mentions)"
    if grep -q libasan last.out || grep -q 'linked statically' last.err; then
        fail "a program that mentions ASan is taken for one that needs it"
    fi
fi

# However many libraries the user preloads. A sanitized gmtrace wants its own runtime before them.
library=$(ldd "$client" | awk '$1 == "libc.so.6" { sub("libc.so.6", "libm.so.6", $3); print $3 }')
list=$(printf "$library:%.0s" {1..300})
equal "status of a program with many libraries" 0 \
    "$(ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 LD_PRELOAD=$list status_of "$gmtrace" printenv LD_PRELOAD)"
equal "libraries of the user" 300 "$(tr : '\n' <last.out | grep -cx "$library")"

equal "options with --" 0 "$(status_of "$gmtrace" --collect light --stacks=off -o f.db -- "$client" churn 5)"
finished f.db
equal "options recorded" 1 "$(sql f.db "SELECT count(*) FROM process WHERE options LIKE '%collect=light%stacks=off%'")"

# An unknown variable is warned about once, however many processes there are.
GMTRACE_COLECT=1 status_of "$gmtrace" -o g.%p.db "$client" fork_early 3 >/dev/null
equal "warnings" 1 "$(grep -c GMTRACE_COLECT last.err)"

# At the end: five lines on what there is, and the next command.
equal "status of a summed up run" 0 "$(status_of "$gmtrace" -o 'h 1.db' "$client" churn 5)"
equal "lines at the end" 6 "$(grep -vcE '^gmtrace: (do first|  [0-9]+\. |     )' last.err)" # answer.sh is about the others
grep -qE '^gmtrace: 5 launches of ' last.err || fail "launches are not summed up"
grep -qE '^gmtrace: [0-9,]+ copies, .* through pageable memory$' last.err || fail "copies are not summed up"
grep -qx 'gmtrace: nothing was lost' last.err || fail "losses are not summed up"
equal "the next command" "gmtrace: wrote h 1.db; next: gmanalyze 'h 1.db'" "$(tail -1 last.err)"
equal "status of several processes" 0 "$(status_of "$gmtrace" -o i.%p.db "$client" fork_early 3)"
equal "one next command for all" "$(compgen -G 'i.*.db' | wc -l)" \
    "$(tail -1 last.err | grep -oE ' i\.[0-9]+\.db' | wc -l)"
