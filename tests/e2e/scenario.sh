#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scenario.sh [--via HOW] SCENARIO [N]: same behaviour as untraced; every call recorded; nothing lost.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

if [ "$1" = --via ] && [ "$2" = linked ]; then
    CLIENT=$CLIENTS/driverclient_linked
    shift 2
fi
traced_like_plain t "$@"
finished t.db
all_calls_recorded t
nothing_lost t.db

reason="exit"
case $* in
*exit_abort* | *exit_segv*) reason=killed ;;
esac
actual=$(sql t.db 'SELECT end_reason FROM process')
# How the process ended is not always known; a wrong answer is worse than none.
[ "$actual" = "$reason" ] || [ "$actual" = unknown ] || fail "ended by $reason, recorded as $actual"
equal "processes" 1 "$(sql t.db 'SELECT count(*) FROM process')"
