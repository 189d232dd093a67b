#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The completions know every option of --help, and offer the right words in the right place.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
PATH=$GMT_BUILD/bin:$PATH
: >trace.db
: >other.db
: >notes.txt
mkdir folder
: >folder/inner.db
completions=$GMT_BUILD/share/bash-completion/completions

# offered PROGRAM WORD...: what completion offers for the last word, one a line.
offered() {
    bash -c '
        compopt() { :; } # works only while readline completes
        . "$1" || exit
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMPREPLY=()
        "_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$completions/$1" "$@"
}

# offers "WORD..." PROGRAM WORD...: exactly these.
offers() {
    local wanted=$1 got
    shift
    got=$(offered "$@" | sort | xargs)
    [ "$got" = "$wanted" ] || fail "'$*' offers '$got', not '$wanted'"
}

options_of() {
    "$@" --help | grep -oE -- '^ +(-[a-zA-Z?], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*' |
        grep -vxE -- '--(usage|version|help)' | sort
}

commands=$(gmanalyze help | sed -nE 's/^gmanalyze ([a-z]+) .*/\1/p')
for command in analyze $commands; do
    diff <(options_of gmanalyze "$command") \
        <(offered gmanalyze "$command" -- | grep -vx -- --help | sort) ||
        fail "gmanalyze $command --help (<) and its completion (>) differ"
done
offers "$(printf '%s\n' analyze "$commands" folder other.db trace.db | sort | xargs)" gmanalyze ''
offers 'folder other.db trace.db' gmanalyze trace.db ''
offers 'trace.db' gmanalyze tr
offers 'folder/inner.db' gmanalyze folder/
offers 'high' gmanalyze --fail-on h
offers 'high' gmanalyze --fail-on = h
offers 'any high medium never' gmanalyze --fail-on =
offers 'GM101' gmanalyze --rule GM101
offers 'bank-conflict' gmanalyze trace.db --skip-rule = bank
[ "$(offered gmanalyze --explain '' | wc -l)" = "$(($(gmanalyze --list-rules | wc -l) * 2))" ] ||
    fail "not every rule is offered"
offers 'notes.txt' gmanalyze -o n
offers '' gmanalyze --top ''

if [ -x "$GMT_BUILD/bin/gmtrace" ]; then
    diff <(options_of gmtrace) <(offered gmtrace -- | grep -vxE -- '--(help|usage|version)' | sort) ||
        fail "gmtrace --help (<) and its completion (>) differ"
    offers 'gpu sim' gmtrace --device ''
    offers 'sim' gmtrace --device = s
    offers 'light' gmtrace -c l
    offers 'doctor' gmtrace -c light docto
    offered gmtrace ca | grep -x cat >/dev/null || fail "no program is offered"
    offers '' gmtrace --device sim ./app -
fi
echo "completion: as --help says"
