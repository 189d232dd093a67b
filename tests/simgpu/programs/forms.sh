#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# forms.sh FOLDER: do the programs carry their kernels in the forms that their names say?
set -u
folder=$1
failed=0

# expect PROGRAM PATTERN yes|no: is the text in the program's file?
expect() {
    local found=no
    LC_ALL=C grep -qaP -- "$2" "$folder/sim_programs_$1" && found=yes
    if [ "$found" != "$3" ]; then
        echo "sim_programs_$1: '$2' found: $found, wanted: $3"
        failed=1
    fi
}

zstd='\x28\xb5\x2f\xfd'          # how a zstd frame begins
text='ld\.param\.[bu]64'
line='^\s*\.loc\s+\d+ \d+ \d+'
for variant in o3_lines_packed o0_packed; do
    expect $variant "$zstd" yes
    expect $variant "$text" no
done
for variant in o3_plain o0_lines_plain; do
    expect $variant "$text" yes
done
expect o3_plain "$line" no
expect o0_lines_plain "$line" yes
# Unoptimized code keeps variables in local memory, nearly everywhere.
frames() {
    LC_ALL=C grep -acP '\.local .* __local_depot' "$folder/sim_programs_$1"
}
if [ "$(frames o0_lines_plain)" -lt $((5 * $(frames o3_plain))) ]; then
    echo "frames in local memory: o3 $(frames o3_plain), o0 $(frames o0_lines_plain)"
    failed=1
fi
[ "$failed" -eq 0 ] && echo "all programs have the forms that their names say"
exit "$failed"
