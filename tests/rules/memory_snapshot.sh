#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --memory-snapshot: parts that add up to the total, a replay that agrees with an allocator written independently, and
# files that are no snapshots, each refused with one line.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 python3
python3 "$rules/snapshots.py" .

# report NAME: NAME.out.json of a trace that has the segments, and other allocations.
report() {
    rm -f "$1.db"
    make_trace "$1.db" fixtures/GM204_negative "$PWD/$1.sql"
    expect 0 --calibrate never --memory-snapshot "$1.pickle" -o "$1.out.json" -o "$1.out.md" "$1.db"
}

for file in *.pickle; do
    name=${file%.pickle}
    report "$name"
    python3 - "$name" <<'END' || fail "$name"
import json, sys
name = sys.argv[1]
with open(f"{name}.json") as file:
    facts = json.load(file)
with open(f"{name}.out.json") as file:
    memory = json.load(file)["memory"]["snapshot"]
assert memory["file"] == f"{name}.pickle" and not memory["private_pools"] and memory["unknown_actions"] == 0
device, = memory["devices"]
parts, history = device["parts"], device["history"]

def same(a, b, what):
    assert a == b, f"{what}: {a}, not {b}"

# Whose bytes.
same(parts["tensors"], facts["tensors"], "tensors")
same(parts["rounding"], facts["rounding"], "rounding")
same(parts["unused"], facts["unused"], "unused")
same(device["blocks"], facts["blocks"], "blocks")
same(device["segments"], facts["segments"], "segments")
same(device["segment_bytes"], facts["reserved"], "bytes of segments")
same(sum(parts.values()), device["total_bytes"], "the sum")
same(device["unmatched_bytes"], 0, "unmatched")
for part in "tensors", "outside":
    holders = device[part]
    same(sum(h["bytes"] for h in holders["largest"]) + holders["rest_bytes"], parts[part], f"holders of {part}")
same({h["file"] for h in device["tensors"]["largest"]} - {"/home/user/project/train.py"}, set(), "places")
assert device["at_ns"] is not None
# What the program holds beside: GM204_negative's.
same(sum(h["count"] for h in device["outside"]["largest"]), 9, "other allocations")
# The replay.
if name != "late":
    same(history["recorded_peak_bytes"], facts["peak"], "recorded peak")
    same(history["older_bytes"], 0, "older blocks")
    same(history["replay_error"], 0, "error of the replay")
    same({r["setting"]: r["reserved_bytes"] for r in history["replays"][1:]},
         {k: v for k, v in facts["settings"].items() if k in [r["setting"] for r in history["replays"]]}, "replays")
    assert len(history["replays"]) >= 3
    same(history["caveats"], None, "caveats")
else:
    assert "are older than the history" in history["caveats"], history["caveats"]
    assert history["older_bytes"] > 0 and abs(history["replay_error"]) < 0.2, history["replay_error"]
END
done

