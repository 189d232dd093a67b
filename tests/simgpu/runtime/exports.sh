# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The runtime exports every name that the toolkit's libcudart.so.13 exports, under the same version, and
# no other; it needs nothing but libc.
# From ctest: SIM_LIB, the folder of the software device; CUDART, the toolkit's library (may be missing).
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
: "${SIM_LIB:?}" "${CUDART?}"

names() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TVWDi]/ { print $3 }' | sort -u
}

ours=$SIM_LIB/libcudart.so.13
soname=$(readelf -d "$ours" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libcudart.so.13 ] || fail "SONAME is '$soname'"
needed=$(readelf -d "$ours" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libdl|libpthread|libgcc_s|ld-linux-x86-64)\.so' || true)
[ -z "$needed" ] || fail "needs $needed"
[ -e "$CUDART" ] || skip "no libcudart.so.13 of a toolkit to compare with"
same "exported names differ" <(names "$CUDART") <(names "$ours")
echo "$(names "$ours" | wc -l) names"
