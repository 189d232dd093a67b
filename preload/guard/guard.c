/* SPDX-License-Identifier: Apache-2.0 */
/* The guard of each thread (guard.h). */
#include "preload/guard/guard.h"

_Thread_local __attribute__((tls_model("initial-exec"))) struct gmt_guard gmt_guard = {
    .epoch = GMT_EPOCH_NEVER};
