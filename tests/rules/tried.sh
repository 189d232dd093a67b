#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --tried: what gmtrace try found out stands beside the findings that it is about, in all formats and in diff; results of
# another program, build or device, and damaged ones, are refused in one line.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3
for name in slow fast; do
    gunzip -c "$GMT_SOURCE/tests/data/pipeline_$name.db.gz" >"$name.db"
done
make() { python3 "$GMT_SOURCE/tests/rules/tried.py" "$@"; }
# tries ARGUMENT...: gmanalyze with the results.
tries() { expect 0 --calibrate never --tried try.json "$@"; }
says() { grep -qF -- "$1" "${2:-out}" || fail "${2:-out} does not say '$1': $(head -c 2000 "${2:-out}")"; }
make try.json

# ---- beside the findings ----
tries --format json slow.db
python3 - out <<'END' || fail "not as it was tried"
import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
findings = report["findings"]
# What is proven comes first, and among that what saves most; the rest is as it was.
assert [f["rule"] for f in findings[:4]] == ["GM102", "GM102", "GM404", "GM104"], [f["rule"] for f in findings]
assert [f["confidence"] for f in findings[:4]] == ["proven", "proven", "proven", "modelled"], findings[:4]
assert findings[0]["saving_confidence"] == "modelled" and "saving_confidence" not in findings[3], findings[3]
staging, carve = findings[0]["tried"], findings[2]["tried"]
assert findings[1]["tried"] == staging, "one fix, one result"
assert staging["findings"] == 2 and staging["gain"]["best_ns"] == 270e6, staging
assert abs(staging["gain"]["share_of_run"] - 0.27 / 1.9) < 1e-9, staging
predicted = sum(f["saving"]["best_ns"] for f in findings[:2])
assert abs(staging["predicted"]["best_ns"] - predicted) <= 2, (staging, predicted)
assert abs(staging["points"] - 100 * (predicted / 1.9e9 - 0.27 / 1.9)) < 1e-6, staging
assert staging["fixes"][0]["refused"] == [{"reason": "too small to gain", "calls": 12, "bytes": 4096}], staging
# Of values of one fix the best one is first.
assert carve["name"] == "carve-out percent=75" and carve["state"] == "proven", carve
blocks = [f for f in findings if f["rule"] == "GM201"]
assert all(f["tried"]["state"] == "tried" and f["confidence"] != "proven" for f in blocks) and blocks, blocks
assert [one["name"] for one in report["tried"]["sets"]][0] == "all" and len(report["tried"]["sets"]) == 6, report["tried"]
assert report["tried"]["compared"]["unchecked_calls"] == 1 and report["tried"]["run_ns"] == 1.9e9, report["tried"]
END
# Without it nothing of that is there, and the order is by savings alone.
expect 0 --calibrate never --format json slow.db
equal "without --tried" "GM102 GM102 GM104 GM101 false" \
    "$(jq -r '[.findings[:4][].rule, (has("tried") or any(.findings[]; has("tried")))] | join(" ")' out)"

tries --top 0 slow.db
says 'gains 270 ms (14.2 %), proven'
tr -s ' \n' ' ' <out >flat
says 'tried pageable-staging gains 270 ms of 1.90 s (14.2 %), 260 ms to 280 ms with 97.0 % in 8 pairs of runs;' flat
says 'proven: results are equal, and the gain is no accident; for this and 1 other together' flat
says 'predicted 15.5 % of the run: 1.3 points more than tried' flat
says 'applied to 96 copies, 4.00 GiB; not to 12 copies, 4.00 KiB: too small to gain' flat
says '1.90 s -> 1.63 s, 1.17 x (pageable-staging proven to gain 260 to 280 ms, with 1 other)' flat
says 'Tried on this program: 6 sets of fixes'
says 'pinned-cache not timed; no-gain: it was applied to nothing; applied to 0 allocations' flat
says 'compared: 48 copies to the host, 2.00 GiB; unchecked: 1 of 49, 4.00 KiB' flat
expect 0 fixes --tried try.json slow.db
says 'proven to gain 260 to 280 ms, with 1 other'

tries -o page.html -o out.md -o out.csv -o out.sarif -o out.json slow.db
says '**Tried** pageable' out.md
says '| 270 ms (14.2 %), proven |' out.md
equal "CSV" "proven pageable-staging proven 260000000 270000000 280000000" \
    "$(python3 -c 'import csv; r = next(csv.DictReader(open("out.csv"))); print(r["confidence"], r["tried_fix"], r["tried_state"], r["tried_low_ns"], r["tried_best_ns"], r["tried_high_ns"])')"
equal "SARIF" "proven 270000000" "$(jq -r '.runs[0].results[0].properties | "\(.confidence) \(.tried.gain.best_ns)"' out.sarif)"
jq -e '.runs[0].results[0].message.text | contains("Proven: pageable-staging gains 270 ms.")' out.sarif >/dev/null || fail "SARIF does not say it"
if python3 -c 'import jsonschema.validators' 2>/dev/null; then
    python3 "$rules/check_report.py" "$GMT_SOURCE/docs/report.schema.json" out.json || fail "not as docs/report.schema.json says"
