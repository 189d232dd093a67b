#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Why the device was idle, of a program that says itself for how long its own code kept it waiting. The software device runs a
# kernel inside of the call that launches it: with these times in the trace, it is one of a device with times, and those of the
# host are as they were.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# How the causes compare with what the program says; the machine may take the processor away where the program does not look.
judge() {
    python3 - report.json "$1.out" <<'END'
import json, sys
time = json.load(open(sys.argv[1], encoding="utf-8"))["time"]
planted = {line.split()[0]: int(line.split()[1]) for line in open(sys.argv[2], encoding="utf-8")}
parts = {part["name"]: part for part in time["parts"]}
host = parts["idle_host_code"]
idle = sum(part["ns"] for name, part in parts.items() if name.startswith("idle_"))
wrong = []

def close(what, found, wanted):
    if not abs(found - wanted) <= 0.05 * wanted:
        wrong.append(f"{what}: {found} ns, planted {wanted}")

close("host code", host["ns"], sum(planted.values()) - planted["start-up"])
close("start-up", parts["idle_start_up"]["ns"], planted["start-up"])
for name in ("prepare", "collect", "scenario_idle"):
    here = sum(place["time_ns"] for place in host["places"] if place["function"] == name)
    close(f"host code in {name}()", here, planted[name])
if not sum(planted.values()) >= 0.95 * idle:
    wrong.append(f"{idle} ns idle in all, planted {sum(planted.values())}")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
END
}

for try in first second third fourth fifth sixth; do
    traced "$try" idle 40
    finished "$try.db"
    all_calls_recorded "$try"
    sqlite3 -batch "$try.db" "
UPDATE launch SET device_start_ns = begin_ns + (end_ns - begin_ns) / 2, device_end_ns = end_ns;
DELETE FROM device_op; DELETE FROM capability WHERE name = 'software_device';
INSERT OR REPLACE INTO capability (name, state) VALUES ('device_times', 'ok');"
    "$GMT_BUILD/bin/gmanalyze" --calibrate never --format json "$try.db" >report.json 2>err || fail "gmanalyze: $(cat err)"
    if judge "$try" >judgement; then
        exit 0
    fi
done
cat judgement
fail "idle time is not that of the program"
