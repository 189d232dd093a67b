#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/try-example.md is true: its files and commands, taken out of the page, do on the software device what it shows.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_BUILD:?}" "${GMT_CUDA_INCLUDE:?}"
needs cc patch
page=$GMT_SOURCE/docs/try-example.md
simulator=$GMT_BUILD/libexec/gmtrace/simgpu
[ -e "$simulator/libcuda.so.1" ] || skip "no software device in this build"
unset "${!GMTRACE_@}" "${!SIMGPU_@}" LD_PRELOAD
export XDG_CACHE_HOME=$work/cache PATH=$GMT_BUILD/bin:$PATH
# As an installed toolkit has it: cuda.h, and a libcuda.so to link with.
mkdir -p link
ln -s "$simulator/libcuda.so.1" link/libcuda.so
export CPATH=$GMT_CUDA_INCLUDE LIBRARY_PATH=$work/link

# block LANGUAGE N: the N-th block of that language of the page.
block() {
    awk -v start="\`\`\`$1" -v wanted="$2" '
        $0 == start { n++; inside = 1; next }
        $0 == "```" { inside = 0 }
        inside && n == wanted' "$page" >"$3"
    [ -s "$3" ] || fail "docs/try-example.md has no block $2 of $1"
}
# Each line that a text block shows is printed by the commands, with the times, and in the order of savings, that the model has today.
shows() {
    block text "$1" shown
    python3 - "$2" <<'END' || fail "docs/try-example.md shows in block $1 what is not printed"
import re
import sys


def lines(path):
    text = open(path, encoding="utf-8").read()
    return [re.sub(r" +", " ", re.sub(r"[0-9.]+ (?:µs|ms|ns|s)\b|[0-9.]+ to (?=[0-9.]+ s\b)", "T", line)).strip() for line in text.splitlines()]


printed, shown = lines(sys.argv[1]), lines("shown")
for line in shown:
    found = next((i for i, one in enumerate(printed) if one.startswith(line)), None)
    if found is None:
        sys.exit(f"not printed: {line}")
    del printed[found]
END
}
# runs N: the N-th block of commands, one after the other; ! before one that must fail.
runs() {
    block sh "$1" "commands.$1"
    while read -r line; do
        case $line in
            '! '*) if bash -c "${line#! }" >>printed 2>&1; then fail "it does not fail: $line"; fi ;;
            *) bash -c "$line" >>printed 2>err || fail "it fails: $line: $(cat err)" ;;
        esac
        cat err >>printed 2>/dev/null || true
        rm -f err
    done <"commands.$1"
}

block c 1 app.c
block diff 1 change.diff
text=1
for n in 1 2 3 4 5 6 7; do
    : >printed
    runs "$n"
    if [ "$n" != 6 ]; then
        shows "$text" printed
        text=$((text + 1))
    fi
done
# Nothing of the page is left out.
equal "blocks of text" "$((text - 1))" "$(grep -c '^```text' "$page")"
equal "blocks of commands" 7 "$(grep -c '^```sh' "$page")"
echo "docs/try-example.md: as it says"
