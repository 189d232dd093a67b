#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup: its small set has all libraries that a build without tests asks for, and none of what only tests use.
# scripts/aarch64 has the same libraries, packages their licences.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
needs pkg-config dpkg-query

setup=$GMT_SOURCE/scripts/setup
"$setup" --list | sort >all
"$setup" --build --list | sort >build
[ -s build ] || fail "nothing is needed to build"
equal "what is needed to build and not in all" "" "$(comm -13 all build)"
for package in libcriterion-dev clang-tidy zsh valgrind chromium nodejs python3-jsonschema; do
    ! grep -qx "$package" build || fail "$package is not needed to build"
done
"$setup" --lists >out 2>err && fail "an unknown option is taken"
grep -q '^usage: scripts/setup \[--build\] \[--list\]$' err || fail "no usage"

# Every library that the product's CMake files look for is of a package in the list.
sed -nE 's/^ *pkg_check_modules\(([A-Z0-9]+) .*[ ]([a-z0-9-]+)(>=[0-9.]+)?\)$/\1 \2/p' \
    "$GMT_SOURCE"/cmake/*.cmake "$GMT_SOURCE"/*/CMakeLists.txt | grep -v '^CRITERION ' >modules
at_most "libraries at least" "$(wc -l <modules)" 6
while read -r _ module; do
    file=$(pkg-config --variable=pcfiledir "$module")/$module.pc
    package=$(dpkg-query -S "$file" 2>/dev/null | cut -d: -f1) || skip "$file is of no package"
    grep -qx "$package" build || fail "$module is of $package, which scripts/setup --build leaves out"
done <modules

# The build for another machine links with the same libraries. Packages have the licence of each (libelf is elfutils' as libdw is).
while read -r package; do
    grep -qw -- "$package" "$GMT_SOURCE/scripts/aarch64" || fail "scripts/aarch64 leaves out $package"
    [ "$package" = libelf-dev ] || grep -qw -- "doc/$package" "$GMT_SOURCE/cmake/GmtPackage.cmake" ||
        fail "the packages have no licence of $package"
done < <(grep -E '^(lib.*|zlib1g)-dev$' build)
