#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace asks Python for the names of its functions: where it is new enough, unless the user has said
# something about it, and nobody else.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
unset PYTHONPERFSUPPORT

# Interpreters that say what they were given: their names and environments are what counts.
mkdir -p bin new/bin old/bin
cat >bin/show <<'END'
#!/bin/sh
echo "${PYTHONPERFSUPPORT-unset}"
END
chmod +x bin/show
for version in 3.11 3.12 3.13t 2.7; do
    cp bin/show "bin/python$version"
done
ln -s python3.12 bin/python3
cp bin/show bin/python
cp bin/show new/bin/python
printf 'home = /usr/bin\nversion = 3.13.0\n' >new/pyvenv.cfg
cp bin/show old/bin/python3
printf 'home = /usr/bin\nversion_info = 3.9.2.final.0\n' >old/pyvenv.cfg
cp bin/show bin/pythonize
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
shown 'a copy in an environment of 3.13' 1 1 new/bin/python
shown 'a script of an environment' 1 1 ./script
shown 'a script of a script' 1 1 ./twice
shown 'Python 3.12, whose recursion would suffer' unset 0 python3.12
shown 'a script of env, of 3.12' unset 0 ./env_script
shown 'a version that is not known' unset 0 python
shown 'Python 3.12, on' 1 1 --python on python3.12
shown 'a link to 3.12, on' 1 1 --python on python3
shown 'a script of env, on' 1 1 --python on ./env_script
shown 'a version that is not known, on' 1 1 --python on python
GMTRACE_PYTHON=on shown 'on by the variable' 1 1 python3.12
for wish in auto on; do
    shown "a copy in an environment of 3.9, $wish" unset 0 --python $wish old/bin/python3
    shown "Python 3.11, $wish" unset 0 --python $wish python3.11
    shown "Python 2.7, $wish" unset 0 --python $wish python2.7
    shown "another program, $wish" unset 0 --python $wish show
    shown "a program with such a name, $wish" unset 0 --python $wish pythonize
done
shown 'switched off' unset 0 --python off python3.13t
GMTRACE_PYTHON=off shown 'switched off by the variable' unset 0 python3.13t
PYTHONPERFSUPPORT=0 shown 'switched off by the user' 0 0 python3.13t
PYTHONPERFSUPPORT='' shown 'set to nothing by the user' '' 0 python3.13t
equal 'status of a wrong word' 125 "$(run last "$gmtrace" --python yes python3.13t && cat last.status)"
