#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GM105, GM106 and GM117 on recorded programs: found with the right numbers, and not in their repaired twins.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export GMTRACE_COLLECT=standard GMTRACE_FINGERPRINT_BUDGET=100 XDG_CACHE_HOME=$work

# evidence TRACE RULE NAME: of its findings, summed up; 0 without any.
evidence() {
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --rule "$2" --format json "$1" |
        python3 -c '
import json, sys
print(sum(int(f["evidence"].get(sys.argv[1], {"value": 0})["value"])
          for f in json.load(sys.stdin)["findings"]))' "$3"
}

for scenario in reupload upload_once round_trip stay_there inputs_back two_buffers parked; do
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

equal "inputs that come back" "20 0" "$(evidence inputs_back.db GM117 redundant_copies) $(
    evidence inputs_back.db GM105 repeated_copies)"
equal "the same bytes to two buffers" "20 0 0" "$(evidence two_buffers.db GM105 held_elsewhere) $(
    evidence two_buffers.db GM117 redundant_copies) $(evidence two_buffers.db GM106 round_trips)"
equal "parked results" "20 0 0" "$(evidence parked.db GM106 freed_meanwhile) $(
    evidence parked.db GM117 redundant_copies) $(evidence parked.db GM105 held_elsewhere)"
for scenario in reupload upload_once round_trip stay_there; do
    equal "needless downloads of $scenario" 0 "$(evidence $scenario.db GM117 redundant_copies)"
done

# Without counts of stores the kernel, whose name has no signature, may have written: that is said.
GMTRACE_COLLECT=light GMTRACE_FINGERPRINTS=whole traced light reupload 20
finished light.db
equal "in doubt in light" 19 "$(evidence light.db GM105 doubtful_copies)"
GMTRACE_FINGERPRINTS=off traced off reupload 20
finished off.db
GMTRACE_COLLECT=light GMTRACE_FINGERPRINTS=whole traced doubt inputs_back 20
finished doubt.db
equal "inputs that a kernel may have written" 0 "$(evidence doubt.db GM117 redundant_copies)"
equal "outcome without fingerprints" "could not check" "$("$GMT_BUILD/bin/gmanalyze" \
    --calibrate never --rule GM105 --format json off.db |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["rules"][0]["outcome"])')"
