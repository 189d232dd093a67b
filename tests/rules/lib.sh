# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests of gmanalyze: what all tests share, traces of fixtures, and a run of gmanalyze.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMANALYZE:?}"
export XDG_CACHE_HOME=$work/cache
rules=$GMT_SOURCE/tests/rules
# shellcheck source=tests/rules/traces.sh
. "$rules/traces.sh"

# expect STATUS ARGUMENT...: `program` ends with that status; what it says is in out and err.
program=("$GMANALYZE")
expect() {
    local wanted=$1 status=0
    shift
    "${program[@]}" "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: gmanalyze ${program[*]:1} $*"
}
