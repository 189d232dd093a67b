/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that kernels may reach although no launch gets a pointer to it. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/memory/memory.h"
#include "analyzer/memory/upload_fate.h"

/* Whether a kernel got a pointer into it; also of what is no allocation: a variable of a module. */
static bool in_kernels(const struct gmt_memory *memory, int64_t id)
{
    const struct gmt_memory_row *row = gmt_memory_find(memory, id);

    return row == NULL || row->in_kernels;
}

bool gmt_memory_may_be_table(const struct gmt_tl_copy *copy)
{
    return copy->direction == GMT_DIR_H2D && copy->bytes > 0 && copy->bytes % 8 == 0 &&
           copy->bytes <= GMT_POINTER_TABLE_BYTES;
}

/* When tables may have been brought to where kernels look; ascending, as copies are. */
static int64_t *find_tables(const struct gmt_memory *memory, size_t *count)
{
    const struct gmt_timeline *tl = memory->timeline;
    int64_t *tables = calloc(tl->copy_count + 1, sizeof(*tables));

    *count = 0;
    for (size_t i = 0; tables != NULL && !tl->simulated && i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        if (gmt_memory_may_be_table(copy) && in_kernels(memory, copy->dst_allocation)) {
            tables[(*count)++] = copy->call.begin_ns;
        }
    }
    return tables;
}

static bool any_within(const int64_t *tables, size_t count, int64_t begin_ns, int64_t end_ns)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tables[middle] < begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && tables[low] < end_ns;
}

/* A graph shows no signature, and what communication libraries read is in queues. Where no kernel ran,
 * the program may be out to fill memory, or another one shows what it is for. */
static bool all_plain(const struct gmt_timeline *tl)
{
    if (tl->launch_count == 0) {
        return false;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].class_index < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        if (!gmt_parameters_are_plain(tl->classes[i].signature) ||
            gmt_class_is_open_ended(tl, (int32_t)i)) {
            return false;
        }
    }
    return true;
}

/*
 * Memory is unread that memsets and copies on the device fill, from which no copy and no kernel takes
 * anything: all kernels of the trace have parameters that are numbers, or pointers to numbers. Any other
 * may hold a handle of a texture, a tensor map, or a pointer in memory, which nothing shows.
 * What the host sends is an upload that GM107 judges.
 */
static bool is_unread(const struct gmt_memory *memory, const struct gmt_memory_row *row)
{
    struct gmt_interval life = {row->lives_ns, gmt_memory_freed_ns(row)};

    return !memory->shared && !gmt_memory_in_doubt(memory, life) && !row->host &&
           !row->in_kernels && !row->indirect && !row->copied_from && !row->sent &&
           row->first_use_ns != GMT_NO_TIME &&
           (row->kind == GMT_ALLOC_DEVICE || row->kind == GMT_ALLOC_PITCHED ||
            row->kind == GMT_ALLOC_ASYNC);
}

int gmt_memory_find_indirect(struct gmt_memory *memory)
{
    bool plain = all_plain(memory->timeline);
    size_t count;
    int64_t *tables = find_tables(memory, &count);

    if (tables == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->count; i++) {
        struct gmt_memory_row *row = &memory->rows[i];

        row->indirect = !row->host && !row->in_kernels &&
                        (row->kind == GMT_ALLOC_ARRAY || row->kind == GMT_ALLOC_MIPMAP ||
                         any_within(tables, count, row->lives_ns, gmt_memory_freed_ns(row)));
        row->unread = plain && is_unread(memory, row);
    }
    free(tables);
    return 0;
}
