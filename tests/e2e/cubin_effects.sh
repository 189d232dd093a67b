#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cubin_effects.sh: which kernels have effects, in cubins that this machine's nvcc makes in several ways for several devices.
source "${GMT_SOURCE:?}/tests/lib.sh"
: "${CLIENTS:?}" "${NVCC:?the CUDA compiler}"

source=$GMT_SOURCE/tests/e2e/cubin_effects.cu
devices=$("$NVCC" --list-gpu-arch)

# whole DEVICE OPTION...: a cubin of a whole program.
whole() {
    local device=$1
    shift
    "$NVCC" "-arch=sm_$device" -cubin -Wno-deprecated-gpu-targets "$@" -o made.cubin "$source" 2>compiler.log || fail "$(cat compiler.log)"
}

# apart DEVICE OPTION...: one that was compiled apart, and linked.
apart() {
    local device=$1
    shift
    "$NVCC" "-arch=sm_$device" -dc -Wno-deprecated-gpu-targets "$@" -o made.o "$source" 2>compiler.log || fail "$(cat compiler.log)"
    "$NVCC" "-arch=sm_$device" -dlink -cubin -Wno-deprecated-gpu-targets -o made.cubin made.o -lcudadevrt 2>compiler.log || fail "$(cat compiler.log)"
}

# have WHAT KERNEL...: these kernels of made.cubin have effects, and no others; or "all".
have() {
    local what=$1
    shift
    equal "$what" "$(printf '%s\n' "$@" | sort)" "$("$CLIENTS/cubinclient" made.cubin | grep -xE 'k_.*|all' | sort)"
}

plain=(k_allocates k_frees k_prints k_prints_slowly)
tried=0
for device in 75 80 86 90 100 120; do
    grep -q "compute_$device\$" <<<"$devices" || continue
    tried=$((tried + 1))
    whole "$device"
    have "whole program, sm_$device" "${plain[@]}"
    apart "$device" -DCALLS
    have "compiled apart, sm_$device" "${plain[@]}" k_says k_says_in_the_end
    whole "$device" -DCALLS -DPOINTER
    have "pointers, sm_$device" all
done
[ "$tried" -ge 3 ] || fail "nvcc knows only $devices"

whole 90 -lineinfo
have "lines" "${plain[@]}"
whole 90 -G -DCALLS
have "for debuggers" "${plain[@]}" k_says k_says_in_the_end
apart 90 -G -DCALLS
have "for debuggers, compiled apart" "${plain[@]}" k_says k_says_in_the_end
whole 90 -DCALLS
have "functions in the sections of kernels" all
apart 90 -DCALLS -DPOINTER
have "pointers, compiled apart" all
whole 90 -DVIRTUAL
have "virtual functions" all
apart 90 -DVIRTUAL
have "virtual functions, compiled apart" all
apart 90 -DLAUNCHES
have "launches from the device" "${plain[@]}" k_launches
