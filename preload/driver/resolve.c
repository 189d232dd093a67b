/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the real driver entry points (resolve.h). */
#include "preload/driver/resolve.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "libtrace/cupti/base/real_dlsym.h"
#include "libtrace/record/collector.h"
#include "libtrace/threads/cancellation.h"
#include "libtrace/threads/mutex.h"

void *gmt_hook_real[GMT_HOOK_COUNT];
struct gmt_driver gmt_driver;
bool gmt_driver_is_software;

static const char *const hook_names[GMT_HOOK_COUNT] = {
#define GMT_HOOK(symbol, family, runtime, traits, ...) #symbol,
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};

/* real -> hook, open addressing; written once under `mutex`, read without. At most half full. */
#define MAP_SLOTS 1024u
static struct {
    _Atomic uintptr_t real;
    unsigned id;
} map[MAP_SLOTS];
static_assert(GMT_HOOK_COUNT <= MAP_SLOTS / 2, "searches end at an empty slot, soon");
static struct gmt_mutex mutex = GMT_MUTEX(RESOLVE);
static _Atomic bool resolved;
static void *libcuda_handle;

void *gmt_resolve_in_libc(void)
{
    void *address;
    gmt_dlsym_function *found = gmt_find_real_dlsym();
    memcpy(&address, &found, sizeof(address));
    return address;
}

static unsigned slot_of(uintptr_t real)
{
    return (unsigned)((real * UINT64_C(0x9e3779b97f4a7c15)) >> 54) % MAP_SLOTS;
}

static void map_add(uintptr_t real, unsigned id)
{
    unsigned at = slot_of(real);
    while (map[at].real != 0 && map[at].real != real) {
        at = (at + 1) % MAP_SLOTS;
    }
    map[at].id = id;
    atomic_store_explicit(&map[at].real, real, memory_order_release);
}

/* What `handle` has of each hook. True: of one at least. */
static bool find_all(void *handle, void **real)
{
    bool any = false;
    for (unsigned id = 0; handle != NULL && id < GMT_HOOK_COUNT; id++) {
        real[id] = gmt_dlsym_past_us(handle, hook_names[id]);
        any |= real[id] != NULL;
    }
    return any;
}

static void take_all(void *handle, void *const *real)
{
    gmt_mutex_lock(&mutex);
    for (unsigned id = 0; !resolved && id < GMT_HOOK_COUNT; id++) {
        if (real[id] != NULL) {
            gmt_hook_real[id] = real[id];
            map_add((uintptr_t)real[id], id);
        }
    }
    if (!resolved) {
        libcuda_handle = handle;
        atomic_store_explicit(&resolved, true, memory_order_release);
    }
    gmt_mutex_unlock(&mutex);
}

/* Look up all hooked entry points of the driver once it is loaded. */
bool gmt_resolve(void *candidate)
{
    if (atomic_load_explicit(&resolved, memory_order_acquire)) {
        return true;
    }
    /* The loader is asked before our lock is taken: a thread inside dlopen (whose constructor may call
     * CUDA) holds the loader's lock and may be waiting for ours. */
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    const size_t bytes = GMT_HOOK_COUNT * sizeof(void *); /* too many for a small stack */
    void **real = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) {
        handle = candidate;
    }
    if (real != MAP_FAILED) {
        if (find_all(handle, real)) {
            take_all(handle, real);
        }
        (void)munmap(real, bytes);
    }
    gmt_cancellation_allow(of_program);
    return resolved;
}

void *gmt_libcuda(void)
{
    return gmt_resolve(NULL) ? libcuda_handle : NULL;
}

void *gmt_real_symbol(const char *name)
{
    void *handle = gmt_libcuda();
    return handle != NULL ? gmt_dlsym_past_us(handle, name) : NULL;
}

void *gmt_hook_find_real(enum gmt_hook_id id)
{
    return gmt_resolve(NULL) ? gmt_hook_real[id] : NULL;
}

unsigned gmt_hook_of(const void *real)
{
    for (unsigned at = slot_of((uintptr_t)real); map[at].real != 0; at = (at + 1) % MAP_SLOTS) {
        if (atomic_load_explicit(&map[at].real, memory_order_acquire) == (uintptr_t)real) {
            return map[at].id;
        }
    }
    return GMT_HOOK_COUNT;
}

void gmt_resolve_reset(void)
{
    gmt_mutex_renew(&mutex);
}

void gmt_driver_load(void)
{
    void *found;
#define GMT_DRIVER(symbol, parameters) \
    found = gmt_real_symbol(#symbol); \
    memcpy(&gmt_driver.symbol, &found, sizeof(found));
#include "preload/driver/driver.def"
#undef GMT_DRIVER
    gmt_driver_is_software = gmt_sim_note_device(gmt_real_symbol);
}
