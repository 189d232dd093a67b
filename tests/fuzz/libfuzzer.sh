#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libfuzzer.sh PROGRAM RUNS SEEDS...: runs the seeds, then changes of them until RUNS inputs were run, with a fixed seed.
# An input that fails is saved beside the seeds that were found, in the folder NAME.found of the build.
set -euo pipefail
program=$1 runs=$2
shift 2
found=$PWD/${program##*/}.found
for seeds; do
    [ -d "$seeds" ] && continue
    echo "no seeds in $seeds: ctest --preset dev -R fuzz.seeds makes them" >&2
    exit 1
done
rm -rf "$found"
mkdir -p "$found/new" "$found/folder"
# What a command of gmanalyze prints goes to a file of that folder, with the reason of a crash.
export GMT_FUZZ_FOLDER=$found/folder
status=0
"$program" -runs="$runs" -seed=1 -max_len=4194304 -rss_limit_mb=4096 -timeout=120 -print_final_stats=1 \
    -artifact_prefix="$found/" "$found/new" "$@" >"$found/log" 2>&1 || status=$?
tail -n 60 "$found/log"
if [ "$status" -ne 0 ]; then
    tail -n 60 "$found/folder/stderr" 2>/dev/null || true
    exit "$status"
fi
rm -rf "$found"
