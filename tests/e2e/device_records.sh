#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --overhead and CUPTI's records of devices: what they cost is learnt by switching them, they are on for a share of the time, and
# the trace says when they were not. The program's memsets take longer while they are recorded.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

: "${STANDIN_CUPTI:?the folder of the stand-in CUPTI}"
CLIENT=$CLIENTS/cupticlient
export GMTRACE_COLLECT=standard GMTRACE_CUPTI=$STANDIN_CUPTI GMTRACE_COUNTERS=off GMTRACE_REPEAT=off
export SIMGPU_INTERFACE=0 # a driver like any other, with a CUPTI like any other
SIM_LIB=$SIM_LIB:$STANDIN_CUPTI
gmanalyze=$GMT_BUILD/bin/gmanalyze

# is TRACE WHAT EXPECTED SQL
is() { equal "$1: $2" "$3" "$(sql "$1.db" "$4")"; }

GMTRACE_OVERHEAD=5 traced shed priced 12
finished shed.db
# Then the program takes CUPTI, while its records are off, and has all of its own.
equal "the program" "off 12 times
own: 0 copies, 200 memsets, 200 kernels; foreign buffers 0, foreign records 0, strange times 0" "$(cat shed.out)"
is shed "times without records" "1 1" "SELECT (sum(reason = 'budget' AND end_ns > begin_ns AND client = '' AND switch_ns > 0) >= 12) || ' ' ||
    sum(reason = 'client' AND end_ns > begin_ns AND client = 'cupticlient') FROM device_gap"
is shed "times that overlap" 0 "SELECT count(*) FROM device_gap a, device_gap b WHERE a.id < b.id AND a.end_ns > b.begin_ns"
is shed "are some recorded after that" 1 "SELECT count(device_start_ns) > 0 FROM launch WHERE begin_ns > (SELECT end_ns FROM device_gap
    WHERE reason = 'client')"
is shed "of the first second" 0 "SELECT count(*) FROM device_gap, process WHERE begin_ns < start_ns + 1000000000"
nothing_lost shed.db
# A launch is flagged where it has no record, and only then; of memsets the times say so.
equal "launches with a record, by the flag" "0 1
1 0" "$(sql shed.db "SELECT DISTINCT no_activity, device_start_ns IS NOT NULL FROM launch ORDER BY 1, 2" | tr '|' ' ')"
IN_GAP="EXISTS (SELECT 1 FROM device_gap g WHERE m.begin_ns >= g.begin_ns AND m.end_ns <= g.end_ns)"
is shed "memsets with a record within such a time" 0 "SELECT count(*) FROM memset m WHERE device_start_ns IS NOT NULL AND $IN_GAP"
is shed "memsets without one at other times" 0 "SELECT count(*) FROM memset m WHERE device_start_ns IS NULL AND NOT $IN_GAP"
is shed "device rows without a call" 0 "SELECT count(*) FROM device_op WHERE call_id IS NULL"
is shed "each record is that of its call" 0 "SELECT count(*) FROM memset m WHERE device_start_ns < begin_ns OR bytes = 512 AND
    device_start_ns IS NOT NULL OR bytes > 512 AND device_start_ns IS NULL AND NOT ($IN_GAP)"
is shed "coverage" "kernels memsets" "SELECT group_concat(what, ' ') FROM (SELECT what FROM coverage WHERE kind = 'records' AND
    expected = seen AND extra = 0 AND detail LIKE '%while records were off%' ORDER BY what)"
# What they cost is known at the end; they were on for a part of the time, and the first second is not counted as such.
is shed "what they cost" 1 "SELECT EXISTS (SELECT 1 FROM overhead WHERE device_ns IS NOT NULL AND device_cycles >= 6 AND device < 0.9)"
is shed "rows that say wrongly for how much of their time" 0 "SELECT count(*) FROM overhead o WHERE abs(o.device - 1 +
    ifnull((SELECT 1.0 * sum(min(g.end_ns, o.end_ns) - max(g.begin_ns, o.begin_ns)) FROM device_gap g WHERE g.begin_ns < o.end_ns AND
    g.end_ns > o.begin_ns), 0) / (o.end_ns - o.begin_ns)) >= 0.05 AND o.end_ns < (SELECT begin_ns FROM device_gap WHERE reason = 'client')"
is shed "rows that say for how much of the time they were on" 0 "SELECT count(*) FROM overhead WHERE device IS NULL OR device < 0 OR device > 1"
detail=$(sql shed.db "SELECT detail FROM capability WHERE name = 'overhead' AND state = 'partial'")
[[ $detail = *"records of devices were on for "*" % of the time, and what they cost is learnt from "*" cycles"* ]] || fail "the capability: $detail"
"$gmanalyze" validate shed.db >validate.out || fail "validate: $(grep -v ^ok validate.out)"
"$gmanalyze" --calibrate never --format json shed.db >report.json || fail "gmanalyze"
grep -q '"device_seen_share"' report.json || fail "the report does not say for how much of the time devices were seen"
grep -qE "in [0-9]+ pieces, to keep within --overhead" report.json || fail "the report does not say why: $(grep overhead report.json)"
"$gmanalyze" --calibrate never shed.db >report.txt || fail "gmanalyze"
grep -q "GPU busy, est." report.txt || fail "busy time is no estimate: $(cat report.txt)"
grep -qE "≈: [0-9,]+ of all [0-9,]+ launches" report.txt || fail "the sum of kernels is no estimate: $(cat report.txt)"

# Who names no limit keeps all records, and so does who asks for sums.
all_kept() { # NAME VARIABLE=VALUE
    export "${2?}"
    traced "$1" priced -4
    unset "${2%%=*}"
    finished "$1.db"
    equal "$1: the program" "off 0 times" "$(cat "$1.out")"
    is "$1" "times without records" 0 "SELECT count(*) FROM device_gap"
}
all_kept usual GMTRACE_PYTHON=off
is usual "launches without a record" 0 "SELECT sum(no_activity) + sum(device_start_ns IS NULL) FROM launch"
is usual "what is said of their cost" 0 "SELECT count(device) + count(device_ns) FROM overhead"
all_kept unlimited GMTRACE_OVERHEAD=0
export GMTRACE_OVERHEAD=5
all_kept sums GMTRACE_AGGREGATE=on
