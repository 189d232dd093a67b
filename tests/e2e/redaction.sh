#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --redact on what the software device records, with instructions, source text, ranges and an example
# program of several files: no name of it is in any report.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
command -v python3 >/dev/null || skip "no python3"
gmtrace=$GMT_BUILD/bin/gmtrace
programs=$GMT_BUILD/tests/e2e/programs
[ -x "$programs/places" ] || skip "the programs are not built (no nvcc)"

run places "$gmtrace" --device sim -o places.db "$programs/places"
finished places.db
run nested "$gmtrace" --device sim -o nested.db "$programs/places" nested
finished nested.db
run pipeline "$gmtrace" --device sim -o pipeline.db "$GMT_BUILD/bin/pipeline_slow_shared" --size 512 --frames 1
finished pipeline.db
run basic env SIMGPU_THREADS=1 "$gmtrace" --device sim -o basic.db "$CLIENTS/driverclient" basic
finished basic.db
equal "source text in traces" 1 "$(sql pipeline.db "SELECT count(*) > 0 FROM source_file WHERE text IS NOT NULL")"

export XDG_CACHE_HOME=$work/cache
python3 "$GMT_SOURCE/tests/rules/redact_leaks.py" "$GMT_BUILD/bin/gmanalyze" "" places.db nested.db pipeline.db basic.db >leaks.txt 2>leaks.err ||
    fail "$(cat leaks.txt leaks.err)"
cat leaks.txt
