# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # work: lib.sh
# What stands in the last column of matrix.table. Each is run twice, untraced and traced, and starts
# programs with `via`, matrix.sh's. Status 77 of the untraced run: cannot run here, the last line of its output says why.

cannot() {
    echo "$*"
    exit 77
}

client() {
    via "$CLIENTS/driverclient" "$@"
}

# ---- processes ------------------------------------------------------------------------------------

# A shell, what it runs, a pipe behind it, and a process that uses no CUDA.
shell() {
    # shellcheck disable=SC2016
    via bash -c '"$0" churn 5; "$0" basic | tail -1; (exec "$0" exit_now) || echo "status $?"; true' "$CLIENTS/driverclient"
}

# Without a pattern they must not overwrite each other.
one_name() {
    GMTRACE_OUTPUT=$work/traces/trace.db client fork_early 3
}

# Nor may a child take the trace of a brother that has ended for one of an earlier run.
one_name_turns() {
    GMTRACE_OUTPUT=$work/traces/trace.db client fork_turns 3
}

after_one_name() {
    equal "traces that say that their name was taken" 3 "$(for db in $(traces_made); do
        sql "$db" "SELECT name FROM capability WHERE name = 'output'"
    done | wc -l)"
}

pool() {
    command -v python3 >/dev/null || cannot "no python3"
    via python3 "$GMT_SOURCE/tests/e2e/pool.py" "$1" 3
}

# ---- ranks ----------------------------------------------------------------------------------------

# ranks RANK SIZE: the variables that a job's launcher sets.
ranks() {
    local rank
    for rank in 0 1; do
        GMTRACE_OUTPUT=${pattern:-$work/traces/job-%r.db} \
            via env "$1=$rank" "$2=2" "$CLIENTS/driverclient" churn $((10 + rank)) &
    done >ranks.out
    wait
    sort ranks.out
}

after_ranks() {
    local rank
    for rank in 0 1; do
        equal "rank in job-$rank.db" $rank "$(sql traces/job-$rank.db 'SELECT rank FROM process')"
        equal "launches of rank $rank" $((10 + rank)) "$(sql traces/job-$rank.db 'SELECT count(*) FROM launch')"
        # One of several ranks could wait for another one: no launch is measured.
        equal "rank $rank knows of the others" 0 "$(sql traces/job-$rank.db "SELECT count(*) FROM launch WHERE measured IS NOT NULL")"
    done
}

ranks_one_name() {
    pattern=$work/traces/job.db ranks OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
}

# The one that comes second has its rank behind the name.
after_ranks_one_name() {
    local other
    other=$(sql traces/job.db 'SELECT 1 - rank FROM process')
    equal "rank in job.db.$other" "$other" "$(sql "traces/job.db.$other" 'SELECT rank FROM process')"
}

# ---- together with others -------------------------------------------------------------------------

# beside before|after LIBRARY
beside() {
    local library=$2
    [ ! -e "$CLIENTS/$2" ] || library=$CLIENTS/$2
    LD_PRELOAD=$library /bin/true 2>&1 | grep -q 'cannot be preloaded' && cannot "no $2 here"
    if [ -n "${preload-}" ]; then
        [ "$1" = after ] && preload=$preload:$library || preload=$library:$preload
        export_preload
    else
        export LD_PRELOAD=$library
    fi
    client basic
}

# A plugin loaded with RTLD_DEEPBIND asks libc's own dlsym; it must work, recorded or not.
deepbind() {
    via "$CLIENTS/clienthost" "$CLIENTS/libclientplugin.so" basic
}

bind_now() {
    [ -n "$device_lib" ] || cannot "finds the software device by its own path"
    LD_BIND_NOW=1 via "$CLIENTS/driverclient_linked" basic
}

# sanitized KIND: built by the compiler of this machine; gcc's ASan must be the first library.
sanitized() {
    [ -x "./sanitized" ] || cc -g -O1 "-fsanitize=$1" -o sanitized "$GMT_SOURCE/tests/clients/tinyclient.c" -ldl \
        2>/dev/null || cannot "no -fsanitize=$1"
    # What cannot run untraced says nothing about tracing.
    env -u SIMGPU_COUNTS ./sanitized 1 >/dev/null 2>&1 || cannot "-fsanitize=$1 does not work on this kernel"
    ASAN_OPTIONS=detect_leaks=0 via ./sanitized 20
}

# ---- rights, places, limits -----------------------------------------------------------------------

as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

need_root() {
    [ "$(id -u)" = 0 ] || cannot "needs root"
    as_nobody test -x "$CLIENTS/driverclient" || cannot "an unprivileged user cannot reach the build tree"
}

# The loader drops LD_PRELOAD, and the driver is found without LD_LIBRARY_PATH.
setuid() {
    [ -n "$device_lib" ] || cannot "finds the software device by its own path"
    need_root
    install -m 4755 "$CLIENTS/driverclient_linked" setuid
    [ "$(as_nobody env -u SIMGPU_COUNTS ./setuid basic | wc -l)" -gt 1 ] || cannot "set-user-ID programs do not run here"
    as_nobody ./setuid basic
}

# Nothing may be written anywhere: no home, no /tmp, not here.
unprivileged() {
    need_root
    mkdir -p -m 755 closed
    cd closed || exit
    GMTRACE_OUTPUT=gmtrace.db as_nobody env -u HOME TMPDIR=/nonexistent "$CLIENTS/driverclient" basic
}

# As in a container with a read-only home, with a place for the trace.
read_only() {
    need_root
    mkdir -p -m 755 closed
    cd closed || exit
    as_nobody env HOME="$PWD" TMPDIR=/nonexistent "$CLIENTS/driverclient" basic
}

in_container() {
    unshare -rpf --mount-proc true 2>/dev/null || cannot "no name spaces for users and processes"
    unshare -rpf --mount-proc "$@"
}

# The first process of a container: a recorder would be its child, and die with it.
container() {
    in_container "$CLIENTS/driverclient" churn 20
}

# The first process waits for two others.
container_child() {
    # shellcheck disable=SC2016
    in_container bash -c '"$0" churn 20; "$0" churn 30; true' "$CLIENTS/driverclient"
}

limited() {
    (
        ulimit "$1" "$2"
        client churn 200
    )
}

musl() {
    echo '#include <stdio.h>
int main(void) { return puts("hello") < 0; }' >musl.c
    [ -x ./musl ] || musl-gcc -O1 -o musl musl.c 2>/dev/null || cannot "no musl-gcc"
    via ./musl
}
