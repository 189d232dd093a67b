#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze diff, and several traces at once: verdicts, what becomes of findings, the outlier.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq

for name in slow fast; do
    gunzip -c "$GMT_SOURCE/tests/data/pipeline_$name.db.gz" >$name.db
done

# holds EXPRESSION: true of the JSON on standard output.
holds() { jq -e "$1" out >/dev/null || fail "not true: $1"; }

diff_json() { expect 0 diff --calibrate never --format json "$@"; }
figure() { echo ".figures[] | select(.name == \"$1\")"; }

# The mistake and its repaired twin.
diff_json slow.db fast.db
holds '.format == "gmtrace-diff" and .warning == null'
holds '[.findings[].state] | length == 11 and all(. == "fixed")'
holds "$(figure copies) | .a == 16449 and .b == 129 and .verdict == \"less\" and .noise == 0"
holds "$(figure wall_ns) | .verdict == \"faster\" and .noise > 0.1"
holds "$(figure kernel_ns) | .verdict == \"faster\""
holds "$(figure copy_bytes) | .verdict == \"same\""
# What was predicted of it, and what came: all savings of A, which do not overlap, and the difference of the times.
holds '.result | .fixed == 11 and .left == 0 and .new == 0'
holds '.result.predicted.best_ns - ([.findings[].a.saving.best_ns] | add) | fabs < 20'
holds ".result.got_ns as \$got | $(figure wall_ns) | .a - .b - \$got | fabs < 2"
holds '.result.sentence | test("^1\\.52 x faster: 1\\.73 s -> 1\\.14 s, 595 ms less \\(predicted: 4[67][0-9] ms less\\); 11 findings fixed, none left, none new$")'
holds '.result.note | test("^both times include")'
holds '[.kernels[] | select(.name | startswith("join_trail"))] | length == 1 and .[0].a.count == 32 and .[0].b.count == 32'
holds '[.copies[] | select(.name == "h2d pageable")] | .[0].a.count == 16416 and .[0].b == null'
holds '.memory | length > 5 and all(.a or .b)'
diff_json fast.db slow.db
holds '.result | .fixed == 0 and .new == 11 and .predicted.best_ns == null and .got_ns < 0'
holds '.result.sentence | test("^1\\.52 x slower: .*; no findings fixed, none left, 11 new$")'
holds '[.findings[].state] | length == 11 and all(. == "new")'
holds "$(figure wall_ns) | .verdict == \"slower\""
holds "$(figure allocations) | .verdict == \"more\""

# A trace against itself: nothing changed, and nothing is unclear.
diff_json slow.db slow.db
holds 'all(.figures[]; .verdict == "same") and all(.findings[]; .state == "same")'

# A change inside the noise is reported as such; the same change of a count is not.
cp slow.db longer.db
sqlite3 longer.db "UPDATE process SET end_ns = end_ns + (end_ns - start_ns) / 5"
diff_json slow.db longer.db
holds "$(figure wall_ns) | .verdict == \"unclear\" and .change > 0.19"
holds '.result.note | test("only where both traces have a record")' # neither has: from before that

# Kernels are called by their titles; where two of one trace each are called alike, by their names.
make_trace templated.db fixtures/GM301_positive
sqlite3 templated.db "UPDATE kernel SET name = 'void work<float>(float*, int)'"
cp templated.db other_namespace.db
sqlite3 other_namespace.db "UPDATE kernel SET name = 'void other::work<float>(float*, int)'"
expect 0 diff --calibrate never templated.db templated.db
grep -q '^  work<f32>  ' out || fail "no title of a kernel"
expect 0 diff --calibrate never templated.db other_namespace.db
grep -q '^  void work<float>(float\*, int)  ' out || fail "two kernels of one name"
grep -q '^  void other::work<float>(float\*, int)  ' out || fail "two kernels of one name"

# A sum of predictions is no measurement.
diff_json slow.db fast.db
holds "$(figure saving_ns) | .verdict == \"unclear\""

# What gmtrace took is in neither time, where both traces hold it.
make_trace own.db fixtures/GM301_positive
cp own.db shorter.db
sqlite3 own.db "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) VALUES ('setup', 1, 10000000, 30000000, 0)"
sqlite3 shorter.db "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) VALUES ('setup', 1, 10000000, 20000000, 0);
    UPDATE process SET end_ns = end_ns - 50000000"
