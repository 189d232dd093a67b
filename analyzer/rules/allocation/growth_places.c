/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up bytes of segments by the places that made them, or that last used what lies in them. */
#include "analyzer/rules/allocation/growth_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/trace/query.h"

/* Bytes of one call; calls of one stack are of one place. */
struct share {
    struct gmt_tl_call call;
    double bytes;
};

struct shares {
    struct share *rows;
    size_t count, room;
};

static int add_share(struct shares *shares, const struct gmt_tl_call *call, double bytes)
{
    if (shares->count == shares->room) {
        size_t room = shares->room == 0 ? 256 : 2 * shares->room;
        struct share *grown = realloc(shares->rows, room * sizeof(*grown));

        if (grown == NULL) {
            return -ENOMEM;
        }
        shares->rows = grown;
        shares->room = room;
    }
    shares->rows[shares->count++] = (struct share){*call, bytes};
    return 0;
}

static int compare_stacks(const void *a, const void *b)
{
    const struct gmt_tl_call *x = &((const struct share *)a)->call;
    const struct gmt_tl_call *y = &((const struct share *)b)->call;

    if (x->stack_id != y->stack_id) {
        return x->stack_id < y->stack_id ? -1 : 1;
    }
    return (x->caller > y->caller) - (x->caller < y->caller);
}

static bool is_same(const struct gmt_where *a, const struct gmt_where *b)
{
    return strcmp(a->label, b->label) == 0 &&
           strcmp(a->file != NULL ? a->file : "", b->file != NULL ? b->file : "") == 0;
}

/* Many stacks lead to one place: by their labels. */
static int largest_place(struct gmt_analysis *analysis, struct shares *shares,
                         struct gmt_growth_place *largest)
{
    struct gmt_growth_place *places = calloc(shares->count + 1, sizeof(*places));
    size_t n = 0;

    if (places == NULL) {
        return -ENOMEM;
    }
    if (shares->count > 1) {
        qsort(shares->rows, shares->count, sizeof(*shares->rows), compare_stacks);
    }
    for (size_t i = 0, end; i < shares->count; i = end) {
        struct gmt_where where = gmt_where_of_call(analysis, &shares->rows[i].call);
        double bytes = 0;
        size_t k = 0;

        for (end = i;
             end < shares->count && compare_stacks(&shares->rows[i], &shares->rows[end]) == 0;
             end++) {
            bytes += shares->rows[end].bytes;
        }
        while (k < n && !is_same(&places[k].where, &where)) {
            k++;
        }
        if (k == n) {
            places[n++].where = where;
        }
        places[k].bytes += bytes;
        largest->all_bytes += bytes;
        if (places[k].bytes > largest->bytes) {
            largest->where = places[k].where;
            largest->bytes = places[k].bytes;
        }
    }
    free(places);
    return 0;
}

int gmt_growth_maker(struct gmt_analysis *analysis, const size_t *rows, size_t count,
                     struct gmt_growth_place *place)
{
    const struct gmt_memory *memory = analysis->memory;
    struct shares shares = {0};
    int rc = 0;

    *place = (struct gmt_growth_place){.where = {.label = ""}};
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct gmt_memory_row *row = &memory->rows[rows[i]];
        struct gmt_tl_call call = gmt_memory_call(memory, row);

        rc = add_share(&shares, &call, (double)row->bytes);
    }
    if (rc == 0) {
        rc = largest_place(analysis, &shares, place);
    }
    free(shares.rows);
    return rc;
}

/* ---- what lies idle -------------------------------------------------------------------------------- */

/* A part of a segment, from one pointer of kernels to the next. */
struct growth_part {
    const struct gmt_memory_row *row; /* NULL: none */
    int64_t offset, first_ns, last_ns, pause_ns;
    struct gmt_tl_call last, before_pause;
};

struct segment_row {
    const struct gmt_memory_row *row;
};

struct growth_parts {
    struct segment_row *rows; /* by id */
    size_t count;
    int64_t end_ns;
    struct growth_part part;
    struct shares shares;
};

static int compare_row_ids(const void *a, const void *b)
{
    int64_t x = ((const struct segment_row *)a)->row->id;
    int64_t y = ((const struct segment_row *)b)->row->id;

    return (x > y) - (x < y);
}

