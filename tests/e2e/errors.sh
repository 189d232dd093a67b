#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that failed are recorded with their result, and leave nothing behind that looks like success.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

traced t errors
finished t.db
failed() {
    sql t.db "SELECT count(*) FROM $1 c JOIN api a ON a.id = c.api_id
              WHERE c.result = $3 AND a.name = '$2'"
}
equal "copies refused" 2 "$(failed transfer cuMemcpyHtoD_v2 1)"
equal "copies on a bad stream" 1 "$(failed transfer cuMemcpyHtoDAsync_v2 400)"
equal "memsets refused" 1 "$(failed memset cuMemsetD8_v2 1)"
equal "launches refused" 1 "$(failed launch cuLaunchKernel 1)"
equal "launches of a bad handle" 1 "$(failed launch cuLaunchKernel 400)"
equal "events refused" 1 "$(failed sync cuEventSynchronize 400)"
equal "out of memory" 1 "$(failed api_call cuMemAlloc_v2 2)"
equal "allocations that succeeded" 1 "$(sql t.db 'SELECT count(*) FROM allocation')"
