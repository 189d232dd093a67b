#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gmtrace ends with: what to change first. On standard error alone, within a time limit, and the status stays.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
client=$CLIENTS/driverclient

# Lines of the answer, without gmtrace's name.
answer() { sed -nE 's/^gmtrace: (do first|  [0-9]\. |     |no check found)/\1/p' "$1.err"; }

# answered NAME COMMAND...: as run. gmtrace waits 2 s for gmanalyze, which is longer on a machine that does other things: then once more.
answered() {
    local i
    for ((i = 0; i < 30; i++)); do
        run "$@"
        [ -z "$(answer "$1")" ] || return 0
    done
}

export LD_LIBRARY_PATH=$SIM_LIB
run plain "$client" churn 5
answered churn "$gmtrace" -o churn.db "$client" churn 5
equal "status" 0 "$(cat churn.status)"
same "the answer is in the program's output" plain.out churn.out
[ -n "$(answer churn)" ] || fail "no answer: $(cat churn.err)"
equal "the last line" "gmtrace: wrote churn.db; next: gmanalyze churn.db" "$(tail -1 churn.err)"
"$GMT_BUILD/bin/gmanalyze" fixes churn.db | sed 's/^/gmtrace: /' >wanted
same "gmtrace and gmanalyze fixes" wanted <(grep -xFf wanted churn.err)

run returned "$gmtrace" -o returned.db "$client" exit_return
equal "the program's own status" 7 "$(cat returned.status)"

# Switched off, by the option or the variable: where the trace is, and no more.
run quiet "$gmtrace" -q -o quiet.db "$client" churn 5
equal "with --quiet" "gmtrace: wrote quiet.db; next: gmanalyze quiet.db" "$(cat quiet.err)"
GMTRACE_SUMMARY=off run off "$gmtrace" -o off.db "$client" churn 5
equal "with GMTRACE_SUMMARY" "gmtrace: wrote off.db; next: gmanalyze off.db" "$(cat off.err)"

# Without a trace there is nothing to say.
run nothing "$gmtrace" "$client" nothing
equal "without a trace" "" "$(answer nothing)"

# Of a program that makes no copy, launch or allocation it is not said that its work is fine.
if command -v python3 >/dev/null; then
    answered idle "$gmtrace" -o idle.db python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1").cuInit(0)'
    equal "of no work" "no check found anything to look at: no copy, launch or allocation was recorded" "$(answer idle)"
    for what in copies 'allocations of device memory' 'launches of kernels'; do
        grep -qx "gmtrace: no $what" idle.err || fail "what there is none of is counted: $(cat idle.err)"
    done
    "$GMT_BUILD/bin/gmanalyze" idle.db >idle.txt
    grep -q '^  No check found anything to look at: ' idle.txt || fail "$(cat idle.txt)"
fi

# Of several processes there is one answer, and of several ranks the first gives it.
answered several "$gmtrace" -o several.%p.db "$client" fork_early 3
[ "$(answer several | grep -cE '^(do first|no check)')" = 1 ] || fail "of several processes: $(cat several.err)"
for rank in 0 1; do
    how=answered
    [ $rank = 0 ] || how=run
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 $how "rank$rank" "$gmtrace" -o "rank$rank.db" "$client" churn 5
done
[ -n "$(answer rank0)" ] || fail "no answer of the first rank"
equal "of the second rank" "" "$(answer rank1)"
# It also names the command over all ranks.
equal "all ranks" "gmtrace: when all 2 ranks have ended: gmanalyze fleet ." "$(grep -h 'gmanalyze fleet' rank0.err rank1.err)"
mkdir "of ranks"
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run folder "$gmtrace" -o "of ranks/%r.db" "$client" churn 5
grep -q "^gmtrace: when all 2 ranks have ended: gmanalyze fleet 'of ranks'\$" folder.err || fail "no command over all ranks: $(cat folder.err)"
mkdir of.0
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run apart "$gmtrace" -o "of.%r/trace.db" "$client" churn 5
grep -q '^gmtrace: wrote of.0/trace.db; ' apart.err || fail "no trace in a folder of its rank: $(cat apart.err)"
equal "ranks in folders of their own" "" "$(grep fleet apart.err)"

