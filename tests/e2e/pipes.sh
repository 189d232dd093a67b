#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Together with others: a second dlsym hook in either order, RTLD_DEEPBIND, pipes, a Python program.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

# gmtrace first, as its launcher puts it: everything is recorded.
PRELOAD=$GMT_LIB:$CLIENTS/libotherdlsym.so traced_like_plain t basic
finished t.db
all_calls_recorded t

# The other first: it asks glibc for the versioned dlsym and may go past gmtrace; what is recorded
# then is complete, and the program works.
PRELOAD=$CLIENTS/libotherdlsym.so:$GMT_LIB traced_like_plain other basic
if [ -e other.db ] || [ -e other.db.spool ]; then
    finished other.db
    all_calls_recorded other
fi

# A plugin loaded with RTLD_DEEPBIND asks libc's own dlsym; it must work, recorded or not.
CLIENT=$CLIENTS/clienthost traced_like_plain deep "$CLIENTS/libclientplugin.so" basic

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
