#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a report on many calls keeps in memory, by two threads: its page no more than 430 bytes of a call and 20 MB. It was 570
# when the page's calls were made all at once, put in order in a second array, and what both threads had freed was kept.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs python3

if grep -q -a __asan_init "$GMANALYZE"; then
    echo "SKIP: AddressSanitizer keeps what is freed"
    exit 77
fi
python3 "$GMT_SOURCE/tests/bench/make_trace.py" --calls 200000 large.db
python3 - "$GMANALYZE" <<'PYTHON' || fail "peak of memory"
import os, subprocess, sys

calls, gmanalyze = 200000, sys.argv[1]
assert os.stat("large.db").st_size > 8e6  # or one thread would do it all
reports = subprocess.Popen([gmanalyze, "--calibrate", "never", "large.db", "-o", "large.html"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(reports.pid, 0)
assert status == 0, status
peak = usage.ru_maxrss * 1024
print(f"{calls} calls with the page: {peak / 1e6:.1f} MB at most, {(peak - 20e6) / calls:.0f} bytes a call")
sys.exit(peak > 20e6 + 430 * calls)
PYTHON
[ -s large.html ] || fail "no page"
