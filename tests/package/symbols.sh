#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh MACHINE COUNT: every program and library of the tarball asks for libc only, and there for no version above GLIBC_2.28; it is stripped,
# and looks for libraries beside itself only. What libgmtrace.so exports is what it exports in every build.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
needs readelf nm

machine=${1:?} wanted=${2:?}
unpack_tarball unpacked "$machine"
count=0
while read -r file; do
    name=${file#unpacked/}
    # Not readelf's status: it is 0 for most files that are no ELF.
    [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
    count=$((count + 1))
    newest=$(readelf --wide --version-info "$file" | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*_//' | sort -uV | tail -n 1)
    equal "newest version of glibc that $name needs, and 2.28" 2.28 "$(printf '%s\n2.28\n' "$newest" | sort -V | tail -n 1)"
    others=$(readelf --wide --dynamic "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
        grep -vxE 'lib(c|m)\.so\.6|lib(dl|pthread)\.so\.[02]|librt\.so\.1|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)' || true)
    equal "libraries beside libc that $name needs" "" "$others"
    foreign=$(readelf --wide --dyn-syms "$file" | grep -oE '[A-Za-z_0-9]+@(GLIBCXX|CXXABI|GCC)_[0-9.]+' | sort -u || true)
    equal "symbols of the C++ runtime in $name" "" "$foreign"
    equal "sections of debug information in $name" "" "$(readelf --wide --sections "$file" | grep -oE '\.(debug_|symtab)\w*' || true)"
    # shellcheck disable=SC2016 # the loader's word
    places=$(readelf --wide --dynamic "$file" | sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p' | tr ':' '\n' | grep -v '^$ORIGIN' || true)
    equal "places where $name looks for libraries, but for those beside it" "" "$places"
done < <(find unpacked -type f)
equal "programs and libraries" "$wanted" "$count"
nm -D --defined-only unpacked/lib/libgmtrace.so | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' >exported
grep -E '^(pthread_|dlopen|stat|fstat|gmt_)' exported >leaked || true
equal "names of libc or of ours that libgmtrace.so exports" "" "$(cat leaked)"
grep -qx cuLaunchKernel exported || fail "libgmtrace.so does not export cuLaunchKernel"
echo "symbols: $count programs and libraries"
