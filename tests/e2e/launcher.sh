#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace, the launcher: exit statuses, where the trace goes, what it says when there is none.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
export LD_LIBRARY_PATH=$FAKECUDA
client=$FAKECUDA/fakeclient

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
equal "status of a missing program" 127 "$(status_of "$gmtrace" ./absent)"
touch not-executable
equal "status of a file that is no program" 126 "$(status_of "$gmtrace" ./not-executable)"
equal "status of a bad option" 125 "$(status_of "$gmtrace" --no-such-option "$client" churn 5)"
equal "status of a bad value" 125 "$(status_of "$gmtrace" --collect sideways "$client" churn 5)"

equal "status without CUDA" 0 "$(status_of "$gmtrace" -o e.db "$client" nothing)"
[ -s last.err ] || fail "gmtrace does not say that there is no trace"
[ ! -e e.db ] || fail "a trace of a program without CUDA"

equal "options with --" 0 "$(status_of "$gmtrace" --collect light --stacks=off -o f.db -- "$client" churn 5)"
finished f.db
equal "options recorded" 1 "$(sql f.db "SELECT count(*) FROM process WHERE options LIKE '%collect=light%stacks=off%'")"

# An unknown variable is warned about once, however many processes there are.
GMTRACE_COLECT=1 status_of "$gmtrace" -o g.%p.db "$client" fork_early 3 >/dev/null
equal "warnings" 1 "$(grep -c GMTRACE_COLECT last.err)"

equal "status of doctor" 0 "$(status_of "$gmtrace" doctor)"
[ -s last.out ] || fail "doctor says nothing"
