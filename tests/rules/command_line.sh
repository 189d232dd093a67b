#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze's exit codes, outputs and one-line complaints, on synthetic traces; needs no recording.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 jq
at_exit "chmod -R u+rwx '$work'"

# expect STATUS ARGUMENT...
expect() {
    local wanted=$1 status=0
    shift
    local command=()
    [ "${1-}" != diff ] || { command=(diff); shift; }
    "$GMANALYZE" "${command[@]}" --calibrate never --model "$rules/model.json" "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: gmanalyze $*"
}

# refused TEXT FILE [ARGUMENT...]: status 3, nothing on stdout, one line that names the file and says TEXT.
refused() {
    expect 3 "${@:2}"
    [ ! -s out ] || fail "output about $2"
    [ "$(wc -l <err)" = 1 ] || fail "not one line about $2"
    grep -qF "$2" err || fail "$2 is not named"
    grep -qiE "$1" err || fail "nothing of '$1' about $2"
}

make_trace good.db fixtures/GM101_positive
make_trace clean.db fixtures/GM101_negative

refused 'no such file' absent.db
: >empty.db
refused 'empty' empty.db
mkdir folder.db
refused 'directory' folder.db
head -c 20000 good.db >short.db
refused 'cut short|damaged' short.db
echo 'hello, this is no database at all' >text.db
refused 'not a trace' text.db
sqlite3 foreign.db 'CREATE TABLE t (x)'
refused 'no trace of gmtrace' foreign.db
gzip -k good.db
refused 'compressed; unpack it first: gunzip -k good.db.gz' good.db.gz
cp good.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 9999'
refused 'newer' newer.db
cp good.db closed.db
chmod 000 closed.db
if [ -r closed.db ]; then
    expect 0 closed.db # root reads everything
else
    refused 'permission' closed.db
fi

expect 0 good.db
grep -q 'GM101 small-transfers' out || fail "no finding in text"
[ ! -s err ] || fail "something on standard error"
! grep -q $'\033' out || fail "colours in a file"
expect 0 --skip-rule GM101 good.db
! grep -q 'GM101 small' out || fail "a skipped rule ran"
expect 0 --rule small-transfers --format json good.db
[ "$(grep -c '"outcome"' out)" = 1 ] || fail "more than one rule ran"
expect 0 --list-rules --format json
[ "$(jq length out)" = "$("$GMANALYZE" --list-rules | wc -l)" ] || fail "rules are missing in JSON"
jq -e 'all(.[]; .id and .slug and .title and .category and .explain and (.needs | type == "array"))' out >/dev/null ||
    fail "a rule without all fields"

# --kernel: findings and rows of kernels that match, and nothing else.
make_trace kernels.db fixtures/GM401_positive
expect 0 --format json kernels.db
jq -c '[.findings[].where.kernel, .kernels[].name] | unique' out >all
[ "$(jq length all)" -gt 0 ] || fail "the trace has no kernel"
name=$(jq -r '.[0]' all)
expect 0 --kernel "^${name:0:3}" --format json kernels.db
jq -e --arg name "${name:0:3}" '(.findings | length > 0) and
    all(.findings[].where.kernel, .kernels[].name; startswith($name))' out >/dev/null || fail "--kernel keeps others"
jq '[(.findings | length), (.kernels | length)]' out >kept
# A redacted report shows numbers, and keeps the same kernels.
expect 0 --kernel "^${name:0:3}" --redact=names --format json kernels.db
jq '[(.findings | length), (.kernels | length)]' out | cmp -s - kept || fail "--kernel keeps others of a redacted report"
expect 1 --kernel "^${name:0:3}" --fail-on any kernels.db
refused 'no kernel matches.*; the longest are: work' kernels.db --kernel 'no such kernel|neither' --fail-on any
expect 3 --kernel nosuch --redact=names kernels.db
! grep -q work err || fail "the complaint has a name that is redacted"
expect 0 diff --kernel nosuch kernels.db kernels.db # it may have been there before
expect 0 --format json kernels.db --kernel nosuch good.db
expect 0 --kernel . --fail-on any good.db # its findings are about copies
expect 3 --range forward good.db
[ ! -s out ] || fail "a report on a range that is not there"
grep -q "no range 'forward'" err || fail "a missing range is not reported"
expect 2 --kernel '(' good.db
# What was meant is said, where it is known.
for line in "dif good.db good.db|gmanalyze diff" "--rule small-transfer good.db|small-transfers" "--explain pagable-transfer|pageable-transfer" \
    "--foramt json good.db|--format" "good.db --strcit|--strict" "export --too csv good.db|--to" "-o x.json --tpo 3 good.db|--top"; do
    read -ra words <<<"${line%|*}"
    status=0
    "$GMANALYZE" "${words[@]}" >out 2>err || status=$?
    [ "$status" = 2 ] || fail "status $status of ${line%|*}"
    grep -qF "did you mean '${line#*|}'?" err || fail "nothing of ${line#*|}"
