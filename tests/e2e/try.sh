#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gmtrace try` and `gmtrace apply`: what is compared and what is not, what a plan says, who is refused, and that the program is as it was.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
client=$CLIENTS/tryclient
gmtrace=$GMT_BUILD/bin/gmtrace
unset GMTRACE_COLLECT

# tries NAME STATUS MODE OPTION...: on the software device; one fix, unless `fix` says otherwise.
fix=pageable-staging
tries() {
    local name=$1 status=$2 mode=$3
    shift 3
    run "$name" "$gmtrace" --device sim try -o "$name.plan" "$@" ${fix:+"$fix"} "$client" "$mode" 3
    equal "$name: exit status" "$status" "$(cat "$name.status")"
}
said() { grep -qF -- "$2" "$1.err" || fail "$1: it does not say '$2': $(cat "$1.err")"; }
state() { sed -nE 's/^fix pageable-staging //p' "$1.plan"; }

LD_LIBRARY_PATH=$SIM_LIB run bare "$client" copies 3

# The program's output and status are its own, its files are what they were, and nothing is recorded.
tries copies 3 copies
same "standard output" bare.out copies.out
equal "state" tried "$(state copies)"
said copies 'applied to 8 copies, 32.0 MiB'
said copies 'compared: 4 copies to the host, 16.0 MiB; the exit status and standard output'
[ ! -e trace.db ] || fail "a trace was written"


# What came of it is a file for gmanalyze, too: the same report, and by what a trace of the same program is known.
said copies 'beside the findings of a trace: gmanalyze --tried copies.json trace.db'
python3 - copies.json "$client" <<'EOF'
import json
import subprocess
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
[program] = report["programs"]
assert program["exe"] == sys.argv[2] and program["command"] == f"{sys.argv[2]} copies 3", program
assert program["devices"] == ["gmtrace software device"] and program["modified_ns"] > 1e18, program
notes = subprocess.run(["readelf", "-n", sys.argv[2]], capture_output=True, text=True, check=True).stdout
assert (f"Build ID: {program['build_id']}" in notes) if "Build ID" in notes else program["build_id"] == "", program
assert report["software"] is True and report["began_ns"] > program["modified_ns"], report
[fix] = report["tried"][0]["fixes"]
assert (fix["one"], fix["many"], fix["least_bytes"]) == ("copy", "copies", 1 << 20), fix
assert report["tried"][0]["findings"] is None, "no trace was given"
EOF

# What differs ends the fix, and is named.
tries differs 3 differs
equal "state" differs "$(state differs)"
said differs 'RESULTS DIFFER: download 3 of thread 1 of process 1 (4194304 bytes) has other bytes'

