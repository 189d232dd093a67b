/* SPDX-License-Identifier: Apache-2.0 */
/* Finds libcupti: in the process, by the user's choice, beside the CUDA runtime, in the toolkit. */
#define _GNU_SOURCE
#include "libtrace/cupti/base/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/cupti/base/copies.h"
#include "libtrace/cupti/base/real_dlsym.h"

static const char *const library_names[] = {GMT_CUPTI_LIBRARIES};
#define LIBRARY_NAMES (sizeof(library_names) / sizeof(library_names[0]))

/* Where CUPTI lies, seen from the directory of the CUDA runtime: a toolkit or conda environment,
 * a toolkit's extras, the wheels of CUDA 13 (same directory) and of CUDA 12. */
static const char *const beside_runtime[] = {
    ".", "../extras/CUPTI/lib64", "../../cuda_cupti/lib", "../cuda_cupti/lib", "../../cu13/lib",
};
/* Seen from any other library of a Python environment, e.g. torch/lib or site-packages/x.libs. */
static const char *const beside_framework[] = {
    "../../nvidia/cu13/lib",
    "../../nvidia/cuda_cupti/lib",
};
static const char *const toolkit_dirs[] = {"lib64", "extras/CUPTI/lib64", "lib"};

static void *open_in(const char *directory)
{
    for (size_t i = 0; i < LIBRARY_NAMES; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof(path), "%s/%s", directory, library_names[i]);
        if (length < 0 || (size_t)length >= sizeof(path)) {
            continue;
        }
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle != NULL) {
            return handle;
        }
    }
    return NULL;
}

static void *open_below(const char *base, const char *const *directories, size_t count)
{
    for (size_t i = 0; base != NULL && base[0] != '\0' && i < count; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof(path), "%s/%s", base, directories[i]);
        void *handle = length > 0 && (size_t)length < sizeof(path) ? open_in(path) : NULL;
        if (handle != NULL) {
            return handle;
        }
    }
    return NULL;
}

static void *open_by_name(int flags)
{
    for (size_t i = 0; i < LIBRARY_NAMES; i++) {
        void *handle = dlopen(library_names[i], flags);
        if (handle != NULL) {
            return handle;
        }
    }
    return NULL;
}

/* dlopen must not be called from a dl_iterate_phdr callback, so that one only notes directories. */
struct neighbours {
    char runtime[PATH_MAX];   /* directory of libcudart, "" = not in the process (or static) */
    char framework[PATH_MAX]; /* directory of libtorch_cuda                                  */
};

static int note_neighbour(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct neighbours *found = data;
    const char *slash = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
    if (slash == NULL || (size_t)(slash - info->dlpi_name) >= PATH_MAX) {
        return 0;
    }
    char *into = strncmp(slash + 1, "libcudart.so", 12) == 0    ? found->runtime
                 : strncmp(slash + 1, "libtorch_cuda", 13) == 0 ? found->framework
                                                                : NULL;
    if (into != NULL && into[0] == '\0') {
        memcpy(into, info->dlpi_name, (size_t)(slash - info->dlpi_name));
        into[slash - info->dlpi_name] = '\0';
    }
    return 0;
}

static void *open_given(const char *given)
{
    void *handle = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    return handle != NULL ? handle : open_in(given);
}

static void *find_library(const char *given)
{
    void *handle = gmt_copies_of_program();
    if (handle == NULL) {
        handle = open_by_name(RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    if (handle != NULL) {
        return handle;
    }
    if (given != NULL && given[0] != '\0') {
        return open_given(given);
    }
    struct neighbours found = {.runtime = "", .framework = ""};
    dl_iterate_phdr(note_neighbour, &found);
    handle = open_below(found.runtime, beside_runtime,
                        sizeof(beside_runtime) / sizeof(beside_runtime[0]));
    if (handle == NULL) {
        handle = open_below(found.framework, beside_framework,
                            sizeof(beside_framework) / sizeof(beside_framework[0]));
    }
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                                 "/opt/cuda"};
    for (size_t i = 0; handle == NULL && i < sizeof(roots) / sizeof(roots[0]); i++) {
        handle = open_below(roots[i], toolkit_dirs, sizeof(toolkit_dirs) / sizeof(toolkit_dirs[0]));
    }
    return handle != NULL ? handle : open_by_name(RTLD_NOW | RTLD_LOCAL);
}

enum function_set { CORE, ACTIVITY, COUNTERS, CALLBACKS, SASS, MANAGED };

static const struct {
    const char *name;
    size_t offset;
    enum function_set set;
} functions[] = {
#define GMT_CUPTI_FUNCTION(set, name) {#name, offsetof(struct gmt_cupti_api, name), set},
#include "libtrace/cupti/base/functions.def"
#undef GMT_CUPTI_FUNCTION
};

static int fill_table(struct gmt_cupti_api *api, void *handle)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = gmt_dlsym_past_us(handle, functions[i].name);
        memcpy((char *)api + functions[i].offset, &symbol, sizeof(symbol));
        if (symbol != NULL) {
            continue;
        }
        if (functions[i].set == CORE) {
            return -ENOSYS;
        }
        const char **const missing_of[] = {
            [ACTIVITY] = &api->missing_activity,   [COUNTERS] = &api->missing_counters,
            [CALLBACKS] = &api->missing_callbacks, [SASS] = &api->missing_sass,
            [MANAGED] = &api->missing_managed,
        };
        const char **missing = missing_of[functions[i].set];
        if (*missing == NULL) {
            *missing = functions[i].name;
        }
    }
    return 0;
}

int gmt_cupti_load(struct gmt_cupti_api *api, const char *given)
{
    memset(api, 0, sizeof(*api));
    void *handle = find_library(given);
    if (handle == NULL) {
        return -ENOENT;
    }
    api->handle = handle;
    const struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
        (void)snprintf(api->path, sizeof(api->path), "%s", map->l_name);
    }
    int error = fill_table(api, handle);
    if (error == 0) {
        (void)api->cuptiGetVersion(&api->version);
    }
    return error == 0 && api->version < GMT_CUPTI_OLDEST ? -ENOTSUP : error;
}

/* `path`: PATH_MAX bytes that nobody else uses meanwhile. */
static void each_of_profiler(const struct gmt_cupti_api *api, char *path,
                             void (*use)(const char *path))
{
    static const char *const names[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const char *slash = realpath(api->path, path) != NULL ? strrchr(path, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t directory = (size_t)(slash + 1 - path);
        if (directory + strlen(names[i]) < PATH_MAX) {
            memcpy(path + directory, names[i], strlen(names[i]) + 1);
            use(path);
        }
    }
}

static void load(const char *path)
{
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) {
        (void)dlerror(); /* it is not about what the program asks for */
    }
}

static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
        (void)close(fd);
    }
}

void gmt_cupti_load_profiler(const struct gmt_cupti_api *api)
{
    static char path[PATH_MAX]; /* the stack is that of a thread of the program */
    each_of_profiler(api, path, load);
}

void gmt_cupti_read_profiler(const struct gmt_cupti_api *api)
{
    char path[PATH_MAX];
    each_of_profiler(api, path, read_file);
}

const char *gmt_cupti_error(const struct gmt_cupti_api *api, CUptiResult result)
{
    const char *text = NULL;
    if (api->cuptiGetResultString == NULL || api->cuptiGetResultString(result, &text) != 0) {
        text = NULL;
    }
    return text != NULL ? text : "unknown CUPTI error";
}
