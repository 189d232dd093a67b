# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034 # work, way, output, row: conditions.sh
# What happens to the programs of conditions.table. Each function runs three times: plain, preloaded, under gmtrace.

hard=$CLIENTS/hardclient
client=$CLIENTS/driverclient

# begin PROGRAM ARG...: in the background, until it has made calls.
begin() {
    rm -f enough
    via "$@" &
    started=$!
    until grep -q started "$work/$way.out" || ! kill -0 "$started" 2>/dev/null; do
        sleep 0.01
    done
}

# It goes on for a while; its status is that of the row.
finish() {
    sleep 0.1
    touch enough
    wait "$started"
}

# The program itself, not the launcher before it.
the_program() {
    local exe
    while read -r exe; do
        if [ "$(readlink "${exe%/exe}/cwd" 2>/dev/null)" = "$work" ]; then
            basename "${exe%/exe}"
            return
        fi
    done < <(find /proc/[0-9]*/exe -maxdepth 0 -lname "$CLIENTS/*client" 2>/dev/null)
}

# the_recorder: it comes up beside the program.
the_recorder() {
    local recorder=
    while [ -z "$recorder" ] && kill -0 "$started" 2>/dev/null; do
        recorder=$(recorder_of "$work/traces/")
    done
    echo "$recorder"
}

# to_recorder SIGNAL: none in a plain run.
to_recorder() {
    [ "$way" = plain ] || kill "-$1" "$(the_recorder)"
}

# ---- signals --------------------------------------------------------------------------------------

stop_and_go() {
    begin "$hard" until_enough
    kill -STOP "$(the_program)"
    sleep 0.3
    kill -CONT "$(the_program)"
    finish
}

program_killed() {
    begin "$client" many 100000000
    kill -KILL "$(the_program)"
    finish
}

recorder_signalled() {
    begin "$hard" until_enough
    to_recorder "$1"
    finish
}

recorder_stopped() {
    local recorder=
    begin "$hard" until_enough
    [ "$way" = plain ] || recorder=$(the_recorder)
    to_recorder STOP
    finish
    [ -z "$recorder" ] || kill -CONT "$recorder"
    until_recorders_end
}

both_killed() {
    begin "$client" many 100000000
    to_recorder KILL
    kill -KILL "$(the_program)"
    finish
}

# ---- places ---------------------------------------------------------------------------------------

# small_disk SIZE PROGRAM...: the trace goes to a disk of that size.
small_disk() {
    mount -t tmpfs -o "size=$1" tmpfs traces
    via "${@:2}"
}

read_only_disk() {
    mount -t tmpfs -o ro tmpfs traces
    via "$client" churn 50
}

# The recorder is at work, too: what happens to its files happens to files that are there.
until_written() {
    until [ -n "$(find traces -name '*.db' -size +0)" ] || ! kill -0 "$started" 2>/dev/null; do
        sleep 0.01
    done
}

# meanwhile COMMAND: while the program is recorded.
meanwhile() {
    begin "$hard" until_enough
    if [ "$way" != plain ]; then
        until_written
        eval "$1"
    fi
    finish
}

# What is recorded after that has a trace of its own; what was in the other one is lost.
after_trace_removed() {
    [ -n "$(traces_made)" ] || fail "$row: no trace is begun anew"
}

after_trace_replaced() {
    after_trace_removed
}