# What cannot be compared is counted, and nothing is called equal then.
tries random 3 random
said random 'unchecked: 4 of 4 copies to the host, 16.0 MiB'
said random 'nothing of its results could be compared; the software device has no times'
tries noisy 3 noisy
said noisy 'unchecked: standard output, which untouched runs differ in'
tries managed 3 managed
said managed 'unchecked: managed memory, which the host reads without a call'
tries event 3 event
said event 'unchecked: 1 of 5 copies to the host, 16.0 MiB'
said event 'what could be compared is equal, too much could not be'
# No copy to the host, and an output that varies or is empty: nothing was compared, so nothing is equal.
tries mapped 3 mapped
said mapped 'compared: 0 copies to the host, 0 B; the exit status'
said mapped 'nothing of its results could be compared; the software device has no times'
tries silent 3 mapped,silent
said silent '0 B; the exit status and standard output, which is empty'
said silent 'nothing of its results could be compared; the software device has no times'
equal "an output that is empty, and one that varies" "true false" "$(jq -r .compared.output_empty silent.json mapped.json | xargs)"
LD_LIBRARY_PATH=$SIM_LIB run mapped_timed "$gmtrace" try --turns 6 -o mapped_timed.plan GM102 "$client" mapped 3
grep -qE '^fix pageable-staging (tried|no-gain)$' mapped_timed.plan || fail "proven without a comparison: $(cat mapped_timed.plan)"
said mapped_timed 'nothing of its results could be compared'
tries locked 3 locked
said locked 'compared: 5 copies to the host, 32.0 MiB'
said locked 'not applied to 1 copy, 16.0 MiB: the host side is page-locked'
tries gone 3 gone
said gone 'unchecked: 3 of 7 copies to the host, 12.0 MiB'
# Threads and processes are known by what they do, whichever is first in a run.
turns() {
    rm -f turn
    tries "turns_$1" 3 "turns,$1"
}
turns threads
said turns_threads 'compared: 8 copies to the host, 32.0 MiB; the exit status'
equal "two threads in turns" "tried false" "$(state turns_threads) $(grep -q unchecked turns_threads.err && echo true || echo false)"
turns ranks
said turns_ranks 'compared: 8 copies to the host, 32.0 MiB; the exit status'
equal "two processes in turns" "tried false" "$(state turns_ranks) $(grep -q unchecked turns_ranks.err && echo true || echo false)"
turns differs
equal "two threads, one of which differs" differs "$(state turns_differs)"
grep -qE 'RESULTS DIFFER: download 3 of thread 2 of process 1 \(4194304 bytes\) has other bytes' turns_differs.err || fail "$(cat turns_differs.err)"
# Threads that share one list of work: nobody knows which is which, and what moves from one to the other is no difference.
turns shared
equal "threads that share work" tried "$(state turns_shared)"
said turns_shared 'unchecked: 4 of 4 copies to the host, 16.0 MiB'
tries crowd 3 crowd
said crowd 'compared: 164 copies to the host, 56.0 MiB'
equal "a crowd" 0 "$(grep -c unchecked crowd.err)"
# Rows and boxes in pageable memory, without what lies between the rows.
tries boxes 3 boxes
said boxes 'compared: 6 copies to the host, 16.0 MiB'
said boxes 'unchecked: 2 of 8 copies to the host, 2.34 KiB'
tries boxes_differ 3 boxes,differs
said boxes_differ 'RESULTS DIFFER: download 6 of thread 1 of process 1 (1600 bytes) has other bytes'
# There is room for 64 processes: what others do is not compared.
tries many 3 many
said many 'compared: 64 copies to the host'
said many 'unchecked: processes beyond the 64th'
equal "many processes" '["processes beyond the 64th"]' "$(jq -c .compared.unseen many.json)"
tries forks 3 forks
said forks 'compared: 8 copies to the host, 32.0 MiB'
equal "programs of two processes" 2 "$(jq '.programs | length' forks.json)"
# Its handler of faults runs in threads of ours, too.
LD_LIBRARY_PATH=$SIM_LIB run bare_barrier "$client" barrier 3
tries barrier 3 barrier
same "standard output" bare_barrier.out barrier.out
equal "state" tried "$(state barrier)"
said barrier 'applied to 12 copies, 48.0 MiB'
tries small 3 small
equal "state" no-gain "$(state small)"
said small 'not applied to 8 copies, 32.0 KiB: too small to gain'
tries killed 137 killed
said killed 'compared: 4 copies to the host'
said killed 'gmtrace: the program ends by signal 9'
equal "how it ended" "137 9" "$(jq -r '"\(.exit_status) \(.signal)"' killed.json)"
said copies 'gmtrace: the program exits with 3'
equal "how it ended" "3 null" "$(jq -r '"\(.exit_status) \(.signal)"' copies.json)"
tries nothing 125 nothing
said nothing 'made no CUDA call'
said nothing 'it ran as another user'

# Memory that is freed and allocated again.
fix=block-cache
tries cached 3 copies
said cached 'block-cache: applied to 3 allocations, 12.0 MiB'
said cached 'not applied to 1 allocation, 4.00 MiB: no freed memory of that size and kind is kept'
said cached 'compared: 4 copies to the host, 16.0 MiB; the exit status and standard output'
fix=pinned-cache
tries pins 3 pins
said pins 'pinned-cache: applied to 3 allocations, 12.0 MiB'
said pins 'not applied to 3 allocations, 12.0 MiB: no freed memory of that size and kind is kept'
# What the program has protected is not written to.
tries protects 3 protects
said protects 'pinned-cache: applied to 0 allocations, 0 B'
said protects 'not applied to 3 allocations, 12.0 MiB: the program has protected its pages from writing'
fix=pageable-staging

