/* SPDX-License-Identifier: Apache-2.0 */
/* How driverclient reaches the driver: as cudart does, by dlsym, or by being linked with it. */
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client_api cu;

/* One function: cuda.h's name as written, the versioned name it stands for, where it goes. */
struct entry {
    const char *base, *symbol;
    int version;
    size_t offset;
};

#define QUOTED(name) #name
static const struct entry entries[] = {
#define CLIENT(name, version) {#name, QUOTED(name), version, offsetof(struct client_api, name)},
#include CLIENT_API
#undef CLIENT
};

static void set(const struct entry *entry, void *function)
{
    if (function == NULL) {
        fprintf(stderr, "driverclient: no %s\n", entry->symbol);
        exit(4);
    }
    memcpy((char *)&cu + entry->offset, &function, sizeof function);
}

static void *resolve(void *proc_address, const struct entry *entry, cuuint64_t flags)
{
    CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    memcpy(&get, &proc_address, sizeof get);
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    int version = entry->version;
    if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && version < 7000) {
        version = 7000;
    }
    CUresult result = get(entry->base, &function, version, flags, &status);
    return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? function : NULL;
}

static void load_by_name(enum client_via via)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL) {
        fprintf(stderr, "driverclient: %s\n", dlerror());
        exit(4);
    }
    void *proc_address = dlsym(driver, "cuGetProcAddress_v2");
    cuuint64_t flags = via == VIA_PER_THREAD ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                             : CU_GET_PROC_ADDRESS_DEFAULT;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        set(&entries[i], via == VIA_DLSYM ? dlsym(driver, entries[i].symbol)
                                          : resolve(proc_address, &entries[i], flags));
    }
}

void client_load(enum client_via via)
{
#ifdef CLIENT_LINKED
    (void)via;
    (void)load_by_name;
#define CLIENT(name, version) cu.name = name;
#include CLIENT_API
#undef CLIENT
#else
    load_by_name(via);
#endif
}
