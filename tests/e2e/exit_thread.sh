#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Children and exec: every process that uses CUDA has a complete trace of its own.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# Children forked before CUDA was used: a trace each.
plain early.plain fork_early 3
OUTPUT=$work/early.%p.db traced early fork_early 3
same_behaviour early
count=0
for db in early.*.db; do
    finished "$db"
    nothing_lost "$db"
    equal "copies in $db" 2 "$(sql "$db" 'SELECT count(*) FROM transfer')"
    equal "allocations in $db" 1 "$(sql "$db" 'SELECT count(*) FROM allocation')"
    count=$((count + 1))
done
equal "traces" 4 "$count"

# Without %p they must not overwrite each other: suffixes, and it is said.
mkdir shared && cd shared
OUTPUT=trace.db traced shared fork_early 3
traces_of_one_name() {
    find . -name 'trace.db*' -regex '.*db\(\.[0-9]+\)?\(\.spool\)?' | sed 's/\.spool$//' | sort -u | wc -l
}
tries=200
while [ "$(traces_of_one_name)" -lt 4 ] && [ "$tries" -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
done
equal "traces of one name" 4 "$(traces_of_one_name)"
for db in trace.db $(find . -regex '.*/trace\.db\.[0-9]+\(\.spool\)?' | sed 's/\.spool$//' | sort -u); do
    finished "$db"
done
equal "traces that say so" 3 \
    "$(for db in trace.db.*; do sql "$db" "SELECT name FROM capability WHERE name = 'output'"; done | wc -l)"
cd ..

# A child forked after cuInit cannot use CUDA; the parent's trace stays whole.
traced_like_plain late fork_late
finished late.db
equal "parent's copies" 2 "$(sql late.db 'SELECT count(*) FROM transfer')"
nothing_lost late.db

# exec: the first image's trace ends cleanly, the second has its own.
plain exec.plain exec
OUTPUT=$work/exec.%t.%e.db traced exec exec
same_behaviour exec
# The recorder of the first image may be the slower one of the two. Journals and spools are no traces.
traces_of_exec() {
    find . -maxdepth 1 -regextype posix-extended -regex '\./exec\.[^/]*\.db(\.[0-9.]+)?'
}
tries=200
while [ "$(traces_of_exec | wc -l)" -lt 2 ] && [ "$tries" -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
done
for db in $(traces_of_exec); do
    finished "$db"
done
equal "traces of an exec, and nothing else" "$(traces_of_exec | sort)" "$(find . -maxdepth 1 -name 'exec.*.db*' | sort)"
equal "traces of an exec" 2 "$(traces_of_exec | wc -l)"
first=$(for db in $(traces_of_exec); do
    if [ "$(sql "$db" 'SELECT count(*) FROM transfer')" = 2 ]; then
        echo "$db"
    fi
done)
[ -n "$first" ] || fail "the calls before exec are in no trace"

# exit() in one thread while four others call: nothing torn, at most the calls in flight missing.
plain thread.plain exit_thread 4
traced thread exit_thread 4
same_behaviour thread
finished thread.db
equal "integrity" ok "$(sql thread.db 'PRAGMA integrity_check')"
