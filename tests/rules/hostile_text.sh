#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing of a trace, a model, a budget or a command line reaches a terminal raw; cells that a spreadsheet would run
# begin with an apostrophe; what a pipe does not take leaves reports in files whole; a missing table is named.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 python3

export LC_ALL=C.UTF-8

make_trace good.db golden/trace
sqlite3 good.db "INSERT INTO instruction(launch_seq, class_id, site, file_id, line, kind, executed, lanes, requests, bytes,
    sectors, ideal_sectors, source) SELECT 1, min(id), 0, 2, 1, 'global_load', 1, 32, 1, 128, 32, 4, 'simulated' FROM kernel_class;
    INSERT INTO string VALUES (900, 'step'); INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, depth) VALUES (1, 'push', 1, NULL, 900, 1, 2, 0);
    UPDATE module SET symbols = 'stripped', build_id = 'abc'; INSERT INTO loss VALUES ('some kind', 'of detail', 1);"
python3 "$rules/hostile_text.py" "$GMANALYZE" good.db "$rules/model.json"

# Cells of CSV.
cells=$("$GMANALYZE" sql --format csv good.db "SELECT '=1+1' a, '@x' b, '+cmd|x' c, '-5' d, '-1.5e3' e, -7 f, '-x' g, '+inf' h" | tail -n 1 | tr -d '\r')
[ "$cells" = "'=1+1,'@x,'+cmd|x,-5,-1.5e3,-7,'-x,'+inf" ] || fail "cells: $cells"
cells=$("$GMANALYZE" sql --format csv good.db "SELECT 'a;=1+1;b' a, ';' b, '＋1' c, '－1' d, '＝1' e, '＠x' f, 'a＝' g" | tail -n 1 | tr -d '\r')
[ "$cells" = "\"a;=1+1;b\",\";\",'＋1,'－1,'＝1,'＠x,a＝" ] || fail "cells: $cells"
sqlite3 good.db "UPDATE kernel SET name = '=1+1+cmd|x!A1'"
"$GMANALYZE" --calibrate never --model "$rules/model.json" --format csv good.db >cells.csv
grep -q "'=1+1+cmd" cells.csv || fail "no kernel in the CSV report"
! grep -qE '(^|,"?)=' cells.csv || fail "a cell begins with =: $(grep -E '(^|,"?)=' cells.csv)"

# Nobody reads standard output: the file is whole all the same.
python3 - "$GMANALYZE" <<'END'
import os, signal, subprocess, sys
read, write = os.pipe()
os.close(read)
run = subprocess.run([sys.argv[1], "--calibrate=never", "good.db", "-o", "pipe.html", "-o", "pipe.json"], stdout=write,
                     stderr=subprocess.DEVNULL, restore_signals=True)
assert run.returncode in (-signal.SIGPIPE, 3), run.returncode
END
{ [ -s pipe.html ] && [ -s pipe.json ]; } || fail "no report was written beside a pipe that nobody reads"
python3 -m json.tool pipe.json >/dev/null || fail "half a report beside a pipe that nobody reads"

# A table that is missing.
sqlite3 good.db "DROP TABLE launch"
status=0
"$GMANALYZE" --calibrate never good.db >none.txt 2>none.err || status=$?
[ "$status" = 3 ] || fail "status $status without a table"
grep -q 'launch' none.err || fail "the missing table is not named: $(cat none.err)"
! grep -q 'memory' none.err || fail "a missing table: $(cat none.err)"
