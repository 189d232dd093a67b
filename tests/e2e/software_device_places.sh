#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Source lines of the software device: the user's own, not those of the toolkit's headers, and of a function
# that was inlined also the line that calls it; in the trace, in reports and in messages.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
gmtrace=$GMT_BUILD/bin/gmtrace
program=$GMT_BUILD/tests/e2e/programs/places
[ -x "$program" ] || skip "the programs are not built (no nvcc)"

# line FILE PATTERN: "FILE:number" of the one line that ends in the comment PATTERN.
line() { echo "$1:$(grep -n "// $2\$" "$GMT_SOURCE/tests/e2e/programs/$1" | cut -d: -f1)"; }
load=$(line places.h "strided load") first=$(line places.cu "first call") second=$(line places.cu "second call")

run places "$gmtrace" --device sim -o places.db "$program"
equal "result" cudaSuccess "$(cat places.out)"
finished places.db
last() { echo "replace($1, rtrim($1, replace($1, '/', '')), '')"; }
q() { sql places.db "$1"; }
equal "the inlined loads" "$load $first
$load $second" "$(q "SELECT $(last file) || ':' || line || ' ' || $(last caller_file) || ':' || caller_line
    FROM v_instruction WHERE kind = 'global_load' ORDER BY caller_line")"
equal "the atomic is the caller's" "$(line places.cu "a header of the toolkit")||" \
    "$(q "SELECT $(last file) || ':' || line, caller_file, caller_line FROM v_instruction WHERE opcode LIKE 'atom%' OR opcode LIKE 'red%'")"
equal "lines of the toolkit" 0 "$(q "SELECT count(*) FROM v_instruction WHERE file NOT LIKE '%/places.%'")"

"$GMT_BUILD/bin/gmanalyze" places.db -o places.json >places.txt 2>analyze.err || fail "gmanalyze"
for call in "$first" "$second"; do
    grep -q "$load, inlined at $call, ld.global" places.txt || fail "the report does not name $load in $call"
done
equal "quotations of the line" 2 "$(grep -cF 'return from[i * 33]; (32.0 per request where 4.0 would do)' places.txt)"
python3 - places.json "${first#*:}" "${second#*:}" <<'END' || fail "the report in JSON names other lines"
import json, sys
lines = [l for f in json.load(open(sys.argv[1]))["findings"] for l in f["lines"]]
assert sorted(l["caller_line"] for l in lines) == [int(n) for n in sys.argv[2:]], lines
assert all(l["code"] == "return from[i * 33];" and l["per_request"] == 32 and l["ideal_per_request"] == 4 for l in lines), lines
assert all(l["file"].endswith("/places.h") and l["caller_file"].endswith("/places.cu") for l in lines), lines
END

# Three functions inlined into each other: every call between the load and the kernel, by PTX's .loc.
middle=$(line places.h "middle call") outer=$(line places.h "outer call") nested=$(line places.cu "nested call")
run nested "$gmtrace" --device sim -o nested.db "$program" nested
finished nested.db
equal "the chain of the load" "0 strided(int const*, int) $load
1 middle(int const*, int) $middle
2 outer(int const*, int) $outer
3  $nested" "$(sql nested.db "SELECT level || ' ' || coalesce(function, '') || ' ' || $(last file) || ':' || line
    FROM v_inline_level WHERE chain_id = (SELECT chain_id FROM v_instruction WHERE kind = 'global_load') ORDER BY level")"
equal "the store of the kernel itself" "$nested" "$(sql nested.db "SELECT $(last file) || ':' || line FROM v_instruction
    WHERE kind = 'global_store' AND chain_id IS NULL")"
words="inlined at middle ($middle), at outer ($outer), at $nested"
"$GMT_BUILD/bin/gmanalyze" nested.db -o nested.json -o nested.sarif -o nested.md >nested.txt 2>analyze.err || fail "gmanalyze of nested"
tr -s ' \n' ' ' <nested.txt | grep -qF "$load, $words, ld.global" || fail "the report does not name the chain: $(cat nested.txt)"
grep -qF "$load, $words" nested.md || fail "the comment does not name the chain: $(cat nested.md)"
python3 - nested.json nested.sarif "${middle#*:}" "${outer#*:}" "${nested#*:}" <<'END' || fail "the chain in JSON"
import json, sys
wanted = [int(number) for number in sys.argv[3:]]
lines = [l for f in json.load(open(sys.argv[1]))["findings"] for l in f["lines"]]
assert [[c["line"] for c in l["inlined_at"]] for l in lines] == [wanted], lines
assert [c["function"] for c in lines[0]["inlined_at"]] == ["middle(int const*, int)", "outer(int const*, int)", None], lines
assert lines[0]["function"] == "strided(int const*, int)" and lines[0]["chain_count"] == 1, lines
results = json.load(open(sys.argv[2]))["runs"][0]["results"]
related = [[p["physicalLocation"]["region"]["startLine"] for p in r.get("relatedLocations", [])
            if p["message"]["text"] == "inlined here"] for r in results]
assert wanted in related, related
END
"$GMT_BUILD/bin/gmanalyze" validate nested.db >nested.valid || fail "validate: $(cat nested.valid)"

# A kernel that stands in a header itself.
run in_header "$gmtrace" --device sim -o in_header.db "$program" in_header
finished in_header.db
header=$(line places.h "header kernel")
"$GMT_BUILD/bin/gmanalyze" in_header.db >in_header.txt 2>analyze.err || fail "gmanalyze of in_header"
tr -s ' \n' ' ' <in_header.txt | grep -qF "$header, ld.global" || fail "the report does not name $header: $(cat in_header.txt)"

# Two modules with a kernel of one name, both of which run: each has the line of its own.
modules=$GMT_BUILD/tests/gpu/programs/same_name
if [ -x "$modules" ]; then
    run same_name "$gmtrace" --device sim -o same_name.db "$modules"
    finished same_name.db
    sources=$GMT_SOURCE/tests/gpu/programs
    one=$(grep -n '// first module$' "$sources/same_name.cu" | cut -d: -f1)
    other=$(grep -n '// other module$' "$sources/same_name_other.cu" | cut -d: -f1)
    equal "loads of kernels of one name" "1 same_name.cu:$one
2 same_name_other.cu:$other" "$(sql same_name.db "SELECT DISTINCT dense_rank() OVER (ORDER BY c.kernel_id) || ' ' || $(last i.file)
        || ':' || i.line FROM v_instruction i JOIN kernel_class c ON c.id = i.class_id
        WHERE i.kind = 'global_load' AND i.kernel LIKE 'work(%' ORDER BY 1")"
    "$GMT_BUILD/bin/gmanalyze" --top 0 same_name.db >same_name.txt 2>analyze.err || fail "gmanalyze of same_name"
    for place in "same_name.cu:$one, ld.global" "same_name_other.cu:$other, ld.global"; do
        tr -s ' \n' ' ' <same_name.txt | grep -qF "source $place" || fail "no finding names $place: $(cat same_name.txt)"
    done
fi

# says CASE TEXT: the one line on standard error has it.
says() {
    LD_LIBRARY_PATH=$SIM_LIB run "$1" "$program" "$1"
    equal "lines about $1" 1 "$(wc -l <"$1.err")"
    grep -qF -- "$2" "$1.err" || fail "$1: '$2' is not said"
}
fault=$(line places.cu fault)
says faulty "/$load, inlined at $GMT_SOURCE/tests/e2e/programs/$fault: "
says refused "/$(line places.cu refused): wmma.load"

# The listing: what each line moved, beside its text, which travels in the trace.
lines() { "$GMT_BUILD/bin/gmanalyze" lines "$@" >lines.txt 2>lines.err || fail "gmanalyze lines $*"; }
shows() { grep -qE -- "$1" lines.txt || { cat lines.txt >&2; fail "the listing does not show '$1'"; }; }
equal "sources in the trace" "embedded 2" "$(q "SELECT state || ' ' || count(*) FROM source_file GROUP BY state")"
lines nested.db
shows "\| inlined at middle \(/.*/$middle\), at outer \(/.*/$outer\), at /.*/$nested\$"
lines in_header.db
shows "32\.0 / 4\.0 .* load +${header#*:} \|     to\[threadIdx\.x\] = from"
lines places.db
shows "32\.0 / 4\.0 +1\.75 KiB +100 % load +${load#*:} \|     return from\[i \* 33\];"
shows "4\.0 / 4\.0 +store +${second#*:} \|     out\[i\] = "
equal "lines without counts are dimmed text only" 1 "$(grep -cE "^ +${first#*:} \| " lines.txt)"
lines --context 0 places.db
equal "listed lines of code without counts" 0 "$(grep -cE "^ +${first#*:} \| " lines.txt || true)"
lines --format json places.db
python3 - lines.txt "${load#*:}" <<'END' || fail "the listing in JSON"
import json, sys
kernel, = json.load(open(sys.argv[1]))["kernels"]
loads = [l for l in kernel["lines"] if l["kind"] == "global_load"]
assert [l["line"] for l in loads] == [int(sys.argv[2])] and loads[0]["instructions"] == 2, loads
assert loads[0]["excess_bytes"] == kernel["excess_bytes"] == 2 * (32 - 4) * 32, kernel
END
run none "$GMT_BUILD/bin/gmanalyze" lines --kernel nothing places.db
equal "status without a kernel" 4 "$(cat none.status)"
equal "lines about it" 1 "$(grep -c 'matches none of the 1 kernels' none.err)"

run bare_text "$gmtrace" --no-source --device sim -o without.db "$program"
finished without.db
equal "sources that were to be left out" 0 "$(sql without.db "SELECT count(*) FROM source_file")"
lines without.db
shows "source: not in the trace; --local-sources"
equal "text of files that was not asked for" 0 "$(grep -c 'return from' lines.txt || true)"
lines --local-sources without.db
shows "it may have changed since"
