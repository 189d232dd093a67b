#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball holds what it should, and its programs work from wherever it is unpacked, without the build
# tree: record on the software device, analyse, find models, man pages and completions.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

command -v cpack >/dev/null || skip "no cpack"
for part in bin/gmtrace bin/gmanalyze lib/libgmtrace.so libexec/gmtrace/gmtrace-recorder share/man/man1/gmanalyze.1; do
    [ -e "$GMT_BUILD/$part" ] || skip "$part is not built"
done

run cpack cpack --config "$GMT_BUILD/CPackConfig.cmake" -G TGZ -B "$work/packed"
equal "cpack's status" 0 "$(cat cpack.status)"
tarballs=("$work"/packed/gmtrace-*.tar.gz)
equal "tarballs" 1 "${#tarballs[@]}"
mkdir somewhere
tar -xzf "${tarballs[0]}" -C somewhere
mv somewhere/gmtrace-* somewhere/else
at=$work/somewhere/else

for file in bin/gmtrace bin/gmanalyze lib/libgmtrace.so libexec/gmtrace/gmtrace-recorder \
    libexec/gmtrace/simgpu/libcuda.so.1 libexec/gmtrace/simgpu/libcudart.so.13 share/gmtrace/models/nvidia-h200.json \
    share/gmtrace/report.schema.json share/gmtrace/several.schema.json share/gmtrace/trend.schema.json share/man/man1/gmtrace.1 share/man/man1/gmanalyze.1 share/man/man1/gmcalibrate.1 \
    share/man/man5/gmtrace.db.5 share/bash-completion/completions/gmtrace \
    share/bash-completion/completions/gmanalyze share/zsh/site-functions/_gmtrace share/zsh/site-functions/_gmanalyze \
    share/fish/vendor_completions.d/gmtrace.fish share/fish/vendor_completions.d/gmanalyze.fish share/doc/gmtrace/LICENSE share/doc/gmtrace/README.md \
    share/doc/gmtrace/docs/json.md; do
    [ -s "$at/$file" ] || fail "$file is not in the tarball"
done
# Nothing of the tests, and no library for linking.
equal "what should not be there" "" "$(find "$at" -name '*.a' -o -name 'test_*' -o -name '*.raw.json' -o -name '*.h')"
for program in "$at"/bin/* "$at"/lib/*.so "$at"/libexec/gmtrace/gmtrace-recorder; do
    if readelf -d "$program" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -qvF "[\$ORIGIN"; then
        fail "$program looks for libraries in places of the machine that built it"
    fi
done

unset GMTRACE_COLLECT LD_LIBRARY_PATH
export PATH=/usr/bin:/bin XDG_CACHE_HOME=$work/cache
# What the program gets is of the tarball.
# shellcheck disable=SC2016 # for that shell
run places "$at/bin/gmtrace" --device sim sh -c 'echo "$LD_PRELOAD" "$LD_LIBRARY_PATH"'
[ "$(cat places.out)" != " " ] || fail "nothing is preloaded"
for place in $(tr -s ': ' '\n' <places.out); do
    case $(realpath "$place") in "$at"/*) ;; *) fail "$place is not of the tarball" ;; esac
done
run record "$at/bin/gmtrace" --device sim -o t.db "$CLIENTS/driverclient" churn 5
equal "the program's status" 0 "$(cat record.status)"
equal "the program's output" "5 rounds" "$(cat record.out)"
finished t.db
equal "launches" 5 "$(sql t.db 'SELECT count(*) FROM launch')"
run analyze "$at/bin/gmanalyze" t.db -o t.html -o t.sarif
equal "gmanalyze's status" 0 "$(cat analyze.status)"
for report in t.html t.sarif; do
    [ -s "$report" ] || fail "no $report"
done
run validate "$at/bin/gmanalyze" validate t.db
equal "validate's status" 0 "$(cat validate.status)"

# The models that come along.
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >h200.db
sqlite3 h200.db 'DELETE FROM device_model'
run model "$at/bin/gmanalyze" --calibrate never --format json h200.db
grep -q "\"origin\": \"$at/bin/../share/gmtrace/models/nvidia-h200.json\"" model.out || fail "the model is of another place"
run doctor "$at/bin/gmtrace" doctor
[ -s doctor.out ] || fail "doctor says nothing"

# From a folder with a space in its name, which LD_PRELOAD cannot hold: the command that doctor prints works, too.
mkdir "some where"
mv "$at" "some where/else"
spaced="$work/some where/else"
run spaced "$spaced/bin/gmtrace" --device sim -o spaced.db "$CLIENTS/driverclient" churn 5
equal "the program's status, from a folder with a space" 0 "$(cat spaced.status)"
equal "the program's output, from a folder with a space" "5 rounds" "$(cat spaced.out)"
finished spaced.db
run doctor "$spaced/bin/gmtrace" doctor
by_hand=$(sed -n 's/^ok *LD_PRELOAD *to preload by hand: \(.*\) .\/app; .*/\1/p' doctor.out)
eval "$by_hand sh -c :" 2>by_hand.err
equal "what the loader says of: $by_hand" "" "$(cat by_hand.err)"
eval "$by_hand cat /proc/self/maps" >by_hand.maps
grep -q '/libgmtrace\.so$' by_hand.maps || fail "not preloaded by: $by_hand"

# Neither list can hold a colon.
mv "$spaced" "some where/or:else"
run colon "$work/some where/or:else/bin/gmtrace" --device sim "$CLIENTS/driverclient" churn 5
equal "the status, from a folder with a colon" 125 "$(cat colon.status)"
equal "lines about a folder with a colon" 1 "$(wc -l <colon.err)"
grep -q 'move gmtrace to another folder$' colon.err || fail "no remedy: $(cat colon.err)"
echo "package: $(du -h "${tarballs[0]}" | cut -f1), runs from anywhere"
