#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_shipped.sh PREDICT SOURCE: a model that the page does not judge cannot be shipped unnoticed.
set -euo pipefail

predict=$1 source=$2
shipped=$source/tests/bench/prediction/shipped
work=$(mktemp -d "${TMPDIR:-/tmp}/shipped.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/kernels" "$work/docs" "$work/tests/data"
cp -r "$source/kernels/models" "$work/kernels/"
cp "$source/docs/prediction.md" "$work/docs/"
ln -s "$source/tests/data/prediction" "$work/tests/data/prediction"

# refused ABOUT TEXT: `check` fails and says so.
refused() {
    local said
    if said=$("$shipped" check "$predict" "$work" 2>&1); then
        echo "FAIL: $1 is not noticed"
        exit 1
    fi
    grep -qF -- "$2" <<<"$said" || { echo "FAIL: $1: $said"; exit 1; }
}

# The recordings' own calibration: another device's, and older.
older=$source/tests/data/prediction/calibration_1.raw.json.gz
if "$shipped" newer "$older" "$work" >"$work/said"; then
    echo "FAIL: older timings may be shipped"
    exit 1
fi
grep -qF "an older model is not shipped" "$work/said" || { echo "FAIL: $(cat "$work/said")"; exit 1; }
gzip -dc "$source/kernels/models/nvidia-h200.raw.json.gz" >"$work/same.json"
"$shipped" newer "$work/same.json" "$work"
sed 's/"created": "20/"created": "21/' "$work/same.json" >"$work/later.json"
"$shipped" newer "$work/later.json" "$work"
cp "$older" "$work/kernels/models/nvidia-h200.raw.json.gz"
refused "other timings" "not the files that were shipped together"
"$shipped" sums "$work" >"$work/kernels/models/nvidia-h200.sha256"
refused "a page about another model" "judges another model than is shipped"

# The hash alone does not do it: the figures must be that model's.
hash=$(sed -n 's/ .*nvidia-h200.raw.json$//p' "$work/kernels/models/nvidia-h200.sha256")
sed -i "s/SHA-256 \`[0-9a-f]*\`/SHA-256 \`$hash\`/" "$work/docs/prediction.md"
refused "a page with that hash and old figures" "device GPU-"
