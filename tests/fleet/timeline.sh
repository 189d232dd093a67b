#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze fleet --timeline on whole traces: which ranks are in it, that clocks are corrected, and what cannot be shown.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
: "${MAKE_TRACES:?}" "${MAKE_FLEET:?}"
needs sqlite3 python3
program=("$GMANALYZE" fleet)

# timeline FOLDER [RANKS]: of these ranks, checked; which they are and what they share is in `seen`.
timeline() {
    expect 0 --format json --timeline "$1.events" ${2:+--ranks "$2"} "$1"
    seen=$(python3 "$GMT_SOURCE/tests/fleet/check_timeline.py" "$1.events" out 40000) || fail "$1: $seen"
}

# refused STATUS ARGUMENT...: one line, and no file.
refused() {
    expect "$1" --timeline none.events "${@:2}"
    [ "$(wc -l <err)" = 1 ] || fail "not one line of complaint: $(cat err)"
    [ "$(find . -name 'none.events*')" = "" ] || fail "a file is left: $(find . -name 'none.events*')"
}

# Two clocks are off by seconds, one of them also runs faster; a third rank has a slow host thread. By the clocks as they are,
# ends of collectives would lie 5 to 12 s apart.
odd=$("$MAKE_TRACES" job 11 1 8 24 3:5000:0 6:-7000:40)
equal "the rank with the fault" 2 "$odd"
timeline job 0,3,6,2
equal "as asked for" "0 3 6 2 96 collectives of several ranks" "$seen"
grep -q 'wrote job.events, [0-9]* events of 4 ranks' err || fail "$(cat err)"
# Who is waited for is where the arrow ends.
equal "rank 2 comes last" True "$(python3 - <<'END'
import collections, json
events = [e for e in json.load(open("job.events"))["traceEvents"] if e["pid"] == 1]
last = collections.Counter(e["tid"] % (1 << 24) - 1 for e in events if e["ph"] == "f")
print(last.most_common(1)[0][0] == 3)
END
)"
# Nobody says which: the odd ones, behind one that is not.
timeline job
read -r first rest <<<"$seen"
equal "odd ranks" "3 6 2 96 collectives of several ranks" "$rest"
case $first in 3 | 6 | 2) fail "rank $first is odd, not usual" ;; esac
# By the file's name, once each, and in text.
expect 0 --timeline job.events --ranks job/rank6.db,1,6,1 job
equal "by file" "6 1" "$(python3 -c 'import json; print(*(r["rank"] for r in json.load(open("job.events"))["otherData"]["ranks"]))')"
grep -q '^8 of 8 ranks compared' out || fail "the answer is not printed"

# None is odd.
"$MAKE_TRACES" same 12 0 8 24 >all
timeline same
equal "two ranks of a fleet without an odd one" 2 "$(wc -w <<<"${seen%% 96 *}")"

# Without NCCL's ranges collectives are matched by kernel and position.
cp -r same plain
for trace in plain/*.db; do sqlite3 "$trace" "DELETE FROM range WHERE domain_id IS NOT NULL"; done
timeline plain 0,5
equal "by kernel" "0 5 96 collectives of several ranks" "$seen"

# A rank without collectives: its clock is as it was, and says so.
cp -r same alone
sqlite3 alone/rank4.db "DELETE FROM range WHERE domain_id IS NOT NULL; DELETE FROM launch WHERE kernel_id = 2; DELETE FROM device_op WHERE kernel_name_id = 2"
timeline alone 0,4
equal "without collectives" "0 4 no collectives" "$seen"
grep -q '1 of these ranks has' err || fail "nobody says that a clock is not known: $(cat err)"
grep -q 'rank 4 on node-[0-9]*, clock as it is' alone.events || fail "the rank's clock is not marked"

# Names as bad as names can be.
cp -r same evil
spoil evil/rank1.db
sqlite3 evil/rank1.db "UPDATE process SET rank = $hostile"
expect 0 --timeline evil.events --ranks 0,evil/rank1.db evil
python3 -c 'import json; events = json.load(open("evil.events"))["traceEvents"]; assert any(e["pid"] == 2000 for e in events)' || fail "names spoil the file"

# What cannot be shown.
refused 2 --ranks 9 same
grep -q "none of the 8 traces is rank '9'" err || fail "$(cat err)"
refused 2 --ranks , same
expect 2 --ranks 1 same
expect 2 --timeline - same
refused 3 nowhere
cp -r same broken
cp broken/rank1.db broken/again.db
refused 2 --ranks 0,1 broken
grep -q "rank '1' is both .*broken/again.db and .*broken/rank1.db" err || fail "$(cat err)"
rm broken/again.db
head -c 20000 broken/rank3.db >short && mv short broken/rank3.db
refused 2 --ranks 3 broken
grep -q "of 1 that cannot be read" err || fail "$(cat err)"
refused 3 --ranks 0,broken/rank3.db broken
grep -q 'broken/rank3.db: ' err || fail "the damaged trace is not named: $(cat err)"
# Found when its rows are written, behind those of another rank.
sqlite3 broken/rank5.db "UPDATE launch SET begin_ns = 'x' WHERE id = 100"
refused 3 --ranks 0,broken/rank5.db broken
grep -q 'broken/rank5.db: .*launch.begin_ns' err || fail "the damaged row is not named: $(cat err)"
sqlite3 broken/rank6.db "UPDATE process SET realtime_ns = NULL"
refused 3 --ranks 6,0 broken
grep -q 'broken/rank6.db: it has no wall clock' err || fail "$(cat err)"
"$MAKE_FLEET" sums 12 1 8 24 >all
refused 3 sums
grep -q 'sums/rank[0-9]*.db: it has sums over steps alone, and no events' err || fail "$(cat err)"
mkdir -p made/trace/run=a
refused 3 made
grep -q 'made: --timeline reads traces' err || fail "$(cat err)"
# An earlier file stays as it was.
echo earlier >none.events && expect 3 --timeline none.events --ranks 0,broken/rank5.db broken
equal "the earlier file" earlier "$(cat none.events)"
# No trace is replaced, by this or another export; and a file may be named without its folder.
before=$(md5sum <same/rank1.db)
expect 3 --timeline same/rank1.db --ranks 0,1 same
grep -q 'same/rank1.db: is a trace, and is not replaced' err || fail "$(cat err)"
"$GMANALYZE" export --to perfetto -o same/rank1.db same/rank1.db >out 2>err && fail "a trace is replaced by its events"
equal "the trace" "$before" "$(md5sum <same/rank1.db)"
timeline same rank0.db,rank5.db
expect 3 --timeline nowhere/x.events same
grep -q 'nowhere/x.events: No such file' err || fail "$(cat err)"
mkdir small
(ulimit -f 64 && exec "$GMANALYZE" fleet --timeline small/x.events same) >out 2>err && fail "a file that does not fit is no error"
[ -z "$(ls small)" ] || fail "a part of it is left: $(ls -l small)"
[ "$(grep -c 'small/x.events: ' err)" = 1 ] || fail "not one line of complaint: $(cat err)"
