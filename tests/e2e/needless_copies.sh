#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GM105 and GM106 on recorded programs: found with the right numbers, and not in their repaired twins.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export GMTRACE_COLLECT=standard GMTRACE_FINGERPRINT_BUDGET=100 XDG_CACHE_HOME=$work

# evidence TRACE RULE NAME: of its findings, summed up; 0 without any.
evidence() {
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --rule "$2" --format json "$1" |
        python3 -c '
import json, sys
print(sum(int(f["evidence"][sys.argv[1]]["value"]) for f in json.load(sys.stdin)["findings"]))' "$3"
}

for scenario in reupload upload_once round_trip stay_there; do
    traced_like_plain $scenario $scenario 20
    finished $scenario.db
    nothing_lost $scenario.db
done

equal "repeated copies" 19 "$(evidence reupload.db GM105 repeated_copies)"
equal "all of them verified" 19 "$(evidence reupload.db GM105 verified_copies)"
equal "the kernel was seen not to write" 0 "$(evidence reupload.db GM105 doubtful_copies)"
equal "repeated bytes" $((19 * 65536)) "$(evidence reupload.db GM105 bytes)"
equal "repeated copies of the repaired program" 0 \
    "$(evidence upload_once.db GM105 repeated_copies)"
equal "round trips" 19 "$(evidence round_trip.db GM106 round_trips)"
equal "round trips of the repaired program" 0 "$(evidence stay_there.db GM106 round_trips)"
equal "no other finding of either rule" "0 0 0 0" "$(evidence reupload.db GM106 round_trips) $(
    evidence upload_once.db GM106 round_trips) $(evidence round_trip.db GM105 repeated_copies) $(
    evidence stay_there.db GM105 repeated_copies)"

# Without counts of stores the kernel, whose name has no signature, may have written: that is said.
GMTRACE_COLLECT=light GMTRACE_FINGERPRINTS=whole traced light reupload 20
finished light.db
equal "in doubt in light" 19 "$(evidence light.db GM105 doubtful_copies)"
GMTRACE_FINGERPRINTS=off traced off reupload 20
finished off.db
equal "outcome without fingerprints" "could not check" "$("$GMT_BUILD/bin/gmanalyze" \
    --calibrate never --rule GM105 --format json off.db |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["rules"][0]["outcome"])')"
