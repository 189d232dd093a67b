/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the recording that all parts share (session.h). */
#include "preload/session/session.h"

const struct gmt_collector_ops *gmt_collector;
_Atomic bool gmt_started;
_Atomic uint64_t gmt_launches;
_Atomic uint64_t gmt_launches_done;
_Atomic uint64_t gmt_missed_calls;
