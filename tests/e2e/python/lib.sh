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

# The command `python`, and where a fetched one has its libraries and its modules.
python=() libraries='' home=''

# find_pythons VERSION: sets `found` to the interpreters of this machine, each once: among GMT_PYTHONS (paths), what is
# installed, and pyenv's.
find_pythons() {
    local candidate file
    found=()
    for candidate in ${GMT_PYTHONS-} "$(command -v "python$1")" "/usr/bin/python$1" "/usr/local/bin/python$1" \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/${1%t}".*/bin/python3; do
        if [ -x "$candidate" ] && is_version "$1" "$candidate"; then
            # Past a chooser's script.
            file=$("$candidate" -c 'import os, sys; print(os.path.realpath(sys.executable))')
            [[ " ${found[*]-} " == *" $file "* ]] || found+=("$file")
        fi
    done
}

# use_fetched VERSION: sets `python` to the one that Debian has, which is another build: static, stripped, optimized at link time.
# 1: it has none, and fetch.log says why.
use_fetched() {
    local folder=$GMT_BUILD/tests/e2e/python/$1 root loader
    mkdir -p "${folder%/*}"
    flock "${folder%/*}" "$here/fetch" "$1" "$folder" >fetch.log 2>&1 || return 1
    root=$folder/root
    if [ -x "$root/python" ]; then # built here
        python=("$root/python")
        return
    fi
    # By its own loader and C library, which may be newer than this system's; a Debian before these had /usr/lib64 on this one's.
    home=$root/usr
    loader=$root/usr/lib64/ld-linux-x86-64.so.2
    python=("$root/usr/bin/python$1")
    libraries=$root/usr/lib/x86_64-linux-gnu
    if [ -x "$loader" ]; then
        libraries=$root/lib/x86_64-linux-gnu:$libraries:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
        python=("$loader" --library-path "$SIM_LIB:$libraries" "${python[@]}")
        libraries=
    fi
    (at_home && LD_LIBRARY_PATH=$libraries is_version "$1" "${python[@]}") || {
        echo "Debian's does not run here" >fetch.log
        return 1
    }
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
        LD_LIBRARY_PATH=$SIM_LIB${libraries:+:$libraries} LD_PRELOAD=$GMT_LIB GMTRACE_OUTPUT=${OUTPUT:-$PWD/$name.db} \
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

# in_each VERSION CHECK [fetched]: the function CHECK in a folder of its own for each interpreter of this machine, and for Debian's where
# there is none or `fetched` is given. Without any the test is skipped.
in_each() {
    local file count=0
    find_pythons "$1"
    for file in "${found[@]}"; do
        python=("$file")
        in_folder $((count += 1)) "$2"
    done
    if { [ "$count" -eq 0 ] || [ "${3-}" = fetched ]; } && use_fetched "$1"; then
        in_folder $((count += 1)) "$2"
    fi
    [ "$count" -gt 0 ] || skip "no CPython $1: $(tail -n 1 "$work/fetch.log")"
}

in_folder() {
    mkdir "$work/$1"
    cd "$work/$1"
    "$2"
    cd "$work"
}
