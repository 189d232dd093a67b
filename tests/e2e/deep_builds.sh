#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --collect deep of programs that were built, moved or loaded in other ways: the right line, or what to do.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
gmanalyze=$GMT_BUILD/bin/gmanalyze
standin=$CLIENTS/libcuptisass.so
[ -x "$gmtrace" ] || skip "gmtrace is not built"
[ -e "$standin" ] || skip "the stand-in of CUPTI is not built"
unset GMTRACE_COLLECT
export LD_LIBRARY_PATH=$SIM_LIB
export SIMGPU_INTERFACE=0 # a driver like any other, that CUPTI does not take
# A machine that does other things makes measuring take longer than the budget allows.
export GMTRACE_COUNTER_BUDGET=unlimited
cubins=$GMT_SOURCE/tests/data/cubin

# record NAME CUBIN INSTRUCTIONS OUTPUT COMMAND...: NAME.db, and NAME.txt as gmanalyze lines shows it
record() {
    local name=$1 cubin=$2 instructions=$3 output=$4
    shift 4
    CUPTI_STANDIN_CUBIN=$cubin "$gmtrace" -c deep --cupti "$standin" -o "$name.db" "$@" \
        >"$name.out" 2>"$name.err" || fail "$name: $(cat "$name.err")"
    finished "$name.db"
    equal "output of $name" "$output" "$(cat "$name.out")"
    equal "state of $name" ok "$(sql "$name.db" "SELECT state FROM capability WHERE name = 'instructions'")"
    equal "instructions of $name" "$instructions" \
        "$(sql "$name.db" "SELECT count(*) FROM instruction WHERE source = 'sass'")"
    "$gmanalyze" lines "$name.db" >"$name.txt" 2>"$name.err" || fail "gmanalyze lines of $name"
    "$gmanalyze" validate "$name.db" >"$name.valid" 2>&1 || fail "gmanalyze validate of $name: $(cat "$name.valid")"
    "$gmanalyze" --calibrate never --top 0 "$name.db" >"$name.report" 2>"$name.err" || fail "gmanalyze of $name: $(cat "$name.err")"
}

# deep NAME CUBIN: the same of a program of five launches, three of which are counted
deep() {
    record "$1" "$2" 48 "5 rounds" "${program:-$CLIENTS/driverclient}" churn 5
}

says() {
    grep -qF -- "$2" "$1" || fail "$1 does not say '$2': $(cat "$1")"
}

# reports NAME TEXT: gmanalyze's own report of it says so, however it breaks lines
reports() {
    tr -s ' \n' ' ' <"$1.report" | grep -qF -- "$2" || fail "the report of $1 does not say '$2': $(cat "$1.report")"
}

losses() {
    sql "$1" "SELECT kind FROM loss WHERE kind LIKE 'cubin%'"
}

# Without -lineinfo, as after stripping: the instruction, by its opcode and place, and what to build with.
deep bare "$cubins/bare.cubin"
says bare.txt "no line information: build with nvcc -lineinfo"
reports bare "to see source lines: build with nvcc -lineinfo"
grep -q 'LDG +0x' bare.txt || fail "the load is not shown by its place: $(cat bare.txt)"
equal "losses without lines" "" "$(losses bare.db)"
equal "lines without lines" 0 "$(sql bare.db "SELECT count(*) FROM v_instruction WHERE line IS NOT NULL")"

# What is no cubin that we can read has no opcodes either: not the compiler's options are to blame.
echo "not what it was" >rubbish.cubin
deep rubbish rubbish.cubin
equal "losses of rubbish" "cubin not readable" "$(losses rubbish.db)"
says rubbish.txt "no opcodes and no lines: its cubin is not in the trace (see its losses)"
reports rubbish "cubin not readable 1 time: crc 77: its instructions have no lines"
! grep -q lineinfo rubbish.txt || fail "-lineinfo would not help"

# A program without symbols: what its kernels' lines are stands in their cubin.
if command -v strip >/dev/null; then
    strip -o stripped_program "$CLIENTS/driverclient"
    chmod +x stripped_program
    program=$work/stripped_program deep stripped "$cubins/lines.cubin"
    equal "lines of a stripped program" "/src/inlined.h:4" "$(sql stripped.db \
        "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE kind = 'global_load'")"
    says stripped.txt "inlined at /src/inlined.cu:14"
    reports stripped "inlined.h:4, inlined at inlined.cu:14"
    equal "functions of a stripped program" 0 "$(sql stripped.db "SELECT count(*) FROM v_frame
        WHERE module LIKE '%/stripped_program' AND line IS NOT NULL")"
fi

# The sources are not where they were when the program was built.
if [ ! -e /src/inlined.cu ]; then
    deep moved "$cubins/lines.cubin"
    says moved.txt "/src/inlined.cu  (source: not found"
    reports moved "inlined.h:4, inlined at inlined.cu:14"
    equal "lines of a moved tree" "/src/inlined.cu:14 /src/inlined.h:4" "$(sql moved.db \
        "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE line IN (4, 14) ORDER BY 1" | paste -sd' ')"
fi

# A kernel that stands in a header: its lines are the header's, and nothing was inlined.
deep header "$cubins/kernel.cubin"
equal "lines of a kernel in a header" "/src/kernel.cuh:7" "$(sql header.db "SELECT DISTINCT file || ':' || line ||
    coalesce(caller_file, '') FROM v_instruction WHERE kind IN ('global_load', 'global_store')")"
