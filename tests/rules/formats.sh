#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# JSON, SARIF, CSV and markdown of every fixture, of recordings and of traces with hostile names are
# valid: SARIF by the official schema, JSON by the published one.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq
python3 -c 'import jsonschema.validators' 2>/dev/null || skip "no python3-jsonschema"

# report NAME: NAME.db in all formats.
report() {
    "$GMANALYZE" --calibrate never --model "$GMT_SOURCE/tests/rules/model.json" \
        -o "$1.json" -o "$1.sarif" -o "$1.csv" -o "$1.md" "$1.db" >/dev/null 2>err || fail "$1"
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
lines="INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'ld.global.f32'), (53, '/src/get.h');
    INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, caller_file_id,
        caller_line, ptx_line, kind, executed, lanes, sectors, ideal_sectors, source) VALUES
        (1, 1, 4, 51, 50, 42, NULL, NULL, 10, 'global_load', 9, 9, 900, 100, 'simulated'),
        (1, 1, 5, 51, NULL, NULL, NULL, NULL, 11, 'global_load', 9, 9, 200, 100, 'simulated'),
        (1, 1, 6, 51, 53, 2, 50, 70, 20, 'global_load', 9, 9, 500, 100, 'simulated');
    INSERT INTO string VALUES (54, 'get(float const*)'), (55, 'row()');
    INSERT INTO inline_level(chain_id, level, function_id, file_id, line) VALUES
        (9, 0, 54, 53, 2), (9, 1, 55, 53, 8), (9, 2, NULL, 50, 70);
    UPDATE instruction SET chain_id = 9 WHERE site = 6;
    INSERT INTO race (launch_seq, class_id, first_opcode_id, first_file_id, first_line, second_line, count)
        VALUES (1, 1, 51, 50, 42, NULL, 3)"
# Of the software device: lines, footprints, no times.
make_trace simulated.db fixtures/GM301_positive
sqlite3 simulated.db <"$GMT_SOURCE/tests/rules/simulated.sql"
sqlite3 simulated.db "$lines"
report simulated
# More findings than SARIF and a comment have room for, about kernels with names of any length.
make_trace many.db fixtures/GM401_positive
for table in kernel_class launch kernel_counters; do
    sqlite3 many.db "PRAGMA table_info($table)" | cut -d'|' -f2 | grep -vxE 'id|seq|kernel_id|class_id|launch_seq' |
        paste -sd, >"$table.columns"
done
sqlite3 many.db "
    CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) SELECT i FROM n;
    INSERT INTO kernel (id, name, mangled) SELECT 1000 * i, printf('kernel_%05000d', i), 'k' || i FROM n;
    INSERT INTO kernel_class (id, kernel_id, $(cat kernel_class.columns))
        SELECT 1000 * i, 1000 * i, $(cat kernel_class.columns) FROM kernel_class, n WHERE id = 1;
    INSERT INTO launch (id, seq, kernel_id, class_id, $(cat launch.columns))
        SELECT id + 100000 * i, seq + 1000 * i, 1000 * i, 1000 * i, $(cat launch.columns) FROM launch, n WHERE class_id = 1;
    INSERT INTO kernel_counters (launch_seq, class_id, $(cat kernel_counters.columns))
        SELECT launch_seq + 1000 * i, 1000 * i, $(cat kernel_counters.columns) FROM kernel_counters, n WHERE class_id = 1"
report many
jq -e '(.runs[0].results | length) == 200 and .runs[0].properties.findings > 200' many.sarif >/dev/null ||
    fail "SARIF is not cut at 200 results"
# Nothing but a process: no event of any kind.
make_trace empty.db fixtures/GM101_negative
sqlite3 empty.db 'DELETE FROM transfer; DELETE FROM launch; DELETE FROM allocation; DELETE FROM device_op'
report empty
# Findings in ranges.
make_trace ranged.db golden/trace
sqlite3 ranged.db <"$GMT_SOURCE/tests/rules/named_ranges.sql"
report ranged
# Calls that failed.
make_trace failed.db golden/trace failed_calls
report failed
jq -e '.failed_calls | .alarm != null and (.rows | length) == 2 and (.handled | length) == 2' failed.json >/dev/null ||
    fail "failed calls are not in JSON"
grep -q 'failed: an illegal memory access' failed.md || fail "failed calls are not in markdown"
cp failed.db hostile_failed.db
spoil hostile_failed.db
report hostile_failed
# A recording that checked itself.
make_trace checked.db golden/trace
sqlite3 checked.db <"$GMT_SOURCE/tests/rules/coverage.sql"
report checked
cp checked.db hostile_checked.db
spoil hostile_checked.db
report hostile_checked
grep -q '"uri": "examples/pipeline/pipeline_slow.cu"' pipeline_slow.sarif ||
    fail "the pipeline's source is not named"
# The line that causes most of it comes first, the launch and the other lines are related.
jq -e '.runs[0].results[0] | .locations[0].physicalLocation.region.startLine == 42 and
    (.relatedLocations | length == 2)' simulated.sarif >/dev/null ||
    fail "SARIF places a finding elsewhere than its lines"
# Code scanning shows what is in the repository: the guilty line, and where that is in no file of it, the launch.
mkdir -p kernels_here/kernels launch_here/src
: >kernels_here/kernels/work.cu
: >launch_here/app.cu
# shown ROOT: where the first result is, and what else it names.
shown() {
    "$GMANALYZE" --calibrate never --model "$GMT_SOURCE/tests/rules/model.json" --source-root "$1" --format sarif simulated.db |
        jq -r '.runs[0].results[0] | [.locations + .relatedLocations | .[].physicalLocation |
            "\(.artifactLocation.uri):\(.region.startLine)"] | join(" ")'
}
equal "the line is in the repository" "kernels/work.cu:42 file:///src/app.cu:42 file:///src/get.h:2" \
    "$(shown kernels_here)"
equal "only the launch is in the repository" "app.cu:42 file:///src/kernels/work.cu:42 file:///src/get.h:2" \
    "$(shown launch_here)"
equal "nothing is in the repository" \
    "file:///src/kernels/work.cu:42 file:///src/app.cu:42 file:///src/get.h:2" "$(shown "$work")"
# Where the repository is not at hand, a name that the host's compiler was given shows its root, too.
cp simulated.db relative.db
sqlite3 relative.db "UPDATE string SET text = 'kernels/work.cu' WHERE text = '/src/app.cu'"
report relative
jq -e '[.runs[0].results[] | .locations[], .relatedLocations[]? | .physicalLocation.artifactLocation] |
    any(.uri == "kernels/work.cu") and all(.uri != "file:///src/kernels/work.cu")' relative.sarif >/dev/null ||
    fail "one file has two names"
python3 "$GMT_SOURCE/tests/rules/check_formats.py" "$GMT_SOURCE/tests/data/sarif-2.1.0.schema.json" .
python3 "$GMT_SOURCE/tests/rules/check_report.py" "$GMT_SOURCE/docs/report.schema.json" ./*.json
