#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --collect deep: a second run that nobody sees, and what the trace says where it brings nothing.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
unset GMTRACE_COLLECT
export LD_LIBRARY_PATH=$SIM_LIB
export SIMGPU_INTERFACE=0 # a driver like any other, that CUPTI does not take
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited

state() {
    sql "$1" "SELECT state FROM capability WHERE name = 'instructions'"
}

# A client that says how often it runs, and in which way; its status differs between its runs.
cat >client.sh <<END
#!/bin/bash
echo "run \${GMTRACE_SECOND_RUN:-0}" >>"$work/runs"
echo to stdout
echo to stderr >&2
cat >>"$work/input"
"$CLIENTS/driverclient" churn 5 || exit
[ -n "\${GMTRACE_SECOND_RUN:-}" ] && exit 9
exit 3
END
chmod +x client.sh

echo once >given
status=0
"$gmtrace" --collect deep -o a.db ./client.sh >a.out 2>a.err <given || status=$?
finished a.db
equal "status: the first run's" 3 "$status"
equal "output: the first run's" "to stdout 5 rounds" "$(paste -sd' ' a.out)"
equal "its standard error" 1 "$(grep -c '^to stderr$' a.err)"
equal "its input" once "$(cat input)"
equal "launches" 5 "$(sql a.db 'SELECT count(*) FROM launch')"
equal "state of instructions" missing "$(state a.db)"
equal "integrity" ok "$(sql a.db 'PRAGMA integrity_check')"
equal "folders left behind" "" "$(find . -maxdepth 1 -name '.gmtrace-*')"
if [ "$(sql a.db "SELECT state FROM capability WHERE name = 'cupti'")" = ok ]; then
    equal "runs" "run 0 run 1" "$(paste -sd' ' runs)"
    equal "announcements" 1 "$(grep -c 'a second time' a.err)"
else
    equal "runs without CUPTI" "run 0" "$(paste -sd' ' runs)"
fi

# Where it would bring nothing there is none.
run_once() {
    local what=$1
    shift
    rm -f runs
    "$@" >b.out 2>b.err </dev/null || true
    finished b.db
    equal "runs $what" "run 0" "$(paste -sd' ' runs)"
}
run_once "with standard" "$gmtrace" --collect standard -o b.db ./client.sh
equal "instructions with standard" "" "$(state b.db)"
run_once "without CUPTI" env GMTRACE_CUPTI="$work/absent.so" "$gmtrace" -c deep -o b.db ./client.sh
equal "instructions without CUPTI" missing "$(state b.db)"
run_once "of one of two ranks" env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 \
    "$gmtrace" -c deep -o b.db ./client.sh
equal "instructions of a rank" missing "$(state b.db)"
run_once "within the run" env GMTRACE_DEEP=phase "$gmtrace" -c deep -o b.db ./client.sh
equal "instructions within the run" missing "$(state b.db)"
run_once "on the software device" env -u SIMGPU_INTERFACE "$gmtrace" -c deep -o b.db ./client.sh
[ "$(sql b.db 'SELECT count(*) FROM instruction')" -gt 0 ] || fail "no instruction was counted"

# With a CUPTI that counts: what the second run brings is in the first one's trace.
counts() {
    local what=$1 db=$2
    equal "state of instructions $what" ok "$(state "$db")"
    equal "launches counted $what" 3 "$(sql "$db" "SELECT count(DISTINCT launch_seq) FROM instruction")"
    equal "instructions $what" 48 "$(sql "$db" "SELECT count(*) FROM instruction WHERE source = 'sass'")"
    equal "cubins $what" 1 "$(sql "$db" "SELECT count(*) FROM cubin WHERE crc = 77 AND length(image) = bytes")"
    equal "lines $what" "/src/inlined.cu:14 /src/inlined.h:4" "$(sql "$db" "SELECT DISTINCT file || ':' || line
        FROM v_instruction WHERE line IN (4, 14) ORDER BY 1" | paste -sd' ')"
    equal "counts of another launch's class $what" 0 "$(sql "$db" "SELECT count(*) FROM instruction i
        LEFT JOIN launch l ON l.seq = i.launch_seq AND l.class_id = i.class_id WHERE l.id IS NULL")"
    equal "losses $what" "" "$(sql "$db" "SELECT * FROM loss WHERE kind NOT LIKE 'kernel class%'")"
    equal "integrity $what" ok "$(sql "$db" 'PRAGMA integrity_check')"
    equal "sessions $what" "3 session" "$(sort standin.log | uniq -c | sed 's/^ *//')"
    rm standin.log
}
export CUPTI_STANDIN_CUBIN=$GMT_SOURCE/tests/data/cubin/lines.cubin CUPTI_STANDIN_LOG=$work/standin.log
standin=$CLIENTS/libcuptisass.so
"$gmtrace" -c deep --cupti "$standin" -o e.db "$CLIENTS/driverclient" churn 5 >e.out 2>e.err || fail "e"
finished e.db
equal "output with counts" "5 rounds" "$(cat e.out)"
counts "of a second run" e.db
GMTRACE_DEEP=phase "$gmtrace" -c deep --cupti "$standin" -o f.db "$CLIENTS/driverclient" churn 5 \
    >f.out 2>f.err || fail "f"
