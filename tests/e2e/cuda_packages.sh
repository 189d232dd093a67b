# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# NVIDIA's own runtime and CUPTI of CUDA 11.8 and 12.4, from the packages of Debian 12 and 13 (section non-free): loaded for these tests into
# the build folder, and never part of gmtrace. The licence that comes with them (usr/share/doc) is the EULA of the toolkit.

# cuda_packages TOOLKIT: sets cuda to the folder of its libraries; skips the test where they cannot be had. GMT_CUDA_PACKAGES names a folder
# where they lie already, in 11.8 and 12.4.
cuda_packages() {
    local toolkit=$1 release packages folder
    [ "$(uname -m)" = x86_64 ] || skip "they are loaded for x86-64 only"
    case $toolkit in
    11.8) release=bookworm packages=(libcudart11.0 libcupti11.8) ;;
    12.4) release=trixie packages=(libcudart12 libcupti12) ;;
    esac
    folder=${GMT_CUDA_PACKAGES:-$GMT_BUILD/tests/cuda_packages}/$toolkit
    # shellcheck disable=SC2034 # for who asked
    cuda=$folder/usr/lib/x86_64-linux-gnu
    if [ ! -e "$folder/complete" ]; then
        [ -z "${GMT_CUDA_PACKAGES-}" ] || fail "no $folder/complete"
        mkdir -p "$folder"
        (flock 9 && { [ -e "$folder/complete" ] || load_packages "$folder" "$release" "${packages[@]}"; }) 9>"$folder.lock" >packages.log 2>&1 ||
            skip "${packages[*]} of Debian's $release cannot be had: $(tail -1 packages.log)"
    fi
}

# load_packages FOLDER RELEASE PACKAGE...: by apt, from the archive that this machine uses, without touching its lists.
load_packages() {
    local folder=$1 release=$2 archive key=/usr/share/keyrings/debian-archive-keyring.gpg options
    shift 2
    # shellcheck disable=SC2016 # apt's own
    archive=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's|^Debian main \(.*/debian/\)$|\1|p' | head -1)
    if [ -z "$archive" ] || [ ! -r "$key" ]; then
        echo "no archive of Debian is configured"
        return 1
    fi
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
    echo "deb [signed-by=$key] $archive $release non-free" >"$folder/apt/sources.list"
    options=(-q -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/apt/lists"
        -o "Dir::Cache::archives=$folder/apt/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o "APT::Sandbox::User=$(id -un)"
        -o Debug::NoLocking=1 -o Acquire::Retries=2 -o Acquire::http::Timeout=20)
    timeout 120 apt-get "${options[@]}" update &&
        (cd "$folder/apt/archives" && timeout 120 apt-get "${options[@]}" download "$@") &&
        for package in "$folder"/apt/archives/*.deb; do dpkg -x "$package" "$folder" || return 1; done &&
        rm -rf "$folder/apt" && touch "$folder/complete"
}
