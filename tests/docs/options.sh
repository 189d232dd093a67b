#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The options of --help, of the man pages and of options.def are the same.
set -euo pipefail

documented() {
    grep -E '^\.It Fl' "$1" | grep -oE -- 'Fl -[a-z][a-z-]*' | sed 's/Fl -/--/' | sort -u
}

# argp's own options are not in the tables.
offered() {
    "$@" --help | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*' |
        grep -vxE -- '--(help|usage|version)' | sort -u
}

same() {
    diff "$2" "$3" || {
        echo "FAIL: $1: (<) and (>) differ"
        exit 1
    }
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -nE 's/^GMT_OPTION\(\w+, "([^"]+)".*/--\1/p' "$GMT_SOURCE/libtrace/record/options.def" |
    sort >"$work/table"
documented "$GMT_MAN/man1/gmtrace.1" >"$work/page"
same "options.def and gmtrace(1)" "$work/table" "$work/page"
sed -nE 's/^GMT_OPTION\(([^"]*"[^"]*"){1}[^"]*"([A-Z_]+)".*/\2/p' \
    "$GMT_SOURCE/libtrace/record/options.def" | while read -r variable; do
    grep -q "Ev $variable\$" "$GMT_MAN/man1/gmtrace.1" || {
        echo "FAIL: $variable is not in gmtrace(1)"
        exit 1
    }
done

# The page of gmanalyze has a list per command; without a command's name it analyses.
commands=$("$GMT_BUILD/bin/gmanalyze" help | sed -nE 's/^gmanalyze ([a-z]+) .*/\1/p')
section() {
    sed -nE "/^\.S[hs] $1( |\$)/,/^\.S[hs] /p" "$GMT_MAN/man1/gmanalyze.1" | sed '1!{/^\.S[hs] /d}'
}
section OPTIONS >"$work/section"
documented "$work/section" >"$work/page"
offered "$GMT_BUILD/bin/gmanalyze" >"$work/offered"
same "gmanalyze --help and gmanalyze(1)" "$work/offered" "$work/page"
for command in $commands; do
    section "$command" >"$work/section"
    [ -s "$work/section" ] || {
        echo "FAIL: gmanalyze $command is not in gmanalyze(1)"
        exit 1
    }
    { documented "$work/section" || true; } >"$work/page"
    { offered "$GMT_BUILD/bin/gmanalyze" "$command" || true; } >"$work/offered"
    same "gmanalyze $command --help and gmanalyze(1)" "$work/offered" "$work/page"
done

for program in gmtrace gmcalibrate; do
    if [ -x "$GMT_BUILD/bin/$program" ]; then
        offered "$GMT_BUILD/bin/$program" >"$work/offered"
        documented "$GMT_MAN/man1/$program.1" >"$work/page"
        same "$program --help and $program(1)" "$work/offered" "$work/page"
    fi
done
