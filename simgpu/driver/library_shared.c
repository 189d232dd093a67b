/* SPDX-License-Identifier: Apache-2.0 */
/* What the images of a library have in common: the list of them, and the storage of managed variables. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/library.h"

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER; /* lists of images */

/* A managed variable's storage, its name behind it. */
struct sim_managed {
    void *data;
    size_t bytes;
    char *name;
};

void sim_library_lock(void)
{
    pthread_mutex_lock(&library_lock);
}

void sim_library_unlock(void)
{
    pthread_mutex_unlock(&library_lock);
}

void sim_library_forget(struct sim_image *image)
{
    pthread_mutex_lock(&library_lock);
    struct sim_image **at = &image->library->images;
    while (*at != NULL && *at != image) {
        at = &(*at)->next;
    }
    if (*at == image) {
        *at = image->next;
    }
    pthread_mutex_unlock(&library_lock);
}

static CUresult share_one(struct sim_managed *managed, struct sim_global *global)
{
    if (managed->data == NULL) {
        size_t rounded = (global->bytes + 511) & ~(size_t)511;
        managed->bytes = global->bytes;
        managed->name = strdup(global->name);
        managed->data = managed->name != NULL ? aligned_alloc(512, rounded) : NULL;
        if (managed->data == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(managed->data, global->data, global->bytes);
        struct sim_range range = {.start = (uintptr_t)managed->data,
                                  .bytes = managed->bytes,
                                  .kind = SIM_MEM_GLOBAL | SIM_MEM_MANAGED,
                                  .name = managed->name};
        if (!sim_heap_adopt(&range)) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    global->data = managed->data;
    return CUDA_SUCCESS;
}

/* Every image has the same variables in the same order: they are made of the same text. */
CUresult sim_library_share(struct sim_library *library, struct sim_image *image)
{
    if (library->managed == NULL && image->global_count != 0) {
        library->managed = calloc(image->global_count, sizeof *library->managed);
        library->managed_count = image->global_count;
        if (library->managed == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < image->global_count; i++) {
        if (image->globals[i].is_managed && image->globals[i].bytes != 0) {
            result = share_one(&library->managed[i], &image->globals[i]);
        }
    }
    return result;
}

void sim_library_unshare(struct sim_library *library)
{
    for (size_t i = 0; library->managed != NULL && i < library->managed_count; i++) {
        if (library->managed[i].data != NULL) {
            sim_heap_disown((uintptr_t)library->managed[i].data);
        }
        free(library->managed[i].data);
        free(library->managed[i].name);
    }
    free(library->managed);
}
