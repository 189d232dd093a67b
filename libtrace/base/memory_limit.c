/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may take: a file that somebody else made must not take all of it. */
#include "libtrace/base/memory_limit.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "libtrace/base/memory_short.h"

#if defined(__has_feature)
#define GMT_HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define GMT_HAS_ASAN 1
#else
#define GMT_HAS_ASAN 0
#endif

static struct {
    bool known;
    struct rlimit before;
} limits;

/* A value that jansson could not make is left out of its object, which is nowhere an error. */
static void *json_memory(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL) {
        gmt_memory_note_short();
    }
    return memory;
}

void gmt_memory_limit(int64_t bytes)
{
    struct rlimit limit;

    json_set_alloc_funcs(json_memory, free);
    if (GMT_HAS_ASAN || (!limits.known && getrlimit(RLIMIT_DATA, &limits.before) != 0)) {
        return;
    }
    limits.known = true;
    limit = limits.before;
    if (limit.rlim_cur > (rlim_t)bytes) {
        limit.rlim_cur = (rlim_t)bytes;
    }
    (void)setrlimit(RLIMIT_DATA, &limit);
}

void gmt_memory_limit_lift(void)
{
    if (limits.known) {
        (void)setrlimit(RLIMIT_DATA, &limits.before);
    }
}
