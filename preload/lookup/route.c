/* SPDX-License-Identifier: Apache-2.0 */
/* Hands out the hooks in place of the driver's entry points (route.h). */
#include "preload/lookup/route.h"

#include <dlfcn.h>
#include <string.h>

#include "libtrace/record/entry_points.h"
#include "preload/apply/apply.h"
#include "preload/driver/resolve.h"
#include "preload/hooks/hook.h"

/* The hooks' own addresses, by a declaration that says nothing of their types. */
#define GMT_HOOK(symbol, family, runtime, traits, ...) \
    extern const char gmt_address_of_##symbol[] __asm__(#symbol) \
        __attribute__((visibility("default")));
#include "preload/driver/hooks.def"
#undef GMT_HOOK
static const char *const hook_addresses[GMT_HOOK_COUNT] = {
#define GMT_HOOK(symbol, family, runtime, traits, ...) gmt_address_of_##symbol,
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};

/* Those that only fixes look at come last in the table. */
enum {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK_HELD(symbol, family, runtime, traits, ...) IN_RECORDINGS_##symbol,
#define GMT_HOOK(symbol, family, runtime, traits, ...) IN_RECORDINGS_##symbol,
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    IN_RECORDINGS
};
static_assert((int)IN_RECORDINGS_cuFuncLoad == (int)GMT_HOOK_cuFuncLoad, "they come last");

/* A name that no table knows may be anybody's: cu[A-Z]* is not the driver's alone. */
static bool is_drivers(const void *address)
{
    Dl_info there, driver;
    return dladdr(address, &there) != 0 && gmt_hook_real[GMT_HOOK_cuInit] != NULL &&
           dladdr(gmt_hook_real[GMT_HOOK_cuInit], &driver) != 0 &&
           there.dli_fbase == driver.dli_fbase;
}

void *gmt_route(enum gmt_lookup_path via, const char *name, void *real, int version)
{
    unsigned id = gmt_hook_of(real);
    if (id < IN_RECORDINGS || (id != GMT_HOOK_COUNT && gmt_apply_is_wanted())) {
        void *hook;
        memcpy(&hook, &hook_addresses[id], sizeof(hook));
        gmt_coverage_note(via, name, GMT_COVERAGE_HOOKED, version);
        return hook;
    }
    if (gmt_entry_class(name) == GMT_ENTRY_UNKNOWN && !is_drivers(real)) {
        return real;
    }
    return gmt_coverage_jump(via, name, real, version);
}

/* ---- cuGetProcAddress, used by cudart ------------------------------------------------------- */

GMT_EXPORT_DRIVER(cuGetProcAddress)
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUresult (*real)(const char *, void **, int,
                     cuuint64_t) = gmt_hook_find_real(GMT_HOOK_cuGetProcAddress);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult result = real(symbol, pfn, version, flags);
    if (result == CUDA_SUCCESS && pfn != NULL && *pfn != NULL && symbol != NULL &&
        GMT_GUARD_ENTER_ALONE()) {
        *pfn = gmt_route(GMT_LOOKUP_PROC, symbol, *pfn, version);
        gmt_guard_leave();
    }
    return result;
}

GMT_EXPORT_DRIVER(cuGetProcAddress_v2)
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    CUresult (*real)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        gmt_hook_find_real(GMT_HOOK_cuGetProcAddress_v2);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult result = real(symbol, pfn, version, flags, status);
    if (result == CUDA_SUCCESS && pfn != NULL && *pfn != NULL && symbol != NULL &&
        GMT_GUARD_ENTER_ALONE()) {
        *pfn = gmt_route(GMT_LOOKUP_PROC_V2, symbol, *pfn, version);
        gmt_guard_leave();
    }
    return result;
}

static void do_nothing(struct gmt_callback *reported, const void *parameters)
{
    (void)reported;
    (void)parameters;
}

extern const struct gmt_hook_callbacks gmt_callbacks_of_cuGetProcAddress,
    gmt_callbacks_of_cuGetProcAddress_v2;
const struct gmt_hook_callbacks gmt_callbacks_of_cuGetProcAddress = {do_nothing, 0};
const struct gmt_hook_callbacks gmt_callbacks_of_cuGetProcAddress_v2 = {do_nothing, 0};
