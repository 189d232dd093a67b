#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# apply_programs.sh [--late] SCENARIO...: driverclient shows the same with all fixes on, for copies of every size, as without gmtrace: calls that
# fail, threads, children, captures, graphs, ends of every kind. --late: also where the software device does work late.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
unset GMTRACE_COLLECT

"$GMT_BUILD/bin/gmtrace" --device sim try -o made.plan "$CLIENTS/driverclient" basic >made.out 2>made.err || fail "$(cat made.err)"
sed -E '/^fix pageable-staging /{s/ [^ ]+$/ proven min_bytes=1 piece_bytes=256 pieces=4/;b}; /^fix block-cache /{s/ [^ ]+$/ proven min_bytes=1/;b}; /^fix /s/ [^ ]+$/ proven/' made.plan >fixes.plan
equal "fixes" 8 "$(grep -c '^fix .* proven' fixes.plan)"

orders=(0)
if [ "$1" = --late ]; then
    orders=(1 2 3 4 5)
    shift
fi
export SIMGPU_ORDER_REPORT=$work/report
for scenario; do
    read -ra words <<<"$scenario"
    plain t.plain "${words[@]}"
    for order in "${orders[@]}"; do
        SIMGPU_ORDER=$order LD_LIBRARY_PATH=$SIM_LIB LD_PRELOAD=$GMT_LIB GMTRACE_APPLY=$work/fixes.plan \
            run t "$CLIENTS/driverclient" "${words[@]}"
        grep -q '^gmtrace: applies pageable-staging, carve-out, block-cache, pinned-cache, rows-in-one, gathered-copies, wait-policy, pool-threshold' t.err ||
            fail "$scenario: nothing is applied: $(cat t.err)"
        sed -i '/^gmtrace: applies /d' t.err
        same_behaviour t
        [ ! -e report ] || fail "$scenario, order $order: $(head -1 report)"
    done
done