equal "chains of a kernel in a header" 0 "$(sql header.db "SELECT count(*) FROM v_instruction WHERE chain_id IS NOT NULL")"
says header.txt "/src/kernel.cuh"
reports header "source kernel.cuh:7, "

# Two modules with a kernel of one name, and both run: each has the lines of its own.
cat >same_name.py <<'END'
import ctypes
PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry _Z1aPKfPf()\n{\n    ret;\n}\n\0"
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
assert cuda.cuCtxSetCurrent(context) == 0
functions = []
for _ in range(2):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"_Z1aPKfPf") == 0
    functions.append(function)
for _ in range(5):
    for function in functions:
        assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0
print("done")
END
two() {
    record "$1" "$cubins/lines.cubin:$cubins/kernel.cubin" 96 "done" python3 same_name.py
    equal "kernels of $1" "_Z1aPKfPf 2" "$(sql "$1.db" "SELECT mangled || ' ' || count(*) FROM kernel GROUP BY mangled")"
    equal "lines of $1" "1 /src/inlined.h:4
2 /src/kernel.cuh:7" "$(sql "$1.db" "SELECT DISTINCT (SELECT count(*) FROM kernel k WHERE k.id <= c.kernel_id) || ' ' ||
        i.file || ':' || i.line FROM v_instruction i JOIN kernel_class c ON c.id = i.class_id WHERE i.kind = 'global_load'
        ORDER BY 1")"
    equal "cubins of $1" "77 78" "$(sql "$1.db" "SELECT crc FROM cubin ORDER BY crc" | paste -sd' ')"
    equal "losses of $1" "" "$(sql "$1.db" "SELECT * FROM loss WHERE kind NOT LIKE 'kernel class%'")"
    equal "listings of $1" 2 "$(grep -cxF "a(float const*, float*)" "$1.txt")"
    for file in /src/inlined.h /src/kernel.cuh; do
        says "$1.txt" "$file"
    done
    reports "$1" "inlined.h:4, inlined at inlined.cu:14"
    reports "$1" "kernel.cuh:7, "
    equal "findings of $1" 2 "$(grep -cE '^ +[0-9]+ +medium GM301' "$1.report")"
}
two in_two_runs
GMTRACE_DEEP=phase two within_the_run

# The program is killed, and no recorder is at work: the code that was put aside is taken when gmanalyze finishes the trace. Where the
# file has lost its end, only what lay there is missing, and the report says why.
{ cat same_name.py && echo "import os; os.kill(os.getpid(), 9)"; } >killed.py
mkdir without_recorder
cp "$GMT_BUILD/lib/libgmtrace.so" without_recorder
left() {
    local status=0
    LD_PRELOAD=$work/without_recorder/libgmtrace.so GMTRACE_OUTPUT=$work/$1.db GMTRACE_COLLECT=deep GMTRACE_DEEP=phase GMTRACE_CUPTI=$standin \
        CUPTI_STANDIN_CUBIN=$cubins/lines.cubin:$cubins/kernel.cubin python3 killed.py >"$1.out" 2>"$1.err" || status=$?
    equal "status of $1" 137 "$status"
    equal "bytes put aside of $1" "$(cat "$cubins/lines.cubin" "$cubins/kernel.cubin" | wc -c)" "$(wc -c <"$1.db.spool/cubins")"
}
finish_left() {
    "$gmanalyze" --calibrate never --top 0 "$1.db" >"$1.report" 2>"$1.err" || fail "gmanalyze of $1: $(cat "$1.err")"
    finished "$1.db"
    equal "lines of $1" "$2" "$(sql "$1.db" "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE kind = 'global_load' ORDER BY 1" |
        paste -sd' ')"
    equal "instructions of $1" 96 "$(sql "$1.db" "SELECT count(*) FROM instruction WHERE source = 'sass'")"
    equal "integrity of $1" ok "$(sql "$1.db" 'PRAGMA integrity_check')"
}
left killed
finish_left killed "/src/inlined.h:4 /src/kernel.cuh:7"
equal "losses of killed" "" "$(losses killed.db)"
left cut
truncate -s -1 cut.db.spool/cubins
finish_left cut /src/inlined.h:4
reports cut "cubin not kept 1 time: crc 78: the spool's file of cubins ends before it does"

# Many modules with a kernel of one name: the lines are those of the one that ran, and it alone is kept.
export CUPTI_STANDIN_MODULES=500
deep many "$cubins/lines.cubin"
unset CUPTI_STANDIN_MODULES
equal "cubins of 500" 576 "$(sql many.db "SELECT group_concat(crc) FROM cubin")"
equal "lines of one of 500" "/src/inlined.h:4" "$(sql many.db \
    "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE kind = 'global_load'")"
equal "losses of 500" "" "$(losses many.db)"

says many.txt "inlined at /src/inlined.cu:14"
reports many "inlined.h:4, inlined at inlined.cu:14"

# The kernel's load is in a header: both lines, and where the header was inlined.
equal "a kernel's line in a header" "inlined.h:4 < inlined.cu:14" "$(sql many.db "SELECT DISTINCT
    replace(file, '/src/', '') || ':' || line || ' < ' || replace(caller_file, '/src/', '') || ':' || caller_line
    FROM v_instruction WHERE kind = 'global_load'")"
