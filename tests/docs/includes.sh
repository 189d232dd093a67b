#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The product's sources include headers of ours by their path from the root, and so find no other of the same name.
# template.h is made by the build. And no folder of theirs is so full that nothing is found in it.
set -euo pipefail
cd "$GMT_SOURCE"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[chS]' --include='*.cu' --include='*.cuh' \
    --include='*.cpp' --include='*.def' \
    analyzer kernels launcher libtrace preload recorder reports simgpu docs |
    sed -nE 's/^([^:]*:[0-9]*):[^"]*"([^"]*)".*/\1 \2/p' >"$list"
wrong=0
count=0
while read -r place header; do
    count=$((count + 1))
    if [ ! -f "$header" ] && [ "$header" != template.h ]; then
        echo "FAIL: $place: \"$header\" is no path from the root"
        wrong=1
    fi
done <"$list"
if [ "$count" -lt 1000 ]; then
    echo "FAIL: only $count includes were found"
    wrong=1
fi
most=45
while read -r files folder; do
    if [ "$files" -gt $most ]; then
        echo "FAIL: $folder has $files files, more than $most: which two things is it?"
        wrong=1
    fi
done < <(find analyzer kernels launcher libtrace preload recorder reports -path '*/node_modules' -prune -o -path '*/models' -prune \
    -o -type f -printf '%h\n' | sort | uniq -c)
exit $wrong
