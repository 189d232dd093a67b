/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensor maps and the calls that encoded them -> rows of tensor_map and tensor_map_encoding. */
#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"

enum { MOST_RANK = 5 };

int gmt_ingest_encoding(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_encoding *encoding = (const void *)((const struct gmt_call *)record->data + 1);
    int64_t id = ingest->next_call_id;
    int error = gmt_ingest_call(ingest, record);
    if (error != 0 || encoding->tensor_map == 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_ENCODING);
    gmt_put_integer(&row, id);
    gmt_put_id(&row, encoding->tensor_map);
    return gmt_ingest_step(&row);
}

/* The first `count` of these numbers, and NULL for the rest. */
static void put_array(struct gmt_binder *row, const uint32_t *list, unsigned count, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        gmt_put_known(row, i < count ? (int64_t)list[i] : -1);
    }
}

static void put_corner(struct gmt_binder *row, const int32_t corner[3], unsigned count)
{
    for (unsigned i = 0; i < 3; i++) {
        if (i < count) {
            gmt_put_integer(row, corner[i]);
        } else {
            gmt_put_null(row);
        }
    }
}

static unsigned corners_of(const struct gmt_tensor_map *map)
{
    switch (map->kind) {
    case GMT_MAP_IM2COL: return map->rank - 2u;
    case GMT_MAP_IM2COL_WIDE: return 1;
    default: return 0;
    }
}

int gmt_ingest_tensor_map(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_tensor_map *map = record->data;
    bool tiled = map->kind != GMT_MAP_IM2COL && map->kind != GMT_MAP_IM2COL_WIDE;
    unsigned rank = map->rank;
    if (rank == 0 || rank > MOST_RANK || (!tiled && rank < 3)) {
        return gmt_ingest_loss(ingest, "corrupt record", "tensor map", 1);
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_TENSOR_MAP);
    gmt_put_id(&row, map->id);
    gmt_put_name(&row, gmt_name_tensor_map_kind(map->kind));
    gmt_put_name(&row, gmt_name_tensor_type(map->data_type));
    gmt_put_or_null(&row, gmt_tensor_type_bits(map->data_type));
    gmt_put_unsigned(&row, rank);
    gmt_put_bits(&row, map->address);
    gmt_put_id_or_null(&row, map->alloc);
    for (unsigned i = 0; i < MOST_RANK; i++) {
        gmt_put_or_null(&row, i < rank ? map->dims[i] : 0);
    }
    for (unsigned i = 0; i + 1 < MOST_RANK; i++) {
        gmt_put_bytes_or_null(&row, i + 1 < rank ? map->strides[i] : 0);
    }
    put_array(&row, map->box, tiled ? rank : 2, MOST_RANK);
    put_array(&row, map->element_strides, rank, MOST_RANK);
    put_corner(&row, map->lower, corners_of(map));
    put_corner(&row, map->upper, corners_of(map));
    gmt_put_name(&row, gmt_name_tensor_interleave(map->interleave));
    gmt_put_name(&row, gmt_name_tensor_swizzle(map->swizzle));
    gmt_put_name(&row, gmt_name_tensor_promotion(map->l2_promotion));
    gmt_put_name(&row, gmt_name_tensor_fill(map->oob_fill));
    gmt_put_known(&row, map->kind == GMT_MAP_IM2COL_WIDE ? map->wide_mode : -1);
    return gmt_ingest_step(&row);
}