# By rule and by name; what there is no fix for is refused before the program runs.
fix=
tries by_rule 3 copies GM103
equal "by rule" 1 "$(grep -c '^fix' by_rule.plan)"
tries by_rules 3 copies GM201 GM207
equal "by rules" "block-cache pinned-cache" "$(sed -nE 's/^fix (\S+) .*/\1/p' by_rules.plan | sort | xargs)"
# Without one of both all are tried: together, then each by itself.
tries every 3 kernel
equal "all fixes" "block-cache carve-out gathered-copies pageable-staging pinned-cache pool-threshold rows-in-one wait-policy" "$(sed -nE 's/^fix (\S+) .*/\1/p' every.plan | sort | xargs)"
said every 'carve-out: applied to 1 kernel'
said every 'not applied to 1 kernel: the kernel uses no shared memory'
said every 'wait-policy: applied to 1 device'
said every 'pool-threshold: applied to 1 device'
fix=pageable-staging
run no_fix "$gmtrace" try GM301 "$client" copies 3
equal "no fix: exit status" 125 "$(cat no_fix.status)"
said no_fix 'no fix for GM301 can be tried'
equal "no fix: output" "" "$(cat no_fix.out)"

# A rule in any case; a word that is mistyped is no program.
fix=
tries by_small_rule 3 copies gm103
fix=pageable-staging
equal "by rule" 1 "$(grep -c '^fix' by_small_rule.plan)"
run mistyped "$gmtrace" try pageable-staging carve-outt "$client" copies 3
equal "a mistyped fix: exit status" 127 "$(cat mistyped.status)"
equal "a mistyped fix" "gmtrace: try: there is no fix and no program 'carve-outt'; did you mean: carve-out" "$(cat mistyped.err)"
run no_fix_of_rule "$gmtrace" try gm301 "$client" copies 3
said no_fix_of_rule 'no fix for GM301 can be tried'
# How a command is used stands in a line of its own.
for words in 'try' 'try --wrong x' 'try --turns' 'apply' 'apply x.plan' 'apply --wrong x.plan' 'apply x.plan --wrong'; do
    # shellcheck disable=SC2086 # words
    run usage "$gmtrace" $words
    equal "gmtrace $words: exit status" 125 "$(cat usage.status)"
    equal "gmtrace $words: lines" "2 gmtrace: Usage:" "$(wc -l <usage.err) $(cut -d ' ' -f 1 usage.err | xargs)"
done
for words in 'try --help' 'apply -h' 'apply x.plan --help'; do
    # shellcheck disable=SC2086 # words
    run usage "$gmtrace" $words
    equal "gmtrace $words: exit status" 0 "$(cat usage.status)"
    equal "gmtrace $words" "Usage: gmtrace" "$(head -n 1 usage.out | grep -o '^Usage: gmtrace')"
    equal "gmtrace $words: the last line ends" "" "$(tail -c 1 usage.out)"
done

if [ -x "$CLIENTS/plainclient_static" ]; then
    run static "$gmtrace" try "$CLIENTS/plainclient_static"
    equal "a static program: exit status" 125 "$(cat static.status)"
    said static 'fixes cannot be applied to it'
fi

# With times: on the software device, as if it were a GPU. JSON takes the place of the program's output.
LD_LIBRARY_PATH=$SIM_LIB run timed "$gmtrace" try --json --turns 6 -o timed.plan GM102 "$client" copies 3
equal "timed: exit status" 3 "$(cat timed.status)"
python3 - timed.out <<'EOF'
import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
assert report["format"] == "gmtrace-try" and report["turns"] == 6, report
[tried] = report["tried"]
assert tried["name"] == "pageable-staging" and tried["gain"]["pairs"] == 6, tried
assert tried["gain"]["low_s"] <= tried["gain"]["median_s"] <= tried["gain"]["high_s"], tried
assert tried["state"] in ("proven", "no-gain") and tried["fixes"][0]["calls"] == 8, tried
assert report["compared"]["bytes"] == 16 << 20 and report["compared"]["unchecked_calls"] == 0, report
EOF
LD_LIBRARY_PATH=$SIM_LIB run brief "$gmtrace" try --for 1s GM102 "$client" copies 3
said brief 'the time is used'
# Each value of a setting is tried by itself; the best comes first, and is what the plan has.
fix=
tries swept 3 copies --sweep wait-policy
for name in 'wait-policy' 'wait-policy policy=2' 'wait-policy policy=4'; do
    said swept "gmtrace: $name: not timed"
