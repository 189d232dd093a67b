#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of gmanalyze: a folder of the test's own, the programs that it needs, and how it fails.
set -euo pipefail
: "${GMANALYZE:?}" "${GMT_SOURCE:?}"
rules=$GMT_SOURCE/tests/rules
# shellcheck source=tests/rules/traces.sh
. "$rules/traces.sh"

# needs PROGRAM...: without one of them the test is skipped.
needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
    done
}

# fail REASON...: also what the last command said, where it was put into out and err.
fail() {
    echo "FAIL: $*" >&2
    for said in out err; do
        [ ! -s $said ] || head -c 4000 $said >&2
    done
    exit 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/gmanalyze.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C XDG_CACHE_HOME=$work/cache
