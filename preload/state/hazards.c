/* SPDX-License-Identifier: Apache-2.0 */
/* Judges launches by what they are given (hazards.h). */
#include "preload/state/hazards.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "preload/driver/resolve.h"
#include "preload/session/options.h"
#include "preload/state/hook_call.h"
#include "preload/state/waits.h"

const struct gmt_hazard_row gmt_hazard_rows[GMT_HAZARD_COUNT] = {
#define GMT_HAZARD(id, action, measured, repeated) \
    [GMT_HAZARD_##id] = {GMT_HAZARD_##action, GMT_UNMEASURED_##measured, GMT_UNMEASURED_##repeated},
#include "preload/state/hazards.def"
#undef GMT_HAZARD
    [GMT_HAZARD_NONE] = {GMT_HAZARD_MEASURED, GMT_MEASURABLE, GMT_MEASURABLE},
};

static _Atomic bool opened, unknown;
static _Atomic bool mapped; /* some physical memory that is mapped is used by others */

bool gmt_hazards_ignored(void)
{
    return gmt_options.counters == GMT_COUNTERS_ON || gmt_driver_is_software;
}

void gmt_hazards_start(void)
{
    opened = unknown = mapped = false;
}

/* ---- one launch --------------------------------------------------------------------------------- */

bool gmt_hazards_of_others(const struct gmt_allocation *allocation, uint16_t context)
{
    switch ((enum gmt_alloc_kind)allocation->kind) {
    case GMT_ALLOC_IPC:
    case GMT_ALLOC_EXTERNAL: return true;
    case GMT_ALLOC_MAPPED:
        return allocation->shared || atomic_load_explicit(&mapped, memory_order_relaxed);
    case GMT_ALLOC_DEVICE:
    case GMT_ALLOC_PITCHED:
    case GMT_ALLOC_ASYNC:
    case GMT_ALLOC_POOL:
        return allocation->shared ||
               (context != 0 && allocation->context != 0 && allocation->context != context);
    default: return allocation->shared;
    }
}

void gmt_hazard_given_address(struct gmt_hazard_given *given, const struct gmt_allocation *found,
                              uint16_t context)
{
    given->host |= found->kind == GMT_ALLOC_HOST || found->kind == GMT_ALLOC_REGISTERED ||
                   found->kind == GMT_ALLOC_MANAGED;
    given->others |= gmt_hazards_of_others(found, context);
}

void gmt_hazard_given_words(struct gmt_hazard_given *given, const uint8_t *bytes, size_t count,
                            uint16_t context)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= count; at += sizeof(uint64_t)) {
        struct gmt_allocation found;
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        if (gmt_allocmap_find(word, &found)) {
            gmt_hazard_given_address(given, &found, context);
        }
    }
}

enum gmt_hazard gmt_hazard_of(const struct gmt_hazard_given *given)
{
    if (given->communicates) {
        return GMT_HAZARD_COMMUNICATES;
    }
    if (given->others) {
        return GMT_HAZARD_OTHERS_MEMORY;
    }
    if (!given->known && gmt_hazards_any_of_others()) {
        return GMT_HAZARD_OTHERS_UNKNOWN;
    }
    if (given->host) {
        return GMT_HAZARD_HOST_MEMORY;
    }
    return !given->known && gmt_allocmap_has_host_visible() ? GMT_HAZARD_HOST_UNKNOWN
                                                            : GMT_HAZARD_NONE;
}

bool gmt_hazards_waiting(uint64_t within_ns)
{
    return !gmt_hazards_ignored() && gmt_waits_under_way_after(within_ns);
}

/* ---- what there is ------------------------------------------------------------------------------ */

/* In a row of its own: that of the counters says whether they were on. */
static void note(const char *what)
{
    char detail[160];
    if (!gmt_hazards_ignored()) {
        (void)snprintf(detail, sizeof(detail),
                       "launches that are given memory of others are not measured: the program "
                       "uses %s",
                       what);
        gmt_spool_capability("counters.shared", GMT_CAP_PARTIAL, 0, detail,
                             "GMTRACE_COUNTERS=on measures them all the same; a kernel that waits "
                             "for another one can then hang");
    }
}

bool gmt_hazards_any_of_others(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed);
}

void gmt_hazards_opened(const struct gmt_hook_call *call, const char *what)
{
    if (call->result == CUDA_SUCCESS &&
        !atomic_exchange_explicit(&opened, true, memory_order_relaxed)) {
        note(what);
    }
    /* What is imported, or bound to a multicast object, is mapped like any other physical memory. */
    if (call->result == CUDA_SUCCESS && (call->id == GMT_HOOK_cuMemImportFromShareableHandle ||
                                         call->id == GMT_HOOK_cuMulticastCreate)) {
        atomic_store_explicit(&mapped, true, memory_order_relaxed);
    }
}

void gmt_hazards_exported(const struct gmt_hook_call *call, uint64_t first, uint64_t bytes)
{
    if (call->result != CUDA_SUCCESS) {
        return;
    }
    if (bytes == 0) {
        atomic_store_explicit(&mapped, true, memory_order_relaxed);
    } else if (!gmt_allocmap_share(first, bytes)) {
        atomic_store_explicit(&unknown, true, memory_order_relaxed);
    }
    atomic_store_explicit(&opened, true, memory_order_relaxed);
}

bool gmt_hazards_any_unknown(void)
{
    return atomic_load_explicit(&unknown, memory_order_relaxed);
}