done
equal "the plan of a sweep" "fix wait-policy tried" "$(grep '^fix' swept.plan)"
fix=pageable-staging
LD_LIBRARY_PATH=$SIM_LIB run swept_timed "$gmtrace" try --json --sweep --turns 6 -o swept_timed.plan wait-policy "$client" copies 3
python3 - swept_timed.out swept_timed.plan <<'EOF'
import json
import sys

tried = json.load(open(sys.argv[1], encoding="utf-8"))["tried"]
assert sorted(str(one["parameters"]) for one in tried) == ["{'policy': 2}", "{'policy': 4}", "{}"], tried
ranks = [(("no-gain", "tried", "proven").index(one["state"]), one["gain"]["median_s"]) for one in tried]
assert ranks == sorted(ranks, reverse=True), tried
assert all(one["state"] != "proven" for one in tried), "six pairs of runs are too few for the best of three values"
words = [line.split()[1:] for line in open(sys.argv[2], encoding="utf-8") if line.startswith("fix")]
best = [f"{name}={value}" for name, value in tried[0]["parameters"].items()]
assert words == [["wait-policy", tried[0]["state"], *best]], (words, tried)
EOF
# Who allows less time than comparing results takes sees that after the first run.
LD_LIBRARY_PATH=$SIM_LIB run short "$gmtrace" try --for 0.001s GM102 "$client" copies 3
equal "runs that take longer than is allowed" 1 "$(grep -c '^gmtrace: a run takes .* more than --for allows' short.err)"
equal "and else" 0 "$(grep -c 'more than --for allows' timed.err)"

# Its prediction stands beside.
LD_LIBRARY_PATH=$SIM_LIB run traced "$gmtrace" -q -o traced.db "$client" copies 0
tries predicted 3 copies --trace "$work/traced.db"
said predicted 'predicted 0.001 s'
said predicted "gmanalyze --tried predicted.json $work/traced.db"
equal "findings of the trace" "GM102 GM102" "$(jq -r '[.tried[0].findings[].rule] | join(" ")' predicted.json)"
equal "their fingerprints" "$("$GMT_BUILD/bin/gmanalyze" --format json --rule GM102 traced.db | jq -c '[.findings[].fingerprint]')" \
    "$(jq -c '[.tried[0].findings[].fingerprint]' predicted.json)"
# gmanalyze takes the file for the trace of the same program, and refuses it for another run of it.
analyzes() {
    local name=$1 status=$2
    shift 2
    run "$name" "$GMT_BUILD/bin/gmanalyze" --calibrate never "$@"
    equal "$name: exit status" "$status" "$(cat "$name.status")"
}
LD_LIBRARY_PATH=$SIM_LIB run traced_same "$gmtrace" -q -o traced_same.db "$client" copies 3
analyzes beside 0 --tried predicted.json --format json traced_same.db
equal "findings with what was tried" "pageable-staging tried 2 32.0" \
    "$(jq -r '[.findings[] | select(.rule == "GM102")][0].tried | "\(.name) \(.state) \(.findings) \(.fixes[0].bytes / 1048576 | tostring + ".0")"' beside.out)"
analyzes other_run 3 --tried predicted.json traced.db
said other_run "predicted.json: its fixes were tried on other arguments: 'copies 3', and the trace is of 'copies 0'"
cp "$client" renamed
LD_LIBRARY_PATH=$SIM_LIB run traced_renamed "$gmtrace" -q -o traced_renamed.db ./renamed copies 3
analyzes other_program 3 --tried predicted.json traced_renamed.db
said other_program 'its fixes were tried on another program: '

