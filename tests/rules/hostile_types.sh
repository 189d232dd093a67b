#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A value that no recorder writes, wherever it is in a trace or a model, ends the command with one line that names it:
# there is no report that lacks it without a word.
set -euo pipefail
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq timeout
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >good.db

# refused TRACE SUBJECT REASON OPTION...: analysis into a file is refused in one line.
refused() {
    local trace=$1 subject=$2 reason=$3 status=0
    shift 3
    timeout 900 "$GMANALYZE" --calibrate never -o r.html "$@" "$trace" >out 2>err </dev/null || status=$?
    [ "$status" = 3 ] || fail "status $status: $reason"
    { grep -qF "gmanalyze: $subject: $reason" err && [ "$(wc -l <err)" = 1 ]; } || fail "another reason than: $reason"
    [ ! -e r.html ] || fail "a report all the same: $reason"
}

# damage REASON SQL
damage() {
    cp good.db bad.db
    sqlite3 bad.db "PRAGMA ignore_check_constraints = ON; $2"
    refused bad.db bad.db "is damaged: $1"
}
damage 'loss.count is no number' "INSERT INTO loss VALUES ('chunk lost', '', 'x')"
damage 'kernel_counters.value is no number' "UPDATE kernel_counters SET value = 'x'"
damage 'kernel.name is no text' "UPDATE kernel SET name = x'00ff' WHERE id = 1"
damage 'capability.state is no text' "UPDATE capability SET state = CAST('partial' AS BLOB)"
damage 'module.path is no text' "UPDATE module SET path = x'00ff'"
damage 'frame.line is no integer' "UPDATE frame SET line = 0.5"
damage 'device_model.json "median" is no number' \
    "UPDATE device_model SET json = replace(json, '\"median\": ', '\"median\": \"x\", \"was\": ');
     INSERT OR IGNORE INTO device_model(uuid, match, json) SELECT uuid, 'this board',
        '{\"format\": \"gmtrace-device-model\", \"version\": 1, \"rates\": {\"dram_bytes_per_s\": {\"median\": \"x\"}}}' FROM device"

# What SQL alone looks at, in conditions: those rows would not count, without a word.
rm good.db
make_trace good.db golden/trace
sqlite3 good.db "INSERT INTO memset(id, begin_ns, end_ns, result, capturing, bytes, dst_class) VALUES (7001, 1, 2, 0, 0, 8, 'device');
    INSERT INTO api_call(id, begin_ns, end_ns, result, capturing) VALUES (7002, 1, 2, 0, 0);
    INSERT INTO sync(id, begin_ns, end_ns, result, capturing, kind) VALUES (7003, 1, 2, 0, 0, 'stream')"
for table in transfer memset launch sync api_call; do
    for column in result capturing; do
        damage "$table.$column is no number" "UPDATE $table SET $column = 'x' WHERE id = (SELECT max(id) FROM $table)"
        damage "$table.$column is no number" "UPDATE $table SET $column = x'00' WHERE id = (SELECT max(id) FROM $table)"
    done
done
damage 'launch.kind is no text' "UPDATE launch SET kind = x'00'"
damage 'launch.kind is no word of the format' "PRAGMA writable_schema = ON; UPDATE sqlite_master SET
    sql = replace(sql, 'kind       TEXT NOT NULL', 'kind TEXT') WHERE name = 'launch'; PRAGMA writable_schema = RESET;
    UPDATE launch SET kind = NULL"
for column in transfer.direction launch.kind sync.kind allocation.kind capability.state api.family; do
    damage "$column is no word of the format" "UPDATE ${column%.*} SET ${column#*.} = 'zz'"
done
damage 'device_op.kind is no word of the format' "INSERT INTO device_op (kind, correlation, start_ns, end_ns) VALUES ('zz', 1, 1, 2)"
damage 'device_op.graph is no integer' "INSERT INTO device_op (kind, correlation, graph, start_ns, end_ns, call_id) VALUES
    ('kernel', 1, 'x', 1, 2, 3)"
# A word that the file declares is one of a later version: its rows are read as far as they are known.
cp good.db later.db
sqlite3 later.db "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '''graph'')', '''graph'',''later'')')
    WHERE name = 'launch'; PRAGMA writable_schema = RESET; UPDATE launch SET kind = 'later'"
"$GMANALYZE" --calibrate never later.db >out 2>err </dev/null || fail "status $? of a word that the file declares"

# Trace events are of every column: none is written as 0.
perfetto() {
    local status=0
    cp good.db bad.db
    sqlite3 bad.db "PRAGMA ignore_check_constraints = ON; $2"
    "$GMANALYZE" export --to perfetto -o r.json bad.db >out 2>err </dev/null || status=$?
    [ "$status" = 3 ] || fail "status $status of the export: $1"
    { grep -qF "gmanalyze: bad.db: is damaged: $1" err && [ "$(wc -l <err)" = 1 ]; } || fail "another reason than: $1"
    [ ! -e r.json ] || fail "events all the same: $1"
}
perfetto "launch.begin_ns is text against its column's type" "UPDATE launch SET begin_ns = 'x' WHERE id = (SELECT max(id) FROM launch)"
perfetto "launch.device_end_ns is real against its column's type" "UPDATE launch SET device_end_ns = 0.5 WHERE device_start_ns IS NOT NULL"
perfetto "transfer.bytes is blob against its column's type" "UPDATE transfer SET bytes = x'31'"
perfetto "thread.tid is text against its column's type" "UPDATE thread SET tid = 'x'"

# Sums of integers fail in SQL where they exceed 64 bits.
damage 'a sum of its numbers exceeds 64 bits' "UPDATE launch SET kind = 'graph', graph = 1 WHERE id = (SELECT min(id) FROM launch);
    INSERT INTO graph(id, handle, nodes, begin_ns) VALUES (1, 1, 2, 0);
    INSERT INTO graph_node(graph_id, node, kind, position, since_ns, bytes) VALUES
        (1, 1, 'copy', 1, 0, 9223372036854775807), (1, 2, 'copy', 2, 0, 9223372036854775807)"

# Members of a model: of a wrong type they are errors, absent or null they are not measured.
model() {
    jq "$2" "$rules/model.json" >model.json
    refused good.db model.json "$1" --model model.json
}
model '"median" is no number' '.rates[].median |= tostring'
model '"points" is no array of objects' '.transfers.h2d_pinned_sync.points = {}'
model '"points" is no array of objects' '.transfers.h2d_pinned_sync.points[0] = 3'
model '"bytes" is no number' '.transfers.h2d_pinned_sync.points[0].bytes = "1"'
model '"transfers" is no object' '.transfers = []'
model '"name" is no text' '.device.name = 7'
model '"noisy" is no true or false' '.noisy = 1'
model '"batches" is no object' '.batches = 1'
for change in 'del(.rates)' '.rates = null' '.transfers.h2d_pinned_sync.points[0].spread_ns = null'; do
    jq "$change" "$rules/model.json" >model.json
    "$GMANALYZE" --calibrate never --model model.json good.db >out 2>err </dev/null || fail "$change: status $?"
done
echo "gmanalyze: values of another type are named"
