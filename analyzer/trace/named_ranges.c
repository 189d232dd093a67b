/* SPDX-License-Identifier: Apache-2.0 */
/* Loads ranges, and finds which one a call lies in, and by that which one a finding belongs to. */
#include "analyzer/trace/named_ranges.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"

/* A name as the trace has it, while groups are made. */
struct range_name {
    int64_t id, domain_id; /* -1: none */
    const char *text, *pattern, *domain;
    int32_t group;
};

struct names {
    struct range_name *items;
    size_t count;
};

/* ---- names and groups --------------------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int by_id(const void *a, const void *b)
{
    const struct range_name *x = a, *y = b;

    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->domain_id > y->domain_id) - (x->domain_id < y->domain_id);
}

static int by_pattern(const void *a, const void *b)
{
    const struct range_name *x = a, *y = b;
    int order = strcmp(x->pattern, y->pattern);

    if (order == 0) {
        order = compare_texts(x->domain, y->domain);
    }
    return order != 0 ? order : strcmp(x->text, y->text);
}

/* "epoch 3, batch 17" -> "epoch #, batch #" */
static const char *pattern_of(struct gmt_arena *arena, const char *text)
{
    char *pattern = gmt_arena_copy(arena, text), *to = pattern;

    for (const char *at = text; pattern != NULL && *at != '\0';) {
        bool digit = isdigit((unsigned char)*at) != 0;

        *to++ = digit ? '#' : *at++;
        while (digit && isdigit((unsigned char)*at)) {
            at++;
        }
    }
    if (pattern != NULL) {
        *to = '\0';
    }
    return pattern != NULL ? pattern : text;
}

static int load_names(struct gmt_named_ranges *all, sqlite3 *db, struct names *names)
{
    static const char sql[] = "SELECT DISTINCT coalesce(r.name_id, -1), coalesce(r.domain_id, -1), "
                              "n.text, d.text FROM range r LEFT JOIN string n ON n.id = r.name_id "
                              "LEFT JOIN string d ON d.id = r.domain_id";
    struct gmt_query query;
    size_t room = 0;
    int rc = gmt_query_open(&query, db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        if (names->count == room) {
            room = room > 0 ? 2 * room : 64;
            struct range_name *grown = realloc(names->items, room * sizeof(*grown));
            if (grown == NULL) {
                rc = -ENOMEM;
                break;
            }
            names->items = grown;
        }
        const char *text = gmt_query_text(&query, 2, &all->strings);

        text = text != NULL ? text : "(unnamed)";
        names->items[names->count++] = (struct range_name){
            .id = gmt_query_int(&query, 0),
            .domain_id = gmt_query_int(&query, 1),
            .text = text,
            .pattern = pattern_of(&all->strings, text),
            .domain = gmt_query_text(&query, 3, &all->strings)};
    }
    return gmt_query_close(&query, rc);
}

/* Names of one pattern become one group when there are many of them. Leaves names sorted by id. */
static int make_groups(struct gmt_named_ranges *all, struct names *names)
{
    struct range_name *items = names->items;

    all->groups = calloc(names->count + 1, sizeof(*all->groups));
    if (all->groups == NULL) {
        return -ENOMEM;
    }
    if (names->count > 1) {
        qsort(items, names->count, sizeof(*items), by_pattern);
    }
    for (size_t i = 0, end; i < names->count; i = end) {
        for (end = i + 1; end < names->count && strcmp(items[end].pattern, items[i].pattern) == 0 &&
                          compare_texts(items[end].domain, items[i].domain) == 0;) {
            end++;
        }
        bool together = end - i > GMT_RANGE_NAMES_APART;
        for (size_t k = i; k < end; k++) {
            if (k == i || !together) {
                all->groups[all->group_count++] = (struct gmt_range_group){
                    .name = together ? items[k].pattern : items[k].text, .domain = items[k].domain};
            }
            items[k].group = (int32_t)all->group_count - 1;
        }
    }
    if (names->count > 1) {
        qsort(items, names->count, sizeof(*items), by_id);
    }
    return 0;
}

/* ---- ranges ------------------------------------------------------------------------------------- */

