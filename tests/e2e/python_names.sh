#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace asks Python for the names of its functions: where it is new enough, unless the user has said
# something about it, and nobody else.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
unset PYTHONPERFSUPPORT

# fake NAME VERSION [STREAM]: an interpreter that tells its version and what it was given.
fake() {
    cat >"$1" <<END
#!/bin/sh
[ "\$1" != -V ] || { echo "$2" >&${3:-1}; exit; }
echo "\${PYTHONPERFSUPPORT-unset}"
END
    chmod +x "$1"
}
mkdir -p bin new/bin
fake bin/python3.11 'Python 3.11.2'
fake bin/python3.12 'Python 3.12.2'
fake bin/python3.13t 'Python 3.13.0'
fake bin/python3.14 'Python 3.14.0rc1'
fake bin/python4 'Python 4.0.0'
fake bin/python2.7 'Python 2.7.18' 2
fake bin/python 'no version of this name is chosen'
fake bin/pythonize 'Python 3.13.0'
fake bin/show 'Python 3.13.0'
fake new/bin/python 'Python 3.12.3'
cat >bin/python3.1 <<'END'
#!/bin/sh
[ "$1" != -V ] || exec yes Python
echo "${PYTHONPERFSUPPORT-unset}"
END
sed 's/yes Python/sleep 600/' bin/python3.1 >bin/python3.2
chmod +x bin/python3.[12]
ln -s python3.12 bin/python3
printf '#!%s -u\n' "$PWD/new/bin/python" >script
printf '#!/usr/bin/env -S A=b python3.12\n' >env_script
printf '#!%s\n' "$PWD/script" >twice
chmod +x script env_script twice
export PATH=$PWD/bin:$PATH

# shown WHAT EXPECTED LINES COMMAND...: what the program sees, and how often gmtrace tells of it.
shown() {
    local what=$1 expected=$2 lines=$3
    shift 3
    run last "$gmtrace" "$@"
    equal "$what" "$expected" "$(cat last.out)"
    equal "$what: lines about it" "$lines" "$(grep -c 'PYTHONPERFSUPPORT=1' last.err || true)"
}

shown 'Python 3.13, free-threaded' 1 1 ./bin/python3.13t
shown 'a release to come' 1 1 python3.14
shown 'a major release to come' 1 1 python4
shown 'Python 3.12.3 of an environment' 1 1 new/bin/python
shown 'a script of an environment' 1 1 ./script
shown 'a script of a script' 1 1 ./twice
shown 'Python 3.12.2, whose recursion would suffer' unset 0 python3.12
shown 'a script of env, of 3.12.2' unset 0 ./env_script
shown 'no version known' unset 0 python
shown 'a version without end' unset 0 python3.1
shown 'a version that never comes' unset 0 python3.2
shown 'Python 3.12.2, on' 1 1 --python on python3.12
shown 'a link to 3.12.2, on' 1 1 --python on python3
shown 'a script of env, on' 1 1 --python on ./env_script
shown 'no version known, on' 1 1 --python on python
shown 'Python 2.7, which tells it elsewhere, on' 1 1 --python on python2.7
GMTRACE_PYTHON=on shown 'on by the variable' 1 1 python3.12
for wish in auto on; do
    shown "Python 3.11, $wish" unset 0 --python $wish python3.11
    shown "another program, $wish" unset 0 --python $wish show
    shown "a program with such a name, $wish" unset 0 --python $wish pythonize
done
shown 'switched off' unset 0 --python off python3.13t
GMTRACE_PYTHON=off shown 'switched off by the variable' unset 0 python3.13t
PYTHONPERFSUPPORT=0 shown 'switched off by the user' 0 0 python3.13t
PYTHONPERFSUPPORT='' shown 'set to nothing by the user' '' 0 python3.13t
equal 'status of a wrong word' 125 "$(run last "$gmtrace" --python yes python3.13t && cat last.status)"
