#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pipes behind a traced program, and what its children find in their environment.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# Whoever reads the program's output sees its end at once: the recorder holds no end of the pipe.
begin=$(date +%s%N)
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/pipe.db \
    timeout 20 "$CLIENTS/driverclient" many 200000 2>&1 | timeout 20 cat >pipe.out
equal "last line" "200000 copies" "$(tail -1 pipe.out)"
at_most "ms until the pipe was closed" 15000 $((($(date +%s%N) - begin) / 1000000))
finished pipe.db

# Children of a traced shell are traced, too, and it passes LD_PRELOAD on unchanged.
LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/sh.db \
    bash -c '"$0" churn 5; echo "$LD_PRELOAD"' "$CLIENTS/driverclient" >sh.out
equal "LD_PRELOAD of a child" "$GMT_LIB" "$(tail -1 sh.out)"
finished sh.db
