#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A fix that is mechanical, as each format offers it: applied, it changes what it says and no more.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq patch python3

program=("$GMANALYZE" --calibrate never --model "$rules/model.json" --rule GM107)

make_trace t.db fixtures/GM107_positive
expect 0 --format json t.db
line=$(jq '.findings[0].where.line' out)
file=$(jq -r '.findings[0].where.file' out)
[ "$line" -gt 1 ] || fail "GM107 has no line: $(jq -c '.findings[0].where' out)"
[ "$(jq '[.findings[] | has("patch")] | any' out)" = false ] || fail "a patch without a source"

# The file as the trace carries it: the copy, and lines around it that all differ.
mkdir -p tree/src
for ((i = 1; i <= line + 5; i++)); do
    if [ "$i" = "$line" ]; then
        echo '    cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice);'
    else
        echo "    step($i);"
    fi
done >"tree$file"
sqlite3 t.db "INSERT INTO source_file (file_id, state, text)
    SELECT id, 'embedded', CAST(readfile('tree$file') AS TEXT) FROM string WHERE text = '$file'"
sed "${line}d" "tree$file" >wanted

expect 0 --top 0 t.db -o t.json -o t.sarif -o t.md
grep -q '^ *│ -    cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice);' out || fail "no patch in text"
grep -q '^-    cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice);' t.md || fail "no patch in markdown"
[ "$(jq -c '.findings[0].place | [.line, .first_line, (.lines | length)]' t.json)" = "[$line,$((line - 3)),7]" ] ||
    fail "the source of the finding is not there: $(jq -c '.findings[0].place' t.json)"

grep -q '^ *line    cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice);' out || fail "the line is not in text"

# As JSON has it, by patch(1).
jq -r '.findings[0].patch' t.json >t.diff
cp -r tree patched
patch -s -d patched -p1 <t.diff || fail "the patch does not apply"
same "the patch" wanted "patched$file"

# As SARIF has it: regions of lines and columns, counted from 1.
python3 - "$GMT_SOURCE/tests/data/sarif-2.1.0.schema.json" "tree$file" >fixed <<'END' || fail "SARIF's fix is wrong"
import json, sys
sarif = json.load(open("t.sarif"))
try:
    import jsonschema
    jsonschema.validate(sarif, json.load(open(sys.argv[1])))
except ImportError:
    pass
fixes = [fix for result in sarif["runs"][0]["results"] for fix in result.get("fixes", [])]
assert len(fixes) == 1 and fixes[0]["description"]["text"].startswith("Remove the copy"), fixes
[change] = fixes[0]["artifactChanges"]
[replacement] = change["replacements"]
region, lines = replacement["deletedRegion"], open(sys.argv[2]).readlines()
assert region["startColumn"] == region["endColumn"] == 1 and region["endLine"] == region["startLine"] + 1
lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
sys.stdout.write("".join(lines))
END
same "SARIF's fix" wanted fixed
