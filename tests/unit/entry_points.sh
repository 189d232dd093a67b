#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of entry points is what its script makes of cuda.h, and every hook is in it.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${CUDA_INCLUDE:?}" "${CUDA_VERSION:?}"
folder=$GMT_SOURCE/libtrace/record

sed -nE 's/^GMT_HOOK\w*\((\w+),.*/\1/p' "$GMT_SOURCE/preload/driver/hooks.def" | sort >"$work/hooks"
sed -nE 's/^GMT_ENTRY_POINT\((\w+),.*/\1/p' "$folder/entry_points.def" | sort >"$work/table"
[ -s "$work/hooks" ] && [ -s "$work/table" ]
lacking=$(comm -23 "$work/hooks" "$work/table")
equal "hooked, and not in the table" "" "$lacking"

# Another toolkit has functions more, or fewer.
case $CUDA_VERSION in
13.0.*) ;;
*) skip "the table is that of 13.0, the toolkit is $CUDA_VERSION" ;;
esac
"$folder/entry_points.py" "${CUDA_INCLUDE%%;*}" >"$work/made"
same "entry_points.def (+) is not what entry_points.py makes (-)" "$work/made" "$folder/entry_points.def"