finished f.db
equal "output within the run" "5 rounds" "$(cat f.out)"
counts "within the run" f.db
equal "gmtrace's own time of each, and none of the second run's" "3 0" "$(for db in f e; do sql $db.db "SELECT count(*)
    FROM own_time o JOIN launch l ON l.seq = o.launch_seq WHERE work = 'instructions' AND measured = 'sass'
    AND o.begin_ns <= l.begin_ns AND o.end_ns >= l.end_ns"; done | paste -sd' ')"
# A program that subscribes itself gets what it gets without us, and is counted before and after.
cat >subscribes.py <<END
import ctypes, sys
sys.path.insert(0, "$GMT_SOURCE/tests/gpu/programs")
from cupti_script import PTX, SUBSCRIBER
cuda = ctypes.CDLL("libcuda.so.1")
device, count, found = ctypes.c_int(), ctypes.c_int(), [ctypes.c_void_p() for _ in range(3)]
context, module, function = found
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"nothing") == 0
def launch(blocks):
    for _ in range(5):
        assert cuda.cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, None, None, None) == 0
cupti, mine, second = ctypes.CDLL("$standin"), ctypes.c_void_p(), ctypes.c_void_p()
callback = SUBSCRIBER(lambda *_: None)
for turn in range(2):
    launch(1 + turn)
    print("subscribe", cupti.cuptiSubscribe(ctypes.byref(mine), callback, None))
    print("a second time", cupti.cuptiSubscribe(ctypes.byref(second), callback, None))
    launch(7)
    print("unsubscribe", cupti.cuptiUnsubscribe(mine), cupti.cuptiUnsubscribe(mine))
launch(3)
END
python3 subscribes.py >alone.out
equal "subscribing alone" "subscribe 0 a second time 39 unsubscribe 0 1" "$(head -3 alone.out | paste -sd' ')"
GMTRACE_DEEP=phase "$gmtrace" -c deep --cupti "$standin" -o s.db python3 subscribes.py >s.out 2>s.err || fail "s"
finished s.db
same "a subscriber's output differs" alone.out s.out
equal "launches of each shape that are counted" "3 3 3" "$(sql s.db "SELECT count(DISTINCT launch_seq) FROM instruction i
    JOIN launch l ON l.seq = i.launch_seq GROUP BY l.grid_x" | paste -sd' ')"
equal "those that could not be" 10 "$(sql s.db "SELECT count FROM loss
    WHERE kind = 'launch without counts of instructions' AND detail = 'the program used CUPTI itself'")"
rm standin.log
# Launches that go into a graph do not run now: none is counted, and it is said.
"$gmtrace" -c deep --cupti "$standin" -o g.db "$CLIENTS/driverclient" capture 5 >g.out 2>g.err || fail "g"
finished g.db
equal "state of captured launches" missing "$(state g.db)"
equal "captured launches that are reported" 5 "$(sql g.db "SELECT sum(count) FROM loss
    WHERE kind = 'launch without counts of instructions'")"
[ ! -e standin.log ] || fail "a session in a capture: $(cat standin.log)"
# Several processes: each gets its own counts, by its command line, of equal ones by order.
# shellcheck disable=SC2016 # it is the script's own variable
printf '#!/bin/bash\nfor n in 2 1 2; do "%s" churn $n; done\n' "$CLIENTS/driverclient" >several.sh
chmod +x several.sh
"$gmtrace" -c deep --cupti "$standin" -o h-%p.db ./several.sh >h.out 2>h.err || fail "h"
equal "traces" 3 "$(find . -name 'h-*.db' | wc -l)"
for db in h-*.db; do
    equal "launches that have counts in $db" "$(sql "$db" "SELECT count(*) FROM launch")" \
        "$(sql "$db" "SELECT count(DISTINCT launch_seq) FROM instruction")"
done
equal "what came out of order" "" "$(grep -v '^session$' standin.log || true)"
"$GMT_BUILD/bin/gmanalyze" lines e.db >lines.txt 2>lines.err || fail "gmanalyze lines"
grep -q "counted on the GPU" lines.txt || fail "the listing does not say who counted"
"$GMT_BUILD/bin/gmanalyze" validate e.db >validate.txt 2>&1 || fail "gmanalyze validate: $(cat validate.txt)"

rm standin.log
# The library alone can make no second run: it counts within the one there is, unless it is asked not to.
GMTRACE_COLLECT=deep GMTRACE_CUPTI=$standin traced c churn 5
finished c.db
equal "output by the library alone" "5 rounds" "$(cat c.out)"
counts "by the library alone" c.db
GMTRACE_COLLECT=deep GMTRACE_DEEP=rerun GMTRACE_CUPTI=$standin traced c2 churn 5
finished c2.db
equal "instructions by the library alone, in a second run" off "$(state c2.db)"
[ ! -e standin.log ] || fail "a session that was not asked for: $(cat standin.log)"

# A program that ends by a signal has had enough.
rm -f runs
printf '#!/bin/bash\necho run >>"%s/runs"\n"%s" churn 5\nkill -TERM $$\n' "$work" "$CLIENTS/driverclient" >killed.sh
chmod +x killed.sh
status=0
"$gmtrace" -c deep -o d.db ./killed.sh >d.out 2>d.err </dev/null || status=$?
equal "status after a signal" 143 "$status"
equal "runs of what a signal ends" run "$(paste -sd' ' runs)"
