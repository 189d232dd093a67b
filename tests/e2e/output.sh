#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the trace goes: patterns, earlier traces, and places where none can be written.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

plain plain churn 10

# A place that cannot be written to: one line says so, and the program runs as without gmtrace.
touch file
mkfifo pipe
mkdir folder
for place in "$work/absent/trace.db" "$work/file/trace.db" /proc/trace.db "$work/x%Zy.db" /dev/null "$work/pipe" \
    "$work/folder"; do
    OUTPUT=$place traced bad churn 10
    equal "status with $place" 0 "$(cat bad.status)"
    same "output with $place differs" plain.out bad.out
    equal "lines on standard error with $place" 1 "$(wc -l <bad.err)"
    grep -q '^gmtrace: no trace' bad.err || fail "the line does not say that there is no trace"
done
if [ "$(id -u)" != 0 ]; then
    mkdir closed && chmod 555 closed
    OUTPUT=$work/closed/trace.db traced closed churn 10
    equal "status with a read-only folder" 0 "$(cat closed.status)"
fi
equal "files made" "" "$(find . -name '*.db*' -o -name 'pipe.*' -o -name 'folder.*')"
if compgen -G "/dev/null.*" >/dev/null; then
    fail "files were made beside /dev/null"
fi

# The default is trace.db in the folder where the first call is made.
mkdir here && (cd here && LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB "$CLIENTS/driverclient" churn 10 >/dev/null)
finished here/trace.db

# A second run keeps the first trace as .old, a third replaces that.
sleep 0.1
(cd here && LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB "$CLIENTS/driverclient" churn 20 >/dev/null)
finished here/trace.db
equal "launches in the new trace" 20 "$(sql here/trace.db 'SELECT count(*) FROM launch')"
equal "launches in the old trace" 10 "$(sql here/trace.db.old 'SELECT count(*) FROM launch')"
sleep 0.1
(cd here && LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB "$CLIENTS/driverclient" churn 30 >/dev/null)
finished here/trace.db
equal "launches in the old trace after a third run" 20 "$(sql here/trace.db.old 'SELECT count(*) FROM launch')"
equal "files" "trace.db trace.db.old" "$(cd here && echo *)"

# Patterns.
mkdir patterns
WHAT=ever OUTPUT=$work'/patterns/%e-%q{WHAT}-100%%.db' traced pattern churn 10
finished patterns/driverclient-ever-100%.db
RANK=3 WORLD_SIZE=8 OUTPUT=$work/patterns/%r.db traced pattern churn 10
finished patterns/3.db
