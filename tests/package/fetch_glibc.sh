#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_glibc.sh FOLDER [ARCHITECTURE]: puts an old glibc (for amd64) into FOLDER/root, and its version into FOLDER/version: 2.28
# of Debian 10, or 2.31 of Debian 11 where the archive cannot be reached. By apt, which checks signatures, with folders of
# its own: nothing of the system changes. What is there already stays.
set -euo pipefail
folder=${1:?usage: fetch_glibc.sh FOLDER [ARCHITECTURE]}
architecture=${2:-amd64}
[ ! -s "$folder/version" ] || exit 0
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
keys=/usr/share/keyrings/debian-archive-keyring.gpg,/usr/share/keyrings/debian-archive-removed-keys.gpg

# from MIRROR SUITE
from() {
    local apt=$folder/$2
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "deb [arch=$architecture signed-by=$keys] $1 $2 main" >"$apt/sources.list"
    local options=(-q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
        -o Dir::Cache="$apt/cache" -o Acquire::Check-Valid-Until=false -o Acquire::Retries=0 -o APT::Sandbox::User=root
        -o Acquire::http::Timeout=20 -o Dir::State::status=/dev/null
        -o APT::Architecture="$architecture" -o APT::Architectures="$architecture")
    # The status is 0 also where nothing was fetched.
    if ! { apt-get "${options[@]}" update && (cd "$apt" && apt-get "${options[@]}" download "libc6:$architecture"); }; then
        rm -rf "$apt"
        return 1
    fi
    dpkg -x "$apt"/libc6_*.deb "$folder/root"
    dpkg-deb -f "$apt"/libc6_*.deb Version >"$folder/version"
    rm -rf "$apt"
}

from http://archive.debian.org/debian buster ||
    from http://deb.debian.org/debian bullseye
