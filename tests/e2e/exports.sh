#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libgmtrace.so exports the hook tables (the driver's names hidden from dlsym, by their version), dlsym, the driver's and
# NVTX's ways in, needs libc only, and loads on glibc 2.34 and later.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

{
    sed -nE 's/^GMT_HOOK\w*\((\w+),.*/\1@GMTRACE/p' "$GMT_SOURCE/preload/driver/hooks.def"
    sed -nE 's/^GMT_CUPTI_HOOK(_OWN)?\((\w+),.*/\2/p' "$GMT_SOURCE/preload/hooks/cupti.def"
    echo dlsym
    echo InitializeInjection
    echo InitializeInjectionNvtx2
    echo InitializeInjectionNvtxExtension
} | sort >expected
nm -D --defined-only "$GMT_LIB" | awk '$2 != "A" { print $3 }' | sort >actual
same "expected (-) and actual (+) exports differ" expected actual
uniq -d expected >twice
equal "rows that occur twice" "" "$(cat twice)"
# The loader takes the first version of a library for a name that is asked for without one.
equal "version of the driver's functions" "2h(GMTRACE)" \
    "$(readelf -VW "$GMT_LIB" | grep -oE '[0-9]+h?\(GMTRACE\)' | sort -u)"
if grep -qE '^cuda[A-Z]' actual; then
    fail "a runtime name is exported"
fi

needed=$(readelf -d "$GMT_LIB" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
    grep -vxE 'libc\.so\.6|libgcc_s\.so\.1|ld-linux-[a-z0-9-]+\.so\.[0-9]' || true)
equal "needed libraries beside libc" "" "$needed"

newest=$(objdump -T "$GMT_LIB" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1)
equal "newest GLIBC version" GLIBC_2.34 \
    "$(printf '%s\nGLIBC_2.34\n' "$newest" | sort -V | tail -1)"
# What the driver opens late, in a static program most of all, finds little room for it: some 700 bytes (preload/state/allocmap.c).
at_most "bytes of thread-local storage" 640 $(($(readelf -lW "$GMT_LIB" | awk '$1 == "TLS" { print $6 }')))
if readelf -d "$GMT_LIB" | grep -qE 'TEXTREL|RPATH|RUNPATH'; then
    fail "text relocations or a search path in the library"
fi
if readelf -lW "$GMT_LIB" | grep -qE 'GNU_STACK.*RWE'; then
    fail "executable stack"
fi
