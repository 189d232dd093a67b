/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that notes on standard error what a CUDA runtime asks it for, and answers as the one of OBSERVED_DRIVER does:
 *
 *   REQUEST("cuMemAlloc", 3020, 0)
 *   REFUSED            that driver does not have what was asked for last
 *   TABLE(6bd5fb6c-5bf4-e74a-8987-d93912fd9df9)
 *
 * It has no table (cuGetExportTable): what a runtime does after it was given one is not observed here.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuGetProcAddress

typedef CUresult CUDAAPI get_v1(const char *name, void **function, int version, cuuint64_t flags);
typedef CUresult CUDAAPI get_v2(const char *name, void **function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status);

CUresult CUDAAPI cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags);

static void *real(const char *name)
{
    const char *path = getenv("OBSERVED_DRIVER");
    void *driver = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return driver != NULL ? dlsym(driver, name) : NULL;
}

CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id)
{
    fputs("TABLE(", stderr);
    for (unsigned i = 0; i < sizeof id->bytes; i++) {
        fprintf(stderr, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                (unsigned char)id->bytes[i]);
    }
    fputs(")\n", stderr);
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* This driver's own, in the place of the real one's. */
static CUresult answer(CUresult result, const char *name, int version, void **function)
{
    if (result != CUDA_SUCCESS) {
        fputs("REFUSED\n", stderr);
    }
    if (strcmp(name, "cuGetExportTable") == 0) {
        *function = (void *)cuGetExportTable;
    } else if (strcmp(name, "cuGetProcAddress") == 0) {
        *function = version >= 12000 ? (void *)cuGetProcAddress_v2 : (void *)cuGetProcAddress;
    }
    return result;
}

CUresult CUDAAPI cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    get_v1 *get;
    void *found = real("cuGetProcAddress");
    memcpy(&get, &found, sizeof get);
    fprintf(stderr, "REQUEST(\"%s\", %d, %d)\n", name, version, (int)flags);
    CUresult result = get != NULL ? get(name, function, version, flags) : CUDA_ERROR_NOT_FOUND;
    return answer(result, name, version, function);
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **function, int version,
                                     cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    get_v2 *get;
    void *found = real("cuGetProcAddress_v2");
    memcpy(&get, &found, sizeof get);
    fprintf(stderr, "REQUEST(\"%s\", %d, %d)\n", name, version, (int)flags);
    CUresult result = get != NULL ? get(name, function, version, flags, status)
                                  : CUDA_ERROR_NOT_FOUND;
    return answer(result, name, version, function);
}
