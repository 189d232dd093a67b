#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --report and --open: a name that cannot be written is refused before the program runs, the program's status
# stays, and a page is opened only where somebody sees it.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

gmtrace=$GMT_BUILD/bin/gmtrace
[ -x "$gmtrace" ] || skip "gmtrace is not built"
export LD_LIBRARY_PATH=$SIM_LIB
client=$CLIENTS/driverclient
printf '#!/bin/sh\n: >was_run\nexec %s "$@"\n' "$client" >app
chmod +x app
mkdir folder.html

# refused PATTERN ARGUMENT...: status 125, a line that matches, and the program has not run.
refused() {
    local pattern=$1
    shift
    run refused "$gmtrace" "$@" ./app churn 5
    equal "status of $*" 125 "$(cat refused.status)"
    grep -qE "$pattern" refused.err || fail "gmtrace $* does not say: $pattern"
    [ ! -e was_run ] || fail "gmtrace $* runs the program"
    [ ! -e trace.db ] || fail "gmtrace $* leaves a trace"
}

endings='the name must end in \.txt, .*\.html$'
for name in report.pdf report report.HTML .html folder/.html report.html/; do
    refused "^gmtrace: --report '$name': $endings" --report $name
done
refused "^gmtrace: cannot write the report into 'absent/': No such file or directory; .* --report$" --report absent/a.html
refused "'folder\.html' is a directory; name a file with --report" --report folder.html
refused "^gmtrace: --open opens a page, .*'a\.json' is none" --open --report a.json
# gmanalyze -o names a report, gmtrace -o does not.
for ending in html json sarif; do
    refused "^gmtrace: -o names the trace, a database; a report: --report page.$ending$" -o page.$ending
done
# Nor does --report go without a name.
run swallowed "$gmtrace" --report ./app
equal "status of --report ./app" 125 "$(cat swallowed.status)"
grep -qx "gmtrace: --report './app': name the report, then the program: --report page.html ./app" swallowed.err ||
    fail "--report ./app: $(cat swallowed.err)"
GMTRACE_REPORT=report.pdf refused "^gmtrace: --report 'report\.pdf': $endings"
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod 500 closed
    refused "cannot write the report into 'closed/': Permission denied" --report closed/a.html
fi
mkdir -p alone/bin
cp "$gmtrace" alone/bin
for part in lib libexec; do
    ln -s "$GMT_BUILD/$part" "alone/$part"
done
run alone alone/bin/gmtrace --report a.html ./app churn 5
equal "status without gmanalyze" 125 "$(cat alone.status)"
grep -q 'no report can be written: gmanalyze is not installed' alone.err || fail "what is missing goes unsaid"
[ ! -e was_run ] || fail "the program runs without gmanalyze"

# A report that fails later: the trace is there, a line says it, and the status is the program's.
# shellcheck disable=SC2016 # the inner shell expands it
for status in 0 7; do
    mkdir goes
    run late "$gmtrace" --report goes/page.html -o late.db sh -c 'rm -r goes; "$0" churn 5; exit $1' "$client" $status
    equal "status without a report" $status "$(cat late.status)"
    grep -q "^gmtrace: 'goes/page.html' was not written" late.err || fail "a missing report goes unsaid"
    [ -s late.db ] || fail "no trace"
    rm late.db
done

# Where nobody sees it, a page is written and not opened. What the browser is given, it writes down.
# shellcheck disable=SC2016 # the browser expands it
printf '#!/bin/sh\nprintf %%s "$1" >"%s/new" && mv "%s/new" "%s/opened.txt"\n' "$work" "$work" "$work" >browser
printf '#!/bin/sh\nexit 3\n' >broken
chmod +x browser broken
unset CI DISPLAY WAYLAND_DISPLAY
export BROWSER=$work/absent:$work/broken:$work/browser
run pipe "$gmtrace" --open --report page.html -o t.db "$client" churn 5
equal "status where nothing is opened" 0 "$(cat pipe.status)"
grep -qx 'gmtrace: page.html is not opened: standard error is no terminal' pipe.err || fail "it is not said why"
[ -s page.html ] || fail "no page"
needs python3

# on_terminal COMMAND...: what it says on a terminal is in terminal.err.
on_terminal() {
    python3 - "$@" >terminal.err <<'END' || fail "status $? of $*: $(cat terminal.err)"
import os, pty, sys
# At the end of the terminal there is no input, nor is there any before.
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], stdin_read=lambda fd: b"")))
END
    tr -d '\r' <terminal.err >said.err
}

# opened FILE: the browser was given that file, by its whole path.
opened() {
    local tries=2400 # the limit ends a test that has failed
    while [ ! -s opened.txt ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    equal "the page that is opened" "$work/$1" "$(cat opened.txt 2>/dev/null || true)"
    ! grep -q 'is not opened' said.err || fail "an opened page is not opened"
    rm -f opened.txt "$1"
}
on_terminal "$gmtrace" --open --report page.html -o t.db "$client" churn 5
opened page.html
on_terminal "$gmtrace" --open -o t.db "$client" churn 5
opened t.html
GMTRACE_OPEN=on GMTRACE_REPORT=./page.html on_terminal "$gmtrace" "$client" churn 5
opened page.html
on_terminal "$gmtrace" --report page.html -o t.db "$client" churn 5
[ -s page.html ] || fail "no page"
CI=true on_terminal "$gmtrace" --open -o t.db "$client" churn 5
grep -q '^gmtrace: t.html is not opened: this is a CI job' said.err || fail "a page is opened in CI"
BROWSER='' on_terminal "$gmtrace" --open -o t.db "$client" churn 5
grep -q '^gmtrace: t.html is not opened: there is no desktop here' said.err || fail "a desktop is taken for granted"
# A desktop whose xdg-open is this one.
ln -s browser xdg-open
BROWSER=$work/broken DISPLAY=:0 PATH=$work:$PATH on_terminal "$gmtrace" --open -o t.db "$client" churn 5
opened t.html
BROWSER=$work/broken on_terminal env PATH=/nowhere "$gmtrace" --open -o t.db "$client" churn 5
grep -q '^gmtrace: t.html is not opened: neither BROWSER nor xdg-open could' said.err || fail "a failure goes unsaid"
[ ! -e opened.txt ] || fail "a page was opened that should not be"
