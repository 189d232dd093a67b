# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of Python's lines share: an interpreter of a version, and running programs in it.

# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"
here=$GMT_SOURCE/tests/e2e/python

# is_version VERSION COMMAND...: 3.13, or 3.13t for one without the GIL; with what the programs need.
is_version() {
    local version=$1
    shift
    "$@" -c '
import sys, sysconfig, asyncio, ctypes, json, threading, tempfile
want, free = sys.argv[1].rstrip("t"), sys.argv[1].endswith("t")
have = "%d.%d" % sys.version_info[:2]
sys.exit(have != want or free != bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' "$version" 2>/dev/null
}

# Where a fetched one has its libraries, and its modules.
libraries='' home=''

# find_python VERSION: sets `python`, a command. Looked for among GMT_PYTHONS (paths), what is installed, pyenv's, and
# Debian's packages. The test is skipped where there is none.
find_python() {
    mkdir -p "$GMT_BUILD/tests/e2e/python"
    local version=$1 candidate root=$GMT_BUILD/tests/e2e/python/$1 loader
    for candidate in ${GMT_PYTHONS-} "$(command -v "python$version")" "/usr/bin/python$version" /usr/local/bin/"python$version" \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/${version%t}".*/bin/python3; do
        python=("$candidate")
        if [ -x "$candidate" ] && is_version "$version" "$candidate"; then
            return
        fi
    done
    flock "$GMT_BUILD/tests/e2e/python" "$here/fetch" "$version" "$root" >fetch.log 2>&1 ||
        skip "no CPython $version: $(tail -n 1 fetch.log)"
    root=$root/root
    python=("$root/python")
    if [ -x "$root/python" ]; then # built here
        return
    fi
    home=$root/usr
    # By its own loader and C library, which may be newer than this system's; a Debian before these had /usr/lib64 on this one's.
    loader=$root/usr/lib64/ld-linux-x86-64.so.2
    python=("$root/usr/bin/python$version")
    libraries=$root/usr/lib/x86_64-linux-gnu
    if [ -x "$loader" ]; then
        libraries=$root/lib/x86_64-linux-gnu:$libraries:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
        python=("$loader" --library-path "$SIM_LIB:$libraries" "${python[@]}")
        libraries=
    fi
    (at_home && LD_LIBRARY_PATH=$libraries is_version "$version" "${python[@]}") || skip "the CPython $version of Debian does not run here"
}

at_home() {
    [ -z "$home" ] || export PYTHONHOME=$home
}

# in_python NAME SCRIPT ARGUMENTS...: recorded, the trace is NAME.db.
in_python() {
    local name=$1
    shift
    (
        at_home
        LD_LIBRARY_PATH=$SIM_LIB${libraries:+:$libraries} LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=${OUTPUT:-$work/$name.db} \
            run "$name" "${python[@]}" "$@"
    )
    equal "exit status of $name" 0 "$(cat "$name.status")"
    equal "standard error of $name" "" "$(cat "$name.err")"
}

# lines_of NAME SIZES: how many fills have lines of Python in their stacks, of those whose size is in the range.
lines_of() {
    sql "$1.db" "SELECT count(*) FROM memset m WHERE $2 AND EXISTS (SELECT 1 FROM stack_frame s JOIN frame f ON f.id = s.frame_id
        WHERE s.stack_id = m.stack_id AND f.address < 0)"
}
