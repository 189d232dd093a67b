#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fingerprints of transfers: of which memory, in which mode, and within which budget.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

export GMTRACE_FINGERPRINTS=sampled GMTRACE_FINGERPRINT_BUDGET=100

# Every kind of host memory; the pages that failing copies name are never read, or this would crash.
traced_like_plain kinds host_memory
finished kinds.db
nothing_lost kinds.db
equal "what was hashed, in order" "whole
whole
unreadable
whole
asynchronous
whole
whole
whole
whole" "$(sql kinds.db "SELECT coalesce(skipped, iif(whole, 'whole', 'sampled')) FROM fingerprint
                        ORDER BY transfer_id")"
equal "what each took of the program's time" 0 \
    "$(sql kinds.db "SELECT count(*) FROM fingerprint WHERE (hash IS NULL) <> (hash_ns IS NULL) OR hash_ns <= 0")"
equal "copies that have no place there: on the device, and failed" 2 "$(sql kinds.db \
    "SELECT count(*) FROM transfer WHERE id NOT IN (SELECT transfer_id FROM fingerprint)")"
equal "hashes of three contents" "5 1 1" "$(sql kinds.db "SELECT group_concat(n, ' ') FROM
    (SELECT count(*) AS n FROM fingerprint WHERE hash IS NOT NULL GROUP BY hash ORDER BY n DESC)")"

# The same bytes are uploaded at each step, others to the second place.
traced_like_plain again reupload 10
finished again.db
equal "contents of two places" "1 10" "$(sql again.db "SELECT group_concat(n, ' ') FROM
    (SELECT count(DISTINCT hash) AS n FROM v_fingerprint WHERE direction = 'h2d'
     GROUP BY dst_allocation_id ORDER BY n)")"
equal "all of every buffer" "65536 1" "$(sql again.db \
    "SELECT DISTINCT bytes_hashed, whole FROM fingerprint" | tr '|' ' ')"

# Of what is larger than the limit, blocks only, unless all is asked for.
GMTRACE_FINGERPRINT_LIMIT=0 traced limit reupload 3
finished limit.db
equal "below the size of a sample all is hashed" 1 "$(sql limit.db \
    "SELECT min(whole) FROM fingerprint")"

# Off, and off with light.
GMTRACE_FINGERPRINTS=off traced off reupload 3
finished off.db
equal "rows when off" 0 "$(sql off.db "SELECT count(*) FROM fingerprint")"
GMTRACE_FINGERPRINTS=auto traced auto reupload 3
finished auto.db
equal "rows in light" 0 "$(sql auto.db "SELECT count(*) FROM fingerprint")"
equal "capability in light" off "$(sql auto.db \
    "SELECT state FROM capability WHERE name = 'fingerprints'")"

# Without a budget nothing is hashed, and that is counted.
GMTRACE_FINGERPRINT_BUDGET=0 traced none reupload 10
finished none.db
equal "skipped without a budget" "over_budget 30" "$(sql none.db \
    "SELECT skipped, count(*) FROM fingerprint GROUP BY 1" | tr '|' ' ')"

# Copies recorded into a graph have no content yet.
traced_like_plain graph capture 5
finished graph.db
equal "captured copies with a fingerprint" 0 "$(sql graph.db "SELECT count(*) FROM fingerprint
    JOIN transfer ON id = transfer_id WHERE capturing = 1")"

# Forked children have budgets of their own, and hundreds of threads one together.
plain early.plain fork_early 3
OUTPUT=$work/early.%p.db traced early fork_early 3
same_behaviour early
for db in early.*.db; do
    finished "$db"
    equal "hashed in $db" "2 2" "$(sql "$db" \
        'SELECT count(*), count(hash) FROM fingerprint' | tr '|' ' ')"
done
GMTRACE_FINGERPRINT_BUDGET=3 traced_like_plain threads threads 100
finished threads.db
nothing_lost threads.db
equal "copies of threads with a hash, or why not" 20000 "$(sql threads.db "SELECT count(*) FROM transfer t
    JOIN fingerprint f ON f.transfer_id = t.id WHERE (f.hash IS NULL) = (f.skipped IS NOT NULL)")"

# On a driver like any other there is a limit for all that recording costs. Who names a budget of hashing and no such limit has
# named what hashing may cost; who names both has both, and by default both hold.
export SIMGPU_INTERFACE=0 GMTRACE_FINGERPRINTS=whole
hashed_of() {
    sql "$1.db" "SELECT iif(count(hash) = count(*), 'all', iif(count(hash) > 0, 'some', 'none')) FROM fingerprint"
}
traced budget reupload_for 3000
finished budget.db
equal "hashed with a budget of 100" all "$(hashed_of budget)"
equal "the limit, and hashing" "0.03 1.0 1" "$(sql budget.db "SELECT max(budget) || ' ' || min(hashing) || ' ' ||
    (sum(hashing_ns) > 0.03 * sum(end_ns - begin_ns)) FROM overhead")"
GMTRACE_OVERHEAD=3 traced both reupload_for 3000
finished both.db
equal "hashed with both" some "$(hashed_of both)"
equal "why others are not" over_budget "$(sql both.db "SELECT DISTINCT skipped FROM fingerprint WHERE hash IS NULL")"
[ "$(sql both.db 'SELECT min(hashing) < 1 FROM overhead')" = 1 ] || fail "the limit of all did nothing to hashing"
GMTRACE_FINGERPRINT_BUDGET='' traced neither reupload_for 3000
finished neither.db
equal "hashed with neither" some "$(hashed_of neither)"
# What cannot be read names nothing.
GMTRACE_FINGERPRINT_BUDGET=all traced unread reupload_for 3000
finished unread.db
[ "$(sql unread.db 'SELECT min(hashing) < 1 FROM overhead')" = 1 ] || fail "a budget that cannot be read took hashing out of the limit of all"