if python3 -c 'import jsonschema.validators' 2>/dev/null; then
    python3 "$rules/check_report.py" "$GMT_SOURCE/docs/report.schema.json" ./*.out.json
fi

# An error: who held what, and what would have helped.
python3 - <<'END' || fail "out of memory"
import json
with open("growing.out.json") as file:
    history = json.load(file)["memory"]["snapshot"]["devices"][0]["history"]
error, = history["out_of_memory"]
MIB = 1 << 20
assert (error["asked_bytes"], error["free_bytes"]) == (900 * MIB, 64 * MIB)
assert error["reserved_bytes"] == error["requested_bytes"] == error["holders"]["largest"][0]["bytes"] == 176 * MIB
assert all(r["fits"] is False for r in history["replays"])
assert history["advice"].endswith("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), history["advice"]
assert history["peak"]["requested_bytes"] == (176 + 172) * MIB
# What the trace allocated beside, at that time.
assert error["outside_bytes"] == sum(h["bytes"] for h in error["outside"]["largest"]) > 0
# Memory in pieces that are too small: other settings would have let the request through.
with open("stuck.out.json") as file:
    history = json.load(file)["memory"]["snapshot"]["devices"][0]["history"]
error, = history["out_of_memory"]
assert (error["reserved_bytes"], error["requested_bytes"]) == (240 * MIB, 60 * MIB)
assert {r["setting"]: (r["needed_bytes"], r["fits"]) for r in history["replays"][:2]} == {
    None: (340 * MIB, False), "expandable_segments:True": (160 * MIB, True)}, history["replays"]
assert "the request that failed would have fit" in history["advice"], history["advice"]
END

# Which setting is worth it: of what is reserved a gain of 7 % is none, and of two that are near to each other it is the one
# that does not depend on sizes.
python3 - <<'END' || fail "advice"
import json
EXPANDABLE, ROUNDED = "expandable_segments:True", "roundup_power2_divisions:4"
MIB = 1 << 20
for name, recorded, expandable, rounded, advised in (
        ("hole_of_7_percent", 1420, 1320, None, None), ("hole_of_15_percent", 660, 560, None, EXPANDABLE),
        ("bucket_7_percent_better", 204, 120, 112, EXPANDABLE), ("bucket_12_percent_better", 294, 180, 160, ROUNDED)):
    with open(f"{name}.out.json") as file:
        history = json.load(file)["memory"]["snapshot"]["devices"][0]["history"]
    held = {r["setting"]: r["reserved_bytes"] / MIB for r in history["replays"]}
    assert len(held) == 5, (name, held)
    assert (held[None], held[EXPANDABLE]) == (recorded, expandable), (name, held)
    assert held[ROUNDED] == rounded if rounded else held[ROUNDED] > recorded, (name, held)
    advice = history["advice"]
    assert advice is None if advised is None else advice.endswith(f"PYTORCH_CUDA_ALLOC_CONF={advised}"), (name, advice)
# What is written when all tensors are gone still says whose the peak was.
with open("emptied.out.json") as file:
    device = json.load(file)["memory"]["snapshot"]["devices"][0]
assert device["tensors"]["largest"] == [] and device["parts"]["tensors"] == 0, device["tensors"]
peak = device["history"]["peak"]
assert peak["requested_bytes"] == 100 * MIB and peak["at_ns"] is not None, peak
assert [(h["label"], h["bytes"]) for h in peak["holders"]["largest"]] == [
    ("train.py:12", 60 * MIB), ("train.py:11", 40 * MIB)], peak["holders"]
END
expect 0 --calibrate never --memory-snapshot emptied.pickle emptied.db
grep -q 'Most tensors: 100 MiB at' out || fail "text: no peak of a snapshot at exit"
grep -q '60.0 MiB  train.py:12 in step, 1 block$' out || fail "text: no place at the peak"
expect 0 --calibrate never --memory-snapshot growing.pickle growing.db
grep -q 'Whose bytes: 320 MiB of device 0 at the memory snapshot' out || fail "text: no heading"
grep -q '176 MiB  train.py:10 in step, 1 block$' out || fail "text: no place"
grep -q 'expandable_segments:True would have reserved 520 MiB in place of 3.83 GiB' out || fail "text: no advice"
grep -q 'Out of memory in PyTorch' out || fail "text: no error"
grep -q 'Most tensors: 348 MiB at' out || fail "text: no peak"
# Markdown has the rows of the text, at the snapshot and at other moments.
awk 'substr($0, 1, 13) ~ /^ +[0-9.]+ [KMGT]?i?B$/ && /tensors|rounding|unused|allocated outside/ {
    size = substr($0, 1, 13); sub(/^ +/, "", size); print "| " size " | " substr($0, 16) " |" }' out >rows
grep -qF '| 176 MiB | tensors, ' rows || fail "the text has no rows: $(cat rows out)"
grep -E '^\| [0-9].* \| (tensors|rounding|unused|allocated outside)' growing.out.md >rows.md
same "rows of the text (-) and of markdown (+) differ" rows rows.md
equal "at the snapshot, with most tensors, and without memory" 3 "$(grep -c 'allocated outside' rows.md)"

# A trace of another run has none of the segments, and the report says so.
make_trace other.db fixtures/GM204_negative
expect 0 --calibrate never --memory-snapshot growing.pickle other.db
tr -s '\n ' ' ' <out >flat
grep -q '176 MiB of its 176 MiB in segments are not in the trace' flat || fail "no word about segments that do not match"

# What a snapshot lacks is said.
python3 - <<'END'
import pickle
with open("growing.pickle", "rb") as file:
    snapshot = pickle.load(file)
with open("bare", "wb") as file:
    pickle.dump({"segments": snapshot["segments"]}, file)
del snapshot["allocator_settings"]
snapshot["device_traces"][0].append({"action": "polished", "addr": 1, "size": 1})
for segment in snapshot["segments"]:
    segment["segment_pool_id"] = (0, 3)
with open("newer", "wb") as file:
    pickle.dump(snapshot, file)
END
expect 0 --calibrate never --memory-snapshot bare growing.db
grep -q 'No history of the allocator' out || fail "no word about a history that is missing"
grep -q 'at the memory snapshot, at most 100 ms' out || fail "without a history the last moment counts"
expect 0 --calibrate never --memory-snapshot newer growing.db
tr -s '\n ' ' ' <out >flat
for word in 'its defaults are assumed' 'Private pools of CUDA graphs are replayed' 'not known were left out: 1\.'; do
    grep -q "$word" flat || fail "no word about: $word"
done

# Redaction: neither folders nor, with names, places.
expect 0 --calibrate never --redact paths --memory-snapshot "$PWD/growing.pickle" -o r.json growing.db
grep -q 'train.py' r.json || fail "paths: the base name is gone"
! grep -q '/home/user\|'"$PWD" r.json || fail "paths: a folder is left"
expect 0 --calibrate never --redact names --memory-snapshot "$PWD/growing.pickle" -o r.json growing.db
! grep -q 'train\|growing.pickle\|"step"' r.json || fail "names: a name is left"

# ---- what is refused, with what is said
refused() {
    expect 3 --calibrate never --memory-snapshot "$1" growing.db
    grep -q "^gmanalyze: $1: $2" err || fail "$1: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "$1: more than a line"
}
python3 - <<'END'
import collections, os, pickle

class Call:
    def __reduce__(self):
        return os.system, ("touch called",)

def write(name, value, protocol=4):
    with open(name, "wb") as file:
        pickle.dump(value, file, protocol)

def block(size, state="inactive"):
    return {"size": size, "requested_size": size, "state": state, "frames": []}

def segment(address, size, blocks):
    return {"address": address, "total_size": size, "stream": 0, "segment_type": "large", "blocks": blocks}

write("call.4", {"segments": [Call()]})
write("call.2", {"segments": [Call()]}, 2)
write("ordered", {"segments": [collections.OrderedDict()]})
write("set", {"segments": {1, 2}})
write("text", {"segments": []}, 0)
write("nothing", None)
write("no_list", {"segments": 5})
write("no_size", {"segments": [segment(4096, 512, [{"state": "inactive"}])]})
write("large", {"segments": [segment(4096, 512, [block(1024)])]})
write("small", {"segments": [segment(4096, 512, [])]})
write("state", {"segments": [segment(4096, 512, [block(512, "gone")])]})
write("overlap", {"segments": [segment(4096, 1024, [block(1024)]), segment(4608, 512, [block(512)])]})
write("negative", {"segments": [segment(-4096, 512, [block(512)])]})
write("huge", {"segments": [segment(4096, 1 << 62, [block(1 << 62)])]})
write("action", {"segments": [], "device_traces": [[{"addr": 1, "size": 1}]]})
write("event", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1}]]})
one = segment(4096, 512, [block(0)] * 3000)
write("many", {"segments": [one] * 3000})
with open("growing.pickle", "rb") as file:
    whole = file.read()
with open("cut", "wb") as file:
    file.write(whole[:-1])
with open("empty", "wb"):
    pass
END
refused call.4 "byte [0-9]*: opcode STACK_GLOBAL makes more than plain data"
refused call.2 "byte [0-9]*: opcode GLOBAL makes more than plain data"
refused ordered "byte [0-9]*: opcode STACK_GLOBAL makes more"
refused set "byte [0-9]*: opcode EMPTY_SET makes more"
refused text "byte 0: not a pickle of protocol 2 to 5"
refused empty "byte 0: not a pickle of protocol 2 to 5"
refused cut "byte [0-9]*: the file ends"
refused nothing "a pickle, but no memory snapshot"
refused no_list "a pickle, but no memory snapshot"
refused no_size "segments\[0\].blocks\[0\] has no size or no state"
refused state "segments\[0\].blocks\[0\] has no size or no state"
refused large "the blocks of segments\[0\] are larger than it"
refused small "the blocks of segments\[0\] are smaller than it"
refused overlap "two segments overlap at 0x1200"
refused negative "segments\[0\] has no address"
refused huge "segments\[0\] has no address or no total_size"
refused action "device_traces\[0\]\[0\] has no action"
refused event "device_traces\[0\]\[0\] has no addr or no size"
refused many "more than 8388608 segments or blocks"
refused missing "No such file"
refused . "Is a directory"
[ ! -e called ] || fail "a pickle was executed"

# One trace only.
expect 2 --calibrate never --memory-snapshot growing.pickle growing.db other.db
grep -q 'memory-snapshot: name one trace' err || fail "several traces: $(cat err)"