/* Of ranges in order, the one that each began in. */
static void find_parents(struct gmt_named_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int32_t parent = i > 0 && ranges[i - 1].thread == ranges[i].thread ? (int32_t)i - 1 : -1;

        while (parent >= 0 && ranges[parent].end_ns <= ranges[i].begin_ns) {
            parent = ranges[parent].parent;
        }
        ranges[i].parent = parent;
    }
}

static int load_ranges(struct gmt_named_ranges *all, const struct gmt_timeline *tl,
                       const struct names *names, int64_t rows)
{
    struct gmt_query query;

    all->ranges = calloc((size_t)rows + 1, sizeof(*all->ranges));
    if (all->ranges == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT CASE kind WHEN 'push' THEN coalesce(thread_id, -1) ELSE -1 END, begin_ns, end_ns, "
        "coalesce(name_id, -1), coalesce(domain_id, -1) FROM range ORDER BY 1, 2, depth, id");
    while (rc == 0 && all->count < (size_t)rows && gmt_query_next(&query)) {
        struct range_name key = {.id = gmt_query_int(&query, 3),
                                 .domain_id = gmt_query_int(&query, 4)};
        const struct range_name *name =
            names->count > 0 ? bsearch(&key, names->items, names->count, sizeof(key), by_id) : NULL;
        struct gmt_named_range *range = &all->ranges[all->count];

        *range = (struct gmt_named_range){.thread = gmt_query_int(&query, 0),
                                          .begin_ns = gmt_query_instant(&query, 1),
                                          .end_ns = gmt_query_time(&query, 2)};
        if (name == NULL) {
            continue;
        }
        if (range->end_ns == GMT_NO_TIME || range->end_ns < range->begin_ns) {
            range->end_ns = tl->end_ns > range->begin_ns ? tl->end_ns : range->begin_ns;
        }
        range->group = name->group;
        all->groups[name->group].count++;
        all->groups[name->group].host_ns += (double)(range->end_ns - range->begin_ns);
        all->count++;
    }
    find_parents(all->ranges, all->count);
    return gmt_query_close(&query, rc);
}

/* Index of the first range of a later thread, or of the thread and begun after at_ns. */
static size_t after(const struct gmt_named_ranges *all, int64_t thread, int64_t at_ns)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gmt_named_range *range = &all->ranges[middle];

        if (range->thread < thread || (range->thread == thread && range->begin_ns <= at_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int32_t gmt_named_ranges_around(const struct gmt_named_ranges *all, int32_t range, int64_t at_ns)
{
    do {
        range = all->ranges[range].parent;
    } while (range >= 0 && all->ranges[range].end_ns < at_ns);
    return range;
}

int32_t gmt_named_ranges_open(const struct gmt_named_ranges *all, int64_t thread, int64_t at_ns)
{
    size_t next = after(all, thread, at_ns);

    if (next == 0 || all->ranges[next - 1].thread != thread) {
        return -1;
    }
    return all->ranges[next - 1].end_ns >= at_ns
               ? (int32_t)next - 1
               : gmt_named_ranges_around(all, (int32_t)next - 1, at_ns);
}

int32_t gmt_named_ranges_at(const struct gmt_named_ranges *all, int64_t thread, int64_t begin_ns)
{
    int32_t at = gmt_named_ranges_open(all, thread, begin_ns);

    return at >= 0 || thread == -1 ? at : gmt_named_ranges_open(all, -1, begin_ns);
}

int gmt_named_ranges_load(struct gmt_named_ranges *all, const struct gmt_timeline *tl)
{
    struct names names = {NULL, 0};
    int64_t tables = 0, rows = 0;
    int rc = gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'range'",
        &tables);

    *all = (struct gmt_named_ranges){0};
    if (rc == 0 && tables > 0) {
        rc = gmt_query_int64(tl->db, "SELECT count(*) FROM range", &rows);
    }
    if (rc != 0 || rows <= 0 || rows > INT32_MAX) {
        return rc;
    }
    rc = load_names(all, tl->db, &names);
    if (rc == 0) {
        rc = make_groups(all, &names);
    }
    if (rc == 0) {
        rc = load_ranges(all, tl, &names, rows);
    }
    free(names.items);
    return rc == 0 && all->strings.failed ? -ENOMEM : rc;
}

void gmt_named_ranges_free(struct gmt_named_ranges *all)
{
    free(all->ranges);
    free(all->groups);
    gmt_arena_free(&all->strings);
    *all = (struct gmt_named_ranges){0};
}
