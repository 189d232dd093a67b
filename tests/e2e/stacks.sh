#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stacks.sh SCENARIO: who called is known through code without frame pointers, however deep, and which way.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export CLIENT=$CLIENTS/stackclient

# The stack of the memsets of some bytes: "function:line ..." as far as the program's own functions go.
memset_stack() {
    sql t.db "SELECT group_concat(place, ' ') FROM (
        SELECT coalesce(v.function, '?') || ':' || coalesce(v.line, '?') AS place FROM v_stack v
        WHERE v.stack_id = (SELECT DISTINCT stack_id FROM memset WHERE bytes = $1)
        AND (v.module LIKE '%/stackclient' OR v.module IS NULL) AND v.function IS NOT '_start'
        ORDER BY v.position)"
}

# Line of "at NAME" in the client.
at() {
    grep -n "/\* at $1 \*/" "$GMT_SOURCE/tests/clients/stacks.c" | cut -d: -f1
}

# The functions of a stack of memsets, without lines.
functions() {
    memset_stack "$1" | sed -E 's/:[0-9?]+//g'
}

# How many frames are kept of it.
depth() {
    sql t.db "SELECT DISTINCT s.depth FROM memset m JOIN stack s ON s.id = m.stack_id WHERE m.bytes = $1"
}

traced_like_plain t "$@"
equal "exit status" 0 "$(cat t.status)"
finished t.db
nothing_lost t.db
all_calls_recorded t
[ "$(uname -m)" = x86_64 ] || skip "other machines go by frame pointers"

case $1 in
depths)
    equal "stacks that were cut" 0 "$(sql t.db "SELECT count(*) FROM capability WHERE name = 'stacks'")"
    inner="one:$(at one)"
    for name in two three four; do
        inner="$inner $name:$(at "$name")"
        count=$((${count:-1} + 1))
        [[ "$(memset_stack "$count") " == "$inner scenario_depths:"* ]] ||
            fail "$count deep: '$(memset_stack "$count")', expected '$inner ...'"
    done
    ;;
recursion)
    equal "frames of the deep one" 64 "$(depth 1)"
    equal "what is said of it" 1 "$(sql t.db "SELECT count(*) FROM capability
        WHERE name = 'stacks' AND detail LIKE '%more than 64%'")"
    equal "the deep one" "one$(printf ' recurse%.0s' {1..63})" "$(functions 1)"
    equal "the other" "one$(printf ' recurse%.0s' {1..20}) scenario_recursion" "$(functions 2)"
    ;;
paths)
    equal "ways to the copy" "1:upload_weights:500 129:upload_batch:500" "$(sql t.db "
        SELECT group_concat(way, ' ') FROM (SELECT t.bytes || ':' || v.function || ':' || count(*) AS way
        FROM transfer t JOIN v_stack v ON v.stack_id = t.stack_id AND v.position = 1
        GROUP BY t.bytes, v.function ORDER BY t.bytes)")"
    equal "places of the copy" 1 "$(sql t.db "SELECT count(DISTINCT v.line) FROM transfer t
        JOIN v_stack v ON v.stack_id = t.stack_id AND v.position = 0")"
    ;;
path_threads)
    equal "copies by way" "upload_batch:16:8000 upload_weights:16:8000" "$(sql t.db "
        SELECT group_concat(way, ' ') FROM (
        SELECT v.function || ':' || count(DISTINCT t.thread_id) || ':' || count(*) AS way
        FROM transfer t JOIN v_stack v ON v.stack_id = t.stack_id AND v.position = 1
        WHERE (t.bytes > 128) = (v.function = 'upload_batch') GROUP BY v.function)")"
    equal "stacks of copies" 2 "$(sql t.db 'SELECT count(DISTINCT stack_id) FROM transfer')"
    ;;
generated)
    place="call_generated:$(at generated) scenario_generated"
    for bytes in 1 2; do
        [[ "$(memset_stack "$bytes")" == "one:$(at one) ?:? $place:"* ]] ||
            fail "kind $bytes of generated code: '$(memset_stack "$bytes")'"
    done
    # What nothing can be known of ends the stack, and is no guess.
    equal "behind a function without frame" "one ?" "$(functions 3)"
    equal "generated code calls generated code" "one ? call_inner ? call_nested scenario_generated" \
        "$(functions 4)"
    ;;
coroutine)
    equal "on a stack of its own" "one:$(at one)" "$(memset_stack 1)"
    equal "on the thread's stack" "one two scenario_coroutine" "$(functions 2)"
    ;;
alternate)
    equal "in a handler on its own stack" "one:$(at one)" "$(memset_stack 1)"
    [[ "$(memset_stack 2)" == "one:$(at one) "*"scenario_alternate:$(at signal)" ]] ||
        fail "in a handler on the thread's stack: '$(memset_stack 2)'"
    ;;
esac

# What is kept is what was asked for.
GMTRACE_STACKS=caller traced caller "$@"
finished caller.db
# One address: that functions were inlined there may make frames of their own.
equal "addresses of a stack with --stacks caller" 1 "$(sql caller.db 'SELECT group_concat(DISTINCT n) FROM (
    SELECT count(DISTINCT f.address) AS n FROM stack_frame s JOIN frame f ON f.id = s.frame_id
    GROUP BY s.stack_id)')"
equal "calls without a caller" 0 "$(sql caller.db 'SELECT count(*) FROM memset WHERE caller IS NULL')"
GMTRACE_STACKS=off traced off "$@"
finished off.db
equal "stacks with --stacks off" 0 "$(sql off.db 'SELECT count(*) FROM stack')"
equal "callers with --stacks off" 0 "$(sql off.db 'SELECT count(caller) FROM memset')"
equal "same calls" "$(sql t.db 'SELECT count(*) FROM memset')" "$(sql off.db 'SELECT count(*) FROM memset')"
