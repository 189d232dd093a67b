/* SPDX-License-Identifier: Apache-2.0 */
/* Records of tensor maps become rows of tensor_map and tensor_map_encoding. Links gmt_store. */
#include <criterion/criterion.h>

#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_api(&fixture, 0, 7, GMT_FAMILY_OTHER, "cuTensorMapEncodeTiled");
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest_tensor_maps, .init = setup, .fini = teardown, .timeout = 60);

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
}

static void describe(struct gmt_tensor_map map)
{
    gmt_fixture_side(&fixture, 0, GMT_REC_TENSOR_MAP, &map, sizeof(map), NULL);
}

static void encode(uint64_t begin_ns, uint64_t end_ns, uint32_t id)
{
    const struct gmt_call call = {.api = 7, .begin_ticks = begin_ns, .end_ticks = end_ns};
    const struct gmt_encoding encoding = {.tensor_map = id};
    gmt_fixture_call(&fixture, 0, GMT_REC_ENCODE, &call, &encoding, sizeof(encoding));
}

static const struct gmt_tensor_map matrix = {
    .address = 0x7f0000001000,
    .dims = {64, UINT64_C(1) << 32, 9},
    .strides = {128, 9},
    .box = {32, 16, 9},
    .element_strides = {1, 2, 9},
    .id = 3,
    .alloc = 5,
    .kind = GMT_MAP_TILED,
    .rank = 2,
    .data_type = 6,
    .swizzle = 2,
    .l2_promotion = 3,
};

Test(ingest_tensor_maps, have_the_arguments_of_as_many_dimensions_as_they_have)
{
    describe(matrix);
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT kind || ' ' || data_type || ' ' || element_bits || ' ' || interleave || ' ' || "
        "swizzle || ' ' || l2_promotion || ' ' || oob_fill FROM tensor_map WHERE id = 3",
        "tiled float16 16 none 64b 256b zero");
    gmt_fixture_expect(&fixture, "SELECT address FROM tensor_map", 0x7f0000001000);
    gmt_fixture_expect(&fixture, "SELECT allocation_id FROM tensor_map", 5);
    gmt_fixture_expect_text(
        &fixture,
        "SELECT dim_0 || ' ' || dim_1 || ' ' || stride_1 || ' ' || box_0 || ' ' || box_1 || ' ' || "
        "element_stride_1 FROM tensor_map",
        "64 4294967296 128 32 16 2");
    gmt_fixture_expect(
        &fixture,
        "SELECT coalesce(dim_2, stride_2, box_2, element_stride_2, lower_0, upper_0, wide_mode) "
        "IS NULL "
        "FROM tensor_map",
        1);
    gmt_fixture_expect(&fixture, "SELECT inner_bytes FROM v_tensor_map", 64);
    gmt_fixture_expect(&fixture, "SELECT encodings FROM v_tensor_map", 0);
    gmt_fixture_expect(&fixture, "SELECT host_ns FROM v_tensor_map", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(ingest_tensor_maps, know_the_calls_that_made_them)
{
    describe(matrix);
    encode(5000, 5300, 3);
    encode(6000, 6200, 3);
    encode(7000, 7100, 0); /* its descriptor is not known */
    ingest();
    gmt_fixture_expect(&fixture, "SELECT encodings FROM v_tensor_map", 2);
    gmt_fixture_expect(&fixture, "SELECT host_ns FROM v_tensor_map", 500);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM api_call", 3);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM tensor_map_encoding e JOIN api_call c ON c.id = e.call_id",
        2);
}

Test(ingest_tensor_maps, of_images_have_channels_pixels_and_corners)
{
    struct gmt_tensor_map image = matrix;
    image.kind = GMT_MAP_IM2COL;
    image.rank = 4;
    image.lower[0] = image.lower[1] = -1;
    image.upper[1] = 1;
    describe(image);
    image.kind = GMT_MAP_IM2COL_WIDE;
    image.id = 4;
    image.wide_mode = 1;
    describe(image);
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT group_concat(kind || ' ' || box_0 || ' ' || box_1 || ' ' || lower_0 || ' ' || "
        "coalesce(lower_1, '-') || ' ' || coalesce(upper_1, '-') || ' ' || coalesce(wide_mode, "
        "'-'), "
        "'; ') FROM tensor_map WHERE box_2 IS NULL AND lower_2 IS NULL",
        "im2col 32 16 -1 -1 1 -; im2col_wide 32 16 -1 - - 1");
}

/* Behind two pointers, of which one is at an odd place (behind a byte, a structure that need not be aligned); a set may also
 * have maps alone. */
Test(ingest_tensor_maps, are_known_to_the_launches_that_got_them)
{
    struct {
        struct gmt_launch head;
        struct gmt_launch_arg arguments[4];
    } launch = {
        .head = {.kind = GMT_LAUNCH_KERNEL, .argument_count = 4, .launch_seq = 1},
        .arguments =
            {{.parameter = 0, .word_offset = 7, .alloc = 5},
             {.parameter = 2, .alloc = 5, .offset = 64},
             {.parameter = 1, .alloc = 3, .offset = GMT_ARG_TENSOR_MAP},
             {.parameter = 3, .word_offset = 192, .alloc = 4, .offset = GMT_ARG_TENSOR_MAP}},
    };
    const struct gmt_call call = {.begin_ticks = 5000, .end_ticks = 6000};
    describe(matrix);
    for (int i = 0; i < 2; i++) {
        launch.head.launch_seq++;
        gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    }
    launch.head.launch_seq++;
    launch.head.argument_count = 1;
    launch.arguments[0] = launch.arguments[2];
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT group_concat(set_id || ' ' || parameter || ' ' || word_offset, '; ') FROM "
        "launch_argument",
        "1 0 7; 1 2 0");
    gmt_fixture_expect_text(
        &fixture,
        "SELECT group_concat(set_id || ' ' || parameter || ' ' || parameter_offset || ' ' || "
        "tensor_map_id, '; ') FROM launch_tensor_map",
        "1 1 0 3; 1 3 192 4; 2 1 0 3");
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(argument_set_id, ' ') FROM launch",
                            "1 1 2");
    gmt_fixture_expect(&fixture, "SELECT launches FROM v_tensor_map", 3);
}

/* A number that this version has no word for is not known; what cannot be is the record of a damaged spool. */
Test(ingest_tensor_maps, survive_numbers_that_nobody_knows)
{
    struct gmt_tensor_map later = matrix;
    later.data_type = later.swizzle = later.interleave = later.l2_promotion = later.oob_fill = 99;
    describe(later);
    later.id = 9;
    later.rank = 6;
    describe(later);
    later.rank = 2;
    later.kind = GMT_MAP_IM2COL;
    describe(later);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM tensor_map", 1);
    gmt_fixture_expect(
        &fixture,
        "SELECT coalesce(data_type, element_bits, swizzle, interleave, l2_promotion, oob_fill) "
        "IS NULL "
        "FROM tensor_map",
        1);
    gmt_fixture_expect(&fixture, "SELECT inner_bytes FROM v_tensor_map", INT64_MIN);
    gmt_fixture_expect(
        &fixture, "SELECT count FROM loss WHERE kind = 'corrupt record' AND detail = 'tensor map'",
        2);
}
