#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of entry points is what its script makes of cuda.h, and every hook is in it.
set -euo pipefail
: "${GMT_SOURCE:?}" "${CUDA_INCLUDE:?}" "${CUDA_VERSION:?}"
folder=$GMT_SOURCE/libtrace/record
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -nE 's/^GMT_HOOK\((\w+),.*/\1/p' "$GMT_SOURCE/preload/driver/hooks.def" | sort >"$work/hooks"
sed -nE 's/^GMT_ENTRY_POINT\((\w+),.*/\1/p' "$folder/entry_points.def" | sort >"$work/table"
[ -s "$work/hooks" ] && [ -s "$work/table" ]
lacking=$(comm -23 "$work/hooks" "$work/table")
if [ -n "$lacking" ]; then
    echo "FAIL: hooked, and not in the table: $lacking"
    exit 1
fi

# Another toolkit has functions more, or fewer.
case $CUDA_VERSION in
13.0.*) ;;
*)
    echo "skipped: the table is that of 13.0, the toolkit is $CUDA_VERSION"
    exit 77
    ;;
esac
"$folder/entry_points.py" "${CUDA_INCLUDE%%;*}" >"$work/made"
diff "$work/made" "$folder/entry_points.def" || {
    echo "FAIL: what entry_points.py makes (<) is not what is there (>)"
    exit 1
}
