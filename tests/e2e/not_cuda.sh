#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs without CUDA: silent, no file, no difference. A process that makes no CUDA call neither.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

mkdir run && cd run
for program in "true" "false" "ls /" "bash -c 'echo hello; exit 5'" "sh -c 'exec sleep 0'" \
    "python3 -c 'import ctypes, subprocess; subprocess.run([\"true\"])'" "env -i true"; do
    plain_status=0
    eval "$program" >../plain.out 2>../plain.err || plain_status=$?
    status=0
    (
        export LD_PRELOAD=$GMT_LIB
        eval "$program"
    ) >../traced.out 2>../traced.err || status=$?
    equal "status of $program" $plain_status $status
    diff ../plain.out ../traced.out || fail "output of $program differs"
    equal "standard error of $program" "$(cat ../plain.err)" "$(cat ../traced.err)"
done
OUTPUT=trace.db traced ../nothing nothing
equal "status" 0 "$(cat ../nothing.status)"
equal "files made" "" "$(ls -A)"
