#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The options of --help, of the man pages and of options.def are the same.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"

documented() {
    grep -E '^\.It Fl' "$1" | grep -oE -- 'Fl -[a-z][a-z-]*' | sed 's/Fl -/--/' | sort -u
}

# argp's own options are not in the tables.
offered() {
    "$@" --help | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*' |
        grep -vxE -- '--(help|usage|version)' | sort -u
}

sed -nE 's/^GMT_OPTION\(\w+, "([^"]+)".*/--\1/p' "$GMT_SOURCE/libtrace/record/options.def" |
    sort >"$work/table"
documented "$GMT_MAN/man1/gmtrace.1" >"$work/page"
same "options.def and gmtrace(1)" "$work/table" "$work/page"
sed -nE 's/^GMT_OPTION\(([^"]*"[^"]*"){1}[^"]*"([A-Z_]+)".*/\2/p' \
    "$GMT_SOURCE/libtrace/record/options.def" | while read -r variable; do
    grep -q "Ev $variable\$" "$GMT_MAN/man1/gmtrace.1" || fail "$variable is not in gmtrace(1)"
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
"$GMT_BUILD/bin/gmanalyze" --help | sed -nE 's/^ *--format=([a-z|]+).*/\1/p' | tr '|' '\n' | sort >"$work/offered"
sed -nE '/^\.Ss Formats/,/^\.Ss Redaction/s/^\.It Cm ([a-z]+) .*/\1/p' "$GMT_MAN/man1/gmanalyze.1" | sort >"$work/page"
same "--format of gmanalyze --help and gmanalyze(1)" "$work/offered" "$work/page"
for command in $commands; do
    section "$command" >"$work/section"
    [ -s "$work/section" ] || fail "gmanalyze $command is not in gmanalyze(1)"
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
