#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze fleet on folders of traces: who is odd and why, what cannot be compared, text and JSON.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
: "${MAKE_FLEET:?}"
needs sqlite3 python3
program=("$GMANALYZE" fleet)

# json EXPRESSION: what it gives of `fleet`, the document in out.
json() { python3 -c 'import json, sys; fleet = json.load(open("out")); print(eval(sys.argv[1]))' "$1"; }

# Each cause by its trace: rank and word. The numbers are those of enum fault in physics.h.
causes=([1]=host [2]=kernels [3]=work [4]=link [5]=leak [6]=version [7]=clock [8]=allocation [9]=allocation)
for fault in 1 2 3 4 5 6 7 8 9; do
    odd=$("$MAKE_FLEET" "fault$fault" "$((900 + fault))" "$fault" 32 64)
    expect 0 --format json "fault$fault"
    equal "cause $fault" "True" "$(json "any(o['rank'] == '$odd' and o['cause'] == '${causes[$fault]}' for o in fleet['odd'])")"
    equal "other causes of $fault" "True" "$(json "all(o['cause'] == '${causes[$fault]}' for o in fleet['odd'])")"
done
equal "ranks" "32 64" "$(json "str(fleet['compared']) + ' ' + str(fleet['steps'])")"
equal "clocks" "{'good'}" "$(json "{r['clock']['confidence'] for r in fleet['ranks']}")"

# Device memory: one rank has another peak in a single step, which no median shows.
"$MAKE_FLEET" memory 78 0 16 64 >all
sqlite3 memory/rank11.db "UPDATE step_memory SET peak_bytes = 900000000000 WHERE step_id = 9"
sqlite3 memory/rank3.db "UPDATE step_memory SET peak_bytes = 1000, live_bytes = 1000"
sqlite3 memory/rank5.db "DELETE FROM step_memory"
expect 0 --format json memory
equal "peaks of memory" "15 3 1000 11 900000000000" \
    "$(json "'{ranks} {least_rank} {least_bytes:.0f} {most_rank} {most_bytes:.0f}'.format(**fleet['memory'])")"