done
# Help promises the endings that there are.
"$GMANALYZE" diff --help | tr -s ' \n' ' ' >out
grep -qF 'extension: .txt, .json, .md or .html.' out || fail "endings of diff: $(cat out)"
# A command behind options is no file, unless there is one of that name; the value of an option is none.
while IFS='|' read -r line meant; do
    read -ra words <<<"$line"
    status=0
    "$GMANALYZE" "${words[@]}" >out 2>err || status=$?
    [ "$status" = 2 ] || fail "status $status of gmanalyze $line"
    [ "$(cat err)" = "gmanalyze: '${meant%% *}' is a command and comes first: gmanalyze $meant" ] || fail "gmanalyze $line: $(cat err)"
done <<'END'
--top 1 fixes good.db|fixes --top 1 good.db
--top=1 fixes good.db|fixes --top=1 good.db
-o x.json --strict diff good.db *.db|diff -o x.json --strict good.db '*.db'
--to csv export good.db|export --to csv good.db
END
expect 3 --kernel fixes good.db
grep -qF "no kernel matches" err || fail "the value of an option is taken for a command: $(cat err)"
expect 0 --top 1 good.db # before a file has that name
cp good.db fixes
"$GMANALYZE" --calibrate never --top 1 fixes >out 2>err || fail "a trace with the name of a command is not read"
rm fixes
# A part of several names is none's mistyped form.
"$GMANALYZE" --rule pageable good.db >out 2>err && fail "rule pageable"
grep -qF "did you mean 'pageable-transfer' or 'pageable-async'?" err || fail "nothing of two rules"
"$GMANALYZE" --no-such-thing good.db >out 2>err && fail "--no-such-thing"
grep -qxF "gmanalyze: no option '--no-such-thing'" err || fail "another word is guessed"
# A value that looks like an option is a value; a beginning that fits several options is refused by that name.
expect 2 -o --format good.db
grep -qF "'--format': the name must end in" err || fail "a value is taken for an option"
expect 2 --ba good.db
expect 2 --s good.db
grep -q 'ambiguous' err || fail "an ambiguous beginning is not called so"
expect 0 --form json good.db
touch dif
"$GMANALYZE" dif >out 2>err && fail "a file that is no trace"
! grep -q 'did you mean' err || fail "a file is taken for a command"
rm dif
"$GMANALYZE" --rule xyz good.db >out 2>err && fail "rule xyz"
! grep -q 'did you mean' err || fail "a word is found for xyz"
for line in -h --help "diff -h" "sql -h" --version; do
    read -ra words <<<"$line"
    "$GMANALYZE" "${words[@]}" >out 2>err || fail "gmanalyze $line"
    if [ ! -s out ] || [ -s err ]; then fail "gmanalyze $line says nothing"; fi
done
expect 2 --kernel a --kernel b good.db

expect 0 -o page.html -o page.json good.db
head -1 page.html | grep -q DOCTYPE || fail "no page"
grep -q gmtrace-report page.json || fail "no json"
grep -q 'GM101 small-transfers' out || fail "-o took the summary away"

expect 0 -o page.sarif -o page.md -o page.csv -o page.txt good.db
expect 0 -o page.sarif.json good.db
grep -q '"version": "2.1.0"' page.sarif.json || fail "no SARIF in .sarif.json"
for name in page.sarif page.md page.csv page.txt; do
    [ -s "$name" ] || fail "no $name"
done
expect 0 --format sarif --source-root / good.db
grep -q '"uriBaseId": "%SRCROOT%"' out || fail "no source below /"

expect 1 --fail-on medium -o gate.json good.db
[ -s gate.json ] || fail "a failed gate suppressed the output"
expect 0 --fail-on high good.db
expect 0 --fail-on any clean.db
expect 1 --fail-on any clean.db good.db
expect 4 --strict good.db
expect 3 --fail-on any absent.db good.db
for command in "" diff; do
    # Said before anything is analysed.
    # shellcheck disable=SC2086 # none or one word
    expect 3 $command -o /nonexistent/page.html good.db ${command:+clean.db}
    if [ -s out ] || [ "$(cat err)" != "gmanalyze: /nonexistent/page.html: No such file or directory" ]; then
        fail "what cannot be written is not said first"
    fi
done
mkdir folder.html
expect 3 -o folder.html good.db
[ ! -s out ] || fail "a folder is refused after the analysis"
equal "what is said of a folder" "gmanalyze: folder.html: Is a directory" "$(cat err)"
# A pager gets colours where they are asked for, whatever the environment says.
for traces in "good.db" "diff good.db clean.db"; do
    # shellcheck disable=SC2086 # words
    NO_COLOR=1 TERM=dumb expect 0 $traces --color=always
    grep -q $'\e' out || fail "no colours of $traces"
    # shellcheck disable=SC2086
    expect 0 $traces
    ! grep -q $'\e' out || fail "colours of $traces in a file"
done
expect 2 --color=blue good.db
expect 3 --model absent.json good.db

