# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of packages share. From ctest: GMT_BUILD, the build tree of preset release; GMT_SOURCE.

# shellcheck source=tests/lib.sh
source "${GMT_SOURCE:?}/tests/lib.sh"
: "${GMT_BUILD:?}"
packages=$GMT_BUILD/packages
unset "${!GMTRACE_@}" "${!SIMGPU_@}" LD_PRELOAD LD_LIBRARY_PATH

# What makes us root, in a name space of our own.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(unshare --map-root-user)

# package_file PATTERN: the package of that name, which is not older than what is built.
package_file() {
    local found
    mapfile -t found < <(compgen -G "$packages/$1")
    [ -n "${found[*]}" ] || fail "no $1 in $packages: run scripts/package first"
    equal "packages that match $1" 1 "${#found[@]}"
    local program
    for program in bin/gmtrace bin/gmanalyze lib/libgmtrace.so; do
        if [ "$GMT_BUILD/$program" -nt "${found[0]}" ]; then
            fail "${found[0]} is older than $program: run scripts/package again"
        fi
    done
    echo "${found[0]}"
}

# unpack_tarball FOLDER [MACHINE]: as a user does.
unpack_tarball() {
    local tarball
    tarball=$(package_file "gmtrace-*-linux-${2:-x86_64}.tar.gz")
    mkdir -p "$1"
    tar -xzf "$tarball" -C "$1" --strip-components=1
}

# old_root FOLDER: makes of FOLDER a root with nothing in it but an old glibc, the sample and its trace; says which glibc.
# Skips the test where none can be fetched, or where nobody may change the root.
old_root() {
    local root=$1 cache=$GMT_BUILD/old-glibc
    bash "$GMT_SOURCE/tests/package/fetch_glibc.sh" "$cache" >fetch.log 2>&1 || skip "no old glibc: $(tail -n 1 fetch.log)"
    mkdir -p "$root"/{proc,dev,tmp,test}
    cp -a "$cache/root/." "$root"
    inside "$root" /lib64/ld-linux-x86-64.so.2 --list /lib/x86_64-linux-gnu/libm.so.6 >unshare.log 2>&1 ||
        skip "cannot change the root: $(tail -n 1 unshare.log)"
    gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >"$root/test/h200.db"
    cp "$GMT_BUILD/bin/package_sample" "$GMT_BUILD/bin/package_start" "$root/test"
    cat "$cache/version"
}

# inside ROOT COMMAND...: COMMAND, a path in ROOT, with ROOT as its root and folder, /proc of its own processes and our /dev.
# The variables of inside_environment are set.
inside_environment=()
inside() {
    local root=$1
    shift
    # Not exec: the first process of a container has no recorder.
    # shellcheck disable=SC2016 # for that shell
    "${as_root[@]}" unshare --mount --pid --fork --kill-child sh -c 'root=$1; shift
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/test LC_ALL=C LD_BIND_NOW=1 "$@"; exit $?' sh "$root" \
        "${inside_environment[@]}" chroot "$root" "$@"
}
