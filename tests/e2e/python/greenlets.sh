#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Greenlets put stacks aside and bring others back: their calls have the native stack, and the lines of others stay right.
# shellcheck source=tests/e2e/python/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/python/lib.sh"
use_fetched 3.11 || skip "no greenlet: $(tail -n 1 fetch.log)"
packages=$GMT_BUILD/tests/e2e/python/3.11
export PYTHONPATH=$packages/root/usr/lib/python3/dist-packages
in_python greenlets "$here/switching.py" greenlets "$PWD/greenlets.json"
finished greenlets.db
equal "fills in greenlets" 20 "$(sql greenlets.db 'SELECT count(*) FROM memset WHERE bytes >= 100')"
equal "fills in greenlets with lines" 0 "$(lines_of greenlets 'bytes >= 100')"
env -u PYTHONPATH python3 "$here/compare.py" greenlets.db greenlets.json 22 || fail "lines differ beside greenlets"