static const struct gmt_memory_row *find_row(const struct growth_parts *parts, int64_t id)
{
    struct gmt_memory_row wanted = {.id = id};
    struct segment_row key = {&wanted};
    const struct segment_row *found = bsearch(&key, parts->rows, parts->count, sizeof(key),
                                              compare_row_ids);

    return found != NULL ? found->row : NULL;
}

/* Of the part so far: `now_ns` is when it was used next, or the end. */
static void note_pause(struct growth_part *part, int64_t now_ns)
{
    if (now_ns - part->last_ns > part->pause_ns) {
        part->pause_ns = now_ns - part->last_ns;
        part->before_pause = part->last;
    }
}

/* The part ends at an offset. Launches whose stacks were not read name no place. */
static int close_part(struct growth_parts *parts, int64_t end_offset)
{
    struct growth_part *part = &parts->part;

    if (part->row == NULL || part->offset >= part->row->bytes) {
        return 0;
    }
    note_pause(part, parts->end_ns);
    bool idle = part->pause_ns > parts->end_ns - part->first_ns - part->pause_ns;
    bool has_place = part->before_pause.stack_id > 0 || part->before_pause.caller != 0;

    return idle && has_place
               ? add_share(&parts->shares, &part->before_pause, (double)(end_offset - part->offset))
               : 0;
}

static int add_use(struct growth_parts *parts, int64_t id, int64_t offset, int64_t at_ns,
                   const struct gmt_tl_call *call)
{
    struct growth_part *part = &parts->part;
    bool same_row = part->row != NULL && part->row->id == id;
    int rc = 0;

    if (!same_row || part->offset != offset) {
        rc = close_part(parts, same_row ? offset : part->row != NULL ? part->row->bytes : 0);
        *part = (struct growth_part){.row = same_row ? part->row : find_row(parts, id),
                                     .offset = offset,
                                     .first_ns = at_ns,
                                     .last_ns = at_ns};
    }
    note_pause(part, at_ns);
    part->last_ns = at_ns;
    part->last = *call;
    return rc;
}

static int walk_uses(struct gmt_analysis *analysis, struct growth_parts *parts)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT a.allocation_id, a.allocation_offset, l.begin_ns, l.id, l.stack_id, l.caller, "
        "l.api_id FROM launch_argument a JOIN launch l ON l.argument_set_id = a.set_id "
        "WHERE a.allocation_id BETWEEN ?1 AND ?2 AND l.begin_ns <= ?3 ORDER BY 1, 2, 3");

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, parts->rows[0].row->id);
        sqlite3_bind_int64(query.statement, 2, parts->rows[parts->count - 1].row->id);
        sqlite3_bind_int64(query.statement, 3, parts->end_ns);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_tl_call call = {.id = gmt_query_id(&query, 3),
                                   .stack_id = gmt_query_id(&query, 4),
                                   .caller = (uint64_t)gmt_query_int(&query, 5),
                                   .api = gmt_query_id(&query, 6)};

        call.api = (uint64_t)call.api < tl->api_count ? call.api : 0;
        rc = add_use(parts, gmt_query_id(&query, 0), gmt_query_bytes(&query, 1),
                     gmt_query_time(&query, 2), &call);
    }
    rc = gmt_query_close(&query, rc);
    return rc == 0 && parts->part.row != NULL ? close_part(parts, parts->part.row->bytes) : rc;
}

int gmt_growth_holder(struct gmt_analysis *analysis, const size_t *rows, size_t count,
                      int64_t end_ns, struct gmt_growth_place *place)
{
    struct growth_parts parts = {.count = count, .end_ns = end_ns};
    int rc = 0;

    *place = (struct gmt_growth_place){.where = {.label = ""}};
    parts.rows = calloc(count + 1, sizeof(*parts.rows));
    if (parts.rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        parts.rows[i].row = &analysis->memory->rows[rows[i]];
    }
    qsort(parts.rows, count, sizeof(*parts.rows), compare_row_ids);
    if (count > 0) {
        rc = walk_uses(analysis, &parts);
    }
    if (rc == 0) {
        rc = largest_place(analysis, &parts.shares, place);
    }
    free(parts.rows);
    free(parts.shares.rows);
    return rc;
}
