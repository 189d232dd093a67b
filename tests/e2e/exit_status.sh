#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leaks are reported of programs that exit, whatever their status, and not of those that break off.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# of_leak TRACE: outcome of GM204, and how many allocations its findings name.
of_leak() {
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --rule GM204 --format json "$1" | python3 -c '
import json, sys
report = json.load(sys.stdin)
lost = sum(int(f["evidence"]["allocations"]["value"]) for f in report["findings"])
print(report["rules"][0]["outcome"], lost)'
}

for status in 0 1 7; do
    traced_like_plain exit$status exit_lost $status
    equal "status" $status "$(cat exit$status.status)"
    finished exit$status.db
    equal "what is lost before exit($status)" "fail 4" "$(of_leak exit$status.db)"
done
traced_like_plain aborted exit_lost 256
finished aborted.db
equal "what is lost before abort()" "could not check 0" "$(of_leak aborted.db)"
