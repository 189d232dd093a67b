#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exit() in one thread while four others call: nothing torn, at most the calls in flight missing.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

plain thread.plain exit_thread 4
traced thread exit_thread 4
same_behaviour thread
finished thread.db
equal "integrity" ok "$(sql thread.db 'PRAGMA integrity_check')"
