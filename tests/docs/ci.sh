#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/ci.md is true: its files, taken out of the page, fail on the sample program's mistakes and pass its
# repaired twin; SARIF and GitLab's report name the lines. Recordings stand in for recording.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_BUILD:?}"
needs sqlite3 jq git
export XDG_CACHE_HOME=$work/cache
# The repository of a project that has the sample program's sources.
mkdir -p "$work/project/ci" "$work/bin"
cd "$work/project"
git init -q .
mkdir -p examples
cp -r "$GMT_SOURCE/examples/pipeline" examples/
for name in slow fast; do
    gunzip -c "$GMT_SOURCE/tests/data/pipeline_$name.db.gz" >"$work/$name.db"
done
# gmtrace -o FILE -- NAME: the recording of that name, as recording it would leave it.
cat >"$work/bin/gmtrace" <<'END'
#!/bin/sh
[ "$1" = -o ] && [ "$3" = -- ] && cp "$RECORDINGS/$4.db" "$2"
END
chmod +x "$work/bin/gmtrace"
export PATH=$work/bin:$GMT_BUILD/bin:$PATH RECORDINGS=$work

# block LANGUAGE N: the N-th block of that language of the page.
block() {
    awk -v start="\`\`\`$1" -v wanted="$2" '
        $0 == start { n++; inside = 1; next }
        $0 == "```" { inside = 0 }
        inside && n == wanted' "$GMT_SOURCE/docs/ci.md" >"$3"
    [ -s "$3" ] || fail "docs/ci.md has no block $2 of $1"
}

block sh 1 ci/memory-gate
block json 1 ci/memory-budget.json
block jq 1 ci/code-quality.jq
block yaml 1 github.yml
block yaml 2 gitlab.yml
block sh 2 more.sh

# gate STATUS NAME: the gate on that recording ends so.
gate() {
    local status=0
    sh ci/memory-gate "$2" >out 2>log || status=$?
    [ "$status" = "$1" ] || fail "the gate on $2 ends with $status, not $1"
    for file in memory.html memory.sarif memory.md; do
        [ -s $file ] || fail "no $file of $2"
        grep -q "wrote $file" log || fail "$file is an old one"
    done
}

# The mistake fails, and says which; the repaired twin passes.
gate 1 slow
grep -qE 'FAILED  budget   pageable_bytes +4.02 GiB +<= 1.00 MiB' log || fail "the log lacks what failed"
grep -qE 'FAILED  budget   copies +16,449' log || fail "the log lacks what failed"
# What the page shows as the log's end is the log's end. The saving is a prediction, which may be bettered.
block text 1 shown
without_saving() { sed -E 's/(saving_ns +)[0-9.]+ ms/\1N ms/' "$@"; }
same "docs/ci.md shows another log" <(without_saving shown) <(grep '^gmanalyze: memory.db: \|^  ' log | without_saving)
# SARIF: the lines that the sample's list of planted mistakes has, in files of the repository.
for line in 176 179 171 166; do
    jq -e --argjson line $line 'any(.runs[0].results[].locations[0].physicalLocation;
        .artifactLocation.uri == "examples/pipeline/pipeline_slow.cu" and .region.startLine == $line)' \
        memory.sarif >/dev/null || fail "SARIF lacks line $line"
done
grep -n 'cudaMemcpy' examples/pipeline/pipeline_slow.cu | grep -q '^176:' || fail "line 176 is no copy"
jq -f ci/code-quality.jq memory.sarif >code-quality.json || fail "ci/code-quality.jq"
jq -e 'length >= 4 and all(.[]; .description and .check_name and .fingerprint and .severity and
    .location.path == "examples/pipeline/pipeline_slow.cu" and .location.lines.begin > 0)' code-quality.json >/dev/null ||
    fail "GitLab's report lacks fields: $(cat code-quality.json)"
[ "$(jq 'map(.fingerprint) | unique | length' code-quality.json)" = "$(jq length code-quality.json)" ] ||
    fail "two findings are one to GitLab"
gate 0 fast
! grep -q FAILED log || fail "the repaired twin fails"

# With the main branch's trace as the baseline, going back to the mistake fails beyond the budget.
cp memory.db memory-baseline.db
gate 0 fast
gate 1 slow
grep -qE 'FAILED  baseline copies +16,449 +<= 135 ' log || fail "the baseline is not looked at"
jq '.assertions = {}' ci/memory-budget.json >empty.json && mv empty.json ci/memory-budget.json
gate 1 slow

# The other commands of the page run, and the pipelines call what is there.
cp "$work/slow.db" before.db && cp "$work/fast.db" after.db
for rank in 0 1 2; do cp "$work/slow.db" rank.$rank.db; done
sh -e more.sh >out 2>log || fail "the last commands"
grep -q '^| fixed ' diff.md || fail "no comparison"
for file in github.yml gitlab.yml; do
    grep -q 'sh ci/memory-gate' $file || fail "$file calls no gate"
    if python3 -c 'import yaml' 2>/dev/null; then
        python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' $file || fail "$file is no YAML"
    fi
done
echo "docs/ci.md: as it says"