peaks=$(for trace in memory/*.db; do sqlite3 "$trace" "SELECT max(peak_bytes) FROM step_memory"; done | grep . | sort -n | sed -n 8p)
equal "their median" "$peaks" "$(json "'{median_bytes:.0f}'.format(**fleet['memory'])")"
expect 0 memory
grep -q '^Device memory: peaks of 15 ranks are .*; rank 11 on node-.* has most, ' out || fail "memory has no row"

# Whole traces: their findings by fingerprint, beside ranks that have sums alone, and a damaged one.
mkdir whole
for name in pipeline_slow pipeline_fast graph; do gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"whole/$name.db"; done
cp whole/pipeline_slow.db whole/again.db
cp memory/rank0.db whole/sums.db
n=0
for trace in pipeline_slow pipeline_fast graph again; do sqlite3 "whole/$trace.db" "UPDATE process SET rank = '$n'" && n=$((n + 1)); done
sqlite3 whole/pipeline_slow.db "DELETE FROM device_op WHERE call_id IN (SELECT id FROM transfer WHERE id % 2 = 0);
    DELETE FROM transfer WHERE id % 2 = 0"
for trace in pipeline_slow pipeline_fast graph again; do
    "$GMANALYZE" --format json "whole/$trace.db" >"$trace.json" 2>/dev/null || fail "$trace is not analysed"
done
head -c 60000 whole/graph.db >whole/short.db
expect 0 --format json whole
python3 - <<'END' || fail "other findings"
import json
fleet, wanted = json.load(open("out")), {}
for rank, name in enumerate(("pipeline_slow", "pipeline_fast", "graph", "again")):
    for finding in json.load(open(name + ".json"))["findings"]:
        saving = (finding.get("saving") or {}).get("best_ns")
        wanted.setdefault(finding["fingerprint"], []).append((-1 if saving is None else saving, -rank, finding))
assert fleet["analysed"] == 4, fleet["analysed"]
assert {f["fingerprint"] for f in fleet["findings"]} == set(wanted)
for found in fleet["findings"]:
    group = wanted[found["fingerprint"]]
    saving, rank, worst = max(group, key=lambda one: one[:2])
    assert found["ranks"] == len({one[1] for one in group}), found
    assert found["worst_rank"] == str(-rank), found
    assert (found["rule"], found["title"], found["place"]) == (worst["rule"], worst["title"], worst["place"]["label"]), found
    if saving >= 0:
        assert abs(found["worst_saving_ns"] - saving) <= 1, (found, saving)
        total = sum(one[0] for one in group if one[0] >= 0)
        assert abs(found["total_saving_ns"] - total) <= len(group), (found, total)
    else:
        assert found["worst_saving_ns"] is None and found["total_saving_ns"] is None, found
assert any(f["ranks"] > 1 for f in fleet["findings"]) and any(f["ranks"] == 1 for f in fleet["findings"])
assert len({f["worst_rank"] for f in fleet["findings"]}) > 1
totals = [f["total_saving_ns"] or 0 for f in fleet["findings"]]
assert totals == sorted(totals, reverse=True), totals
END
expect 0 --top 3 whole
grep -q '^Findings in the 4 whole traces$' out || fail "the findings have no head"
[ "$(grep -c '^  GM[0-9]* .*: on [0-9] of 4 ranks' out)" = 3 ] || fail "not one line per finding"
expect 0 --format json whole
equal "measured prices" "{False}" \
    "$(json "{f['modelled'] for f in fleet['findings'] if f['total_saving_ns'] is not None}")"
expect 0 --format json memory
equal "findings of sums" "0 []" "$(json "'{analysed} {findings}'.format(**fleet)")"
equal "copies between ranks, of sums" "None None" "$(json "'{staged} {direct}'.format(**fleet)")"

# A clean fleet in which some cannot be compared: those are reported, the others answered.
"$MAKE_FLEET" clean 77 0 32 64 >all
cp -r clean all-ranks
expect 0 --format json clean
equal "odd ranks of a clean fleet" "0" "$(json "len(fleet['odd'])")"
head -c 20000 clean/rank3.db >short && mv short clean/rank3.db
echo "no trace" >clean/rank4.db
sqlite3 clean/rank5.db "DELETE FROM device; DELETE FROM step; DELETE FROM step_work"
sqlite3 clean/rank6.db "DELETE FROM step_work; DELETE FROM step_time; DELETE FROM step_collective"
sqlite3 clean/rank7.db "UPDATE process SET tool_version = '0.0.9', realtime_ns = NULL"
sqlite3 clean/rank8.db "UPDATE step_call SET host_ns = 'x' WHERE step_id = 5 AND kind = 'kernel'"
# What computes something in the file is found, though its tables are ours; tables that nobody reads are not looked at.
sqlite3 clean/rank9.db "CREATE INDEX sum_of ON step(end_ns - begin_ns)"
sqlite3 clean/rank10.db "DROP TABLE step_time; CREATE TABLE step_time (step_id INTEGER, cause TEXT, ns INTEGER AS (step_id * 2))"
sqlite3 clean/rank11.db "CREATE VIRTUAL TABLE other USING fts5(x)" || sqlite3 clean/rank11.db "CREATE INDEX part_of ON step(id) WHERE id > 1"
sqlite3 clean/rank12.db "PRAGMA ignore_check_constraints = 1; INSERT INTO sync (id, thread_id, kind, begin_ns, end_ns, result, capturing) VALUES (1, 1, 'x', 'y', 'z', 'w', 0)"
expect 0 --format json clean
equal "compared" "25" "$(json "fleet['compared']")"
equal "not compared" "7" "$(json "sum(not r['compared'] for r in fleet['ranks'])")"
equal "no GPU" "it has used no GPU" "$(json "[r['why_not'] for r in fleet['ranks'] if 'rank5.db' in r['trace']][0]")"
equal "index over an expression" "is damaged: it has an index over an expression, and a trace has none" \
    "$(json "[r['why_not'] for r in fleet['ranks'] if 'rank9.db' in r['trace']][0]")"
equal "generated column" "is damaged: it has a generated column, and a trace has none" \
    "$(json "[r['why_not'] for r in fleet['ranks'] if 'rank10.db' in r['trace']][0]")"
equal "no device times" "it has no times of its device" "$(json "[r['remark'] for r in fleet['ranks'] if 'rank6.db' in r['trace']][0]")"
equal "another version" "7 version gmtrace 0.0.9" "$(json "' '.join(fleet['odd'][0][k] for k in ('rank', 'cause', 'trait', 'has'))")"
equal "odd" "1" "$(json "len(fleet['odd'])")"
equal "no wall clock" "none" "$(json "[r['clock']['confidence'] for r in fleet['ranks'] if r['rank'] == '7'][0]")"
expect 0 clean
grep -q '^25 of 32 ranks compared, on ' out || fail "the head is missing"
grep -qx '1 odd rank (of fleets without one, 1 % would show one)' out || fail "the rate of false alarms is not stated"
grep -q 'rank 7 on node-.*: another driver, device or version' out || fail "the odd rank is not named"
for rank in 3 4 8 9 10 11; do grep -q "rank$rank.db: " out || fail "rank $rank is not reported"; done
[ "$(wc -l <out)" -le 60 ] || fail "more than a screen"

# One of 8 ranks ended early: the others are compared as if it was not there, and it has a remark.
odd=$("$MAKE_FLEET" early 77 1 8 64)
for table in step step_call step_work step_time step_memory step_collective; do
    column=step_id && [ $table = step ] && column=id
    sqlite3 early/rank5.db "DELETE FROM $table WHERE $column > 5"
done
expect 0 --format json early
equal "odd beside a short rank" "[('$odd', 'host')] True None" \
    "$(json "str([(o['rank'], o['cause']) for o in fleet['odd']]) + ' {few_ranks} {false_alarms}'.format(**fleet)")"
equal "remark on a short rank" "[('5', 'it has 5 of the 64 steps that are compared')]" \
    "$(json "[(r['rank'], r['remark']) for r in fleet['ranks'] if r['remark']]")"
expect 0 early
grep -q 'early/rank5.db: it has 5 of the 64 steps that are compared' out || fail "the short rank has no remark"

expect 0 --format json early
# Nothing was matched, and nobody's time in collectives is odd: that is not 0.
equal "not measured" "{(0, None, None, None)}" \
    "$(json "{tuple(r['collectives'][k] for k in ('matched', 'late_ns', 'transfer_ns', 'made_wait_ns')) for r in fleet['ranks']}")"
sqlite3 early/rank2.db "UPDATE process SET tool_version = '0.0.9'; UPDATE step_collective SET end_ns = end_ns + 500, begin_ns = end_ns - 500"
for rank in 0 1 2 3 4 6 7; do
    sqlite3 early/rank$rank.db "UPDATE step_collective SET communicator = 77, number = position, ranks = 7, bytes = 4096"
    [ $rank = 2 ] || sqlite3 early/rank$rank.db "UPDATE step_collective SET begin_ns = end_ns - 1000000"
done
sqlite3 early/rank5.db "DELETE FROM step_collective"
expect 0 --format json early
equal "not odd in collectives" "None True" \
    "$(json "[str(o['waited_for_ns']) + ' ' + str(fleet['ranks'][2]['collectives']['made_wait_ns'] > 0) for o in fleet['odd'] if o['rank'] == '2'][0]")"
expect 0 early
grep -q '^    it came last in [0-9]* of [0-9]* collectives, .* behind the last but one in sum$' out || fail "it is not shown that a rank came last"

# How ranks ended.
"$MAKE_FLEET" ends 77 0 8 64 >all
sqlite3 ends/rank1.db "UPDATE process SET end_reason = 'killed', exit_status = 9; DELETE FROM step WHERE id > 40"
sqlite3 ends/rank2.db "UPDATE process SET end_reason = 'exit', exit_status = 256"
sqlite3 ends/rank3.db "UPDATE process SET end_reason = 'killed'"
sqlite3 ends/rank4.db "UPDATE process SET end_reason = 'exit', exit_status = 0"
sqlite3 ends/rank5.db "UPDATE process SET end_reason = 'killed', exit_status = 134; DELETE FROM step"
expect 0 --format json ends
equal "ends" "[('0', None, None, None), ('1', 'killed', None, 9), ('2', 'exit', 1, None), ('3', 'killed', None, None), ('4', 'exit', 0, None), ('5', 'killed', None, 6)]" \
    "$(json "[(r['rank'], r['end_reason'], r['exit_status'], r['signal']) for r in fleet['ranks'][:6]]")"
expect 0 ends
grep '/rank[0-9].db: ' out | sed 's/^.*\/rank/rank/' >said
diff - said <<'END' || fail "other remarks on ends"
rank1.db: it was killed by signal 9, after step 40; it has 40 of the 64 steps that are compared
rank2.db: it exited with status 1, after step 64
rank3.db: it was killed, after step 64
rank5.db: its trace has no steps; it was killed by signal 6
END

# Ranks without a trace: below the highest number, and of a communicator; one whose trace is damaged has one that cannot be read.
expect 0 --format json ends
equal "nobody is missing" "[] []" "$(json "'{missing} {several_traces}'.format(**fleet)")"
cp -r ends gaps && rm gaps/rank0.db gaps/rank3.db gaps/rank4.db
sqlite3 gaps/rank6.db "UPDATE step_collective SET communicator = 77, number = position, ranks = 10"
expect 0 --format json gaps
equal "missing" "[0, 3, 4, 8, 9]" "$(json "fleet['missing']")"
expect 0 gaps
grep -qx '  no trace of ranks 0,3-4,8-9' out || fail "missing ranks are not named"
echo x >gaps/rank4.db
expect 0 gaps
grep -qx '  no trace that can be read of ranks 0,3-4,8-9' out || fail "a damaged trace is said to be missing"
sqlite3 gaps/rank7.db "UPDATE process SET rank = 'last'"
expect 0 --format json gaps
equal "ranks without numbers" None "$(json "fleet['missing']")"

# Traces of one rank one behind the other are of several runs; those beside each other are of several processes.
mkdir runs && cp -r ends runs/1 && cp -r ends runs/2
for trace in runs/*/*.db; do sqlite3 "$trace" "UPDATE process SET end_ns = start_ns + 1000000000"; done
expect 0 --format json runs
equal "beside each other" "[]" "$(json "fleet['several_traces']")"
sqlite3 runs/2/rank7.db "UPDATE process SET realtime_ns = realtime_ns + 1000000001"
expect 0 --format json runs
equal "one behind the other" "[{'rank': '7', 'traces': 2}]" "$(json "fleet['several_traces']")"
expect 0 runs
grep -qx '  rank 7 has several traces, one behind the other: are they of more than one run?' out || fail "two runs are not reported"

# Two ranks: what persists over the steps is reported, with the cause.
odd=$("$MAKE_FLEET" two 5 1 2 64)
expect 0 --format json two
equal "of two" "$odd host True" "$(json "fleet['odd'][0]['rank'] + ' ' + fleet['odd'][0]['cause'] + ' ' + str(fleet['few_ranks'])")"
equal "of two: no rate of false alarms is known" None "$(json "fleet['false_alarms']")"

expect 0 two
grep -qx '1 odd rank' out || fail "a rate of false alarms is stated that two ranks do not have"

# The same, where gmtrace itself worked in the steps of the odd rank, which is not compared by their times; but not on the software
# device, where its work is not distinguished, and not beside the program.
cp -r two measured
sqlite3 "measured/rank$odd.db" "INSERT INTO capability (name, state) VALUES ('device_times', 'ok');
    INSERT INTO own_time SELECT NULL, 'repeat', NULL, begin_ns + 1000, end_ns - 1000, 0, NULL FROM step WHERE id > 8"
cp -r measured beside && sqlite3 "beside/rank$odd.db" "UPDATE own_time SET beside = 1"
cp -r measured software && sqlite3 "software/rank$odd.db" "INSERT INTO capability (name, state) VALUES ('software_device', 'ok')"
# 0.6 % of each step twice, as a row lies within another one: it is still less than 1 %.
cp -r two nested
sqlite3 "nested/rank$odd.db" "INSERT INTO capability (name, state) VALUES ('device_times', 'ok');
    INSERT INTO own_time SELECT NULL, work, NULL, begin_ns + 1000, begin_ns + 1000 + (end_ns - begin_ns) * 6 / 1000, 0, NULL
        FROM step, (SELECT 'repeat' AS work UNION SELECT 'launch') WHERE id > 8"
for folder in measured beside software nested; do
    expect 0 --format json $folder
    case $folder in measured) named=0 ;; *) named=1 ;; esac
    equal "odd ranks of $folder" $named "$(json "len([o for o in fleet['odd'] if o['cause'] == 'host'])")"
    equal "remark of $folder" $((1 - named)) "$(json "sum('gmtrace itself worked' in (r['remark'] or '') for r in fleet['ranks'])")"
