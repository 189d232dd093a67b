/* SPDX-License-Identifier: Apache-2.0 */
/* Interned names. */
#include "libtrace/store/steps/step_names.h"

#include <stdlib.h>
#include <string.h>

void gmt_step_names_free(struct gmt_step_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->name[i].text);
    }
    free(names->name);
    gmt_intern_free(&names->ids);
    *names = (struct gmt_step_names){0};
}

/* Mangled or not: ncclDevKernel_AllReduce_Sum_f32_RING_LL, ncclKernel_... in versions before 2.19. */
static bool is_collective(const char *text)
{
    return strstr(text, "ncclDevKernel") != NULL || strstr(text, "ncclKernel") != NULL;
}

static bool has_room(struct gmt_step_names *names)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity != 0 ? 2 * names->capacity : 64;
        struct gmt_step_name *grown = realloc(names->name, capacity * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        names->name = grown;
        names->capacity = capacity;
    }
    return true;
}

uint32_t gmt_step_names_put(struct gmt_step_names *names, const char *text, size_t bytes)
{
    uint64_t id;
    bytes = strnlen(text, bytes);
    if (bytes == 0) {
        return 0;
    }
    if (gmt_intern_find(&names->ids, text, bytes, &id)) {
        return (uint32_t)id;
    }
    char *copy = names->count < GMT_STEP_NAMES && has_room(names) ? strndup(text, bytes) : NULL;
    if (copy == NULL || gmt_intern_id(&names->ids, text, bytes, names->count + 1, &id) != 0) {
        free(copy);
        return 0;
    }
    names->name[names->count++] = (struct gmt_step_name){.text = copy,
                                                         .is_collective = is_collective(copy)};
    return (uint32_t)id;
}

struct gmt_step_name *gmt_step_names_get(const struct gmt_step_names *names, uint32_t number)
{
    return number != 0 && number <= names->count ? &names->name[number - 1] : NULL;
}
