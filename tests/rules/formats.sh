#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SARIF, CSV and markdown of every fixture, of two recordings and of traces with hostile names are
# valid: SARIF by the official schema.
set -euo pipefail
: "${GMANALYZE:?}" "${GMT_SOURCE:?}"
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
python3 -c 'import jsonschema.validators' 2>/dev/null || { echo "skipped: no python3-jsonschema"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/gmanalyze.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C XDG_CACHE_HOME=$work/cache
# shellcheck source=tests/rules/traces.sh
. "$GMT_SOURCE/tests/rules/traces.sh"

# report NAME: NAME.db in all three formats.
report() {
    "$GMANALYZE" --calibrate never --model "$GMT_SOURCE/tests/rules/model.json" \
        -o "$1.sarif" -o "$1.csv" -o "$1.md" "$1.db" >/dev/null 2>err || { cat err; exit 1; }
}

for fixture in "$GMT_SOURCE"/tests/rules/fixtures/*_positive.sql; do
    name=$(basename "$fixture" .sql)
    make_trace "$name.db" "fixtures/$name"
    report "$name"
    mv "$name.db" "hostile_$name.db"
    spoil "hostile_$name.db"
    report "hostile_$name"
done
for name in pipeline_slow pipeline_fast; do
    gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"$name.db"
    report "$name"
done
# Nothing but a process: no event of any kind.
make_trace empty.db fixtures/GM101_negative
sqlite3 empty.db 'DELETE FROM transfer; DELETE FROM launch; DELETE FROM allocation; DELETE FROM device_op'
report empty
grep -q '"uri": "examples/pipeline/pipeline_slow.cu"' pipeline_slow.sarif || {
    echo "FAIL: the pipeline's source is not named"
    exit 1
}
python3 "$GMT_SOURCE/tests/rules/check_formats.py" "$GMT_SOURCE/tests/data/sarif-2.1.0.schema.json" .
