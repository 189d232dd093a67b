#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# programs.sh GROUP MINIMUM: programs without CUDA, the rows of programs.table. Each runs plain, under LD_PRELOAD, and
# under gmtrace: the same output, standard error and exit status, the same files made.
# shellcheck disable=SC2030,SC2031,SC2016 # rows have a folder of their own, and their shell expands
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/matrix/rows.sh
source "$GMT_SOURCE/tests/e2e/matrix/rows.sh"

table=$GMT_SOURCE/tests/e2e/matrix/programs.table
chmod 755 "$work"

# one_way WAY COMMAND: in a new folder of the same name each time, which is the program's home, too.
one_way() {
    local way=$1 command=$2 before=() status=0 fd
    rm -rf at
    mkdir -m 1777 at at/tmp
    case $way in
        preload) before=(env "LD_PRELOAD=$GMT_LIB") ;;
        launcher) [[ " $command " = *" via "* ]] || before=("$GMT_BUILD/bin/gmtrace" --) ;;
    esac
    (
        # What the test was started with is no business of the program.
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            [ "$fd" -lt 3 ] || [ "$fd" = 255 ] || exec {fd}>&-
        done
        cd at || exit
        # Or bash would say which signal ended it, where it is bash that waits for it.
        exec env -i PATH="$PATH" LC_ALL=C HOME="$PWD" TMPDIR="$PWD/tmp" TERM=dumb USER=somebody WAY="$way" \
            RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" \
            GMT_BUILD="$GMT_BUILD" GMT_SOURCE="$GMT_SOURCE" CLIENTS="$CLIENTS" \
            "${before[@]}" timeout --foreground -k 5 240 bash -c '
                source "$GMT_SOURCE/tests/e2e/matrix/programs_rows.sh"
                eval "$1"' bash "$command"
    ) >"$way.out" 2>"$way.err" </dev/null || status=$?
    echo $status >"$way.status"
    # bash says which process a signal ended, by its number.
    sed -E -i 's/(line [0-9]+:) +[0-9]+ +/\1 PID /' "$way.out" "$way.err"
    find at -mindepth 1 -printf '%P %y %m %l ' \( -type f -exec cksum {} \; -o -print \) |
        sort >"$way.files"
}

# What the launcher says by itself, once: there is no trace.
without_launcher_lines() {
    equal "lines that say there is no trace" 1 "$(grep -c '^gmtrace: no trace: ' launcher.err)"
    sed -i '/^gmtrace: /d' launcher.err
}

row() {
    local name=$1 ways command way what
    read -r ways command <<<"$2"
    one_way plain "$command"
    if [ "$(cat plain.status)" = 77 ]; then
        skip "$(tail -1 plain.out)"
    fi
    for way in ${ways//both/preload launcher}; do
        one_way "$way" "$command"
        [ "$way" != launcher ] || without_launcher_lines
        for what in status out err files; do
            same "$name: $what of a plain run (-) and under $way (+) differ" "plain.$what" "$way.$what"
        done
    done
}

grep -E "^[a-z0-9_]+ +$1 " "$table" | while read -r name _ ways needs command; do
    echo "$name $needs $ways $command"
done | run_rows row "$2"
