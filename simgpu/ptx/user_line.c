/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the source lines that were inlined into each other a user is shown for an instruction. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/ptx/parser.h"

/* A path belongs to a library if it starts with `start` and has `part` in it. */
struct library {
    const char *start, *part;
};

/*
 * The toolkit's headers lie in <toolkit>/targets/<target>/include, as NVIDIA and conda install it, in
 * <toolkit>/include, in /usr/include (Linux distributions) or in Python packages called nvidia; in
 * other places, they are known by folders that only a toolkit has inside `include`. C++'s own headers lie in
 * /usr/include, too, or in a compiler's folder. What else is in /usr/include is no user's either.
 */
static const struct library libraries[] = {
    {"", "/targets/x86_64-linux/include/"},
    {"", "/targets/sbsa-linux/include/"},
    {"", "/targets/aarch64-linux/include/"},
    {"/usr/local/cuda/", "/include/"},
    {"/usr/local/cuda-", "/include/"},
    {"/opt/cuda/", "/include/"},
    {"", "-packages/nvidia/"},
    {"", "/include/crt/"},
    {"", "/include/cccl/"},
    {"", "/include/cooperative_groups/"},
    {"/usr/include/", ""},
    {"", "/include/c++/"},
    {"", "/lib/gcc/"},
};

bool ptx_path_is_library(const char *path)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        size_t bytes = strlen(libraries[i].start);

        if (strncmp(path, libraries[i].start, bytes) == 0 &&
            strstr(path, libraries[i].part) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct ptx_file *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static const struct ptx_file *find_file(const struct ptx_module *module, uint32_t key)
{
    uint32_t low = 0, high = module->file_count; /* the first file whose key is not below `key` */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (module->files[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < module->file_count && module->files[low].key == key ? &module->files[low] : NULL;
}

const char *ptx_file_path(const struct ptx_module *module, uint32_t key)
{
    const struct ptx_file *file = find_file(module, key);

    return file != NULL ? file->path : NULL;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* What a location is inlined at stands before it, so that one pass suffices. */
void ptx_resolve_places(struct ptx_module *module)
{
    if (module->file_count > 0) {
        qsort(module->files, module->file_count, sizeof(*module->files), by_key);
    }
    for (uint32_t i = 0; i < module->file_count; i++) {
        module->files[i].is_library = ptx_path_is_library(module->files[i].path);
    }
    for (uint32_t i = 1; i < module->loc_count; i++) {
        struct ptx_loc *loc = &module->locs[i];
        const struct ptx_loc *site = loc->inlined_at != 0 ? &module->locs[loc->inlined_at] : NULL;
        const struct ptx_file *file = find_file(module, loc->file);

        loc->is_library = file != NULL && file->is_library;
        loc->caller = site != NULL ? site->caller : i;
        loc->shown = i;
        if (loc->is_library && site != NULL && !module->locs[site->shown].is_library) {
            loc->shown = site->shown;
        }
    }
}

struct ptx_place ptx_place_of(const struct ptx_module *module,
                              const struct ptx_instruction *instruction)
{
    if (instruction->loc == 0 || instruction->loc >= module->loc_count) {
        return (struct ptx_place){0};
    }
    const struct ptx_loc *shown = &module->locs[module->locs[instruction->loc].shown];
    const struct ptx_loc *caller = &module->locs[shown->caller];
    struct ptx_place place = {
        .file = ptx_file_path(module, shown->file), .line = shown->line, .column = shown->column};

    if (caller != shown) {
        place.caller_file = ptx_file_path(module, caller->file);
        place.caller_line = caller->line;
    }
    return place;
}

size_t ptx_levels_of(const struct ptx_module *module, const struct ptx_instruction *instruction,
                     struct ptx_level levels[PTX_MOST_LEVELS])
{
    if (instruction->loc == 0 || instruction->loc >= module->loc_count) {
        return 0;
    }
    const uint32_t shown = module->locs[instruction->loc].shown;
    int32_t level = 0;
    size_t count = 0;

    for (uint32_t at = instruction->loc; at != shown && at != 0; at = module->locs[at].inlined_at) {
        level--;
    }
    for (uint32_t at = instruction->loc; at != 0; at = module->locs[at].inlined_at, level++) {
        const struct ptx_loc *loc = &module->locs[at];

        count += count < PTX_MOST_LEVELS;
        levels[count - 1] = (struct ptx_level){.function = loc->inlined_function,
                                               .file = ptx_file_path(module, loc->file),
                                               .line = loc->line,
                                               .level = level};
    }
    return count;
}
