/* SPDX-License-Identifier: Apache-2.0 */
/* The live objects behind handles: streams, modules, graphs and the rest. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/registry.h"

struct sim_registry sim_registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The functions that went last: drivers hand the handles of kernels out again, and so does this one. */
static struct {
    void *object;
    size_t bytes;
} spare;

static void *spare_take(enum sim_kind kind, size_t bytes)
{
    void *object = NULL;
    pthread_mutex_lock(&sim_registry.lock);
    if (kind == SIM_FUNCTION && spare.object != NULL && spare.bytes == bytes) {
        object = memset(spare.object, 0, bytes);
        spare.object = NULL;
    }
    pthread_mutex_unlock(&sim_registry.lock);
    return object;
}

static void object_free(const struct sim_range *range)
{
    void *gone = (void *)range->start;
    if (range->kind == SIM_FUNCTION) {
        pthread_mutex_lock(&sim_registry.lock);
        gone = spare.object;
        spare.object = (void *)range->start;
        spare.bytes = range->bytes;
        pthread_mutex_unlock(&sim_registry.lock);
    }
    free(gone);
}

void *sim_object_new(enum sim_kind kind, size_t bytes, struct sim_context *context)
{
    void *object = spare_take(kind, bytes);
    if (object == NULL) {
        object = calloc(1, bytes);
    }
    if (object == NULL) {
        return NULL;
    }
    struct sim_range range = {
        .start = (uintptr_t)object, .bytes = bytes, .kind = kind, .context = context};
    pthread_mutex_lock(&sim_registry.lock);
    bool known = sim_tree_insert(&sim_registry.objects, &range) != NULL;
    pthread_mutex_unlock(&sim_registry.lock);
    if (!known) {
        free(object);
        return NULL;
    }
    return object;
}

bool sim_object_is(const void *object, unsigned kinds)
{
    pthread_mutex_lock(&sim_registry.lock);
    const struct sim_range *range = sim_tree_find(&sim_registry.objects, (uintptr_t)object);
    bool is = range != NULL && range->start == (uintptr_t)object && (range->kind & kinds) != 0;
    pthread_mutex_unlock(&sim_registry.lock);
    return is;
}

bool sim_object_element(const void *address, enum sim_kind kind, size_t element_bytes)
{
    pthread_mutex_lock(&sim_registry.lock);
    const struct sim_range *range = sim_tree_find(&sim_registry.objects, (uintptr_t)address);
    bool is = range != NULL && range->kind == kind &&
              ((uintptr_t)address - range->start) % element_bytes == 0;
    pthread_mutex_unlock(&sim_registry.lock);
    return is;
}

bool sim_object_delete(void *object, unsigned kinds)
{
    struct sim_range gone = {0};
    pthread_mutex_lock(&sim_registry.lock);
    const struct sim_range *range = sim_tree_find(&sim_registry.objects, (uintptr_t)object);
    bool is = range != NULL && range->start == (uintptr_t)object && (range->kind & kinds) != 0 &&
              sim_tree_remove(&sim_registry.objects, (uintptr_t)object, &gone);
    pthread_mutex_unlock(&sim_registry.lock);
    if (is) {
        object_free(&gone);
    }
    return is;
}

void sim_object_own(const void *object, struct sim_context *context)
{
    pthread_mutex_lock(&sim_registry.lock);
    struct sim_range *range = sim_tree_find(&sim_registry.objects, (uintptr_t)object);
    if (range != NULL && range->start == (uintptr_t)object) {
        range->context = context;
    }
    pthread_mutex_unlock(&sim_registry.lock);
}
