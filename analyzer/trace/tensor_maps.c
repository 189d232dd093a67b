/* SPDX-License-Identifier: Apache-2.0 */
/* Loads tensor maps, and counts the sectors that their boxes touch (tensor_maps.h). */
#include "analyzer/trace/tensor_maps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/arena.h"
#include "libtrace/store/db/own_schema.h"

/* What addresses, strides and rows of boxes are multiples of. */
enum { CHUNK_BYTES = 16 };

double gmt_tensor_map_inner_bytes(const struct gmt_tensor_map_row *map)
{
    if (map->interleaved || map->element_bits <= 0 || map->box[0] <= 0) {
        return NAN;
    }
    return (double)map->box[0] * (double)map->element_bits / 8;
}

/* Whether coordinates of the box along a dimension are even, all of them. */
static bool are_even(const struct gmt_tensor_map_row *map, int dim)
{
    return map->tiled && (map->box[dim] % 2 == 0 || map->dim[dim] <= map->box[dim]) &&
           (map->step[dim] % 2 == 0 || map->box[dim] <= map->step[dim]);
}

/* Elements that a box takes along a dimension: what lies outside of the tensor is filled, not read. */
static double extent(const struct gmt_tensor_map_row *map, int dim)
{
    bool limited = (map->tiled || dim == 0) && map->dim[dim] > 0 && map->dim[dim] < map->box[dim];

    return (double)(limited ? map->dim[dim] : map->box[dim]);
}

/* The run that a box takes; *dims: how many dimensions are in it. */
static double run_bytes(const struct gmt_tensor_map_row *map, int *dims)
{
    int most = map->tiled ? (int)map->rank : 2;
    double run = gmt_tensor_map_inner_bytes(map) / (double)map->box[0] * extent(map, 0);

    for (*dims = 1; *dims < most; ++*dims) {
        int dim = *dims;

        if ((double)map->stride[dim] != run || map->step[dim] != 1 || map->box[dim] <= 0) {
            break;
        }
        run *= extent(map, dim);
    }
    return run;
}

/* Share of the runs that begin in the middle of a sector. */
static double middle_share(const struct gmt_tensor_map_row *map, int first_dim)
{
    for (int dim = first_dim; dim < map->rank; dim++) {
        if (map->stride[dim] / CHUNK_BYTES % 2 != 0 && map->dim[dim] > 1 && !are_even(map, dim)) {
            return 0.5;
        }
    }
    return map->address / CHUNK_BYTES % 2 != 0 ? 1 : 0;
}

double gmt_tensor_map_sector_ratio(const struct gmt_tensor_map_row *map)
{
    int dims = 1;

    if (map->rank < 1 || map->rank > GMT_TENSOR_DIMS) {
        return NAN;
    }
    double run = run_bytes(map, &dims), middle = middle_share(map, dims);
    double sectors = (1 - middle) * ceil(run / GMT_SECTOR_BYTES) +
                     middle * ceil((run + CHUNK_BYTES) / GMT_SECTOR_BYTES);

    return sectors * GMT_SECTOR_BYTES / run;
}

/* ---- loading ----------------------------------------------------------------------------------- */

bool gmt_tensor_maps_recorded(const struct gmt_timeline *timeline)
{
    return gmt_trace_has_column(timeline->db, "tensor_map", "id") &&
           gmt_trace_has_column(timeline->db, "tensor_map_encoding", "call_id") &&
           gmt_trace_has_column(timeline->db, "launch_tensor_map", "set_id");
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = ((const struct gmt_tensor_map_row *)b)->id;

    return (x > y) - (x < y);
}

/* SIZE_MAX: there is none of that id. */
static size_t find(const struct gmt_tensor_maps *maps, int64_t id)
{
    const struct gmt_tensor_map_row *found = bsearch(&id, maps->maps, maps->count,
                                                     sizeof(*maps->maps), compare_ids);

    return found != NULL ? (size_t)(found - maps->maps) : SIZE_MAX;
}

