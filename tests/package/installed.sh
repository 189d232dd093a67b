#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# installed.sh deb|wheel: the package holds the files of the tarball, installs from the file, and its programs record and
# analyse where it was installed.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
kind=${1:?}
needs sqlite3
unpack_tarball unpacked

# use BIN DATA RUN...: gmtrace and gmanalyze of the folder BIN, on what is in DATA, started by RUN.
use() {
    local bin=$1 data=$2
    shift 2
    "$@" "$bin/gmtrace" --device sim -o "$data/sim.db" "$data/package_sample" --size 512 --frames 3 --check >out 2>err ||
        fail "gmtrace"
    grep -qx 'check ok' out || fail "the sample's results are wrong under gmtrace"
    "$@" "$bin/gmanalyze" "$data/sim.db" -o "$data/sim.html" >out
    grep -q 'GM306 local-memory' out || fail "no finding"
    "$@" "$bin/gmanalyze" --calibrate never --format json "$data/h200.db" >h200.json
    grep -q '"origin": ".*/share/gmtrace/models/nvidia-h200.json"' h200.json || fail "the model is not found"
}

(cd unpacked && find . -type f -printf '%P\n' | sort) >expected
gunzip -c "$GMT_SOURCE/tests/data/pipeline_slow.db.gz" >h200.db
sqlite3 h200.db 'DELETE FROM device_model'
case $kind in
deb)
    needs dpkg dpkg-deb unshare chroot apt-get
    deb=$(package_file 'gmtrace_*_amd64.deb')
    equal "architecture" amd64 "$(dpkg-deb -f "$deb" Architecture)"
    equal "what it depends on" "libc6 (>= 2.28)" "$(dpkg-deb -f "$deb" Depends)"
    root=$work/root
    version=$(old_root "$root") || exit
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    # That root's libc6 is unpacked, not installed: dpkg finds it in its list.
    printf 'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nMaintainer: Debian\nDescription: libc\nVersion: %s\n' \
        "$version" >"$root/var/lib/dpkg/status"
    "${as_root[@]}" dpkg --root="$root" --force-script-chrootless --log=dpkg.log -i "$deb" >log 2>&1 || fail "dpkg -i"
    equal "state" "install ok installed" "$(dpkg-query --root="$root" -W -f '${Status}' gmtrace)"
    dpkg-query --root="$root" -L gmtrace | sed -n 's,^/usr/,,p' | while read -r file; do
        if [ -f "$root/usr/$file" ] && [ ! -L "$root/usr/$file" ]; then echo "$file"; fi
    done | sort >actual
    same "files of the tarball (-) and of the .deb (+)" expected actual
    mv h200.db "$root/test"
    use /usr/bin /test inside "$root"
    # /usr/lib is where the loader looks: there the library's name is enough.
    # shellcheck disable=SC2034 # read by inside
    inside_environment=(LD_PRELOAD=libgmtrace.so LD_LIBRARY_PATH=/usr/libexec/gmtrace/simgpu)
    inside "$root" /test/package_sample --size 512 --frames 3 --check >out 2>err || fail "with the library preloaded by name"
    [ -s "$root/trace.db" ] || fail "no trace with the library preloaded by name"
    ;;
wheel)
    needs python3
    wheel=$(package_file 'gmtrace-*.whl')
    python3 -m venv venv >venv.log 2>&1 || skip "no venv: $(tail -n 1 venv.log)"
    # Of what this wheel is for, pip before 20.3 knows linux_x86_64 only.
    for platform in linux_x86_64 manylinux_2_28_x86_64; do
        venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --only-binary=:all: \
            --platform "$platform" --target "of_$platform" "$wheel" >log 2>&1 || fail "pip that knows $platform: $(tail -n 1 log)"
    done
    venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheel" >log 2>&1 ||
        fail "pip install"
    venv/bin/python -m pip show --files gmtrace >shown
    # The folder of Python's modules is named first, and files by where they are from there. What describes the wheel
    # itself comes on top, as does what pip compiles; links do not exist in a wheel.
    sed -n 's,^  ,,p' shown | grep -v '^gmtrace-.*dist-info/\|/__pycache__/' | while read -r file; do
        case $file in
        gmtrace/*) echo "share/gmtrace/python/$file" ;;
        *) realpath -m --relative-to=venv "$(sed -n 's/^Location: //p' shown)/$file" ;;
        esac
    done | sort >actual
    same "files of the tarball (-) and of the wheel (+)" expected actual
    cp "$GMT_BUILD/bin/package_sample" .
    # As in a shell where the environment is active.
    PATH=$work/venv/bin:$PATH use "$work/venv/bin" "$work" env
    # Its modules are found without a path; what they need is a PyTorch.
    PYTHONPATH=$GMT_SOURCE/tests/e2e/python/standin venv/bin/python -c \
        'import gmtrace.torch; print(gmtrace.torch.annotate().named)' >out 2>err || fail "import gmtrace.torch"
    equal "what is named without a recording" "[]" "$(cat out)"
    PATH=$work/venv/bin:$PATH gmtrace --version >out
    equal "version" "gmtrace $(sed -n 's/^Version: //p' shown)" "$(cat out)"
    venv/bin/python -m pip uninstall --quiet --disable-pip-version-check --yes gmtrace >log 2>&1
    equal "files that pip uninstall leaves" "" "$(find venv -name '*gmtrace*' -o -name 'gmanalyze*')"
    ;;
*) fail "deb or wheel" ;;
esac
echo "installed: $kind, $(wc -l <expected) files"