expect 2
expect 2 --no-such-option good.db
expect 2 --rule GM999 good.db
expect 2 --explain GM999
expect 2 --format pdf good.db
expect 2 -o report.pdf good.db
expect 2 --top many good.db
expect 2 --top 18446744073709551615 good.db

# The text fits a screen or two unless it is asked for more, and says then what it leaves out.
gzip -dc "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >large.db
expect 0 --top 10 large.db
[ "$(wc -l <out)" -gt 100 ] || fail "all details take $(wc -l <out) lines only"
cp out all
expect 0 large.db
[ "$(wc -l <out)" -le 60 ] || fail "$(wc -l <out) lines"
grep -q -- '--top 0 shows all' out || fail "what was left out is not said"
[ "$(grep -cE '^ +[0-9]+  (high|medium|low)' out)" = "$(grep -cE '^ +[0-9]+  (high|medium|low)' all)" ] ||
    fail "findings were left out"
# How long the path of a file is takes nothing from it.
cp out fits
deep=$work/$(printf 'folder/%.0s' {1..20})
mkdir -p "$deep"
cp "$rules/model.json" "$deep"
expect 0 --model "$deep/model.json" large.db
same "the path of the model changes what fits" fits out
# Lines that are left over show kernels, one each, as long as there are any.
for rule in GM101 GM201 GM306; do
    expect 0 --skip-rule $rule large.db
    if grep -q '… and [0-9]* more (--top 0' out; then
        equal "lines without $rule" 60 "$(wc -l <out)"
        filled=1
    fi
    [ "$(wc -l <out)" -le 60 ] || fail "$(wc -l <out) lines without $rule"
done
[ "${filled-}" = 1 ] || fail "all kernels fit without any rule"
expect 0 --rule GM101 good.db
cp out short
expect 0 --rule GM101 --top 10 good.db
same "a short text was shortened" short out
# On a terminal a line is as wide as that, within reason.
# widest COLUMNS: the most columns that a line of the text takes there.
widest() {
    python3 - "$1" "$GMANALYZE" --calibrate never --top 0 large.db <<'PYTHON'
import fcntl, os, pty, re, struct, sys, termios
columns, line = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    # The size is there before the program asks for it.
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.environ["NO_COLOR"] = "1"
    os.execv(line[0], line)
text = b""
while True:
    try:
        more = os.read(fd, 1 << 16)
    except OSError:
        break
    if not more:
        break
    text += more
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text[-2000:]
print(max(len(re.sub(r"\x1b\[[0-9;]*[mK]", "", line)) for line in text.decode().replace("\r", "").split("\n")))
PYTHON
}
if command -v python3 >/dev/null; then
    for columns in 80 90 100 140 200; do
        equal "the widest line of $columns columns" "$columns" "$(widest $columns)"
    done
    equal "the widest line of 300 columns" 200 "$(widest 300)"
    equal "the widest line of 40 columns" 80 "$(widest 40)"
fi
expect 0 --format json good.db clean.db
expect 2 --format sarif good.db clean.db
expect 0 --list-rules
grep -q '^GM101 ' out || fail "no list of rules"
expect 0 --explain bank-conflict
grep -q '^## How it is priced' out || fail "no explanation"
for page in "$GMT_SOURCE"/docs/rules/GM*.md; do
    name=$(basename "$page" .md)
    expect 0 --explain "${name%%-*}"
    same "--explain ${name%%-*} is not its page" "$page" out
    expect 0 --explain "${name#*-}"
    same "$name is not named after its rule" "$page" out
done
expect 0 --list-rules --format json
mv out rules.json
jq -r '.[] | "\(.id)-\(.slug).md:Needs: \(if .needs == [] then "nothing beside the calls" else .needs | join(", ") end)."' rules.json >rows
while IFS=: read -r page needs; do
    grep -qxF "$needs" "$GMT_SOURCE/docs/rules/$page" || fail "$page: not '$needs'"
done <rows
expect 0 --help
expect 0 --version
# The model of a known GPU is found beside the program, and is nobody's calibration.
make_trace known.db fixtures/GM101_positive
sqlite3 known.db "UPDATE device SET name = 'NVIDIA H200'"
prefix=$work/prefix
mkdir -p "$prefix/bin" "$prefix/share/gmtrace"
cp "$GMANALYZE" "$prefix/bin/gmanalyze"
cp -r "$GMT_SOURCE/kernels/models" "$prefix/share/gmtrace/models"
for program in "$GMANALYZE" "$prefix/bin/gmanalyze"; do
    "$program" --calibrate never --format json known.db >out 2>err || fail "no report by $program"
    grep -q '"match": "shipped"' out || fail "no shipped model found by $program"
    grep -q '"confidence": "modelled"' out || fail "a shipped model called calibrated"
    ! grep -q '"confidence": "calibrated"' out || fail "a shipped model called calibrated"
done
# A model that the user names is one that somebody measured.
"$GMANALYZE" --calibrate never --model "$GMT_SOURCE/kernels/models/nvidia-h200.json" known.db >out 2>err
grep -q 'calibrated on another device' out || fail "another device is not named"

echo "gmanalyze: command line as documented"
