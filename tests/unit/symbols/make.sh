#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh SOURCE-FOLDER FOLDER CC CXX OBJCOPY [CLANG]: chain.c as shared objects, one for each way in
# which compilers and packagers write debug information. What a compiler cannot do is left out.
set -eu
source=$1 out=$2 cc=$3 cxx=$4 objcopy=$5 clang=${6:-}
rm -rf "$out"
mkdir -p "$out"
cd "$out"
common="-fPIC -shared -Wl,--build-id=sha1"

# make COMPILER NAME FLAG...: NAME.so; quietly nothing where the compiler refuses a flag.
make() {
    compiler=$1 name=$2
    shift 2
    # shellcheck disable=SC2086
    "$compiler" $common -O2 "$@" -o "$name.so" "$source/chain.c" 2>"$name.log" || rm -f "$name.so"
}

make "$cc" dwarf4 -gdwarf-4
make "$cc" dwarf5 -gdwarf-5
make "$cc" line_tables -g1
make "$cc" compressed -g -gz=zlib
make "$cc" lto -g -flto
make "$cc" plain
if [ -n "$clang" ]; then
    make "$clang" clang -g
    make "$clang" clang_dwarf4 -gdwarf-4
    make "$clang" clang_line_tables -gline-tables-only
fi
[ -f dwarf5.so ]
# shellcheck disable=SC2086
"$cxx" $common -O2 -g -o cxx.so "$source/chain.cc"
# shellcheck disable=SC2086
"$cxx" $common -O0 -g -o lambda.so "$source/lambda.cc"
for header in THRUST STD; do
    # shellcheck disable=SC2086
    "$cxx" $common -O0 -g -DOF_$header -I "$source/include" -o "of_$header.so" "$source/headers.cc"
done
# The .dwo files lie beside the objects, which have to be made one by one.
for name in split lost_split; do
    # shellcheck disable=SC2086
    "$cc" $common -O2 -g -gsplit-dwarf -c -o "$name.o" "$source/chain.c"
    # shellcheck disable=SC2086
    "$cc" $common -o "$name.so" "$name.o"
done
rm -f lost_split*.dwo

# Packaged: the program's file without its debug information, which lies elsewhere. Build ids are given:
# equal code would get equal ones.
# split_off NAME DEBUG-FILE BUILD-ID: NAME.so, and its debug information in DEBUG-FILE.
split_off() {
    mkdir -p "$(dirname "$2")"
    # shellcheck disable=SC2086
    "$cc" $common -O2 -g "-Wl,--build-id=$3" -o "$1.so" "$source/chain.c"
    "$objcopy" --only-keep-debug "$1.so" "$2"
    "$objcopy" --strip-all "$1.so"
}
split_off linked .debug/linked.debug 0x1000000000000001
"$objcopy" --add-gnu-debuglink=.debug/linked.debug linked.so
split_off elsewhere symbols/elsewhere.so.debug 0x1000000000000002
split_off unnumbered symbols/unnumbered.debug none
"$objcopy" --add-gnu-debuglink=symbols/unnumbered.debug unnumbered.so
split_off stripped gone.debug 0x1000000000000003
rm gone.debug
split_off by_id id.debug 0xabcdef0123456789
mkdir -p ids/.build-id/ab
mv id.debug ids/.build-id/ab/cdef0123456789.debug
# Debug files of other builds under the right names.
split_off other symbols/other.so.debug 0x1000000000000004
# shellcheck disable=SC2086
"$cc" $common -O2 -g -Wl,--build-id=0x1000000000000005 -o symbols/other.so.debug "$source/chain.c"
split_off changed_sum symbols/changed_sum.debug none
"$objcopy" --add-gnu-debuglink=symbols/changed_sum.debug changed_sum.so
printf x >>symbols/changed_sum.debug
touch made
