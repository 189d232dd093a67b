#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/sample-report.html is what gmanalyze makes of the recording of examples/pipeline today, unpacked and byte for byte
# (versions of zlib pack differently). GMT_UPDATE_GOLDEN=1 writes it.
# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
[ -x "${GMT_BUILD:?}/bin/gmanalyze" ] || skip "gmanalyze is not built"

# The report names its trace and its model: by the same names everywhere.
mkdir -p kernels/models
cp "$GMT_SOURCE/kernels/models/nvidia-h200.json" kernels/models
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >pipeline_slow.db
"$GMT_BUILD/bin/gmanalyze" --calibrate never --model kernels/models/nvidia-h200.json pipeline_slow.db -o sample.html >out 2>err ||
    fail "gmanalyze"
sample=$GMT_SOURCE/docs/sample-report.html
if [ "${GMT_UPDATE_GOLDEN-}" = 1 ]; then
    cp sample.html "$sample"
fi
unpack() {
    python3 -c '
import base64, gzip, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
print(re.sub(r"(<script id=.payload.[^>]*>)([^<]*)", lambda found: found[1] + gzip.decompress(base64.b64decode(found[2])).decode("latin-1"), page))' "$1"
}
unpack sample.html >made.txt
unpack "$sample" >kept.txt
cmp kept.txt made.txt >err 2>&1 || fail "docs/sample-report.html is not current: GMT_UPDATE_GOLDEN=1 ctest -R docs.sample_report"
grep -q '</html>' "$sample" || fail "it has no end"