diff_json own.db shorter.db
holds '.result.got_ns == 40000000' # of 50 ms less, 10 were gmtrace's
holds '.result.note | test("^neither time includes .* 20.0 ms in A and 10.0 ms in B")'
cp own.db unknown.db
sqlite3 unknown.db "DROP TABLE own_time"
diff_json unknown.db shorter.db
holds '.result.note | test("^both times include .* only where both traces have a record")'
holds '.result.got_ns == 50000000'

# Excess that grows, shrinks, or could not be looked for. The fixture's kernel is the same in all.
for name in GM301_positive GM101_positive; do
    make_trace $name.db fixtures/$name
done
cp GM301_positive.db worse.db
sqlite3 worse.db "UPDATE kernel_counters SET value = 2 * value
    WHERE metric_id = (SELECT id FROM metric WHERE name = 'global_load_sectors')"
diff_json --rule GM301 GM301_positive.db worse.db
holds '[.findings[] | select(.rule == "GM301")] | length == 1 and .[0].state == "worse" and .[0].a and .[0].b'
diff_json --rule GM301 worse.db GM301_positive.db
holds '.findings[0].state == "better"'
holds '.result.sentence | test("no findings fixed, 1 left \\(smaller\\), none new$")'
cp GM301_positive.db uncounted.db
sqlite3 uncounted.db "DELETE FROM kernel_counters"
diff_json --rule GM301 GM301_positive.db uncounted.db
holds '.findings | length == 1 and .[0].state == "not checked"'

# Found again by rule and place when the fingerprint has changed: another call in the same line.
cp slow.db renamed.db
sqlite3 renamed.db "UPDATE api SET runtime_name = runtime_name || '_v2';
    UPDATE string SET text = text || '_v2' WHERE text LIKE 'cudaMemcpy%'"
diff_json --rule GM102 --rule GM104 slow.db renamed.db
holds '.findings | length == 3 and all(.state == "same" and .a.fingerprint != .b.fingerprint)'

# Another GPU is reported.
cp GM301_positive.db other.db
sqlite3 other.db "UPDATE device SET name = 'NVIDIA Other'"
diff_json GM301_positive.db other.db
holds '.warning | test("different GPUs")'

# Every form; the terminal's holds nothing but what was asked for.
expect 0 diff --calibrate never slow.db fast.db -o d.json -o d.md -o d.html -o d.txt
grep -q 'Findings: 11 fixed' out || fail "no tally in text"
grep -q '^  1.52 x faster: 1.73 s -> 1.14 s, 595 ms less' out || fail "no sentence to share"
for title in Kernels Copies 'Memory at the peak'; do
    grep -q "^── $title " out || fail "nothing about $title in text"
done
# shellcheck disable=SC2016 # backticks of markdown
grep -q '^| fixed | high | GM102 | pageable-transfer | `pipeline_slow.cu:176` |' d.md || fail "no finding in markdown"
[ "$(jq .version d.json)" = 1 ] || fail "no json"
head -1 d.html | grep -qi doctype || fail "no page"
[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 100 ] || fail "lines too long"
expect 2 diff slow.db
expect 2 diff slow.db fast.db slow.db
expect 2 diff slow.db fast.db -o d.sarif
expect 2 diff --format csv slow.db fast.db
expect 3 diff slow.db absent.db
grep -q absent.db err || fail "the missing trace is not named"

# Ranks: five that agree, one that does not.
for rank in 0 1 2 3 4; do cp slow.db r$rank.db; done
cp fast.db r5.db
expect 0 --calibrate never --format json r?.db
holds '.format == "gmtrace-ranks" and (.traces | length == 6) and .odd == 5'
holds "$(figure copies) | .min == 129 and .median == 16449 and .max == 16449 and .odd == [5]"
holds "$(figure copy_bytes) | .odd == []"
holds '.findings | length == 11 and all(.traces == [0, 1, 2, 3, 4])'
expect 0 --calibrate never r?.db
grep -qE 'outlier: r5.db' out || fail "the odd one is not named"
grep -qE 'pipeline_slow.cu:176 +5 of 6 ' out || fail "findings are not counted"
# With a spread of their own, one inside it is not odd, one far outside is.
for rank in 0 1 2 3 4 5; do
    cp slow.db r$rank.db
    sqlite3 r$rank.db "UPDATE process SET end_ns = end_ns + CAST(0.03 * $rank * (end_ns - start_ns) AS INTEGER)"
