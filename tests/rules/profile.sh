#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze export --to speedscope, pprof: valid by schema and field by field, complete, equal to each other and to the trace; opened
# by go's pprof where it is installed (speedscope itself opens one in tests/page).
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 python3 jq
python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
program=("$GMANALYZE" export)

# profiles NAME: of NAME.db in both forms; NAME.totals has the sum of each value.
profiles() {
    expect 0 --to speedscope -o "$1.speedscope.json" "$1.db"
    expect 0 --to=pprof -o "$1.pb.gz" "$1.db"
    python3 "$GMT_SOURCE/tests/rules/check_profile.py" "$GMT_SOURCE/tests/data/speedscope-1.25.0.schema.json" \
        "$1.db" "$1.speedscope.json" "$1.pb.gz" >"$1.totals"
}

for name in pipeline_slow pipeline_fast; do
    gunzip -c "$GMT_SOURCE/tests/data/$name.db.gz" >"$name.db"
    profiles "$name"
done
gunzip -c "$GMT_SOURCE/tests/data/deep/reference_h200.db.gz" >reference.db
profiles reference
gunzip -c "$GMT_SOURCE/tests/data/graph.db.gz" >graph.db
profiles graph
equal "time of the device" "$(sqlite3 pipeline_slow.db "SELECT (SELECT sum(device_end_ns - device_start_ns) FROM transfer) +
    (SELECT sum(device_end_ns - device_start_ns) FROM launch) + (SELECT coalesce(sum(device_end_ns - device_start_ns), 0) FROM memset)")" \
    "$(awk '$1 == "device_time" { print $3 }' pipeline_slow.totals)"
# The saving is what the report says of its findings, each at its stack and its line.
"$GMANALYZE" --calibrate never --format json pipeline_slow.db >report.json
total=$(awk '$1 == "predicted_saving" { print $3 }' pipeline_slow.totals)
# JSON has nine digits of each.
jq -e --argjson total "$total" '([.findings[].saving.best_ns | select(. != null)] | add) - $total | fabs < 100' report.json >/dev/null ||
    fail "the findings do not save $total ns"
jq -e '. as $all | $all.profiles[] | select(.name == "Predicted saving") | [.samples[] | [.[] | $all.shared.frames[.]]] |
    any(.[]; .[0].name == "main" and (.[-1] | .name == "GM102 pageable-transfer" and .line == 176) or
        (any(.name == "process_frame(buffers const*, int, int)") and .[-1].name == "GM102 pageable-transfer"))' \
    pipeline_slow.speedscope.json >/dev/null || fail "no finding at the end of its stack"
# Kernels that graphs ran count where the graph was launched.
jq -e '. as $all | $all.profiles[] | select(.name == "Device time") | [.samples[][-1] | $all.shared.frames[.].name] |
    any(test("\\("))' graph.speedscope.json >/dev/null || fail "no kernel of a graph"

# Of the software device no time is known, and none is shown.
make_trace simulated.db fixtures/GM301_positive
sqlite3 simulated.db <"$GMT_SOURCE/tests/rules/simulated.sql"
profiles simulated
! grep -E '^(device_time|predicted_saving) ' simulated.totals || fail "a time of the software device"
grep -q '^calls ' simulated.totals || fail "no calls"

# Names that are none, calls whose stack is not known, and nothing at all.
make_trace hostile.db fixtures/GM102_positive
spoil hostile.db
profiles hostile
make_trace nowhere.db fixtures/GM101_positive
sqlite3 nowhere.db "UPDATE transfer SET stack_id = NULL"
profiles nowhere
grep -q 'no stack recorded' nowhere.speedscope.json || fail "calls without a stack are left out"
make_trace empty.db fixtures/GM101_negative
sqlite3 empty.db 'DELETE FROM transfer; DELETE FROM launch; DELETE FROM allocation; DELETE FROM device_op; DELETE FROM sync'
expect 0 --to speedscope -o empty.json empty.db
jq -e '.profiles == []' empty.json >/dev/null || fail "a profile of nothing"
expect 0 --to pprof -o empty.pb.gz empty.db
gzip -t empty.pb.gz

# Twice the same, byte for byte; standard output gets it, too.
expect 0 --to speedscope pipeline_slow.db
cmp -s out pipeline_slow.speedscope.json || fail "standard output gets something else"
expect 0 --to pprof pipeline_slow.db
cmp -s out pipeline_slow.pb.gz || fail "standard output gets something else"
expect 3 --to pprof -o /nonexistent/x.pb.gz pipeline_slow.db
expect 3 --to speedscope absent.db

# Their own reader agrees on the totals.
pprof=()
if command -v go >/dev/null; then pprof=(go tool pprof); elif command -v pprof >/dev/null; then pprof=(pprof); fi
if [ ${#pprof[@]} -gt 0 ]; then
    export HOME=$work PPROF_TMPDIR=$work
    for name in pipeline_slow reference graph hostile simulated; do
        while read -r value unit total; do
            [ "$unit" = nanoseconds ] && unit=ns
            [ "$unit" = bytes ] && unit=B
            "${pprof[@]}" -top -nodefraction=0 -unit="$unit" -sample_index="$value" "$name.pb.gz" >seen 2>err || fail "pprof of $name"
            grep -qE "of $total *($unit)? total|Total samples = $total" seen || fail "pprof reads another total of $value: $(head -6 seen)"
        done <"$name.totals"
    done
    "${pprof[@]}" -top -cum -sample_index=copied pipeline_slow.pb.gz >seen 2>err
    grep -q 'process_frame' seen || fail "pprof names no function"
fi
echo "profiles: valid, and what the trace says${pprof[*]:+; ${pprof[*]} reads them}"
