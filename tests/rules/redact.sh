#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --redact: what was planted into a trace is in no report, whatever its format, and the
# findings stay the same.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq python3

# A folder is called DIRECTORY, a name of the user's NA_ME (base64, which the page is packed in, has no
# underscore), wherever a trace may hold one.
cat >planted.sql <<'END'
UPDATE process SET exe = '/home/DIRECTORY/NA_ME', command = '/home/DIRECTORY/NA_ME --key DIRECTORY',
    cwd = '/home/DIRECTORY', hostname = 'DIRECTORY', options = 'output=DIRECTORY/t.db;cupti=/DIRECTORY/c';
UPDATE thread SET name = 'NA_ME DIRECTORY';
UPDATE kernel SET name = 'NA_ME<float>' || id, mangled = '_ZNA_ME' || id;
UPDATE kernel SET name = 'NA_ME<(lambda at /home/DIRECTORY/k.cu:3)>' WHERE id = 2;
UPDATE module SET path = '/home/DIRECTORY/NA_ME' WHERE id = 1;
UPDATE string SET text = 'DIRECTORY/NA_ME.cu' WHERE id = 2;
UPDATE string SET text = 'NA_ME::upload()' WHERE id = 3;
INSERT INTO capability VALUES ('cupti', 'missing', 1, 'not found in /home/DIRECTORY/lib', 'set /home/DIRECTORY/x');
INSERT INTO coverage(kind, what, class, detail) VALUES ('runtime', '/home/DIRECTORY/NA_ME', 'shared',
    'version 13: /home/DIRECTORY/libcudart.so.13'), ('runtime', '/home/DIRECTORY/bin/NA_ME', 'static', NULL);
INSERT INTO coverage(kind, what, class, requests, seen, detail)
    VALUES ('entry point', 'cuMemcpyPeerByCarrier', 'unknown', 1, 0, 'linked by NA_ME');
INSERT INTO coverage(kind, what, expected, seen, extra) VALUES ('records', 'copies', 9, 7, 1);
INSERT INTO coverage_example VALUES ('copies', 'call', 1, 'NA_ME in /home/DIRECTORY/x');
INSERT INTO loss VALUES ('module changed since', '/home/DIRECTORY/NA_ME', 1),
    ('kernel class not measured', '_ZNA_ME1: over budget', 2), ('frame not symbolized', '/DIRECTORY/NA_ME', 3);
INSERT INTO instruction(launch_seq, class_id, site, file_id, line, kind, executed, lanes, requests, bytes, sectors,
    ideal_sectors, source) SELECT 1, min(id), 0, 2, 1, 'global_load', 1, 32, 1, 128, 32, 4, 'simulated' FROM kernel_class;
INSERT INTO string VALUES (900, '/home/DIRECTORY/NA_ME.h'), (901, 'NA_ME::inlined()');
INSERT INTO inline_level(chain_id, level, function_id, file_id, line) VALUES (9, 0, 901, 2, 1), (9, 1, 901, 900, 5),
    (9, 2, NULL, 900, 6);
UPDATE instruction SET caller_file_id = 900, caller_line = 6, chain_id = 9;
INSERT INTO source_file VALUES (2, 'embedded', 24, '0', '/* DIRECTORY */ NA_ME();');
END
make_trace planted.db "$rules/golden/trace.sql" planted.sql

cat >unpack.py <<'END'
import base64, gzip, re, sys
html = open(sys.argv[1], encoding="utf-8").read()
packed = re.search(r'<script id="payload"[^>]*>([^<]*)<', html)[1]
sys.stdout.buffer.write(html.replace(packed, "").encode() + gzip.decompress(base64.b64decode(packed)))
END

# analyze NA_ME OPTION...: NA_ME.txt, NA_ME.json, NA_ME.html and, unpacked, NA_ME.page
analyze() {
    local name=$1
    shift
    "$GMANALYZE" --calibrate never --model "$rules/model.json" "$@" -o "$name.json" -o "$name.html" \
        --top 0 planted.db >"$name.txt" 2>err </dev/null || fail "$name: status $? ($(cat err))"
    python3 unpack.py "$name.html" >"$name.page"
}

analyze plain
for format in txt json page; do
    grep -q NA_ME plain.$format || fail "plain.$format does not show what was planted"
done
for plain in plain.json plain.page; do
    grep -q DIRECTORY $plain || fail "no folder in $plain"
done
grep -qF '/* DIRECTORY */' plain.page || fail "the page does not carry the source"
analyze paths --redact=paths
analyze names --redact=names
for format in txt json page; do
    ! grep -q DIRECTORY paths.$format names.$format || fail "a folder is in the $format report"
    ! grep -q NA_ME names.$format || fail "a name is in the $format report"
    ! grep -q "$GMT_SOURCE" paths.$format names.$format || fail "a path of this machine in $format"
    grep -q NA_ME paths.$format || fail "--redact=paths took names out of $format"
done
findings='[.findings[], .notes[] | [.rule, .severity, .cost_ns, .saving]] | sort'
for redacted in paths names; do
    cmp <(jq "$findings" plain.json) <(jq "$findings" $redacted.json) || fail "$redacted: other findings"
done
prints='[.findings[].fingerprint]'
cmp <(jq "$prints" plain.json) <(jq "$prints" paths.json) || fail "other fingerprints without folders"
echo "gmanalyze: nothing planted is in a redacted report"
