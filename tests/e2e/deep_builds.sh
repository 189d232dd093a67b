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
cubins=$GMT_SOURCE/tests/data/cubin

# deep NAME CUBIN [NAME=VALUE ...]: NAME.db, and NAME.txt as gmanalyze lines shows it
deep() {
    local name=$1 cubin=$2
    shift 2
    env CUPTI_STANDIN_CUBIN="$cubin" "$@" "$gmtrace" -c deep --cupti "$standin" -o "$name.db" \
        "$CLIENTS/driverclient" churn 5 >"$name.out" 2>"$name.err" || fail "$name"
    finished "$name.db"
    equal "output of $name" "5 rounds" "$(cat "$name.out")"
    equal "state of $name" ok "$(sql "$name.db" "SELECT state FROM capability WHERE name = 'instructions'")"
    equal "instructions of $name" 48 "$(sql "$name.db" "SELECT count(*) FROM instruction WHERE source = 'sass'")"
    "$gmanalyze" lines "$name.db" >"$name.txt" 2>"$name.err" || fail "gmanalyze lines of $name"
    "$gmanalyze" validate "$name.db" >"$name.valid" 2>&1 || fail "gmanalyze validate of $name"
}

says() {
    grep -qF -- "$2" "$1" || fail "$1 does not say '$2': $(cat "$1")"
}

losses() {
    sql "$1" "SELECT kind FROM loss WHERE kind LIKE 'cubin%'"
}

# Without -lineinfo, as after stripping: the instruction, by its opcode and place, and what to build with.
deep bare "$cubins/bare.cubin"
says bare.txt "no line information: build with nvcc -lineinfo"
grep -q 'LDG +0x' bare.txt || fail "the load is not told by its place: $(cat bare.txt)"
equal "losses without lines" "" "$(losses bare.db)"
equal "lines without lines" 0 "$(sql bare.db "SELECT count(*) FROM v_instruction WHERE line IS NOT NULL")"

# What is no cubin that we can read has no opcodes either: not the compiler's options are to blame.
echo "not what it was" >rubbish.cubin
deep rubbish rubbish.cubin
equal "losses of rubbish" "cubin not readable" "$(losses rubbish.db)"
says rubbish.txt "neither opcodes nor lines: its cubin is not in the trace, see its losses"
! grep -q lineinfo rubbish.txt || fail "-lineinfo would not help"

# The sources are not where they were when the program was built.
if [ ! -e /src/inlined.cu ]; then
    deep moved "$cubins/lines.cubin"
    says moved.txt "/src/inlined.cu  (source: not found)"
    equal "lines of a moved tree" "/src/inlined.cu:14 /src/inlined.h:4" "$(sql moved.db \
        "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE line IN (4, 14) ORDER BY 1" | paste -sd' ')"
fi

# Many modules with a kernel of one name: the lines are those of the one that ran, and it alone is kept.
deep many "$cubins/lines.cubin" CUPTI_STANDIN_MODULES=500
equal "cubins of 500" 576 "$(sql many.db "SELECT group_concat(crc) FROM cubin")"
equal "lines of one of 500" "/src/inlined.h:4" "$(sql many.db \
    "SELECT DISTINCT file || ':' || line FROM v_instruction WHERE kind = 'global_load'")"
equal "losses of 500" "" "$(losses many.db)"

says many.txt "inlined at /src/inlined.cu:14"

# The kernel's load is in a header: both lines, and where the header was inlined.
equal "a kernel's line in a header" "inlined.h:4 < inlined.cu:14" "$(sql many.db "SELECT DISTINCT
    replace(file, '/src/', '') || ':' || line || ' < ' || replace(caller_file, '/src/', '') || ':' || caller_line
    FROM v_instruction WHERE kind = 'global_load'")"