fi

# A result that differed is said; what was never applied there is not taken for its repair.
make try.json 'tried.1.state="differs"' 'tried.1.difference="download 3 of thread 1 of process 1 has other bytes"'
tries --top 0 slow.db
tr -s ' \n' ' ' <out >flat
says 'differs: results are equal, and the gain is no accident (download 3 of thread 1' flat
make try.json 'tried.1.fixes.0.least_bytes=1099511627776'
tries --format json slow.db
equal "calls that are too small for the fix" "null" "$(jq -c '[.findings[] | select(.rule == "GM102") | .tried] | unique | .[]' out)"
# Memory that a program registers is never kept: that finding is not repaired by what keeps page-locked memory.
make try.json 'programs.0={"exe": "/opt/app", "command": "./app", "build_id": "", "modified_ns": 1, "devices": ["Test GPU"]}'
for api in 20 22; do
    make_trace pins_$api.db fixtures/GM207_positive
    sqlite3 pins_$api.db "UPDATE process SET realtime_ns = 1795255944776420060; UPDATE host_allocation SET api_id = $api;"
    tries --format json pins_$api.db
    jq -r '.findings[] | select(.rule == "GM207") | .tried.name' out >pins_$api
done
equal "page-locked memory that is allocated" pinned-cache "$(cat pins_20)"
equal "page-locked memory that is registered" null "$(cat pins_22)"
# Where the findings were known when it was tried, it is for these alone.
make try.json 'tried.1.findings=[{"rule": "GM102", "fingerprint": "58e701a11438618c", "place": "x", "best_s": 0.1}]'
tries --format json slow.db
equal "findings that were known" '["58e701a11438618c"]' "$(jq -c '[.findings[] | select(.rule == "GM102" and .tried != null) | .fingerprint]' out)"
equal "and it ranks before what saves more" 58e701a11438618c "$(jq -r '.findings[0].fingerprint' out)"

# ---- diff: predicted, tried, got ----
make try.json
expect 0 diff --calibrate never --tried try.json slow.db fast.db -o diff.json
says 'Predicted, tried, got'
grep -qE 'GM102 +pipeline_slow.cu:176 +proven for 2 +176 ms \([0-9.]+ %\) +270 ms \(14.2 %\)' out || fail "diff: $(cat out)"
equal "diff" "270000000 null" "$(jq -r '[.findings[] | select(.rule == "GM102")][0] | "\(.a.tried.gain.best_ns) \(.got_ns)"' diff.json)"
# All but what the fix is for left out: then what the run gained is known of these findings.
expect 0 diff --calibrate never --rule GM102 --tried try.json slow.db fast.db -o diff.json
jq -e '.result.got_ns as $got | .findings | length == 2 and all(.[]; .state == "fixed" and .got_ns == $got)' diff.json >/dev/null ||
    fail "what the run gained is not that of the only repair: $(jq -c '.findings' diff.json)"
if python3 -c 'import jsonschema.validators' 2>/dev/null; then
    python3 - "$GMT_SOURCE" diff.json <<'END' || fail "not as docs/several.schema.json says"
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/rules")
import jsonschema
from check_report import closed
schema = json.load(open(sys.argv[1] + "/docs/several.schema.json"))
jsonschema.Draft202012Validator(closed(schema)).validate(json.load(open(sys.argv[2])))
END
fi
expect 3 diff --calibrate never --tried try.json fast.db slow.db
says 'try.json: its fixes were tried on another program: /tmp/gmtrace/bin/pipeline_slow, and the trace is of /tmp/gmtrace/bin/pipeline_fast' err
expect 2 --tried try.json slow.db fast.db
says '--tried: name one trace' err

# ---- what it does not fit ----
# refused WORDS CHANGE...: results that are changed so are refused in one line.
refused() {
    local words=$1
    shift
    make try.json "$@"
    expect 3 --calibrate never --tried try.json slow.db
    equal "$*: lines on standard error" 1 "$(wc -l <err)"
    equal "$*: output" "" "$(cat out)"
    says "gmanalyze: try.json: $words" err
}
refused 'its fixes were tried on another program: /bin/other, and the trace is of /tmp/gmtrace/bin/pipeline_slow' 'programs.0.exe="/bin/other"'
refused 'its fixes were tried on another build of /tmp/gmtrace/bin/pipeline_slow: build id 12ab, and the trace is of 4a41' 'programs.0.build_id="12ab"'
refused "its fixes were tried on other arguments: '-n 7', and the trace is of ''" 'programs.0.command="./pipeline_slow -n 7"'
refused 'its fixes were tried on another device: NVIDIA H100, and the trace is of NVIDIA H200' 'programs.0.devices=["NVIDIA H100"]'
refused 'its fixes were tried on another device: an unknown device' 'programs.0.devices=[]'
# Of several processes one is enough; the one that is nearest says what is wrong.
make other.json
make try.json "programs=[{\"exe\": \"/bin/sh\", \"command\": \"sh\", \"build_id\": \"\", \"modified_ns\": 0, \"devices\": []}, $(jq -c '.programs[0]' other.json)]"
tries slow.db
# In another folder it is the same build by its id; without one only a file that is older than the trace, and that was tried later.
make try.json 'programs.0.exe="/elsewhere/pipeline_slow"' 'programs.0.command="./pipeline_slow"'
tries slow.db
make try.json 'programs.0.build_id=""'
tries slow.db
refused 'its fixes were tried on another build of /tmp/gmtrace/bin/pipeline_slow: the file is newer than the trace' 'programs.0.build_id=""' 'programs.0.modified_ns=1795299999000000000'
refused 'its fixes were tried on /tmp/gmtrace/bin/pipeline_slow, which has no build id that shows whether it was built again before the trace' \
    'programs.0.build_id=""' 'began_ns=1795200000000000000'
