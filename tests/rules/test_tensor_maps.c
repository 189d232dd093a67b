/* SPDX-License-Identifier: Apache-2.0 */
/* Sectors that the boxes of tensor maps touch. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/trace/tensor_maps.h"

/* Half floats: rows of `box` elements out of rows of 4096, which begin `stride` bytes apart. */
static struct gmt_tensor_map_row matrix(int64_t box, int64_t stride, uint64_t address)
{
    return (struct gmt_tensor_map_row){.rank = 2,
                                       .element_bits = 16,
                                       .address = address,
                                       .dim = {4096, 4096},
                                       .box = {box, 64},
                                       .step = {1, 1},
                                       .stride = {0, stride},
                                       .tiled = true};
}

static double ratio_of(struct gmt_tensor_map_row map)
{
    return gmt_tensor_map_sector_ratio(&map);
}

#define IS(MAP, RATIO) cr_expect_float_eq(ratio_of(MAP), (RATIO), 1e-12)

Test(tensor_maps, rows_touch_the_sectors_that_they_lie_in)
{
    IS(matrix(8, 8192, 0), 2); /* 16 bytes, wherever they lie: half of a sector   */
    IS(matrix(8, 8192, 16), 2);
    IS(matrix(16, 8192, 0), 1); /* 32 bytes: a sector, or halves of two            */
    IS(matrix(16, 8192, 16), 2);
    IS(matrix(24, 8192, 0), 4. / 3); /* 48 bytes: two sectors, begun in the middle or not */
    IS(matrix(24, 8192, 16), 4. / 3);
    IS(matrix(64, 8192, 0), 1);
    IS(matrix(64, 8192, 16), 1.25); /* 128 bytes: five sectors                          */
    IS(matrix(64, 8208, 0), 1.125); /* of every other row                               */
}

Test(tensor_maps, coordinates_decide_which_rows_begin_in_the_middle)
{
    struct gmt_tensor_map_row map = matrix(64, 8208, 0);

    map.step[1] = 2; /* even rows alone */
    IS(map, 1);
    map.box[1] = 63; /* but boxes begin at odd ones, too */
    IS(map, 1.125);
    map = matrix(64, 8208, 16);
    map.dim[1] = 1;
    IS(map, 1.25);
}

Test(tensor_maps, boxes_end_where_the_tensor_does)
{
    struct gmt_tensor_map_row map = matrix(64, 64, 0);

    map.dim[0] = 16; /* 32 bytes of every 64 */
    IS(map, 1);
    map.dim[0] = 8;
    IS(map, 2);
    map.stride[1] = 16; /* packed */
    IS(map, 1);
}

/* Rows without a gap between them are one run. */
Test(tensor_maps, packed_rows_share_their_sectors)
{
    IS(matrix(8, 16, 0), 1);
    IS(matrix(8, 16, 16), 1 + 1. / 32);
    struct gmt_tensor_map_row image = matrix(8, 16, 0);
    image.tiled = false;
    IS(image, 1);
    image.step[1] = 2;
    IS(image, 2);
}

Test(tensor_maps, nothing_is_said_of_layouts_that_are_not_known)
{
    struct gmt_tensor_map_row map = matrix(8, 8192, 0);

    map.interleaved = true;
    cr_expect(isnan(ratio_of(map)));
    map = matrix(8, 8192, 0);
    map.element_bits = 0;
    cr_expect(isnan(ratio_of(map)));
    map = matrix(8, 8192, 0);
    map.rank = 0;
    cr_expect(isnan(ratio_of(map)));
}