done

# An earlier run: one in which all ranks have other numbers of copies, and the same again.
expect 0 --format json --against clean clean
equal "the same run" "[]" "$(json "fleet['against']['changes']")"
mkdir before && cp all-ranks/*.db before
for trace in before/*.db; do sqlite3 "$trace" "UPDATE step_call SET calls = calls + 2 WHERE kind = 'copy_h2d'"; done
expect 0 --format json --against before all-ranks
equal "copies before" "[('copies', 5.0, 3.0, 0, 32)]" "$(json "[(c['measure'], float(c['before']), float(c['after']), c['more'], c['less']) for c in fleet['against']['changes']]")"
expect 0 --against before all-ranks
grep -q 'copies between host and device: 3, before 5, in 32 ranks' out || fail "the change is not shown"
expect 0 --against before two
grep -q 'too few to distinguish a change from chance' out || fail "two ranks show a change"
expect 3 --against nowhere all-ranks

# Which files are traces: links to files, once each, in folders as deep as may be; DIR may be a link, and its `trace` a plain folder.
mkdir -p files/a/b/c/d/e/f files/trace files/.hidden other
cp two/rank0.db files/a/b/c/d/e/f && cp two/rank1.db other/1.db
ln -s ../../other/1.db files/trace/1.db && ln -s a/b/c/d/e/f/rank0.db files/0.db
ln -s ../other/nothing.db files/lost.db && cp other/1.db files/.hidden
ln -s files link
expect 0 --format json link
equal "files" "[('0', 'link/0.db'), ('1', 'link/trace/1.db'), (None, 'link/lost.db')]" \
    "$(json "[(r['rank'], r['trace']) for r in fleet['ranks']]")"
# A folder that cannot be read is reported; root has to give up reading all of them.
mkdir files/closed && chmod 000 files/closed
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --bounding-set "-dac_override,-dac_read_search")
program=("${as_user[@]}" "$GMANALYZE" fleet)
expect 0 files
grep -q 'files/closed: cannot be read: Permission denied$' out || fail "a closed folder is passed over"
program=("${as_user[@]}" "$GMANALYZE" trend)
expect 3 --format json files
grep -A1 '"files/closed"' out | grep -q 'cannot be read: Permission denied' || fail "a trend passes over a closed folder"
program=("$GMANALYZE" fleet)
chmod 700 files/closed

# Nothing to compare.
mkdir empty
expect 3 empty
grep -q 'there is no trace in it' err || fail "an empty folder is not explained"
expect 3 nowhere
grep -q 'nowhere: No such file or directory' err || fail "a folder that there is not is said to be empty"
expect 2
expect 2 clean empty
expect 2 --top x clean
mkdir broken && echo x >broken/a.db
expect 3 broken
grep -q 'a.db: ' out || fail "the broken trace is not named"

# What export --to parquet has made of the same traces gives the same answer.
library=$GMT_SOURCE/tests/parquet/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
GMTRACE_DUCKDB=$work/none.so "$GMANALYZE" export --to parquet none two/*.db 2>/dev/null && fail "exported without DuckDB"
mkdir -p made/trace/run=a
GMTRACE_DUCKDB=$work/none.so expect 3 made
grep -q 'made: .*none.so: .*GMTRACE_DUCKDB=' err || fail "the missing library is not named"
if [ -f "$library" ]; then
    export GMTRACE_DUCKDB=$library
    # Of the software device the collectives are NCCL's ranges, and those that are in no group.
    "$MAKE_FLEET" ranges 77 0 8 64 >all
    for trace in ranges/*.db; do
        sqlite3 "$trace" "INSERT INTO capability (name, state) VALUES ('software_device', 'ok');
            UPDATE step_collective SET source = 'range', communicator = 77, number = position, ranks = 8, bytes = 4096;
            UPDATE step_collective SET grouped = 1 WHERE position % 8 = 0; UPDATE step_collective SET number = NULL WHERE position % 8 = 1"
    done
    expect 0 --format json ranges
    equal "matched ranges" "True" "$(json "fleet['collectives']['matched'] > 100 and fleet['ranks'][0]['clock']['matched'] > 100")"
    for folder in fault7 memory two measured ends ranges; do
        "$GMANALYZE" export --to parquet "$folder.parquet" "$folder"/*.db 2>/dev/null || fail "$folder is not exported"
        for form in "$folder" "$folder.parquet"; do
            expect 0 --format json "$form"
            python3 - <<'END' >"$form.answer"
import json
fleet = json.load(open("out"))
fleet["folder"] = None
# What nobody asks Parquet files for, these traces of sums do not have either.
assert (fleet.pop("analysed"), fleet.pop("findings")) in ((0, []), (None, None))
for rank in fleet["ranks"] + fleet["odd"] + [fleet["memory"]]:
    rank.pop("trace", None), rank.pop("most_trace", None)
print(json.dumps(fleet, indent=1, sort_keys=True))
END
        done
        cmp "$folder.answer" "$folder.parquet.answer" || fail "Parquet files of $folder give another answer"
    done
    expect 0 fault7.parquet
    grep -qx 'Not asked of Parquet files: findings, copies between ranks' out || fail "what is not asked is not said"
    expect 0 fault7
    ! grep -q 'Not asked' out || fail "traces are asked"
    # A trace that is there twice is named, in all tables or in one: its sums are not added up, those of the others are as they were.
    cp -r memory.parquet twice
    "$GMANALYZE" export --to parquet --run again twice memory/rank1.db 2>/dev/null || fail "rank 1 is not exported again"
    cp -r twice/step_call/run=memory twice/step_call/run=killed
    find twice/step_call/run=killed -name 'rank=*' ! -name rank=2 -exec rm -r {} +
    expect 0 --format json memory.parquet && mv out once
    expect 0 --format json twice
    equal "twice" "{'1': 'it is there twice, as run=again and run=memory', '2': 'it is there twice, as run=killed and run=memory'}" \
        "$(json "{r['rank']: r['why_not'] for r in fleet['ranks'] if r['why_not']}")"
    equal "ranks beside them" "14 of 16" "$(json "'{} of {}'.format(fleet['compared'], len(fleet['ranks']))")"
    equal "their copies" "$(python3 -c 'import json; print(json.load(open("once"))["spread"]["copy_bytes"]["most"])')" \
        "$(json "fleet['spread']['copy_bytes']['most']")"
    # Files of another form are reported, and a damaged one by its name.
    cp -r two.parquet damaged
    for file in damaged/step_work/*/*/*/*.parquet; do head -c 100 "$file" >short && mv short "$file"; done
    expect 3 damaged
    grep -q 'damaged: .*step_work' err || fail "the damaged file is not named"
fi
