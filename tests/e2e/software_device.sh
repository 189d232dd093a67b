#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --device sim on the two pipelines: results as on the CPU, every call in the trace, exact counts with
# source lines, the planted findings in the one and not in the other, and no times anywhere.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
gmtrace=$GMT_BUILD/bin/gmtrace
slow=$GMT_BUILD/bin/pipeline_slow_shared fast=$GMT_BUILD/bin/pipeline_fast_shared
for program in "$slow" "$fast"; do
    [ -x "$program" ] || skip "the pipelines are not built (no nvcc)"
done
small=(--size 512 --frames 6)

# on_device NAME PROGRAM: with gmtrace and without it, which may differ in nothing that the program shows.
on_device() {
    LD_LIBRARY_PATH=$SIM_LIB run "$1.plain" "$2" "${small[@]}" --check
    SIMGPU_COUNTS=$work/$1.counts run "$1" "$gmtrace" --device sim -o "$1.db" "$2" "${small[@]}" --check
    equal "$1: status" "$(cat "$1.plain.status")" "$(cat "$1.status")"
    same "$1: output differs" "$1.plain.out" "$1.out"
    equal "$1: the program's check" "check ok" "$(tail -1 "$1.out")"
    { grep -vE '^gmtrace: ' "$1.err" || true; } | diff "$1.plain.err" - >&2 || fail "$1: standard error differs"
    finished "$1.db"
    all_calls_recorded "$1"
    nothing_lost "$1.db"
    "$GMT_BUILD/bin/gmanalyze" --top 10 "$1.db" -o "$1.json" >"$1.txt" 2>"$1.analyze.err" || fail "gmanalyze: $1"
}

on_device slow "$slow"
on_device fast "$fast"
q() { sql slow.db "$1"; }

