#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze on traces that no recorder of ours would write, read by programs that are not ours: the
# JSON report and the page's payload hold the same valid object. And what is said of a full disk.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3

cat >unpack.py <<'END'
import base64, gzip, json, re, struct, sys
html = open(sys.argv[1], encoding="utf-8", errors="strict").read()
found = re.findall(r'<script id="payload"[^>]*>([^<]*)</script>', html)
raw = gzip.decompress(base64.b64decode(found[0], validate=True))
assert len(found) == 1 and raw[:4] == b"GMTP"
length, = struct.unpack_from("<I", raw, 4)
head = json.loads(raw[8:8 + length])
ends = [c["offset"] + c["bytes"] for t in head["tables"] for c in t["columns"]]
assert max(ends, default=0) == len(raw) - 8 - length, "columns do not fill the payload"
assert head["report"] == json.load(open(sys.argv[2], encoding="utf-8")), "not the JSON report"
title = re.search(r"<title>([^<]*)</title>", html)
template = open(sys.argv[3], encoding="utf-8").read()
assert title and all(html.count(tag) == template.count(tag) for tag in ("<script", "</title>"))
END

for sql in "$rules"/hostile/*.sql; do
    name=$(basename "$sql" .sql)
    make_trace "$name.db" golden/trace "$sql"
    "$GMANALYZE" --calibrate never --model "$rules/model.json" -o "$name.html" -o "$name.json" \
        "$name.db" >"$name.txt" 2>err </dev/null || fail "$name: status $? ($(cat err))"
    jq -e '.format == "gmtrace-report" and (.findings | type == "array")' "$name.json" >/dev/null ||
        fail "$name: the JSON report"
    python3 unpack.py "$name.html" "$name.json" "$GMT_SOURCE/reports/page/built/page.html" || fail "$name: the page"
    iconv -f UTF-8 -t UTF-8 "$name.txt" >/dev/null || fail "$name: the text is not UTF-8"
done

# A full disk is reported in one line, and leaves nothing behind.
make_trace good.db golden/trace
for format in html json txt; do
    status=0
    (trap '' XFSZ; ulimit -f 4
     exec "$GMANALYZE" --calibrate never -o "full.$format" many_kernels.db) >/dev/null 2>err || status=$?
    [ "$status" = 3 ] || fail "$format: status $status on a full disk"
    [ "$(cat err)" = "gmanalyze: full.$format: File too large" ] || fail "$format: $(cat err)"
    [ -z "$(find . -name 'full*')" ] || fail "$format: half a file is left: $(find . -name 'full*')"
done
if [ -e /dev/full ]; then
    for format in html json text; do
        status=0
        "$GMANALYZE" --calibrate never --format $format good.db >/dev/full 2>err || status=$?
        [ "$status" = 3 ] || fail "$format: status $status when standard output is full"
        [ "$(cat err)" = "gmanalyze: standard output: No space left on device" ] ||
            fail "$format: $(cat err)"
    done
fi
echo "gmanalyze: every hostile trace makes valid reports"
