/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the program's calls to the one copy of CUPTI that the driver serves (copies.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/copies.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/cupti/base/real_dlsym.h"

#define COPIES 8u

static const struct gmt_cupti_api *_Atomic ours;

/* Looked up before the collector came: the program may hold functions of theirs, and keeps all of them.
 * By where they are loaded; the first one is also kept by name. */
static uintptr_t _Atomic early[COPIES];
static char first_early[GMT_CUPTI_PATH_BYTES];
static _Atomic bool first_named;

/* The first of each. */
static struct {
    _Atomic bool taken, ready;
    char path[GMT_CUPTI_PATH_BYTES];
} noted[GMT_COPY_FATES];

void gmt_copies_attach(const struct gmt_cupti_api *api)
{
    atomic_store(&ours, api);
}

static const struct link_map *module_of(const void *address)
{
    Dl_info unused;
    void *map = NULL;
    return dladdr1(address, &unused, &map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

static const char *soname_of(const struct link_map *module)
{
    const char *strings = NULL;
    size_t offset = 0;
    for (const ElfW(Dyn) *entry = module->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            /* Relocated by the loader, unless the section is read-only. */
            strings = (const char *)(entry->d_un.d_ptr < module->l_addr
                                         ? entry->d_un.d_ptr + module->l_addr
                                         : entry->d_un.d_ptr);
        } else if (entry->d_tag == DT_SONAME) {
            offset = entry->d_un.d_val;
        }
    }
    return strings != NULL && offset != 0 ? strings + offset : "";
}

static bool is_cupti(const char *soname)
{
    static const char name[] = "libcupti.so";
    return strncmp(soname, name, sizeof(name) - 1) == 0;
}

static bool is_early(const struct link_map *module)
{
    bool known = false;
    for (unsigned i = 0; i < COPIES && !known; i++) {
        known = atomic_load(&early[i]) == (uintptr_t)module->l_ld;
    }
    return known;
}

static void add_early(const struct link_map *module)
{
    uintptr_t none = 0;
    for (unsigned i = 0; i < COPIES && !is_early(module); i++, none = 0) {
        if (atomic_compare_exchange_strong(&early[i], &none, (uintptr_t)module->l_ld) && i == 0) {
            (void)snprintf(first_early, sizeof(first_early), "%s", module->l_name);
            atomic_store(&first_named, true);
        }
    }
}

static void note(enum gmt_copy_fate fate, const struct link_map *module)
{
    if (!atomic_exchange(&noted[fate].taken, true)) {
        (void)snprintf(noted[fate].path, sizeof(noted[fate].path), "%s", module->l_name);
        atomic_store(&noted[fate].ready, true);
    }
}

void *gmt_copies_route(const char *name, void *found, bool asks)
{
    const struct gmt_cupti_api *api = atomic_load(&ours);
    const struct link_map *theirs = module_of(found), *served = NULL;
    if (theirs == NULL || !is_cupti(soname_of(theirs))) {
        return found; /* somebody's function of such a name */
    }
    if (api == NULL) {
        add_early(theirs);
        return found;
    }
    if (dlinfo(api->handle, RTLD_DI_LINKMAP, &served) != 0 || served == NULL || served == theirs ||
        is_early(theirs)) {
        return found;
    }
    bool same = strcmp(soname_of(theirs), soname_of(served)) == 0;
    if (asks) {
        note(same ? GMT_COPY_SERVED : GMT_COPY_REFUSED, theirs);
    }
    return same ? gmt_dlsym_past_us(api->handle, name) : NULL;
}

void *gmt_copies_of_program(void)
{
    return atomic_load(&first_named) ? dlopen(first_early, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)
                                     : NULL;
}

const char *gmt_copies_met(enum gmt_copy_fate fate)
{
    return atomic_load(&noted[fate].ready) ? noted[fate].path : NULL;
}
