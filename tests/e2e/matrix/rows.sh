# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2030,SC2031,SC2154 # work: lib.sh; rows have their own
# Runs the rows of a table side by side. A row is a function that runs in a folder and a shell of its own; it
# ends with status 0, with 77 after a line that says why it cannot run here, or it has failed.

# What a row needs: `-`, or commands, libraries and conditions with commas between. scripts/setup installs commands and libraries:
# where one is missing the row has failed. Of two kinds a machine may lack some; rows that need them are skipped, by name.
#   ?COMMAND  it comes with a package of hundreds of MB
#   @root     the test runs as root
#   @userns   user name spaces may be made
#   @mount    file systems may be mounted (in a name space of mounts)
#   @proc     a name space of processes with a /proc of its own
#   @static   the tests' programs could be linked with a static libc
#   @plain    nothing of ours is built with ASan, which reserves more address space than the row leaves a recorder
#   @tmp      an unprivileged user can reach the folder of the test and the build tree
lacks() {
    local need
    for need in ${1//,/ }; do
        need=${need#'?'}
        case $need in
            -) ;;
            @root) [ "$(id -u)" = 0 ] || echo "root" ;;
            @userns) unshare -r true 2>/dev/null || echo "user name spaces" ;;
            @mount) unshare -m true 2>/dev/null || echo "the right to mount" ;;
            @proc) unshare -rpf --mount-proc true 2>/dev/null || echo "name spaces for processes" ;;
            @tmp) setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CLIENTS/plainclient" 2>/dev/null ||
                echo "a build tree that others may read" ;;
            @plain) [ -z "$GMT_SANITIZED" ] || echo "a build without sanitizers" ;;
            @static) [ -x "$CLIENTS/plainclient_static" ] || echo "a static libc" ;;
            *.so*) ! LD_PRELOAD=$need /bin/true 2>&1 | grep -q 'cannot be preloaded' || echo "$need" ;;
            *) command -v "$need" >/dev/null || echo "$need" ;;
        esac
    done
}

may_lack() {
    [[ $1 = [?@]* ]]
}

# one_row FUNCTION NAME NEEDS REST...: in the row's own folder; what it says goes to its log.
one_row() (
    local function=$1 name=$2 needs=$3 missing
    shift 3
    work=$work/$name
    mkdir -p "$work"
    cd "$work" || exit
    missing=$(lacks "$needs")
    if [ -n "$missing" ]; then
        missing=$(paste -sd' ' <<<"$missing")
        may_lack "$needs" || fail "$missing is missing, which scripts/setup installs"
        skip "needs $missing"
    fi
    # A row that waits for a trace that never comes is not to hold up the others for ever.
    export SETTLE_SECONDS=120
    "$function" "$name" "$@"
)

# run_rows FUNCTION MINIMUM: rows from standard input (name needs rest), in parallel. Fails where a row fails, where one is
# skipped that must run everywhere, and where fewer than MINIMUM must.
run_rows() {
    local function=$1 minimum=$2 name needs rest must=0 ran=0 failed=0 status
    local -A needs_of=()
    local names=()
    while read -r name needs rest; do
        [ -z "${needs_of[$name]-}" ] || fail "two rows are called $name"
        needs_of[$name]=$needs
        names+=("$name")
        may_lack "$needs" || must=$((must + 1))
        while [ "$(jobs -rp | wc -l)" -ge "${ROWS_AT_ONCE:-$(nproc)}" ]; do
            wait -n || true
        done
        (
            set +e
            one_row "$function" "$name" "$needs" "$rest" >"$work/$name.log" 2>&1 </dev/null
            echo $? >"$work/$name.row"
        ) &
    done
    wait
    for name in "${names[@]}"; do
        status=$(cat "$work/$name.row" 2>/dev/null || echo none)
        if [ "$status" = 0 ]; then
            ran=$((ran + 1))
        elif [ "$status" = 77 ] && may_lack "${needs_of[$name]}"; then
            echo "row $name: $(tail -1 "$work/$name.log")"
        else
            failed=$((failed + 1))
            echo "row $name FAILED (status $status):" >&2
            { grep '^FAIL' "$work/$name.log" || true; grep -v '^FAIL' "$work/$name.log" | head -40 || true; } |
                sed 's/^/    /' >&2
        fi
    done
    echo "$ran of ${#names[@]} rows ran and passed, $failed failed, $((${#names[@]} - ran - failed)) skipped"
    [ "$must" -ge "$minimum" ] || fail "$must rows must run, not $minimum as this test was made for"
    [ "$failed" = 0 ] || exit 1
}