done
expect 0 --calibrate never --format json r?.db
holds "$(figure wall_ns) | .odd == []"
sqlite3 r2.db "UPDATE process SET end_ns = end_ns + (end_ns - start_ns)"
expect 0 --calibrate never --format json r?.db
holds ".odd == 2 and ($(figure wall_ns) | .odd == [2])"
# Of two, neither.
expect 0 --calibrate never --format json slow.db fast.db
holds '.odd == null and all(.figures[]; .odd == [])'

expect 0 --calibrate never slow.db fast.db -o all.html -o all.md -o all.json -o all.txt
grep -q 'traces together' all.md || fail "no markdown"
expect 2 slow.db fast.db -o all.sarif
expect 2 --format csv slow.db fast.db
# Each is held to the gates by itself; one that cannot be read does not hide the others.
expect 1 --calibrate never --fail-on high fast.db slow.db
expect 3 --calibrate never --format json absent.db slow.db fast.db
holds '.traces | length == 2'

# Names as bad as names can be become neither markup nor control characters.
spoil slow.db
expect 0 diff --calibrate never --format json slow.db fast.db
holds '.a.command | test("<script>") and (test("[\u0000-\u001f]") | not)'
expect 0 diff --calibrate never --format markdown slow.db fast.db
# shellcheck disable=SC2016 # backticks of markdown
! grep -q '<script>' <(sed 's/`` [^`]*`[^`]*` [^`]* ``//g; s/`[^`]*`//g' out) || fail "markup in markdown"
expect 0 diff --calibrate never slow.db fast.db -o hostile.html
! grep -q '<script>alert' hostile.html || fail "markup in the page"

# All of it is as the published schema says, and holds nothing that the schema does not describe.
if python3 -c 'import jsonschema.validators' 2>/dev/null; then
    for pair in "slow fast" "fast slow" "GM301_positive worse" "GM301_positive uncounted" "slow GM101_positive"; do
        read -r a b <<<"$pair"
        expect 0 diff --calibrate never "$a.db" "$b.db" -o "diff_$a$b.json"
        expect 0 --calibrate never "$a.db" "$b.db" fast.db -o "ranks_$a$b.json"
    done
    python3 - "$GMT_SOURCE" diff_*.json ranks_*.json <<'END' || fail "not as docs/several.schema.json says"
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/rules")
import jsonschema
from check_report import closed
schema = json.load(open(sys.argv[1] + "/docs/several.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    report = json.load(open(name))
    jsonschema.Draft202012Validator(closed(schema)).validate(report)
    del report["figures"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(report), "a missing field is not noticed"
END
fi

# What to change first, in two lines each: of one trace as it is ranked, of several the most first.
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >slow.db
expect 0 fixes slow.db
[ "$(wc -l <out)" = 7 ] || fail "$(wc -l <out) lines"
grep -qE '^do first: 1\.73 s -> 1\.3[0-9] s, 1\.2[0-9] x; all 11 findings: 1\.73 s -> 1\.2[0-9] s, 1\.3[0-9] x$' out ||
    fail "what all bring is not said"
grep -qE '^     pipeline_slow\.cu:176 · 1-2 lines · 1\.73 s -> 1\.5[0-9] s, 1\.1[0-9] x \(saves [0-9]+ to [0-9]+ ms, ' out ||
    fail "place, effort and gain are not said"
expect 0 fixes --top 1 slow.db fast.db
[ "$(wc -l <out)" = 3 ] || fail "$(wc -l <out) lines of one fix"
grep -q ' · in 1 of 2 traces, most in slow.db$' out || fail "the trace is not said"
expect 0 fixes fast.db
grep -qx 'no check found a saving that is a noticeable part of the run' out || fail "nothing found, and nothing said"
expect 0 fixes --top 0 slow.db
[ "$(grep -cE '^ *[0-9]+\. ' out)" = 11 ] || fail "not all findings"
expect 2 fixes
expect 3 fixes absent.db

echo "gmanalyze: several traces as documented"