# In points of the run, where there are times.
LD_LIBRARY_PATH=$SIM_LIB run points "$gmtrace" try --turns 6 -o points.plan --trace traced.db GM102 "$client" copies 3
grep -qE 'predicted .* s: [0-9.]+ % of the run, [0-9.]+ points (more|less) than tried' points.err || fail "no points: $(cat points.err)"
python3 - points.json <<'EOF'
import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
[tried] = report["tried"]
points = 100 * (tried["predicted"]["best_s"] - tried["gain"]["median_s"]) / report["untouched_s"]
assert abs(tried["points"] - points) < 1e-6, (tried, points)
EOF

# Commands that are suggested can be typed.
mkdir 'a folder'
run spaces "$gmtrace" --device sim try -o 'a folder/a.plan' pageable-staging "$client" copies 3
said spaces "gmanalyze --tried 'a folder/a.json' trace.db"

# Under another name, and where it cannot be: beside a plan that is no file none is written.
tries elsewhere 3 copies --results other.json
[ ! -e elsewhere.json ] || fail "the results are in two files"
equal "results under another name" tried "$(jq -r '.tried[0].state' other.json)"
run no_plan "$gmtrace" --device sim try -o /dev/null GM102 "$client" copies 3
equal "a plan that is kept nowhere: exit status" 3 "$(cat no_plan.status)"
! grep -q -- --tried no_plan.err || fail "results of a plan that is kept nowhere"
run no_folder "$gmtrace" --device sim try -o no_folder.plan --results none/x.json GM102 "$client" copies 3
equal "results that cannot be written: exit status" 125 "$(cat no_folder.status)"
said no_folder "cannot write 'none/x.json': No such file or directory"
equal "and nothing was run" "" "$(cat no_folder.out)"
# What is asked for is looked at before the first run.
refused() {
    local name=$1 text=$2
    shift 2
    run "$name" "$gmtrace" --device sim try "$@" "$client" copies 3
    equal "$name: exit status" 125 "$(cat "$name.status")"
    equal "$name: nothing was run" "" "$(cat "$name.out")"
    said "$name" "$text"
}
refused no_plan_folder "cannot write 'none/x.plan': No such file or directory" -o none/x.plan GM102
refused plan_of_trace "'traced.db' is a trace, and is not replaced" -o traced.db GM102
refused one_file "'same' cannot be both" -o ./same --results same GM102
refused no_trace "gmanalyze cannot analyze 'none.db'" --trace none.db
equal "messages of a trace that is not there" 2 "$(wc -l <no_trace.err)"

# ---- apply ----
# applies NAME STATUS PLAN [ARGUMENT...]: the client's
applies() {
    local name=$1 status=$2 plan=$3
    shift 3
    run "$name" "$gmtrace" --device sim apply "$plan" "$client" copies 3
    equal "$name: exit status" "$status" "$(cat "$name.status")"
}
applies tried 125 copies.plan
said tried 'pageable-staging is not applied: not all of its results could be compared'
equal "not proven: output" "" "$(cat tried.out)"
applies differing 125 differs.plan
said differing 'results differed with it'

sed 's/ tried$/ proven/' copies.plan >proven.plan
applies proven 3 proven.plan
same "standard output" bare.out proven.out
equal "lines on standard error" 1 "$(wc -l <proven.err)"
said proven 'gmtrace: applies pageable-staging to this program'
[ ! -e trace.db ] || fail "a trace was written"

# A plan is for the programs that make CUDA calls, whatever starts them.
run wrapped "$gmtrace" --device sim try -o wrapped.plan pageable-staging env X=1 "$client" copies 3
equal "the program of a plan" "$client" "$(sed -nE 's/^program [0-9a-f]+ //p' wrapped.plan)"
sed -i 's/ tried$/ proven/' wrapped.plan
run wrapped_applied "$gmtrace" --device sim apply wrapped.plan env X=1 "$client" copies 3
equal "a program that is started by another: exit status" 3 "$(cat wrapped_applied.status)"
said wrapped_applied 'gmtrace: applies pageable-staging to this program'
cp "$client" second
printf x >>second
printf '#!/bin/sh\n%s copies 0 && ./second copies 3\n' "$client" >both.sh
chmod +x both.sh
run two "$gmtrace" --device sim try -o two.plan pageable-staging ./both.sh
said two "the plan is for program 2 of 2 that made CUDA calls: $work/second"
sed -i 's/ tried$/ proven/' two.plan
run two_applied "$gmtrace" --device sim apply two.plan ./both.sh
equal "two programs get the fix" 2 "$(grep -c '^gmtrace: applies pageable-staging' two_applied.err)"

