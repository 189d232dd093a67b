/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that a second run counted, taken into the trace of the first. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "libtrace/store/finished/sass_merge.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture first, second;

static void setup(void)
{
    gmt_fixture_make(&first);
    gmt_fixture_make(&second);
    gmt_fixture_chunk(&first, 0, 1 << 18);
    gmt_fixture_chunk(&second, 0, 1 << 18);
}

static void teardown(void)
{
    gmt_fixture_remove(&first);
    gmt_fixture_remove(&second);
}

TestSuite(sass_merge, .init = setup, .fini = teardown, .timeout = 60);

static void write_class(struct gmt_fixture *fixture, uint32_t kernel, const char *name, uint32_t id,
                        uint32_t grid)
{
    struct gmt_kernel record = {.id = kernel};
    struct gmt_kernel_class class = {
        .id = id, .kernel = kernel, .grid = {grid, 1, 1}, .block = {32, 1, 1}};
    gmt_fixture_side(fixture, 0, GMT_REC_KERNEL, &record, sizeof(record), name, NULL);
    gmt_fixture_side(fixture, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
}

static void write_launch(struct gmt_fixture *fixture, uint32_t kernel, uint32_t class,
                         uint32_t grid, uint32_t seq)
{
    struct gmt_call call = {.begin_ticks = 1000 * seq, .end_ticks = 1000 * seq + 9, .thread = 1};
    struct gmt_launch launch = {.kernel = kernel,
                                .kernel_class = class,
                                .grid = {grid, 1, 1},
                                .block = {32, 1, 1},
                                .launch_seq = seq,
                                .kind = GMT_LAUNCH_KERNEL};
    gmt_fixture_call(fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
}

static void write_counts(uint32_t class, uint32_t seq, uint64_t sectors, const char *function)
{
    struct gmt_sass_instruction counts = {
        .launch_seq = seq,
        .kernel_class = class,
        .cubin_crc = 7,
        .measured = (1u << GMT_SASS_SLOTS) - 1,
        .values = {[GMT_SASS_EXECUTED] = 1, [GMT_SASS_LANES] = 32, [GMT_SASS_SECTORS] = sectors}};
    gmt_fixture_side(&second, 0, GMT_REC_SASS_INSTRUCTION, &counts, sizeof(counts), function, NULL);
}

static void write_capability(struct gmt_fixture *fixture, enum gmt_capability_state state,
                             const char *detail)
{
    struct gmt_capability capability = {.state = state};
    gmt_fixture_side(fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability),
                     "instructions", detail, "", NULL);
}

static void finish_and_merge(void)
{
    cr_assert_eq(gmt_recording_recover(first.output), 0);
    cr_assert_eq(gmt_recording_recover(second.output), 0);
    int error = gmt_sass_merge(first.output, second.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(&first, "PRAGMA integrity_check"), "ok");
}

static void expect(const char *sql, int64_t value)
{
    int64_t found = gmt_fixture_number(&first, sql);
    cr_expect_eq(found, value, "%s: %lld instead of %lld", sql, (long long)found, (long long)value);
}

Test(sass_merge, finds_classes_by_name_and_shape_whatever_their_numbers)
{
    write_class(&first, 1, "_Z5otherv", 1, 1);
    write_class(&first, 2, "_Z4workv", 2, 8);
    write_class(&first, 2, "_Z4workv", 3, 16);
    write_launch(&first, 2, 3, 16, 1);
    write_launch(&first, 2, 2, 8, 2);
    write_launch(&first, 2, 2, 8, 5);
    write_capability(&first, GMT_CAP_OFF, "in a second run");

    write_class(&second, 9, "_Z4workv", 4, 16);
    write_class(&second, 9, "_Z4workv", 5, 8);
    write_launch(&second, 9, 5, 8, 3);
    write_launch(&second, 9, 5, 8, 7);
    write_launch(&second, 9, 4, 16, 8);
    write_counts(5, 3, 100, "_Z4workv");
    write_counts(5, 7, 200, "_Z4workv");
    write_counts(4, 8, 300, "_Z4workv");
    write_capability(&second, GMT_CAP_OK, "3 launches");
    finish_and_merge();

    expect("SELECT count(*) FROM instruction", 3);
    /* By order of launches: the second of the class here has another number than there. */
    expect("SELECT sectors FROM instruction WHERE class_id = 2 AND launch_seq = 2", 100);
    expect("SELECT sectors FROM instruction WHERE class_id = 2 AND launch_seq = 5", 200);
    expect("SELECT sectors FROM instruction WHERE class_id = 3 AND launch_seq = 1", 300);
    cr_expect_str_eq(gmt_fixture_text(&first, "SELECT DISTINCT function FROM v_instruction"),
                     "_Z4workv");
    cr_expect_str_eq(gmt_fixture_text(&first, "SELECT state || ' ' || detail FROM capability "
                                              "WHERE name = 'instructions'"),
                     "ok 3 launches");
    expect("SELECT count(*) FROM loss WHERE kind LIKE 'counts of%'", 0);
}

Test(sass_merge, counts_what_the_first_run_did_not_launch)
{
    write_class(&first, 1, "_Z4workv", 1, 8);
    write_launch(&first, 1, 1, 8, 1);
    write_class(&second, 1, "_Z4workv", 1, 8);
    write_class(&second, 1, "_Z4workv", 2, 9);
    write_counts(1, 1, 10, "_Z4workv");
    write_counts(1, 2, 20, "_Z4workv"); /* a second launch of the class */
    write_counts(2, 3, 30, "_Z4workv"); /* a shape that the first run did not have */
    finish_and_merge();
    expect("SELECT sum(sectors) FROM instruction", 10);
    expect("SELECT count FROM loss WHERE kind = 'counts of instructions of a second run'", 2);
}

Test(sass_merge, distinguishes_kernels_of_one_name_or_leaves_them)
{
    write_class(&first, 1, "_Z4workv", 1, 8);
    write_class(&first, 2, "_Z4workv", 2, 8);
    write_launch(&first, 1, 1, 8, 1);
    write_launch(&first, 2, 2, 8, 2);
    write_class(&second, 3, "_Z4workv", 3, 8);
    write_class(&second, 4, "_Z4workv", 4, 8);
    write_counts(3, 1, 10, "_Z4workv");
    write_counts(4, 2, 20, "_Z4workv");
    finish_and_merge();
    expect("SELECT sectors FROM instruction WHERE class_id = 1", 10);
    expect("SELECT sectors FROM instruction WHERE class_id = 2", 20);
}

Test(sass_merge, mixes_up_no_kernels_when_one_of_a_name_is_missing)
{
    write_class(&first, 1, "_Z4workv", 1, 8);
    write_class(&first, 2, "_Z4workv", 2, 8);
    write_launch(&first, 1, 1, 8, 1);
    write_launch(&first, 2, 2, 8, 2);
    write_class(&second, 3, "_Z4workv", 3, 8);
    write_counts(3, 1, 10, "_Z4workv");
    finish_and_merge();
    expect("SELECT count(*) FROM instruction", 0);
    expect("SELECT count FROM loss WHERE kind = 'counts of instructions of a second run'", 1);
}

Test(sass_merge, prefers_what_the_gpu_did)
{
    struct gmt_instruction simulated = {.launch_seq = 1,
                                        .kernel_class = 1,
                                        .executed = 1,
                                        .sectors = 5,
                                        .kind = GMT_INST_GLOBAL_LOAD};
    write_class(&first, 1, "_Z4workv", 1, 8);
    write_launch(&first, 1, 1, 8, 1);
    gmt_fixture_side(&first, 0, GMT_REC_INSTRUCTION, &simulated, sizeof(simulated), "_Z4workv",
                     "ld.global.f32", "", "", NULL);
    write_class(&second, 1, "_Z4workv", 1, 8);
    write_counts(1, 1, 10, "_Z4workv");
    finish_and_merge();
    expect("SELECT count(*) FROM instruction", 2);
    expect("SELECT sum(sectors) FROM v_instruction", 10);
    expect("SELECT sum(sectors) FROM v_line", 10);
}