# The report that was asked for, in the format of its name.
run report "$gmtrace" --report page.html -o report.db "$client" churn 5
equal "status with a report" 0 "$(cat report.status)"
grep -q '<!DOCTYPE html>' page.html || fail "no page"

# An analysis that takes long, or fails, or is not there, costs the answer and no more.
mkdir -p copy/bin
cp "$gmtrace" copy/bin
for part in lib libexec share; do
    [ ! -e "$GMT_BUILD/$part" ] || ln -s "$GMT_BUILD/$part" "copy/$part"
done
for body in 'echo half an answer; exec sleep 600' 'echo an answer; exit 3' ''; do
    rm -f copy/bin/gmanalyze
    if [ -n "$body" ]; then
        printf '#!/bin/sh\n%s\n' "$body" >copy/bin/gmanalyze
        chmod +x copy/bin/gmanalyze
    fi
    begin=$SECONDS
    run without copy/bin/gmtrace -o without.db "$client" exit_return
    equal "status with '$body'" 7 "$(cat without.status)"
    [ $((SECONDS - begin)) -lt 600 ] || fail "'$body' is waited for"
    ! grep -q answer without.err || fail "half an answer with '$body'"
    equal "the last line with '$body'" "gmtrace: wrote without.db; next: gmanalyze without.db" "$(tail -1 without.err)"
    rm -f without.db
done
unset LD_LIBRARY_PATH GMTRACE_COLLECT

# On the software device prices are modelled, each time says so, and lines are named.
if [ -x "$GMT_BUILD/bin/pipeline_slow_shared" ]; then
    answered simulated "$gmtrace" --device sim -o simulated.db "$GMT_BUILD/bin/pipeline_slow_shared" --size 512 --frames 1
    equal "status on the software device" 0 "$(cat simulated.status)"
    answer simulated | grep -q '^do first' || fail "nothing is first: $(cat simulated.err)"
    grep -qE '^gmtrace: +pipeline_slow\.cu:[0-9]+ · ' simulated.err || fail "no line is named: $(cat simulated.err)"
    answer simulated | grep -qE 'on an NVIDIA H200 about [0-9.]+ (ns|µs|ms|s) ' || fail "no price: $(cat simulated.err)"
    ! answer simulated | grep -E '[0-9] (ns|µs|ms|s)\b' | grep -qv modelled || fail "times of the software device: $(cat simulated.err)"

    # Without line numbers the places are addresses: what helps is said, once, and in the report, too.
    strip --strip-debug -o bare "$GMT_BUILD/bin/pipeline_slow_shared"
    answered bare "$gmtrace" --device sim -o bare.db ./bare --size 512 --frames 1
    equal "status without line numbers" 0 "$(cat bare.status)"
    note='bare has no line numbers: compile it with -g (nvcc: -g -lineinfo), '
    [ "$(grep -cF "$note" bare.err)" = 1 ] || fail "nothing helps to name lines: $(cat bare.err)"
    "$GMT_BUILD/bin/gmanalyze" --top 3 bare.db >bare.txt
    "$GMT_BUILD/bin/gmanalyze" bare.db >bare.brief
    for report in bare.txt bare.brief; do
        [ "$(grep -cF "names   $note" $report)" = 1 ] || fail "$report: $(cat $report)"
    done
    # It stands where the places do: in what to do first.
    for report in bare.txt bare.brief; do
        sed -n '/^── Do first/,/^$/p' $report | grep -qF "names   $note" || fail "not below what is first: $(cat $report)"
    done
    "$GMT_BUILD/bin/gmanalyze" --format markdown bare.db >bare.md
    sed -n '/^\*\*Do first/,/^<details>/p' bare.md | sed 's/\\//g' | grep -qF "Names: $note" || fail "markdown: $(cat bare.md)"
    ! grep -qF 'no line numbers' simulated.err || fail "a place with a line needs no help"
fi
