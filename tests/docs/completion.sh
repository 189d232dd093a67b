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
offers 'trace.db trend' gmanalyze tr
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
    offered gmtrace tr | grep -x try >/dev/null || fail "try is not offered"
    offered gmtrace appl | grep -x apply >/dev/null || fail "apply is not offered"
    offered gmtrace ca | grep -x cat >/dev/null || fail "no program is offered"
    offers '' gmtrace --device sim ./app -
    offered gmtrace --ring 30s to | grep -x top >/dev/null || fail "top is not offered"
    offers '--interval' gmtrace top --i
    offers '--once' gmtrace top --o
    # A flag has no value: what follows is the program, or an option.
    cp /bin/true app1
    offers './app1' gmtrace -q ./ap
    offers './app1' gmtrace --aggregate ./ap
    offers '--device' gmtrace -q --dev
    # What stands for a number is no word.
    offers 'unlimited' gmtrace --counter-budget ''
    offered gmtrace -q hel | grep -x help >/dev/null || fail "help is not offered"
    offers 'calibrate' gmtrace help c
    offers '--help --json' gmtrace doctor -
    offers '--turns' gmtrace try --tu
    offers '' gmtrace try ./app --tu
    offers 'trace.db' gmtrace apply tr
    [ ! -x "$GMT_BUILD/bin/gmcalibrate" ] || offers '--variant' gmtrace calibrate --quick --va
    offers '' gmtrace top --samples -
fi
# ---- zsh and fish, where they are installed ----
# in_zsh LINE, in_fish LINE: what is offered at its end, one a line.
in_zsh() {
    timeout 300 zsh -f "$GMT_SOURCE/tests/docs/zsh_offers.zsh" "$GMT_BUILD/share/zsh/site-functions" "$1" | sort -u
}
in_fish() {
    HOME=$work fish --no-config -c "
        set -p fish_complete_path '$GMT_BUILD/share/fish/vendor_completions.d'
        complete -C '$1'" | cut -f1 | sort -u
}

# shell_offers SHELL "WORD..." LINE: exactly these.
shell_offers() {
    local got
    got=$("in_$1" "$3" | xargs)
    [ "$got" = "$2" ] || fail "$1: '$3' offers '$got', not '$2'"
}

shells=
for shell in zsh fish; do
    command -v "$shell" >/dev/null || continue
    shells+=" $shell"
    for command in $commands; do
        diff <(options_of gmanalyze "$command") <("in_$shell" "gmanalyze $command --" | grep -vx -- --help) ||
            fail "gmanalyze $command --help (<) and its completion for $shell (>) differ"
    done
    diff <(options_of gmanalyze) <("in_$shell" "gmanalyze --" | grep -vx -- --help) ||
        fail "gmanalyze --help (<) and its completion for $shell (>) differ"
    for command in $commands; do
        "in_$shell" "gmanalyze " | grep -qx "$command" || fail "$shell offers no $command"
    done
    shell_offers $shell 'trace.db' 'gmanalyze trac'
    shell_offers $shell 'any high medium never' 'gmanalyze --fail-on '
    shell_offers $shell 'bank-conflict' 'gmanalyze --rule bank'
    shell_offers $shell 'GM101' 'gmanalyze trace.db --skip-rule GM101'
    shell_offers $shell 'csv' 'gmanalyze export --to c'
    shell_offers $shell 'notes.txt' 'gmanalyze -o n'
    shell_offers $shell 'diff' 'gmanalyze help d'
    if [ -x "$GMT_BUILD/bin/gmtrace" ]; then
        diff <(options_of gmtrace) <("in_$shell" "gmtrace --" | grep -vxE -- '--(help|usage|version)') ||
            fail "gmtrace --help (<) and its completion for $shell (>) differ"
        shell_offers $shell 'gpu sim' 'gmtrace --device '
        shell_offers $shell 'doctor' 'gmtrace -c light docto'
        shell_offers $shell 'light' 'gmtrace -c l'
        "in_$shell" "gmtrace ca" | grep -x cat >/dev/null || fail "$shell offers no program"
        shell_offers $shell '' 'gmtrace --device sim ./app --dev'
    fi
done
echo "completion: as --help says, in bash${shells:-, neither in zsh nor in fish, which are not here}"
