/* SPDX-License-Identifier: Apache-2.0 */
/* Copies device memory aside and back (snapshot.h). */
#include "preload/repeat/snapshot.h"

#include "libtrace/record/clock.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/resolve.h"
#include "preload/guard/hold.h"
#include "preload/repeat/copy_rate.h"
#include "preload/repeat/scan.h"

#define ALIGNMENT UINT64_C(256)
#define PIECE_NS UINT64_C(3000) /* of one copy, whatever its size */
#define LEFT_BYTES \
    (UINT64_C(256) << 20) /* of free memory, for the driver and for the kernel's stacks */

#define LATER 8u

_Atomic unsigned gmt_snapshots_late;
static struct gmt_mutex mutex = GMT_MUTEX(SNAPSHOTS);
static struct {
    CUcontext context; /* NULL: free */
    struct gmt_extent memory;
} later[LATER]; /* memory of ours that is still to be freed */
static _Atomic uint64_t bytes_per_us = GMT_COPY_RATE_FIRST;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

uint64_t gmt_snapshot_copy_ns(const struct gmt_reach *reach)
{
    return reach->count * PIECE_NS + reach->bytes / atomic_load(&bytes_per_us) * 1000;
}

static uint64_t bytes_for(const struct gmt_reach *reach)
{
    uint64_t bytes = aligned(gmt_scan_bytes());
    for (size_t i = 0; i < reach->count; i++) {
        bytes += aligned(reach->extents[i].bytes);
    }
    return bytes;
}

bool gmt_snapshot_has_room(const struct gmt_reach *reach)
{
    size_t free_bytes, total_bytes;
    uint64_t bytes = bytes_for(reach);
    return gmt_driver.cuMemGetInfo_v2 != NULL &&
           gmt_driver.cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS &&
           free_bytes / (gmt_hold_alone() ? 2 : 8) >= bytes && free_bytes - bytes >= LEFT_BYTES;
}

bool gmt_snapshot_reserve(struct gmt_snapshot *snapshot, const struct gmt_reach *reach)
{
    CUdeviceptr base;
    uint64_t bytes = bytes_for(reach);
    if (gmt_driver.cuMemAlloc_v2 == NULL || !gmt_snapshot_has_room(reach) ||
        gmt_driver.cuMemAlloc_v2(&base, bytes) != CUDA_SUCCESS) {
        return false;
    }
    *snapshot = (struct gmt_snapshot){reach, {base, bytes}};
    return true;
}

static bool copy(const struct gmt_snapshot *snapshot, bool back)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    CUdeviceptr aside = snapshot->memory.base + aligned(gmt_scan_bytes());
    for (size_t i = 0; i < snapshot->reach->count; i++) {
        const struct gmt_extent *extent = &snapshot->reach->extents[i];
        gmt_hold_alive();
        CUdeviceptr to = back ? extent->base : aside, from = back ? aside : extent->base;
        if (gmt_driver.cuMemcpyDtoD_v2(to, from, extent->bytes) != CUDA_SUCCESS) {
            return false;
        }
        aside += aligned(extent->bytes);
    }
    gmt_scan_clean_l2(snapshot->reach, &snapshot->memory);
    if (gmt_driver.cuCtxSynchronize() != CUDA_SUCCESS) {
        return false;
    }
    atomic_store(&bytes_per_us,
                 gmt_copy_rate_after(atomic_load(&bytes_per_us), snapshot->reach->bytes,
                                     gmt_clock_monotonic_ns() - began_ns));
    return true;
}

bool gmt_snapshot_take(const struct gmt_snapshot *snapshot)
{
    return copy(snapshot, false);
}

bool gmt_snapshot_restore(const struct gmt_snapshot *snapshot)
{
    return copy(snapshot, true);
}

/* The program's next allocation may get this memory: what it held must not be found there. */
static void clear_and_free(CUdeviceptr base, uint64_t bytes)
{
    if (gmt_driver.cuMemsetD8_v2 != NULL) {
        (void)gmt_driver.cuMemsetD8_v2(base, 0, bytes);
    }
    (void)gmt_driver.cuMemFree_v2(base);
}

void gmt_snapshot_release(struct gmt_snapshot *snapshot)
{
    clear_and_free(snapshot->memory.base, snapshot->memory.bytes);
    snapshot->memory = (struct gmt_extent){0};
}

/* ---- what could not be freed at once ------------------------------------------------------------ */

void gmt_snapshot_release_later(struct gmt_snapshot *snapshot)
{
    CUcontext context = NULL;
    (void)gmt_driver.cuCtxGetCurrent(&context);
    gmt_mutex_lock(&mutex);
    unsigned at = 0;
    while (at < LATER && later[at].context != NULL) {
        at++;
    }
    if (at < LATER) {
        later[at].context = context;
        later[at].memory = snapshot->memory;
        gmt_snapshots_late++;
    }
    gmt_mutex_unlock(&mutex);
    snapshot->memory = (struct gmt_extent){0};
}

bool gmt_snapshot_release_late(void)
{
    CUcontext context = NULL;
    bool room = false;
    if (gmt_driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL) {
        return false;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < LATER; i++) {
        if (later[i].context == context) {
            later[i].context = NULL;
            gmt_snapshots_late--;
            clear_and_free(later[i].memory.base, later[i].memory.bytes);
        }
        room |= later[i].context == NULL;
    }
    gmt_mutex_unlock(&mutex);
    return room;
}

void gmt_snapshot_forget(CUcontext context)
{
    if (context == NULL) {
        gmt_mutex_renew(&mutex);
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < LATER; i++) {
        if (later[i].context != NULL && (context == NULL || later[i].context == context)) {
            later[i].context = NULL;
            gmt_snapshots_late--;
        }
    }
    gmt_mutex_unlock(&mutex);
}
