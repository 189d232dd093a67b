/* SPDX-License-Identifier: Apache-2.0 */
/* Answers look-ups of the driver's names, of CUPTI's and of our own. */
#include "preload/lookup/lookup.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "libtrace/cupti/base/real_dlsym.h"
#include "libtrace/record/entry_points.h"
#include "preload/driver/coverage.h"
#include "preload/driver/resolve.h"
#include "preload/hooks/cupti.h"
#include "preload/hooks/hook.h"
#include "preload/lookup/route.h"
#include "preload/recording/enter.h"

static struct link_map *object_at(const void *address)
{
    Dl_info info;
    void *object = NULL;
    return dladdr1(address, &info, &object, RTLD_DL_LINKMAP) != 0 ? object : NULL;
}

static struct link_map *our_object(void)
{
    return object_at(&gmt_driver);
}

/* Objects are listed in the order in which the loader searches them. Those in front of us stay; others may be
 * unloaded while the list is read. */
static bool is_in_front_of_us(const struct link_map *object)
{
    const struct link_map *at = our_object();
    while (at != NULL && at != object) {
        at = at->l_prev;
    }
    return at != NULL;
}

/* What the scope of a library and what it is linked with holds, which may be opened for nobody else. */
static void *find_in_scope_of(const struct link_map *object, const char *name)
{
    void *found = NULL;
    if (object != NULL && object->l_name[0] != '\0') {
        void *handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
        found = handle != NULL ? gmt_dlsym_past_us(handle, name) : NULL;
        if (handle != NULL) {
            (void)dlclose(handle);
        }
    }
    return found;
}

/* ---- the driver's names: dlsym does not see ours ------------------------------------------------ */

/* What a library between the caller and us defines itself: another interposer. */
static bool is_between(const struct link_map *caller, const char *name)
{
    const struct link_map *ours = our_object();
    for (const struct link_map *at = caller->l_next; at != NULL && at != ours; at = at->l_next) {
        void *found = find_in_scope_of(at, name);
        if (found != NULL && object_at(found) == at) {
            return true;
        }
    }
    return false;
}

/* RTLD_NEXT. Behind us the loader finds what it finds. In front of us it would go past our hooks, or, before
 * glibc 2.36, return them whether there is a driver or not. */
static void *find_next(struct gmt_lookup *lookup, const char *name, const struct link_map *caller)
{
    if (caller == NULL || !is_in_front_of_us(caller) || is_between(caller, name)) {
        if (gmt_entry_class(name) != GMT_ENTRY_UNKNOWN) {
            gmt_coverage_note(GMT_LOOKUP_DLSYM, name, 0, 0);
        }
        return NULL;
    }
    void *found = gmt_dlsym_past_us(RTLD_NEXT, name);
    if (found == NULL && gmt_dlsym_past_us(RTLD_DEFAULT, name) == NULL) {
        lookup->handle = RTLD_DEFAULT; /* which fails in the same words */
    } else if (found == NULL) {
        lookup->answer = GMT_LOOKUP_NOTHING; /* the caller's own is the only one */
    }
    return found;
}

static void look_up_driver(struct gmt_lookup *lookup, const char *name, const void *caller)
{
    void *handle = lookup->handle, *found;
    if (handle == RTLD_NEXT) {
        found = find_next(lookup, name, object_at(caller));
    } else {
        found = gmt_dlsym_past_us(handle, name);
        if (found == NULL && handle == RTLD_DEFAULT) {
            found = find_in_scope_of(object_at(caller), name);
        }
    }
    void *candidate = handle != RTLD_NEXT && handle != RTLD_DEFAULT ? handle : NULL;
    if (found != NULL && gmt_resolve(candidate)) {
        void *routed = gmt_route(GMT_LOOKUP_DLSYM, name, found, 0);
        lookup->answer = routed != found ? routed : NULL;
    }
}

/* ---- names that dlsym sees ---------------------------------------------------------------------- */

static bool is_our_handle(void *handle)
{
    struct link_map *object = NULL;
    return handle != RTLD_DEFAULT && handle != RTLD_NEXT &&
           dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0 && object == our_object();
}

/* As if we had no such name. NULL: there is none; lookup->handle fails then, as it would, unless it is
 * one by which the loader finds ours. */
static void *find_without_ours(struct gmt_lookup *lookup, const char *name,
                               const struct link_map *caller)
{
    void *handle = lookup->handle, *found = NULL;
    if (handle != RTLD_NEXT) {
        found = gmt_dlsym_past_us(handle, name);
        if (found == NULL || object_at(found) != our_object()) {
            return found;
        }
    }
    found = gmt_dlsym_past_us(RTLD_NEXT, name);
    if (found == NULL && handle == RTLD_DEFAULT) {
        found = find_in_scope_of(caller, name);
    }
    if (found == NULL && handle == RTLD_DEFAULT && caller != NULL && !is_in_front_of_us(caller)) {
        lookup->handle = RTLD_NEXT;
    } else if (found == NULL) {
        lookup->answer = GMT_LOOKUP_NOTHING;
    }
    return found;
}

static void look_up_plain(struct gmt_lookup *lookup, const char *name, const void *caller,
                          bool is_cupti, bool is_inside)
{
    void *handle = lookup->handle;
    const struct link_map *asking = object_at(caller);
    if (is_our_handle(handle) ||
        (handle == RTLD_NEXT &&
         (asking == NULL || !is_in_front_of_us(asking) || is_between(asking, name)))) {
        return;
    }
    void *found = find_without_ours(lookup, name, asking);
    /* Inside a hook the collector asks for its own CUPTI, by a handle; a callback of the program's that
     * runs there may ask, too. */
    bool is_routed = is_cupti && (!is_inside || handle == RTLD_DEFAULT || handle == RTLD_NEXT);
    void *routed = found != NULL && is_routed ? gmt_cupti_route(name, found) : NULL;
    if (found != NULL) {
        lookup->answer = routed != NULL ? routed : found;
    }
}

struct gmt_lookup gmt_dlsym_filter(void *handle, const char *name, const void *caller)
{
    struct gmt_lookup lookup = {.handle = handle};
    bool is_cupti = name[0] == 'c' && name[2] == 'p';
    bool is_way_in = strcmp(name, "InitializeInjection") == 0 ||
                     strcmp(name, "InitializeInjectionNvtx2") == 0 ||
                     strcmp(name, "InitializeInjectionNvtxExtension") == 0;
    bool is_inside = !GMT_GUARD_ENTER_ALONE();
    if (is_cupti || is_way_in) {
        look_up_plain(&lookup, name, caller, is_cupti, is_inside);
    } else if (name[0] == 'c' && !is_inside) {
        /* Inside a hook the driver may look itself up (WSL2 does): it must find itself. */
        look_up_driver(&lookup, name, caller);
    }
    /* dlerror() is about the last look-up: the answer may have taken others. */
    if (lookup.answer == GMT_LOOKUP_NOTHING) {
        (void)gmt_dlsym_past_us(RTLD_NEXT, name);
    } else if (lookup.answer != NULL) {
        (void)gmt_dlsym_past_us(RTLD_DEFAULT, "dlsym");
    }
    if (!is_inside) {
        gmt_guard_leave();
    }
    return lookup;
}
