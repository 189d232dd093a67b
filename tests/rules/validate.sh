#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze validate: recordings pass, and each kind of damage is found by the check that is named for it.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq

program=("$GMANALYZE" validate)

# damage CHECKS SQL: with that change of a good trace these checks fail (or warn), and no other.
tried=' format '
damage() {
    cp pipeline_fast.db damaged.db
    sqlite3 damaged.db "PRAGMA ignore_check_constraints = 1; $2"
    "$GMANALYZE" validate --json damaged.db >out 2>err || true
    jq -e --arg names "$1" '[.checks[] | select(.state == "failed" or .state == "warning")] |
        (map(.name) | join(" ")) == $names and all(.faults > 0 and (.examples | length) > 0)' out >/dev/null ||
        fail "$1 is not what is found: $2"
    local plain=3 strict=3
    if [ "$(jq -r .result out)" = incomplete ]; then
        plain=0 strict=4
    fi
    expect $strict --strict damaged.db
    expect $plain damaged.db
    [ "$(grep -cE '^(failed|warning) ' out)" = "$(wc -w <<<"$1")" ] || fail "not one line each about $1"
    tried+="$1 "
}

for name in pipeline_slow pipeline_fast; do
    gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"$name.db"
    expect 0 --strict "$name.db"
    [ "$(grep -cvE '^(ok|skipped) ' out)" = 0 ] || fail "$name has faults"
