/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of two operations that conflict: once of each pair of places, on standard error or in SIMGPU_ORDER_REPORT. */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/order/state.h"

#define MOST_PAIRS 1000u

static uint64_t reported[MOST_PAIRS];
static size_t reported_count;

/* ---- once -------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    for (const unsigned char *at = data; bytes != 0; at++, bytes--) {
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t kind_of(const struct sim_operation *operation)
{
    const struct sim_work *work = &operation->work;
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), work->name, strlen(work->name));
    return work->call != NULL ? mix(hash, &work->call, sizeof work->call)
                              : mix(hash, work->where, strlen(work->where));
}

/* In whichever order the two are. */
static bool is_new(const struct sim_operation *first, const struct sim_operation *second)
{
    uint64_t pair = kind_of(first) + kind_of(second);
    for (size_t i = 0; i < reported_count; i++) {
        if (reported[i] == pair) {
            return false;
        }
    }
    if (reported_count < MOST_PAIRS) {
        reported[reported_count++] = pair;
        return true;
    }
    return false;
}

/* ---- text -------------------------------------------------------------------------------------- */

static const char *verb_of(unsigned uses)
{
    bool reads = (uses & (SIM_TOUCH_READ | SIM_TOUCH_STRONG_READ)) != 0;
    bool writes = (uses & (SIM_TOUCH_WRITE | SIM_TOUCH_STRONG_WRITE)) != 0;
    return reads && writes ? "reads and writes" : writes ? "writes" : "reads";
}

static void describe(const struct sim_operation *operation, unsigned uses, char *out, size_t bytes)
{
    const struct sim_work *work = &operation->work;
    char place[192] = "";
    Dl_info info;
    if (work->call != NULL && dladdr(work->call, &info) != 0 && info.dli_fname != NULL) {
        const char *slash = strrchr(info.dli_fname, '/');
        (void)snprintf(place, sizeof place, ", %.120s+0x%zx",
                       slash != NULL ? slash + 1 : info.dli_fname,
                       (size_t)((const char *)work->call - (const char *)info.dli_fbase));
    }
    (void)snprintf(out, bytes, "%s (operation %" PRIu64 ", %s%s) %s", work->name, operation->number,
                   work->where, place, verb_of(uses));
}

/* One write, so that lines of several threads and processes do not mix. */
static void print(const char *line, size_t bytes)
{
    const char *path = getenv("SIMGPU_ORDER_REPORT");
    int file = path != NULL && path[0] != '\0'
                   ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                   : -1;
    ssize_t written = write(file >= 0 ? file : STDERR_FILENO, line, bytes);
    (void)written; /* there is nobody to report it to */
    if (file >= 0) {
        close(file);
    }
}

void sim_conflict_report(const struct sim_operation *first, const struct sim_operation *second,
                         const struct sim_overlap *overlap)
{
    char one[448], other[448], line[1200];
    if (!is_new(first, second)) {
        return;
    }
    describe(first, overlap->uses, one, sizeof one);
    describe(second, overlap->others_uses, other, sizeof other);
    int used = snprintf(line, sizeof line,
                        "gmtrace software device: order %" PRIu64
                        ": nothing orders two accesses to %" PRIu64 " bytes from 0x%" PRIx64
                        " on: %s, %s\n",
                        sim_order_seed(), overlap->bytes, overlap->first, one, other);
    print(line, (size_t)used < sizeof line ? (size_t)used : sizeof line - 1);
}

uint64_t sim_order_conflicts(void)
{
    pthread_mutex_lock(&sim_order.lock);
    uint64_t count = reported_count;
    pthread_mutex_unlock(&sim_order.lock);
    return count;
}