# The library alone does the same.
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/proven.plan run alone "$client" copies 3
same "standard output" bare.out alone.out
said alone 'gmtrace: applies pageable-staging to this program'
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/copies.plan run alone_tried "$client" copies 3
same "standard output" bare.out alone_tried.out
said alone_tried 'has no proven fix; the program runs as it is'

# Another build of the program, a plan that is none, or none at all: it runs as it is.
cp "$client" other
printf x >>other
run other "$gmtrace" --device sim apply proven.plan ./other copies 3
equal "another program: exit status" 3 "$(cat other.status)"
said other 'it is for another program'
sed "s|^program \([0-9a-f]*\) .*|program \1 $work/other|" proven.plan >rebuilt.plan
run rebuilt "$gmtrace" --device sim apply rebuilt.plan ./other copies 3
equal "another build: exit status" 125 "$(cat rebuilt.status)"
said rebuilt 'it is for another build of this program'
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/proven.plan run alone_other ./other copies 3
same "standard output" bare.out alone_other.out
said alone_other 'it is for another program'
for text in 'gmtrace-apply 3' 'fix pageable-staging proven' 'fix nothing proven' 'fix pageable-staging proven pieces=0' \
    'fix pageable-staging proven pieces=8x' 'fix pageable-staging proven other=1' 'fix pageable-staging sure' 'what'; do
    { sed '/^fix/d' proven.plan; echo 'fix pageable-staging proven'; echo "$text"; } >wrong.plan
    [ "$text" != 'fix pageable-staging proven' ] || grep -c '^fix' wrong.plan >/dev/null
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/wrong.plan run wrong "$client" copies 3
    same "standard output" bare.out wrong.out
    said wrong 'is not understood; the program runs as it is'
    run wrong_plan "$gmtrace" --device sim apply wrong.plan "$client" copies 3
    equal "'$text': exit status" 125 "$(cat wrong_plan.status)"
done
# Two fixes that are proven each by itself, and differ together: the plan keeps one. The third one is applied to nothing.
LD_LIBRARY_PATH=$SIM_LIB run clash "$gmtrace" try --turns 6 -o clash.plan pageable-staging block-cache pinned-cache "$client" clash 3
equal "of two that differ together" "no-gain proven tried" "$(sed -nE 's/^fix \S+ (.*)/\1/p' clash.plan | sort | xargs)"
said clash 'together: pageable-staging, block-cache: RESULTS DIFFER: standard output differs'
said clash 'tried: results are equal with it alone, and are not shown to be where all that is proven is on together'
equal "together" '["pageable-staging","block-cache"] standard output differs' \
    "$(jq -r '.together | "\([.fixes[].fix] | tostring) \(.difference)"' clash.json)"
LD_LIBRARY_PATH=$SIM_LIB run clash_applied "$gmtrace" apply clash.plan "$client" clash 3
equal "it is applied with equal results" right "$(tail -1 clash_applied.out)"
# A plan of before could call proven what was not compared.
sed '1s/ 2$/ 1/' proven.plan >older.plan
run older "$gmtrace" --device sim apply older.plan "$client" copies 3
equal "an older plan: exit status" 125 "$(cat older.status)"
said older 'it is of an older gmtrace, which could call proven what was not compared'
# `trying` is for gmtrace try alone.
sed 's/ tried$/ trying/' copies.plan >trying.plan
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/trying.plan run trying "$client" copies 3
said trying 'has no proven fix; the program runs as it is'
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/none run none "$client" copies 3
same "standard output" bare.out none.out
said none 'No such file or directory; the program runs as it is'

# Who records does not apply, and the other way round.
GMTRACE_APPLY=$work/proven.plan run both "$gmtrace" --device sim "$client" copies 3
equal "recording and applying: exit status" 125 "$(cat both.status)"
said both 'nothing would be recorded'