done
for trace in "${GMT_RECORDED_TRACES:?}"/*.db; do
    cp "$trace" trace.db
    expect 0 trace.db
done
# What came with the software device: its tables, and one launch that they describe.
sqlite3 pipeline_fast.db "PRAGMA writable_schema = 1; UPDATE sqlite_master SET
    sql = replace(sql, '''spill'')', '''spill'',''simulated'')') WHERE name IN ('kernel_counters', 'metric')"
sqlite3 pipeline_fast.db <<SQL
$(sed -nE '/^CREATE TABLE (instruction|inline_level|kernel_footprint|race|coverage|coverage_example|tensor_map|tensor_map_encoding|launch_tensor_map|memory_handle) /,/^\)/p' "$GMT_SOURCE/libtrace/store/db/schema.sql")
INSERT INTO metric SELECT 900, 'global_load_bytes', '', 'simulated', 'bytes', '' WHERE NOT EXISTS
    (SELECT 1 FROM metric WHERE name = 'global_load_bytes');
INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples)
    SELECT seq, class_id, (SELECT min(id) FROM metric WHERE name = 'global_load_bytes'), 512, 'simulated', 'simulated', 1
    FROM launch WHERE seq = 1;
INSERT INTO instruction (launch_seq, class_id, site, kind, executed, lanes, bytes, sectors, ideal_sectors, source)
    SELECT seq, class_id, i, 'global_load', 1, 32, 256, 8, 8, 'simulated' FROM launch, (SELECT 1 AS i UNION SELECT 2) WHERE seq = 1;
UPDATE instruction SET line = 5, caller_line = 9, chain_id = 77 WHERE site = 2;
INSERT INTO inline_level(chain_id, level, line) VALUES (77, 0, 5), (77, 1, 7), (77, 2, 9);
INSERT INTO tensor_map (id, kind, rank, address) VALUES (3, 'tiled', 2, 65536);
INSERT INTO tensor_map_encoding SELECT min(id), 3 FROM api_call;
INSERT INTO launch_tensor_map VALUES (1000, 0, 0, 3);
INSERT INTO memory_handle SELECT 1, 'exported', -5, id, address, bytes, end_ns FROM allocation WHERE id = (SELECT min(id) FROM allocation);
INSERT INTO memory_handle SELECT 2, 'imported', 7, id, address, bytes, end_ns FROM allocation WHERE id = (SELECT max(id) FROM allocation);
INSERT INTO memory_handle VALUES (3, 'exported', 9, NULL, 65536, NULL, 5);
UPDATE launch SET argument_set_id = 1000 WHERE seq = 1;
SQL
expect 0 --strict pipeline_fast.db
[ "$(grep -cv '^ok ' out)" = 0 ] || fail "something is skipped"

damage integrity "PRAGMA writable_schema = 1; UPDATE sqlite_master SET
    sql = replace(sql, 'dst_pitch  INTEGER', 'dst_pitch INTEGER NOT NULL') WHERE name = 'transfer'"
damage types "UPDATE stream SET flags = 'none' WHERE id = 1"
damage values "UPDATE allocation SET kind = 'odd' WHERE id = (SELECT max(id) FROM allocation)"
damage foreign_keys 'UPDATE stream SET thread_id = 999'
damage process 'INSERT INTO process SELECT 2, pid, parent_pid, exe, command, cwd, hostname, rank, options, tool_version,
    realtime_ns, start_ns, end_ns, end_reason, exit_status FROM process'
damage call_ids 'UPDATE sync SET id = (SELECT max(id) FROM api_call) WHERE id = (SELECT max(id) FROM sync)'
damage 'memory_ids copied_memory' 'UPDATE host_allocation SET id = (SELECT max(id) FROM allocation) WHERE id = (SELECT max(id) FROM host_allocation)'
damage call_times 'UPDATE sync SET end_ns = begin_ns - 1 WHERE id = (SELECT min(id) FROM sync)'
damage device_times 'UPDATE transfer SET device_end_ns = NULL WHERE id = (SELECT min(id) FROM transfer)'
damage device_order 'UPDATE transfer SET device_start_ns = begin_ns - 5 WHERE id = (SELECT min(id) FROM transfer)'
damage device_joined "UPDATE launch SET device_end_ns = device_end_ns + 1 WHERE id =
    (SELECT min(id) FROM launch WHERE device_start_ns IS NOT NULL)"
damage memory_times 'UPDATE allocation SET free_begin_ns = begin_ns - 1 WHERE id = (SELECT min(id) FROM allocation)'
damage sizes 'UPDATE allocation SET bytes = -1 WHERE id = (SELECT min(id) FROM allocation)'
damage launch_numbers 'UPDATE launch SET seq = 0 WHERE seq = (SELECT max(seq) FROM launch WHERE measured IS NULL)'
damage classes 'UPDATE launch SET grid_x = grid_x + 1 WHERE seq = 2'
damage stacks 'UPDATE stack SET depth = depth + 1 WHERE id = (SELECT min(id) FROM stack)'
damage counters 'UPDATE kernel_counters SET value = -1 WHERE id = (SELECT min(id) FROM kernel_counters)'
damage instructions 'UPDATE instruction SET ideal_sectors = 9 WHERE site = 1'
damage instruction_sums 'UPDATE instruction SET bytes = 255 WHERE site = 1'
damage inlining 'DELETE FROM inline_level WHERE level = 2'
damage inlining 'UPDATE inline_level SET line = 6 WHERE level = 0'
damage threads 'UPDATE transfer SET thread_id = 999 WHERE id = (SELECT min(id) FROM transfer)'
damage contexts 'UPDATE transfer SET context_id = 999 WHERE id = (SELECT min(id) FROM transfer)'
damage streams 'UPDATE transfer SET stream_id = 999 WHERE id = (SELECT min(id) FROM transfer)'
damage call_stacks 'UPDATE transfer SET stack_id = 999 WHERE id = (SELECT min(id) FROM transfer)'
damage copied_memory 'UPDATE transfer SET dst_allocation_id = 999 WHERE id = (SELECT min(id) FROM transfer)'
damage arguments 'UPDATE launch_argument SET allocation_id = 999 WHERE set_id = 1'
damage argument_sets 'UPDATE launch SET argument_set_id = 999 WHERE seq = 1'
damage memory_handles 'UPDATE memory_handle SET allocation_id = 999 WHERE id = 1'
damage memory_handles "UPDATE memory_handle SET allocation_id = NULL WHERE kind = 'imported'"
damage tensor_maps 'UPDATE launch_tensor_map SET tensor_map_id = 4'
damage tensor_maps 'UPDATE tensor_map_encoding SET tensor_map_id = 4'
damage tensor_maps 'UPDATE tensor_map SET allocation_id = 999'
damage device_calls 'UPDATE device_op SET call_id = 99999999 WHERE id = (SELECT min(id) FROM device_op WHERE kind = "copy")'
damage finished "UPDATE meta SET value = '0' WHERE key = 'complete'"
damage unjoined "UPDATE device_op SET call_id = NULL WHERE id = (SELECT min(id) FROM device_op WHERE kind = 'copy')"
damage losses "INSERT INTO loss VALUES ('spool full', '', 12)"
damage coverage "INSERT INTO coverage(kind, what, expected, seen, extra) VALUES ('records', 'copies', 9, 8, 0)"
damage coverage_numbers "INSERT INTO coverage_example VALUES ('copies', 'call', 1, 'of nothing')"
damage capabilities "INSERT INTO capability VALUES ('x', 'missing', NULL, 'no permission', NULL)"

damage 'foreign_keys apis' 'UPDATE sync SET api_id = 999 WHERE id = (SELECT min(id) FROM sync)'

# No check of the table is left untried.
expect 0 --json pipeline_slow.db
for name in $(jq -r '.checks[].name' out); do
    case $tried in *" $name "*) ;; *) fail "nothing tries the check $name" ;; esac
done

# Not even a trace.
head -c 20000 pipeline_slow.db >short.db
expect 3 short.db
grep -qE '^failed +format .*(cut short|damaged)' out || fail "a short file is not reported"
expect 3 --json absent.db
jq -e '.result == "damaged" and (.checks | length == 1)' out >/dev/null || fail "json of no trace"
cp pipeline_slow.db text.db
printf 'scribble' | dd of=text.db bs=1 seek=$(($(sqlite3 pipeline_slow.db "PRAGMA page_size") * 5)) conv=notrunc 2>/dev/null
expect 3 text.db
expect 2
expect 2 pipeline_slow.db pipeline_fast.db
expect 0 --help
echo "validate: every check finds what it is for"