# truncated FILE: the user of the program tries to cut it short, in a spool, when the recorder has opened it. (Root
# could, and the program would end by SIGBUS.)
truncated() {
    local file size as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown 65534 traces counts
    begin "${as[@]}" "$hard" until_enough
    if [ "$way" != plain ]; then
        until_written
        # shellcheck disable=SC2231 # the names are a pattern
        for file in traces/*.spool/$1; do
            size=$(stat -c %s "$file")
            if "${as[@]}" truncate -s 0 "$file" 2>/dev/null || "${as[@]}" dd of="$file" count=0 2>/dev/null; then
                echo "$file could be truncated"
            fi
            [ "$(stat -c %s "$file")" = "$size" ] || echo "$file is shorter"
        done
    fi
    finish
}

until_recorders_end() {
    while [ -n "$(recorder_of "$work/traces/")" ]; do
        sleep 0.05
    done
}

# taken_name TYPE COMMAND: the name of the trace is taken by something that is none. It stays what it is, under its name or put
# aside as older traces are, and nothing is written through it.
taken_name() {
    eval "$2"
    output=$work/traces/trace.db
    via "$client" churn 5
    until_recorders_end
    stat -c %F traces/trace.db traces/trace.db.old 2>/dev/null | grep -cx "$1"
    [ ! -e traces/absent ] || echo "written through"
    [ ! -e traces/file ] || cat traces/file
    rm -f traces/file
}

# Spools of earlier runs are removed with their traces: never what a link leads to.
old_spool_is_link() {
    mkdir -p mine
    touch mine/{control,lock,coverage,cubins,chunk-1,free-1}
    touch traces/trace.db.old
    ln -s ../mine traces/trace.db.old.spool
    output=$work/traces/trace.db
    via "$client" churn 5
    until_recorders_end
    via "$client" churn 5
    until_recorders_end
    ls mine
    rm -rf mine traces/trace.db.old*
}

# device NAME: nothing is made in /dev.
device() {
    output=$1
    via "$client" churn 5
    compgen -G "$1.*" || true
    rm -rf "$1".*
}

# ---- several at once ------------------------------------------------------------------------------

one_name() {
    output=$work/traces/trace.db
    via "$client" churn 200 &
    via "$client" churn 200
    wait $!
}

# at_once N PROGRAM...
at_once() {
    local i pids=()
    for ((i = 0; i < $1; i++)); do
        via "${@:2}" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i" || echo "status $?"
    done
}

# All are at it together. Each says which trace it wrote: its own, once.
launchers_at_once() {
    local i pids=()
    rm -f enough "$way".{said,out}.*
    output=$work/traces/trace.db
    for ((i = 0; i < $1; i++)); do
        via "$hard" until_enough >"$way.out.$i" 2>"$way.said.$i" &
        pids+=($!)
    done
    until [ "$(cat "$way".out.* | grep -c started)" = "$1" ]; do
        sleep 0.1
    done
    touch enough
    for i in "${pids[@]}"; do
        wait "$i" || echo "status $?"
    done
    cat "$way".out.*
}

after_launchers_at_once() {
    [ "$way" = launcher ] || return 0
    equal "$row: traces that launchers name" 100 "$(cat launcher.said.* | grep -c '^gmtrace: wrote ')"
    equal "$row: different ones" 100 "$(sed -n 's/^gmtrace: wrote \([^ ;]*\).*/\1/p' launcher.said.* | sort -u | wc -l)"
    if grep -h 'no such file' launcher.said.* >&2; then
        fail "$row: launchers take files of others for traces"
    fi
}

# ---- rights and limits ----------------------------------------------------------------------------

# with_umask MASK: nobody else may read what the program does, or change it under it.
with_umask() {
    (
        umask "$1"
        begin "$hard" until_enough
        [ "$way" = plain ] || find traces -path '*.spool*' -perm /077 -printf '%P may be used by others\n' 2>/dev/null
        finish
    )
}

# limited LIMIT... -- PROGRAM...: as prlimit takes them.
limited() {
    local limits=()
    while [ "$1" != -- ]; do
        limits+=("--$1")
        shift
    done
    shift
    via prlimit "${limits[@]}" "$@"
}

# limited_whole LETTER VALUE: the launcher has it, too. Behind pipes: writing to a file that must not grow ends any program.
limited_whole() {
    {
        (
            ulimit "$1" "$2"
            via "$client" many 20000
        ) 2>&1 >&4 | cat >&2
    } 4>&1 | cat
}

as_other_user() {
    chown 65534 traces counts
    via setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# ---- what is missing ------------------------------------------------------------------------------

# in_space OPTIONS COMMAND: in name spaces of its own, after a command of the shell.
in_space() {
    # shellcheck disable=SC2016
    via unshare "$1" sh -c "$2"' && exec "$0" churn 20' "$client"
}

# Libraries of the recorder's in the path that are none: it does not look there. (The launcher does, as every program.)
odd_libraries() {
    mkdir -p trap
    echo nonsense | tee trap/libsqlite3.so.0 trap/libdw.so.1 trap/libelf.so.1 trap/libz.so.1 >/dev/null
    LD_LIBRARY_PATH=$SIM_LIB:$PWD/trap via "$client" churn 20
}
