# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Without a driver, and with one that is not the software device's, the runtime says that the driver is
# insufficient; with its own, what it does not support names itself once.
# From ctest: SIM_LIB, the folder of the software device; CLIENT; FOREIGN, the folder of another libcuda.so.1.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${SIM_LIB:?}" "${CLIENT:?}" "${FOREIGN:?}"
mkdir "$work/alone"
cp "$SIM_LIB/libcudart.so.13" "$work/alone/"

# run FOLDERS ARGUMENT: out and err
run() {
    LD_LIBRARY_PATH=$1 "$CLIENT" "$2" >out 2>err || fail "client $2 with $1"
}

expect() {
    same "$2" - "$1"
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
lines=$(wc -l <err)
[ "$lines" = 1 ] || fail "$lines lines about the other driver"
grep -q 'works only with its own libcuda.so.1' err || fail "it does not say what it works with"

run "$SIM_LIB" unsupported
expect out "what is not supported" <<'EOF'
cudaCreateTextureObject cudaErrorNotSupported
cudaCreateTextureObject cudaErrorNotSupported
cudaIpcGetEventHandle cudaErrorNotSupported
EOF
expect err "names of what is not supported" <<'EOF'
gmtrace software device: cudaCreateTextureObject is not supported
gmtrace software device: cudaIpcGetEventHandle is not supported
EOF
