# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by every test that is a shell script: a scratch folder, which becomes the current one, what the test needs,
# and how it fails: with its name and line, also where a command fails that nobody checks. Status 77: cannot run here.
set -Eeuo pipefail
: "${GMT_SOURCE:?}"
export LC_ALL=C

lib_place=
# Where the caller's caller is, and who called that: into lib_place, as tests/e2e/lib.sh:81 < tests/e2e/basic.sh:9.
find_place() {
    local i
    lib_place=
    for ((i = 2; i < ${#BASH_SOURCE[@]}; i++)); do
        lib_place+="${lib_place:+ < }${BASH_SOURCE[i]#"$GMT_SOURCE"/}:${BASH_LINENO[i - 1]}"
    done
}

lib_unchecked=
note_failure() {
    find_place
    lib_unchecked="$lib_place: status $1 of: ${2%%$'\n'*}"
}

cleanups=()
# at_exit COMMAND: to be run before the scratch folder is removed.
at_exit() { cleanups=("$1" "${cleanups[@]}"); }

lib_said=
on_exit() {
    local status=$1 cleanup
    set +e
    trap - ERR
    case $status in
        0 | 77) ;;
        *) [ -n "$lib_said" ] || echo "FAIL: ${lib_unchecked:-$0: status $status}" >&2 ;;
    esac
    for cleanup in "${cleanups[@]}"; do eval "$cleanup"; done
    rm -rf "$work"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/gmtrace-test.XXXXXX")
trap 'note_failure $? "$BASH_COMMAND"' ERR
trap 'on_exit $?' EXIT
cd "$work"

# fail REASON...: and what the last commands said, where that was put into out, err, log and *.err.
fail() {
    local file
    find_place
    lib_said=1
    echo "FAIL: $lib_place: $*" >&2
    for file in out err log "$work"/*.err; do
        [ -f "$file" ] && [ -s "$file" ] && { echo "--- ${file##*/}" >&2; head -n 40 "$file" | head -c 4000 >&2; }
    done
    exit 1
}

# skip REASON...
skip() {
    echo "skipped: $*"
    exit 77
}

# needs PROGRAM...: without one of them the test is skipped.
needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "no $program"
    done
}

# equal WHAT EXPECTED ACTUAL
equal() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# at_most WHAT LIMIT ACTUAL
at_most() {
    [ "$3" -le "$2" ] || fail "$1: $3 is more than $2"
}

# same WHAT EXPECTED ACTUAL: two files; otherwise the first 40 lines of how they differ.
same() {
    local difference status=0
    difference=$(diff -u --label expected --label actual "$2" "$3") || status=$?
    [ "$status" = 0 ] || { head -n 40 <<<"$difference" >&2; fail "$1"; }
}