refused 'its fixes were tried on /elsewhere/pipeline_slow, which has no build id that shows whether it is' 'programs.0.build_id=""' 'programs.0.exe="/elsewhere/pipeline_slow"'
# What a redacted report hides is compared all the same.
make try.json
for redact in paths names; do
    tries --redact "$redact" --format json slow.db
    equal "--redact $redact" proven "$(jq -r '.findings[0].confidence' out)"
done

# ---- what it must not say ----
refused "'all' is called proven, but too much of the results was not compared" 'compared.unchecked_bytes=200000000'
refused "'all' is called proven, but too much of the results was not compared" 'compared.unseen=["managed memory"]'
refused "'all' is called proven, but too much of the results was not compared" 'compared.status=false'
nothing=(compared.calls=0 compared.bytes=0 compared.unchecked_calls=0 compared.unchecked_bytes=0)
refused "'all' is called proven, but nothing of the results was compared" "${nothing[@]}" # as it was written before `output_empty`
refused "'all' is called proven, but nothing of the results was compared" "${nothing[@]}" compared.output_empty=true
refused "'all' is called proven, but nothing of the results was compared" "${nothing[@]}" compared.output_empty=false compared.output=false
make try.json "${nothing[@]}" compared.output_empty=false
tries slow.db
refused "'pageable-staging' is called proven, but its gain is not shown" 'tried.1.gain.low_s=-0.1'
refused "'pageable-staging' is called proven, but its gain is not shown" 'tried.1.gain.pairs=5'
refused "'pageable-staging' is called proven, but its gain is not shown" 'tried.1.gain=null'
refused "'pageable-staging' is called proven, but a result differed" 'tried.1.difference="standard output differs"'
refused "'pageable-staging' is called proven, but it was applied to nothing" 'tried.1.fixes.0.calls=0'

# ---- what is damaged ----
refused 'it is no result of gmtrace try' 'format="gmtrace-report"'
refused 'it is of another version of gmtrace try' version=2
refused "'programs' is empty" 'programs=[]'
refused "the gain of 'pageable-staging' is none" 'tried.1.gain.high_s=0.1'
refused "the gain of 'all' is none" 'untouched_s=0'
refused "'sure' is no state" 'tried.1.state="sure"'
refused "'all' has no fixes" 'tried.0.fixes=[]'
refused "'calls' is no number between 0 and 1e+15" 'tried.1.fixes.0.calls=-1'
refused "'median_s' is no number" 'tried.1.gain.median_s=1e300'
refused "'devices' has what is no text" 'programs.0.devices=[7]'
for path in programs.0.exe programs.0.command programs.0.build_id programs.0.modified_ns programs.0.devices began_ns programs untouched_s \
    compared.calls compared.bytes compared.unchecked_calls compared.unchecked_bytes tried tried.1.name tried.1.why tried.1.state tried.1.gain.pairs \
    tried.1.gain.coverage tried.1.fixes tried.1.fixes.0.fix tried.1.fixes.0.rules tried.1.fixes.0.one tried.1.fixes.0.many \
    tried.1.fixes.0.bytes tried.1.fixes.0.least_bytes tried.1.fixes.0.refused tried.1.fixes.0.refused.0.reason; do
    refused "'${path##*.}' is no" "$path"
    refused "'${path##*.}' is no" "$path={\"\": false}"
done
refused "'gain' is no object" tried.1.gain
refused "'gain' is no object" 'tried.1.gain=[]'
make try.json
head -c 700 try.json >cut.json
for file in none.json cut.json slow.db . /dev/null; do
    expect 3 --calibrate never --tried "$file" slow.db
    equal "$file: lines on standard error" 1 "$(wc -l <err)"
    says "gmanalyze: $file: " err
done
jq -c . try.json | sed 's/"turns"/"format":"gmtrace-try","turns"/' >twice.json
expect 3 --calibrate never --tried twice.json slow.db
says 'duplicate' err
