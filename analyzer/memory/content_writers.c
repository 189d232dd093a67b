/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches can have written to memory that they got a pointer to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/memory/content.h"
#include "analyzer/memory/memory.h"
#include "analyzer/memory/upload_fate.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"

struct gmt_footprint_row {
    int64_t class_id, allocation;
    bool writes;
};

static int compare_footprints(const void *a, const void *b)
{
    const struct gmt_footprint_row *x = a, *y = b;

    if (x->class_id != y->class_id) {
        return x->class_id < y->class_id ? -1 : 1;
    }
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

static int load_arguments(struct gmt_writers *writers)
{
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(writers->timeline->db, "SELECT count(*) FROM launch_argument", &n);

    if (rc != 0 || n < 0) {
        return -EIO;
    }
    writers->arguments = calloc((size_t)n + 1, sizeof(*writers->arguments));
    if (writers->arguments == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, writers->timeline->db,
                        "SELECT set_id, allocation_id, allocation_offset, coalesce(parameter, -1), "
                        "word_offset FROM launch_argument ORDER BY set_id");
    while (rc == 0 && writers->argument_count < (size_t)n && gmt_query_next(&query)) {
        writers->arguments[writers->argument_count++] = (struct gmt_pointer_argument){
            .set = gmt_query_id(&query, 0),
            .allocation = gmt_query_id(&query, 1),
            .offset = gmt_query_bytes(&query, 2),
            .parameter = (int32_t)gmt_clamp(gmt_query_int(&query, 3), -1, INT32_MAX),
            .word = gmt_query_id(&query, 4),
        };
    }
    return gmt_query_close(&query, rc);
}

static int load_footprints(struct gmt_writers *writers)
{
    struct gmt_query query;
    int64_t n = 0;

    if (!writers->timeline->simulated) {
        return 0; /* traces of the first format have no such table */
    }
    int rc = gmt_query_int64(writers->timeline->db, "SELECT count(*) FROM kernel_footprint", &n);
    if (rc != 0 || n < 0) {
        return -EIO;
    }
    writers->footprints = calloc((size_t)n + 1, sizeof(*writers->footprints));
    if (writers->footprints == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(
        &query, writers->timeline->db,
        "SELECT class_id, allocation_id, max(write_bytes) > 0 FROM kernel_footprint "
        "WHERE allocation_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2");
    while (rc == 0 && writers->footprint_count < (size_t)n && gmt_query_next(&query)) {
        writers->footprints[writers->footprint_count++] = (struct gmt_footprint_row){
            gmt_query_int(&query, 0), gmt_query_int(&query, 1), gmt_query_int(&query, 2) != 0};
    }
    return gmt_query_close(&query, rc);
}

/* Names are long, and launches many. */
static int load_classes(struct gmt_writers *writers)
{
    const struct gmt_timeline *tl = writers->timeline;

    writers->classes = calloc(tl->class_count + 1, sizeof(*writers->classes));
    if (writers->classes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        const char *name = tl->classes[i].signature;

        writers->classes[i].open_ended = gmt_class_is_open_ended(tl, (int32_t)i);
        for (int bit = 0; name != NULL && bit < 64; bit++) {
            writers->classes[i].constant |= (uint64_t)gmt_parameter_is_const(name, bit) << bit;
        }
    }
    return 0;
}

int gmt_writers_load(struct gmt_writers *writers, const struct gmt_timeline *timeline)
{
    *writers = (struct gmt_writers){.timeline = timeline};
    int rc = load_arguments(writers);
    if (rc == 0) {
        rc = load_classes(writers);
    }
    return rc == 0 ? load_footprints(writers) : rc;
}

void gmt_writers_free(struct gmt_writers *writers)
{
    free(writers->arguments);
    free(writers->footprints);
    free(writers->classes);
}

const struct gmt_pointer_argument *gmt_writers_arguments(const struct gmt_writers *writers,
                                                         int64_t set, size_t *count)
{
    size_t low = 0, high = writers->argument_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (writers->arguments[middle].set < set) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (*count = 0;
         low + *count < writers->argument_count && writers->arguments[low + *count].set == set;) {
        ++*count;
    }
    return writers->arguments + low;
}

enum gmt_write gmt_writers_ask(const struct gmt_writers *writers, int32_t class_index,
                               const struct gmt_pointer_argument *argument)
{
    if (class_index < 0) {
        return GMT_WRITE_MAYBE;
    }
    const struct gmt_tl_class *class = &writers->timeline->classes[class_index];
    struct gmt_footprint_row key = {class->id, argument->allocation, false};
    const struct gmt_footprint_row *row = writers->footprint_count == 0
                                              ? NULL
                                              : bsearch(&key, writers->footprints,
                                                        writers->footprint_count, sizeof(key),
                                                        compare_footprints);

    if (row != NULL) {
        return row->writes ? GMT_WRITE_YES : GMT_WRITE_NO;
    }
    return argument->word == 0 && argument->parameter >= 0 && argument->parameter < 64 &&
                   (writers->classes[class_index].constant >> argument->parameter & 1) != 0
               ? GMT_WRITE_NO
               : GMT_WRITE_MAYBE;
}
