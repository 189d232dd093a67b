/* SPDX-License-Identifier: Apache-2.0 */
/* Puts cubins aside when they are loaded, and says which of them are wanted (cubins.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/code/cubins.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/cupti/code/code_index.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/mutex.h"

#define MOST_CUBINS 65536u

struct cubin {
    uint32_t crc;
    bool tried, kept;       /* to say that it is wanted; and that was done */
    uint64_t offset, bytes; /* in the file */
};

static const struct gmt_cupti_api *cupti;
static const struct gmt_collector_config *config;
static struct gmt_mutex lock = GMT_MUTEX(CUBINS);
static struct cubin *cubins;
static size_t count, capacity;
static uint64_t used_bytes;
static _Atomic bool listening;
static CUpti_SubscriberHandle subscriber;
static bool subscribed;
static _Atomic bool left_to_program;

static int open_file(void)
{
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    int folder = gmt_spool_enter();
    int fd = folder >= 0 ? openat(folder, GMT_CUBIN_FILE, flags, 0600) : -1;
    if (folder >= 0) {
        (void)close(folder);
    }
    return fd;
}

static struct cubin *find(uint32_t crc)
{
    for (size_t i = 0; i < count; i++) {
        if (cubins[i].crc == crc) {
            return &cubins[i];
        }
    }
    return NULL;
}

static bool grow(void)
{
    if (count < capacity) {
        return true;
    }
    size_t more = capacity * 2 + 64;
    struct cubin *grown = more <= MOST_CUBINS ? realloc(cubins, more * sizeof(*grown)) : NULL;
    if (grown == NULL) {
        return false;
    }
    cubins = grown;
    capacity = more;
    return true;
}

/* A write beyond the limit would send a signal that kills the program. */
static bool fits(uint64_t bytes)
{
    struct rlimit limit;
    return bytes <= GMT_CUBIN_MOST_BYTES && used_bytes + bytes <= GMT_CUBIN_FILE_MOST_BYTES &&
           (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
            used_bytes + bytes <= limit.rlim_cur);
}

static bool write_all(int fd, const char *data, uint64_t bytes, uint64_t offset)
{
    while (bytes != 0) {
        ssize_t done = pwrite(fd, data, bytes, (off_t)offset);
        if (done <= 0) {
            return false;
        }
        data += done;
        offset += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return true;
}

static void put_aside(uint32_t crc, const char *image, uint64_t bytes)
{
    if (find(crc) != NULL) {
        return;
    }
    bool done = false;
    if (fits(bytes) && grow()) {
        int fd = open_file();
        done = fd >= 0 && write_all(fd, image, bytes, used_bytes);
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    if (!done) {
        gmt_spool_loss("cubin not kept", "too large, too many, or no room on disk", 1);
        return;
    }
    cubins[count++] = (struct cubin){.crc = crc, .offset = used_bytes, .bytes = bytes};
    used_bytes += bytes;
}

static void CUPTIAPI on_module(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void *details)
{
    (void)data;
    const CUpti_ResourceData *resource = details;
    const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_MODULE_LOADED ||
        !atomic_load(&listening)) {
        return;
    }
    if (module == NULL || module->pCubin == NULL || module->cubinSize == 0) {
        gmt_code_index_missed();
        return;
    }
    CUpti_GetCubinCrcParams crc = {
        .size = CUpti_GetCubinCrcParamsSize,
        .cubinSize = module->cubinSize,
        .cubin = module->pCubin,
    };
    uint64_t began_ns = gmt_clock_monotonic_ns(), section = gmt_section_begin(GMT_SECTION_MODULE);
    config->enter();
    if (config->repeat) {
        gmt_code_index_add(module->pCubin, module->cubinSize);
    }
    if (cupti->cuptiGetCubinCrc(&crc) == CUPTI_SUCCESS) {
        gmt_mutex_lock(&lock);
        put_aside((uint32_t)crc.cubinCrc, module->pCubin, module->cubinSize);
        gmt_mutex_unlock(&lock);
    } else {
        gmt_spool_loss("cubin not kept", "CUPTI gave no checksum", 1);
    }
    gmt_spool_own_time(GMT_OWN_CODE, began_ns, 0);
    config->leave();
    gmt_section_end(section);
}

static CUptiResult subscribe(const char **failed)
{
    /* The second one is for CUPTI: without it, it patches only the first function that is launched. */
    static const CUpti_CallbackId wanted[] = {CUPTI_CBID_RESOURCE_MODULE_LOADED,
                                              CUPTI_CBID_RESOURCE_MODULE_PROFILED};
    *failed = "cuptiSubscribe";
    CUptiResult result = cupti->cuptiSubscribe(&subscriber, on_module, NULL);
    subscribed = result == CUPTI_SUCCESS;
    for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        *failed = "cuptiEnableCallback";
        result = cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, wanted[i]);
    }
    return result;
}

CUptiResult gmt_cubins_start(const struct gmt_cupti_api *api,
                             const struct gmt_collector_config *given, const char **failed)
{
    cupti = api;
    config = given;
    atomic_store(&listening, true);
    return subscribe(failed);
}

bool gmt_cubins_yield(void (*quiesce)(void))
{
    if (!subscribed || !atomic_load(&listening)) {
        return false;
    }
    left_to_program = true; /* from here on no launch is begun to be counted ... */
    quiesce();              /* ... and one that was is at its end */
    gmt_code_index_missed();
    config->enter();
    (void)cupti->cuptiUnsubscribe(subscriber);
    config->leave();
    subscribed = false;
    return true;
}

void gmt_cubins_lost(void)
{
    if (subscribed) {
        left_to_program = true;
        gmt_code_index_missed();
    }
    subscribed = false;
}

bool gmt_cubins_left(void)
{
    return atomic_load(&left_to_program);
}

void gmt_cubins_resume(void)
{
    const char *unused = NULL;
    if (!left_to_program || !atomic_load(&listening)) {
        return;
    }
    config->enter();
    left_to_program = subscribe(&unused) != CUPTI_SUCCESS;
    config->leave();
}

bool gmt_cubins_keep(uint32_t crc)
{
    gmt_mutex_lock(&lock);
    struct cubin *cubin = find(crc);
    if (cubin != NULL && !cubin->tried) {
        const struct gmt_cubin_place place = {
            .crc = crc, .offset = cubin->offset, .bytes = cubin->bytes};
        cubin->tried = true;
        cubin->kept = gmt_spool_side(GMT_REC_CUBIN_PLACE, &place, sizeof(place), NULL, 0) == 0;
        if (!cubin->kept) {
            gmt_spool_loss("cubin not kept", "there was no room in the spool to say where it is",
                           1);
        }
    }
    bool kept = cubin != NULL && cubin->kept;
    gmt_mutex_unlock(&lock);
    return kept;
}

void gmt_cubins_abandon(void)
{
    atomic_store(&listening, false);
    gmt_mutex_renew(&lock);
    count = 0;
    gmt_code_index_abandon();
}
