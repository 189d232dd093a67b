/* SPDX-License-Identifier: Apache-2.0 */
/* How much a launch can write: what it got by parameters that are not pointers to const. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"
#include "libtrace/store/db/guard.h"

enum { WARP_LANES = 32 };

/* A row of launch_argument, and the size of what it points into; NAN: unknown. */
struct argument {
    int32_t set, allocation;
    int64_t parameter;
    double bytes;
};

/* One launch of the class at least got the set. */
struct class_set {
    int32_t class_index, set;
};

struct writable {
    struct gmt_timeline *timeline;
    struct argument *arguments; /* by set and allocation */
    size_t argument_count;
    struct class_set *pairs;
    size_t pair_count, pair_capacity;
};

static int load_arguments(struct writable *all)
{
    sqlite3 *db = all->timeline->db;
    struct gmt_query query;
    int64_t rows = 0;
    int rc = gmt_query_int64(db, "SELECT count(*) FROM launch_argument", &rows);

    if (rc != 0) {
        return rc;
    }
    if (rows < 0 || !gmt_guard_plausible_rows(db, rows)) {
        return -EIO;
    }
    all->arguments = calloc((size_t)rows + 1, sizeof(*all->arguments));
    if (all->arguments == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(
        &query, db,
        "SELECT a.set_id, a.allocation_id, coalesce(a.parameter, -1), coalesce(d.bytes, h.bytes) "
        "FROM launch_argument a LEFT JOIN allocation d ON d.id = a.allocation_id "
        "LEFT JOIN host_allocation h ON h.id = a.allocation_id "
        "ORDER BY a.set_id, a.allocation_id");
    while (rc == 0 && all->argument_count < (size_t)rows && gmt_query_next(&query)) {
        all->arguments[all->argument_count++] = (struct argument){
            gmt_query_id(&query, 0), gmt_query_id(&query, 1), gmt_query_int(&query, 2),
            gmt_query_real(&query, 3)};
    }
    return gmt_query_close(&query, rc);
}

static int add_pair(struct writable *all, int32_t class_index, int32_t set)
{
    if (all->pair_count == all->pair_capacity) {
        size_t more = all->pair_capacity > 0 ? 2 * all->pair_capacity : 256;
        struct class_set *pairs = realloc(all->pairs, more * sizeof(*pairs));

        if (pairs == NULL) {
            return -ENOMEM;
        }
        all->pairs = pairs;
        all->pair_capacity = more;
    }
    all->pairs[all->pair_count++] = (struct class_set){class_index, set};
    return 0;
}

/* Launches that failed or were captured: the timeline does not have them. */
static int add_left_out(struct writable *all)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, all->timeline->db,
                            "SELECT DISTINCT class_id, argument_set_id FROM launch "
                            "WHERE result <> 0 OR capturing <> 0");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class_index = gmt_timeline_class(all->timeline, gmt_query_int(&query, 0));

        if (class_index >= 0) {
            rc = add_pair(all, class_index, gmt_query_id(&query, 1));
        }
    }
    return gmt_query_close(&query, rc);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct class_set *x = a, *y = b;
    int order = (x->class_index > y->class_index) - (x->class_index < y->class_index);

    return order != 0 ? order : (x->set > y->set) - (x->set < y->set);
}

/* Each pair once; launches of a class that follow each other mostly have one set. */
static int gather_pairs(struct writable *all)
{
    const struct gmt_timeline *tl = all->timeline;
    int32_t *last = calloc(tl->class_count + 1, sizeof(*last));
    int rc = last != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        int32_t class_index = tl->launches[i].class_index;
        int32_t set = tl->launches[i].argument_set;

        if (class_index >= 0 && set != last[class_index]) {
            rc = add_pair(all, class_index, set);
            last[class_index] = set;
        }
    }
    free(last);
    if (rc == 0 && !tl->all_launches) {
        rc = add_left_out(all);
    }
    if (rc == 0 && all->pair_count > 1) {
        qsort(all->pairs, all->pair_count, sizeof(*all->pairs), compare_pairs);
    }
    return rc;
}

/* The first argument of a set. */
static size_t first_of(const struct writable *all, int32_t set)
{
    size_t low = 0, high = all->argument_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all->arguments[middle].set < set) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What launches with this set can write; NAN where the size of a part is not known. */
static double sum_of(const struct writable *all, const struct gmt_tl_class *class, int32_t set)
{
    double sum = 0;
    int32_t last = 0;

    for (size_t i = first_of(all, set); i < all->argument_count && all->arguments[i].set == set;
         i++) {
        const struct argument *argument = &all->arguments[i];

        if (argument->allocation == last ||
            (argument->parameter >= 0 && argument->parameter < INT16_MAX &&
             gmt_parameter_is_const(class->signature, (int)argument->parameter))) {
            continue;
        }
        last = argument->allocation;
        sum += argument->bytes;
    }
    return sum;
}

/* The most of any of the sets of arguments in pairs; NAN where the size of one is not known. */
static double most_of(const struct writable *all, const struct gmt_tl_class *class,
                      const struct class_set *pairs, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        double sum = i > 0 && pairs[i].set == pairs[i - 1].set ? 0
                                                               : sum_of(all, class, pairs[i].set);

        if (isnan(sum)) {
            return NAN;
        }
        most = fmax(most, sum);
    }
    return most > 0 ? most : NAN;
}

/* The others write so little that nobody asks where to. */
static bool stores_in_a_loop(const struct gmt_tl_class *class)
{
    double warps = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2] *
                   ceil((double)class->block[0] * (double)class->block[1] *
                        (double)class->block[2] / WARP_LANES);

    return class->counter[GMT_M_global_store_requests] > GMT_ELEMENTWISE_REQUESTS * warps;
}

static bool is_asked_for(const struct gmt_tl_class *class)
{
    /* Of launches with incomplete arguments nothing is known. */
    return isfinite(class->footprint_bytes) && class->signature != NULL && stores_in_a_loop(class);
}

static void measure(const struct writable *all)
{
    struct gmt_timeline *tl = all->timeline;

    for (size_t i = 0, end; i < all->pair_count; i = end) {
        struct gmt_tl_class *class = &tl->classes[all->pairs[i].class_index];

        for (end = i + 1;
             end < all->pair_count && all->pairs[end].class_index == all->pairs[i].class_index;
             end++) {
        }
        if (is_asked_for(class)) {
            class->writable_bytes = most_of(all, class, &all->pairs[i], end - i);
        }
    }
}

int gmt_timeline_load_writable(struct gmt_timeline *tl)
{
    struct writable all = {.timeline = tl};
    bool wanted = false;

    for (size_t i = 0; i < tl->class_count; i++) {
        wanted |= is_asked_for(&tl->classes[i]);
    }
    if (!wanted) {
        return 0;
    }
    int rc = load_arguments(&all);
    if (rc == 0) {
        rc = gather_pairs(&all);
    }
    if (rc == 0) {
        measure(&all);
    }
    free(all.arguments);
    free(all.pairs);
    return rc;
}
