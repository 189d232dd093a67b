#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A kernel that stores out of bounds: every report says first that the program failed, and where; errors that programs handle
# are a line below, and a program without failures has neither.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmanalyze=$GMT_BUILD/bin/gmanalyze
[ -x "$gmanalyze" ] || skip "gmanalyze is not built"
traced fault fault 5
equal "the program's own status" 3 "$(cat fault.status)"
finished fault.db
for format in text json markdown html; do
    "$gmanalyze" --format "$format" --top 10 fault.db >"fault.$format" 2>err || fail "gmanalyze --format $format"
done

alarm='failed: an illegal memory access \(700\); what follows is of a program that failed'
tr '\n' ' ' <fault.text | tr -s ' ' >flat
head -8 fault.text | tr '\n' ' ' | tr -s ' ' >top
grep -qE "cudaDeviceSynchronize at .*$alarm" top || fail "no alarm at the top of the text"
grep -q '── Failed calls ─' fault.text || fail "no section in the text"
grep -q '5 x cudaMemcpy (cuMemcpyHtoD_v2) at .*: an illegal memory access (cudaErrorIllegalAddress, 700)' flat ||
    fail "the copies after that"
grep -q '2 calls returned with an error that programs ask for or handle: ' flat || fail "what was handled"
sed 's|[\]||g' fault.markdown >plain.markdown
grep -qE "^\*\*cuda.*$alarm" plain.markdown || fail "no alarm in markdown"

python3 - fault.json <<'END' || fail "the JSON report"
import json, sys
failed = json.load(open(sys.argv[1]))["failed_calls"]
assert failed["alarm"].endswith("what follows is of a program that failed"), failed["alarm"]
assert {row["result"] for row in failed["rows"]} == {700}, failed["rows"]
copies = [row for row in failed["rows"] if row["where"]["api"].endswith("(cuMemcpyHtoD_v2)")]
assert [row["calls"] for row in copies] == [5], copies
assert all(row["sticky"] and row["error"] == "CUDA_ERROR_ILLEGAL_ADDRESS" for row in failed["rows"])
assert {row["error"]: row["calls"] for row in failed["handled"]} == \
    {"CUDA_ERROR_OUT_OF_MEMORY": 1, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED": 1}, failed["handled"]
assert failed["other_calls"] == 0
END

traced churn churn 5
finished churn.db
"$gmanalyze" churn.db >churn.txt 2>err || fail "gmanalyze"
if grep -qE 'Failed calls|a program that failed' churn.txt; then
    fail "a failure of a program that had none"
fi