# ---- what was planted is found, and only there ----
rules_in() { python3 -c 'import json, sys
print("\n".join(sorted({f["rule"] for f in json.load(open(sys.argv[1]))["findings"]})))' "$1"; }
planted=$(awk '/^GM/ && $2 == "all" { print $1 }' "$GMT_SOURCE/tests/data/pipeline_expected.txt")
rules_in slow.json >slow.rules
for rule in $planted; do
    grep -qx "$rule" slow.rules || fail "$rule is not in the slow pipeline's report"
done
equal "findings in the repaired twin" "" "$(rules_in fast.json)"

# ---- how long the CPU took for a call changes nothing that is reported, not even an order ----
mkdir -p later
cp slow.db later
sqlite3 later/slow.db "UPDATE launch SET end_ns = begin_ns + 1000000 - id;
    UPDATE launch SET end_ns = begin_ns + 1 WHERE id = (SELECT min(id) FROM launch)"
"$GMT_BUILD/bin/gmanalyze" --top 0 slow.db >slow.all
(cd later && "$GMT_BUILD/bin/gmanalyze" --top 0 slow.db) >later.all
same "the report depends on times of the CPU" slow.all later.all

# ---- every byte of every copy between host and device is hashed, unless the user says otherwise ----
equal "copies without a whole fingerprint" 0 "$(q "SELECT count(*) FROM transfer t LEFT JOIN fingerprint f
    ON f.transfer_id = t.id WHERE t.direction IN ('h2d', 'd2h') AND f.whole IS NOT 1")"
[ "$(q 'SELECT count(*) FROM fingerprint WHERE hash IS NOT NULL')" -gt 0 ] || fail "nothing was hashed"
hashed() { # OPTION...: states of fingerprints with these
    run hashed "$gmtrace" --device sim -o hashed.db "$@" "$fast" "${small[@]}"
    sql hashed.db "SELECT group_concat(DISTINCT coalesce(skipped, whole)) FROM fingerprint WHERE skipped IS NOT 'asynchronous'"
}
equal "with a budget of none" over_budget "$(hashed --fingerprint-budget 0)"
equal "when they are off" "" "$(hashed --fingerprints off)"

# ---- no times but modelled ones, and each of those says so ----
grep -q 'software device: exact counts; times are modelled for an NVIDIA H200, none is measured' slow.txt ||
    fail "the report does not say what it is of"
python3 - slow.json <<'END' || fail "a time in the report"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["device"]["software"] is True and report["verdict"]["modelled"] is True
MODELLED = {"verdict": {"copy_ns", "kernel_ns", "modelled_ns"}, "kernels": {"device_ns"}, "transfers": {"time_ns"},
            "findings": {"cost_ns", "at_most_ns"}, "notes": {"cost_ns", "at_most_ns"},
            "saving": {"low_ns", "best_ns", "high_ns"}, "combined_saving": {"low_ns", "best_ns", "high_ns"},
            "first_saving": {"low_ns", "best_ns", "high_ns"}}
def walk(node, path):
    if isinstance(node, dict):
        for key, value in node.items():
            assert not key.endswith("_ns") or value is None or key in MODELLED.get(path[-1], ()), (path, key, value)
            assert not key.startswith("share_of_wall") or value is None, (path, key, value)
            assert key != "evidence" or all(name.startswith("modelled_") for name, row in value.items()
                                            if row["unit"] == "ns" and row["value"] is not None), value
            walk(value, path + [key])
    elif isinstance(node, list):
        for value in node:
            walk(value, path)
walk(report, [])
for finding in report["findings"]:
    assert finding["severity"] in ("low", "medium"), finding["rule"]
    assert finding["modelled"] and finding["confidence"] == "modelled", finding["rule"]
unchecked = {rule["id"]: rule["why"] for rule in report["rules"] if rule["outcome"] == "could not check"}
assert "GM404" in unchecked and set(unchecked.values()) == {"no hardware (software device)"}, unchecked
END
equal "device rows" 0 "$(q 'SELECT count(*) FROM device_op')"
equal "device times" 0 "$(q 'SELECT count(*) FROM launch WHERE device_end_ns IS NOT NULL')"
equal "capabilities" "counters ok
fingerprints ok
hardware_counters missing
software_device ok
timestamps off" "$(q "SELECT name || ' ' || state FROM capability ORDER BY name")"

# ---- every launch is counted, exactly ----
equal "launches without counters" 0 \
    "$(q "SELECT count(*) FROM launch WHERE seq NOT IN (SELECT launch_seq FROM kernel_counters) OR measured <> 'simulated'")"
mean() { q "SELECT DISTINCT mean FROM v_counter WHERE kernel LIKE '$1%' AND metric = '$2' AND source = 'simulated'"; }
warps=$((512 * 512 / 32))
equal "column walk: load requests" "$warps.0" "$(mean shade_by_column global_load_requests)"
equal "column walk: a sector per lane" "$((32 * warps)).0" "$(mean shade_by_column global_load_sectors)"
equal "column walk: ideal" "$((4 * warps)).0" "$(mean shade_by_column global_load_ideal_sectors)"
equal "transpose: shared loads, 32 passes each" "$((32 * warps)).0" "$(mean transpose_unpadded shared_load_wavefronts)"
equal "transpose: shared stores, one pass each" "$warps.0" "$(mean transpose_unpadded shared_store_wavefronts)"
equal "transpose: conflict degree" 32.0 "$(mean transpose_unpadded shared_conflict_degree)"
equal "metrics of hardware" "" "$(q "SELECT name FROM metric WHERE name LIKE '%occupancy%' OR name LIKE 'dram%' OR name LIKE 'l2%'")"

# ---- instructions name the right lines ----
# line PATTERN: number of the one line of the source that has it.
line() { grep -nF "$1" "$GMT_SOURCE/examples/pipeline/pipeline_slow.cu" | cut -d: -f1; }
worst() { q "SELECT replace(file, rtrim(file, replace(file, '/', '')), '') || ':' || line FROM v_instruction
    WHERE kernel LIKE '$1%' AND $2 > 0 GROUP BY file, line ORDER BY sum($2) DESC LIMIT 1"; }
equal "the column walk's line" "pipeline_slow.cu:$(line 'out[i] = pipeline_shade(in[i]')" "$(worst shade_by_column excess_sectors)"
equal "the conflict's line" "pipeline_slow.cu:$(line '= tile[threadIdx.x][threadIdx.y + k]')" "$(worst transpose_unpadded excess_wavefronts)"
grep -q "pipeline_slow.cu:$(line '= tile[threadIdx.x][threadIdx.y + k]'), ld.shared" slow.txt || fail "the report names no line"
equal "launches with instructions, of each class" 3 \
    "$(q "SELECT max(n) FROM (SELECT count(DISTINCT launch_seq) AS n FROM instruction GROUP BY class_id)")"

# ---- footprints ----
image=$((512 * 512 * 4))
equal "bytes read of the frame" "$image|$image" "$(q "SELECT DISTINCT read_bytes, read_traffic_bytes / 8 FROM v_footprint
    WHERE kernel LIKE 'shade_by_column%' AND kind = 'device' AND read_bytes > 0")"
equal "the table of tiles is a variable" "variable|c_tiles" \
    "$(q "SELECT DISTINCT kind, name FROM v_footprint WHERE kernel LIKE 'shade_by_column%' AND allocation_id IS NULL")"
equal "allocations not known" 0 "$(q "SELECT count(*) FROM kernel_footprint WHERE allocation_id IS NULL AND name IS NULL")"
