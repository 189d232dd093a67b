/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the step tables: X(id, word). A test compares them with those of the schema. */
#ifndef GMT_STORE_STEPS_STEP_KINDS_H
#define GMT_STORE_STEPS_STEP_KINDS_H

#include "libtrace/record/kinds.h"

/* Of step_call.kind; copies in the order of enum gmt_direction, waits in that of enum gmt_sync_kind. */
#define GMT_STEP_KINDS(X) \
    X(KERNEL, "kernel") \
    X(GRAPH, "graph") \
    X(COLLECTIVE, "collective") /* a kernel of NCCL */ \
    X(COPY_UNKNOWN, "copy_unknown") \
    X(COPY_H2D, "copy_h2d") \
    X(COPY_D2H, "copy_d2h") \
    X(COPY_D2D, "copy_d2d") \
    X(COPY_H2H, "copy_h2h") \
    X(COPY_PEER, "copy_peer") \
    X(MEMSET, "memset") \
    X(ALLOCATION, "allocation") \
    X(FREE, "free") \
    X(PAGE_LOCKING, "page_locking") \
    X(PAGE_UNLOCKING, "page_unlocking") \
    X(WAIT_STREAM, "wait_stream") \
    X(WAIT_CONTEXT, "wait_context") \
    X(WAIT_EVENT, "wait_event") \
    X(WAIT_DEVICE, "wait_device") \
    X(MODULE_LOADING, "module_loading") \
    X(OTHER, "other")

#define GMT_STEP_KIND_ENUMERATOR(id, word) GMT_STEP_##id,
enum gmt_step_kind { GMT_STEP_KINDS(GMT_STEP_KIND_ENUMERATOR) GMT_STEP_KIND_COUNT };

/* Of step.source and step_collective.source. */
enum gmt_step_source { GMT_STEP_RANGE, GMT_STEP_PATTERN, GMT_STEP_SLICE };
enum gmt_collective_source {
    GMT_COLLECTIVE_RANGE,
    GMT_COLLECTIVE_LAUNCH,
    GMT_COLLECTIVE_DEVICE,
    GMT_COLLECTIVE_SOURCES
};

const char *gmt_step_kind_word(enum gmt_step_kind kind);
const char *gmt_step_source_word(enum gmt_step_source source);
const char *gmt_collective_source_word(enum gmt_collective_source source);

/* How many rows a step has: the rest is summed up in one more. */
enum {
    GMT_STEP_PLACES = 8,
    GMT_STEP_KERNELS = 6,
    GMT_STEP_SLOWEST = 3,
    /* Of each source; of more, those whose numbers a power of two divides. A trace of calls keeps no sums in its file: */
    GMT_STEP_COLLECTIVES = 32,
    GMT_STEP_COLLECTIVES_OF_CALLS = 256,
    GMT_STEP_DEVICES = 16 /* further ones count as the last */
};

#endif