static int load_maps(struct gmt_tensor_maps *maps, sqlite3 *db, struct gmt_arena *arena)
{
    static const char sql[] =
        "SELECT id, rank, element_bits, address, kind = 'tiled', interleave IS NOT 'none', "
        "swizzle IS NOT 'none', dim_0, dim_1, dim_2, dim_3, dim_4, box_0, box_1, box_2, box_3, "
        "box_4, element_stride_0, element_stride_1, element_stride_2, element_stride_3, "
        "element_stride_4, 0, stride_1, stride_2, stride_3, stride_4 FROM tensor_map ORDER BY id";
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_tensor_map_row *row = GMT_PUSH(arena, maps->maps, maps->count);

        if (row == NULL) {
            rc = -ENOMEM;
            break;
        }
        *row = (struct gmt_tensor_map_row){
            .id = gmt_query_id(&query, 0),
            .rank = gmt_query_count(&query, 1),
            .element_bits = gmt_query_count(&query, 2),
            .address = (uint64_t)gmt_query_int(&query, 3),
            .tiled = gmt_query_int(&query, 4) != 0,
            .interleaved = gmt_query_int(&query, 5) != 0,
            .swizzled = gmt_query_int(&query, 6) != 0,
        };
        for (int i = 0; i < GMT_TENSOR_DIMS; i++) {
            row->dim[i] = gmt_query_bytes(&query, 7 + i); /* up to 2^32 */
            row->box[i] = gmt_query_count(&query, 12 + i);
            row->step[i] = gmt_query_count(&query, 17 + i);
            row->stride[i] = gmt_query_bytes(&query, 22 + i);
        }
    }
    return gmt_query_close(&query, rc);
}

static int compare_calls(const void *a, const void *b)
{
    const struct gmt_tensor_map_call *x = a, *y = b;

    if (x->call.site != y->call.site) {
        return x->call.site < y->call.site ? -1 : 1;
    }
    if (x->map != y->map) {
        return x->map < y->map ? -1 : 1;
    }
    return (x->call.id > y->call.id) - (x->call.id < y->call.id);
}

static int load_calls(struct gmt_tensor_maps *maps, const struct gmt_timeline *tl,
                      struct gmt_arena *arena)
{
    static const char sql[] =
        "SELECT e.tensor_map_id, c.id, c.begin_ns, c.end_ns, c.caller, c.stack_id, c.api_id, "
        "c.thread_id FROM tensor_map_encoding e JOIN api_call c ON c.id = e.call_id";
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        size_t map = find(maps, gmt_query_id(&query, 0));
        struct gmt_tensor_map_call *row = map == SIZE_MAX
                                              ? NULL
                                              : GMT_PUSH(arena, maps->calls, maps->call_count);

        if (map == SIZE_MAX) {
            continue;
        }
        if (row == NULL) {
            rc = -ENOMEM;
            break;
        }
        *row = (struct gmt_tensor_map_call){.map = map};
        row->call.id = gmt_query_id(&query, 1);
        row->call.begin_ns = gmt_query_instant(&query, 2);
        row->call.end_ns = gmt_query_instant(&query, 3);
        row->call.caller = (uint64_t)gmt_query_int(&query, 4);
        row->call.stack_id = gmt_query_id(&query, 5);
        row->call.api = gmt_query_id(&query, 6);
        row->call.thread = gmt_query_id(&query, 7);
        row->call.site = gmt_timeline_site(tl, row->call.stack_id, row->call.caller);
    }
    rc = gmt_query_close(&query, rc);
    if (rc == 0 && maps->call_count > 1) {
        qsort(maps->calls, maps->call_count, sizeof(*maps->calls), compare_calls);
    }
    return rc;
}

static int load_uses(struct gmt_tensor_maps *maps, const struct gmt_timeline *tl,
                     struct gmt_arena *arena)
{
    static const char sql[] =
        "SELECT DISTINCT l.class_id, t.tensor_map_id FROM launch_tensor_map t JOIN launch l "
        "ON l.argument_set_id = t.set_id ORDER BY 1, 2";
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t class_index = gmt_timeline_class(tl, gmt_query_id(&query, 0));
        size_t map = find(maps, gmt_query_id(&query, 1));

        if (class_index < 0 || map == SIZE_MAX) {
            continue;
        }
        struct gmt_tensor_map_use *use = GMT_PUSH(arena, maps->uses, maps->use_count);
        if (use == NULL) {
            rc = -ENOMEM;
            break;
        }
        *use = (struct gmt_tensor_map_use){.class_index = class_index, .map = map};
        maps->maps[map].used = true;
    }
    return gmt_query_close(&query, rc);
}

int gmt_tensor_maps_load(struct gmt_tensor_maps *maps, const struct gmt_timeline *timeline,
                         struct gmt_arena *arena)
{
    memset(maps, 0, sizeof(*maps));
    int rc = load_maps(maps, timeline->db, arena);
    if (rc == 0 && maps->count > 0) {
        rc = load_calls(maps, timeline, arena);
    }
    if (rc == 0 && maps->count > 0) {
        rc = load_uses(maps, timeline, arena);
    }
    return rc;
}
