#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# seeds.sh DIR: makes the inputs that fuzz targets start from and that are not in corpus/: traces of the rules'
# fixtures, recordings of the software device, the same as spools. DIR/good.db is one trace of them.
set -euo pipefail
: "${GMT_SOURCE:?}" "${GMT_BUILD:?}" "${SIM_LIB:?}" "${CLIENTS:?}"
out=$1
rm -rf "$out"
mkdir -p "$out/trace" "$out/spool" "$out/settings" "$out/code" "$out/snapshot"
export LC_ALL=C GMTRACE_COLLECT=light
# shellcheck source=tests/rules/traces.sh
source "$GMT_SOURCE/tests/rules/traces.sh"

# Nothing here need survive a crash of the machine.
sqlite3() { command sqlite3 -cmd "PRAGMA synchronous = OFF" "$@"; }

# ---- traces: small pages make small files, and those more inputs a second
for sql in "$GMT_SOURCE"/tests/rules/golden/trace.sql "$GMT_SOURCE"/tests/rules/fixtures/*_positive.sql \
    "$GMT_SOURCE"/tests/rules/{simulated,named_ranges,coverage,heaps,handles}.sql; do
    name=${sql#"$GMT_SOURCE/tests/rules/"}
    name=${name%.sql}
    file=$out/trace/$(basename "$name").db
    sqlite3 "$file" "PRAGMA page_size = 512; VACUUM"
    make_trace "$file" "$name"
done
gunzip -c "$GMT_SOURCE/tests/data/pipeline_fast.db.gz" >"$out/trace/pipeline_fast.db"
golden=$out/trace/trace.db
for sql in simulated named_ranges coverage heaps handles; do
    cp "$golden" "$out/trace/$sql.db"
    sqlite3 "$out/trace/$sql.db" <"$GMT_SOURCE/tests/rules/$sql.sql"
done
cp "$golden" "$out/good.db"

# ---- recordings of the software device
# record NAME LIBRARY SCENARIO...
record() {
    local name=$1 library=$2
    shift 2
    LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$library GMTRACE_OUTPUT=$out/$name \
        "$CLIENTS/driverclient" "$@" >/dev/null
}

# pack FOLDER FILE: a spool as one file (fuzz_spool.c reads it); the zeros at the end of its files are left out.
pack() {
    python3 - "$1" "$2" <<'END'
import os, struct, sys
with open(sys.argv[2], "wb") as out:
    for name in sorted(os.listdir(sys.argv[1])):
        with open(os.path.join(sys.argv[1], name), "rb") as file:
            data = file.read()
        if name == "control": # of a process that is no more
            data = data[:16] + struct.pack("<I", 0x7ffffffe) + data[20:]
        used = data.rstrip(b"\0")
        used += b"\0" * (-len(used) % 64)
        out.write(struct.pack("<16sQQ", name.encode(), len(data), len(used)) + used)
END
}

# Where no recorder lies beside the library, the spool stays.
mkdir "$out/lib"
cp "$GMT_BUILD/lib/libgmtrace.so" "$out/lib"
for scenario in basic "capture 3" "threads 2" mapped memory "graphs 3" graph_switches "reupload 5" "round_trip 3" \
    host_memory "peer 0" errors; do
    name=${scenario%% *}
    # shellcheck disable=SC2086 # a name and its number
    record "$name.db" "$GMT_BUILD/lib/libgmtrace.so" $scenario
    # shellcheck disable=SC2086
    record "$name.spooled.db" "$out/lib/libgmtrace.so" $scenario
    pack "$out/$name.spooled.db.spool" "$out/spool/$name"
    # The recorder goes on when the program has ended; its last work is to remove the spool.
    for ((i = 0; i < 600; i++)); do
        [ -d "$out/$name.db.spool" ] || break
        sleep 0.1
    done
    sqlite3 "$out/$name.db" "PRAGMA page_size = 512; VACUUM"
    mv "$out/$name.db" "$out/trace/sim_$name.db"
done
# One with code that was put aside, of launches that were counted.
standin=$CLIENTS/libcuptisass.so
if [ -e "$standin" ]; then
    GMTRACE_COLLECT=deep GMTRACE_DEEP=phase GMTRACE_COUNTER_BUDGET=unlimited GMTRACE_CUPTI=$standin SIMGPU_INTERFACE=0 \
        CUPTI_STANDIN_CUBIN=$GMT_SOURCE/tests/data/cubin/lines.cubin record counted.db "$out/lib/libgmtrace.so" churn 5
    pack "$out/counted.db.spool" "$out/spool/counted"
fi
rm -rf "${out:?}/lib" "$out"/*.spool

# ---- files of machine code, and what a user writes
cp "$GMT_SOURCE"/tests/data/cubin/*.cubin "$CLIENTS/driverclient_linked" "$out/code"
cp "$GMT_BUILD"/tests/unit/symbols/*.so "$out/code"
{ echo model; cat "$GMT_SOURCE/tests/rules/model.json"; } >"$out/settings/model"

# ---- memory snapshots of a small allocator, without its facts and traces
python3 "$GMT_SOURCE/tests/rules/snapshots.py" "$out/snapshot"
rm "$out"/snapshot/*.sql "$out"/snapshot/*.json
