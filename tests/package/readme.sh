#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lines under "Install" in README.md, as a user types them beside the packages, each in a shell of its own.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
needs python3

for pattern in 'gmtrace-*-linux-x86_64.tar.gz' 'gmtrace-*.whl' 'gmtrace_*_amd64.deb'; do
    ln -s "$(package_file "$pattern")" .
done
sed -n '/^## Install$/,/^## /s/^    //p' "$GMT_SOURCE/README.md" >lines
equal "lines" 3 "$(wc -l <lines)"
# sudo apt: what it would do; package.deb installs the file.
mkdir bin
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\n[ "$1" = install ] && exec dpkg-deb --info "$2"\n' >bin/apt
chmod +x bin/*
python3 -m venv venv >venv.log 2>&1 || skip "no venv: $(tail -n 1 venv.log)"
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PATH=$work/venv/bin:$work/bin:$PATH
while read -r line; do
    bash -c "$line"'
        case $0 in *apt*) ;; *) gmtrace --version && gmanalyze --version ;; esac' "$line" >out 2>err ||
        fail "of README.md: $line"
    rm -f venv/bin/gmtrace venv/bin/gmanalyze
done <lines
echo "readme: $(wc -l <lines) lines"
