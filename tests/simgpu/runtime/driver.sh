# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Without a driver, and with one that is not the software device's, the runtime says that the driver is
# insufficient; with its own, what it does not support names itself once.
# From ctest: SIM_LIB, the folder of the software device; CLIENT; FOREIGN, the folder of another libcuda.so.1.
set -euo pipefail
: "${SIM_LIB:?}" "${CLIENT:?}" "${FOREIGN:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/gmtrace-runtime.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/alone"
cp "$SIM_LIB/libcudart.so.13" "$work/alone/"

# run FOLDERS ARGUMENT: out and err in $work
run() {
    LD_LIBRARY_PATH=$1 "$CLIENT" "$2" >"$work/out" 2>"$work/err" || {
        echo "FAIL: client $2 with $1"
        cat "$work/out" "$work/err"
        exit 1
    }
}

expect() {
    diff "$work/$1" - || { echo "FAIL: $2"; exit 1; }
}

insufficient() {
    expect out "$1" <<'EOF'
cudaGetDeviceCount cudaErrorInsufficientDriver
cudaMalloc cudaErrorInsufficientDriver
cudaSetDevice cudaErrorInsufficientDriver
cudaGetLastError cudaErrorInsufficientDriver
cudaDriverGetVersion cudaSuccess
count 0 version 0
EOF
}

run "$work/alone" driver
insufficient "without a driver"

run "$work/alone:$FOREIGN" driver
insufficient "with another driver"
lines=$(wc -l <"$work/err")
[ "$lines" = 1 ] || { echo "FAIL: $lines lines about the other driver"; exit 1; }
grep -q 'works only with its own libcuda.so.1' "$work/err" || { cat "$work/err"; exit 1; }

run "$SIM_LIB" unsupported
expect out "what is not supported" <<'EOF'
cudaCreateTextureObject cudaErrorNotSupported
cudaCreateTextureObject cudaErrorNotSupported
cudaIpcGetMemHandle cudaErrorNotSupported
EOF
expect err "names of what is not supported" <<'EOF'
gmtrace software device: cudaCreateTextureObject is not supported
gmtrace software device: cudaIpcGetMemHandle is not supported
EOF
