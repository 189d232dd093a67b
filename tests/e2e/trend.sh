#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze trend on recordings of ten nights: a program that uploads more from a commit on, and one that does not change.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
needs sqlite3 python3
gmanalyze=$GMT_BUILD/bin/gmanalyze

# json EXPRESSION: what it gives of `trend`, the document in out.
json() { python3 -c 'import json, sys; trend = json.load(open("out")); print(eval(sys.argv[1]))' "$1"; }

# expect STATUS ARGUMENT...
expect() {
    local wanted=$1 status=0
    shift
    "$gmanalyze" trend "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: gmanalyze trend $*"
}

# Night n is of commit c0n; from the sixth on the first program makes twice as many steps, its name stays.
for n in 01 02 03 04 05 06 07 08 09 10; do
    steps=10
    [ "$n" -lt 6 ] || steps=20
    mkdir -p "nights/$n"
    OUTPUT=$work/nights/$n/uploads.db GMTRACE_LABEL=commit=c$n,program=uploads traced "uploads$n" reupload "$steps"
    OUTPUT=$work/nights/$n/churn.db GMTRACE_LABEL=commit=c$n traced "churn$n" churn 5
    finished "nights/$n/uploads.db"
    finished "nights/$n/churn.db"
done

# The right program, the right commit, nothing else; numbers as they are.
expect 0 --format json nights
equal "traces" 20 "$(json "trend['compared']")"
equal "programs" "driverclient churn 5, uploads" "$(json "', '.join(sorted(p['program'] for p in trend['programs']))")"
equal "runs" "{10}" "$(json "{len(p['runs']) for p in trend['programs']}")"
equal "who changed" "{('uploads', 'c06', 'c05')}" \
    "$(json "{(c['program'], c['run']['commit'], c['run_before']['commit']) for c in trend['changes']}")"
before=$(sql nights/05/uploads.db "SELECT count(*) FROM transfer")
after=$(sql nights/06/uploads.db "SELECT count(*) FROM transfer")
equal "copies" "[('worse', $before, $after)]" \
    "$(json "[(c['verdict'], c['before'], c['after']) for c in trend['changes'] if c['measure'] == 'copies']")"
equal "times of the software device" "[]" \
    "$(json "[c['measure'] for c in trend['changes'] if (c['measure'] or '').endswith('_ns')]")"
if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 - "$GMT_SOURCE" out <<'END' || fail "not as docs/trend.schema.json says"
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1] + "/docs/trend.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(json.load(open(sys.argv[2])), schema)
END
fi
expect 0 nights
grep -q '^2 programs, 20 of 20 traces compared, ' out || fail "the head is missing"
grep -q '^uploads (10 runs)$' out || fail "the program is not named"
grep -qE '^  [0-9-]{10}, commit c06; the run before: [0-9-]{10}, commit c05$' out || fail "the commit is not named"
grep -qE "^    worse: copies: $after, before $before \(\+" out || fail "the copies are not shown"
[ "$(wc -l <out)" -le 30 ] || fail "more than a screen"

# Gates: any change, one for the worse, and what is new since a commit that was accepted.
expect 1 --fail-on worse nights
expect 1 --fail-on any --since c06 nights
expect 0 --fail-on any --since c07 nights
grep -q 'No program is seen to have changed since c07' out || fail "--since is not shown"
expect 0 --fail-on any --since 2999-01-01 nights
expect 3 --since nothing nights
grep -q 'no run has such a commit' err || fail "an unknown commit is not explained"

# In the other order of time it is better, and fails only where any change does: order is that of time, not of names.
mkdir back
for n in 01 02 03 04 05 06 07 08 09 10; do
    cp "nights/$n/uploads.db" "back/$n.db"
    sqlite3 "back/$n.db" "UPDATE process SET realtime_ns = 2000000000000000000 - realtime_ns"
done
expect 0 --fail-on worse --format json back
equal "back" "{('better', 'c05')}" \
    "$(json "{(c['verdict'], c['run']['commit']) for c in trend['changes'] if c['measure']}")"
expect 1 --fail-on any back

# What cannot be read costs only itself; five nights are too few; traces by their names.
echo "no trace" >nights/03/churn.db
expect 0 --format json nights
equal "left out" "1" "$(json "len(trend['not_compared'])")"
equal "uploads is named all the same" "{'uploads'}" "$(json "{c['program'] for c in trend['changes']}")"
expect 0 nights/0[4-8]/uploads.db
grep -q '^Not judged: ' out || fail "a title does not begin its line: $(cat out)"
grep -q 'uploads: 5 runs' out || fail "too few runs are not reported"
expect 0 nights
grep -q '^Left out$' out || fail "a title does not begin its line: $(cat out)"
# Another driver from the seventh night on: each side by itself shows nothing, and that is said.
for n in 06 07 08 09 10; do sqlite3 "nights/$n/uploads.db" "UPDATE device SET driver_version = '999.1'"; done
expect 0 --fail-on any nights
grep -q 'Runs on another device or driver' out || fail "the other driver is not mentioned"

mkdir empty broken
expect 3 empty
grep -q 'there is no trace' err || fail "an empty folder is not explained"
expect 3 nowhere
[ "$(cat err)" = "gmanalyze: nowhere: No such file or directory" ] || fail "$(cat err)"
expect 3 nowhere.db
[ "$(cat err)" = "gmanalyze: nowhere.db: No such file or directory" ] || fail "$(cat err)"
expect 2
expect 2 --top x nights
expect 2 --fail-on high nights
echo x >broken/a.db
expect 3 broken
grep -q 'a.db: ' out || fail "the broken trace is not named"
