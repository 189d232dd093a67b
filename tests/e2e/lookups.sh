#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A driver that looks its functions up in itself, called by a library's constructor before gmtrace's own has run, through
# functions that are looked up by RTLD_NEXT and RTLD_DEFAULT: no call goes round in circles, each is recorded once.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export LD_LIBRARY_PATH=$CLIENTS/lookup
run t.plain timeout 300 "$CLIENTS/lookup_client"
LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=$work/t.db run t timeout 300 "$CLIENTS/lookup_client"
same_behaviour t
equal "status" 0 "$(cat t.status)"
equal "what the program printed" "constructor 0 0 0|library 0 0|both 0 0" "$(paste -sd'|' t.out)"
finished t.db
nothing_lost t.db
equal "memory, in order, and how much was freed" "111 222 333|3" "$(sql t.db "
    SELECT group_concat(bytes, ' ') || '|' || count(free_end_ns) FROM (SELECT * FROM allocation ORDER BY id)")"
