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
block sh 2 ci/nightly
block sh 3 more.sh

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

# ---- what the pipelines run, step by step, with a cmake that has the program built ----
block json 1 ci/memory-budget.json
rm -f memory* code-quality.json
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
[ "$1" = --build ] || exit 0
mkdir -p build && printf '#!/bin/sh\nexec true\n' >build/app && chmod +x build/app
END
# The recording of what ./build/app is to be.
cat >"$work/bin/gmtrace" <<'END'
#!/bin/sh
[ "$1" = -o ] && [ "$3" = -- ] && [ -x "$4" ] && cp "$RECORDINGS/$APP.db" "$2"
END
chmod +x "$work/bin/cmake"
# steps FILE: each `run` of a workflow of GitHub, or line of a job of GitLab, as "WHEN COMMAND", in order.
steps() {
    python3 - "$1" <<'PYTHON'
import sys, yaml
for job in yaml.safe_load(open(sys.argv[1])).values():
    if not isinstance(job, dict):
        continue
    for each in job.get("gate", {}).get("steps", []):
        if "run" in each:
            when = each.get("if", "success()")
            print("main" if "refs/heads/main" in when else "always" if when == "always()" else "success", each["run"])
    for line in job.get("script", []):
        print("success", line)
    for line in job.get("after_script", []):
        print("always", line)
PYTHON
}
# pipeline STATUS FILE APP: runs it on the main branch.
pipeline() {
    local status=0 when command
    while read -r when command <&3; do
        [ "$when" = always ] || [ "$status" = 0 ] || continue
        APP=$3 GITHUB_STEP_SUMMARY=summary.md CI_COMMIT_BRANCH=main CI_DEFAULT_BRANCH=main sh -c "$command" >out 2>log || {
            [ "$when" != always ] || fail "$2: $command"
            status=1
        }
    done 3< <(steps "$2")
    [ "$status" = "$1" ] || fail "$2 with $3 ends with $status, not $1"
}
if python3 -c 'import yaml' 2>/dev/null; then
    [ "$(steps github.yml | wc -l)" -ge 4 ] || fail "github.yml runs too little"
    [ "$(steps gitlab.yml | wc -l)" -ge 4 ] || fail "gitlab.yml runs too little"
    for file in github.yml gitlab.yml; do
        pipeline 1 $file slow
        [ ! -e memory-baseline.db ] || fail "$file makes a baseline of what failed"
        pipeline 0 $file fast
        [ -s memory-baseline.db ] || fail "$file makes no baseline"
        pipeline 1 $file slow
        rm memory-baseline.db
    done
    [ -s summary.md ] || fail "no summary"
    jq -e 'length > 0' code-quality.json >/dev/null || fail "no report for GitLab"
fi

# ---- every night ----
# gmtrace --label commit=C -o FILE -- NAME: the recording that TWIN names, as if it were made at that night.
cat >"$work/bin/gmtrace" <<'END'
#!/bin/sh
[ "$1" = --label ] && [ "$3" = -o ] && [ "$5" = -- ] && cp "$RECORDINGS/$TWIN.db" "$4" && sqlite3 "$4" "
    INSERT INTO meta VALUES ('labels', '$2,program=$6'); DELETE FROM meta WHERE key = 'run';
    UPDATE process SET realtime_ns = realtime_ns + $NIGHT * 86400000000000"
END
night() {
    local status=0
    NIGHT=$2 TWIN=$3 sh ci/nightly "c$2" app >out 2>log || status=$?
    [ "$status" = "$1" ] || fail "night $2 ends with $status, not $1"
}
for n in 1 2 3 4; do night 0 $n fast; done
for n in 5 6; do night 0 $n slow; done
night 1 7 slow
grep -qE '^  [0-9-]+, commit c5; the run before: [0-9-]+, commit c4$' out || fail "the commit is not named"
grep -qE '^    worse: copies: ' out || fail "the copies are not named"
ACCEPTED=c6 night 0 8 slow
rm -r nights

# ---- without a GPU: gmtrace itself, on the software device ----
rm "$work/bin/gmtrace" memory*
if [ -x "$GMT_BUILD/bin/pipeline_slow_shared" ] && [ -x "$GMT_BUILD/bin/gmtrace" ]; then
    export GMTRACE_DEVICE=sim
    for name in slow fast; do
        printf '#!/bin/sh\nexec pipeline_%s_shared --size 512 --frames 4\n' $name >build/$name
        chmod +x build/$name
    done
    gate 1 build/slow
    grep -qE 'FAILED  budget   copies +1,' log || fail "the software device counts no copies"
    gate 0 build/fast
    grep -qE 'unknown budget   saving_ns' log || fail "a time of the software device is not called unknown"
    # Where nothing was recorded, the trace of another run is not judged.
    rm memory.html memory.sarif memory.md
    status=0
    sh ci/memory-gate true >out 2>log || status=$?
    [ "$status" = 125 ] || fail "the gate on a program without CUDA ends with $status"
    [ ! -e memory.html ] || fail "an older trace was judged"
fi
echo "docs/ci.md: as it says"
