/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of recordings that keep their last seconds only. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "libtrace/store/recording/ring.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_chunk(&fixture, 1, 1 << 16);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ring_dump, .init = setup, .fini = teardown, .timeout = 60);

static void launch_at(uint64_t ticks)
{
    const struct gmt_launch launch = {.kind = GMT_LAUNCH_KERNEL};
    gmt_fixture_call(
        &fixture, 0, GMT_REC_LAUNCH,
        &(struct gmt_call){.thread = 1, .begin_ticks = ticks, .end_ticks = ticks + 1, .api = 1},
        &launch, sizeof(launch));
}

Test(ring_dump, a_recording_that_keeps_all_is_not_dumped)
{
    char file[PATH_MAX];
    (void)snprintf(file, sizeof(file), "%s/x.db", fixture.root);
    cr_expect_eq(gmt_ring_dump(fixture.spool, file, "test"), -ENODATA);
    cr_expect_eq(access(file, F_OK), -1);
}

/* The rate of CLOCK_MONOTONIC changes over days; what the recorder has seen of it is in the spool. */
Test(ring_dump, times_by_the_clock_of_the_recorder)
{
    const uint64_t ms = 1000000;
    const struct gmt_clock_pair first = {100 * ms, 100 * ms}, last = {10100 * ms, 20100 * ms};
    const struct gmt_clock_pair pairs[] = {first, {5100 * ms, 5100 * ms}, {9100 * ms, 18100 * ms}};
    char file[PATH_MAX];
    fixture.control->ticks_are_ns = 0;
    fixture.control->first_pair = first;
    fixture.control->last_pair = last;
    fixture.control->ring_ns = 1000 * ms;
    fixture.control->ring_bytes = 1 << 20;
    FILE *clock = fopen(gmt_fixture_path(&fixture, "clock"), "w");
    cr_assert_not_null(clock);
    cr_assert_eq(fwrite(pairs, sizeof(pairs), 1, clock), 1);
    (void)fclose(clock);
    gmt_fixture_process(&fixture, 0, 100 * ms);
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_LAUNCH, "cuLaunchKernel");
    launch_at(8800 * ms);
    launch_at(9100 * ms);
    (void)snprintf(file, sizeof(file), "%s/dump.db", fixture.root);
    cr_assert_eq(gmt_ring_dump(fixture.spool, file, "test"), 0);
    (void)rename(file, fixture.output);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT min(begin_ns) / 1000000 FROM launch"), 17125);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT max(begin_ns) / 1000000 FROM launch"), 18100);
}

/* Work of the device that runs late: what runs in the window of calls before it is not the window's, what the
 * window's calls have not had yet is counted as lost. */
Test(ring_dump, device_work_of_calls_of_the_window)
{
    enum { US = 1000, STEPS = 30, LATE_US = 250, BEHIND = 2 };
    const struct gmt_capability capability = {.state = GMT_CAP_OK};
    const struct gmt_kernel kernel = {.id = 1};
    char file[PATH_MAX];
    fixture.control->ring_ns = 2000 * US;
    fixture.control->ring_bytes = 1 << 20;
    gmt_fixture_process(&fixture, 0, US);
    gmt_fixture_context(&fixture, 0, 1, 0);
    gmt_fixture_stream(&fixture, 0, 0x5000, 7, US);
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_LAUNCH, "cuLaunchKernel");
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z3addv", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability), "timestamps",
                     "", "", NULL);
    for (uint32_t i = 1; i <= STEPS; i++) {
        const struct gmt_launch launch = {.kernel = 1,
                                          .kind = GMT_LAUNCH_KERNEL,
                                          .grid = {1, 1, 1},
                                          .block = {32, 1, 1},
                                          .launch_seq = i};
        uint64_t begin = (uint64_t)i * 100 * US;
        gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH,
                         &(struct gmt_call){.begin_ticks = begin,
                                            .end_ticks = begin + US,
                                            .api = 1,
                                            .context = 1,
                                            .stream = 0x5000},
                         &launch, sizeof(launch));
        const struct gmt_device_op op = {.head.ticks = begin,
                                         .kind = GMT_OP_KERNEL,
                                         .correlation = i,
                                         .start_ns = begin + LATE_US * US,
                                         .end_ns = begin + (LATE_US + 50) * US,
                                         .context = 1,
                                         .cupti_stream = 7,
                                         .copy_count = 1,
                                         .grid = {1, 1, 1},
                                         .block = {32, 1, 1}};
        if (i <= STEPS - BEHIND) {
            gmt_fixture_side(&fixture, 1, GMT_REC_DEVICE_OP, &op, sizeof(op), "_Z3addv", NULL);
        }
    }
    (void)snprintf(file, sizeof(file), "%s/dump.db", fixture.root);
    cr_assert_eq(gmt_ring_dump(fixture.spool, file, "test"), 0);
    (void)rename(file, fixture.output);
    /* Until the last record, of the last call. */
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT start_ns / 1000 FROM process"), 1001);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM launch"), 20);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT min(seq) FROM launch"), 11);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM launch WHERE device_start_ns = "
                                              "begin_ns + 250000"),
                 20 - BEHIND);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM device_op"), 20 - BEHIND);
    cr_expect_str_eq(gmt_fixture_text(&fixture,
                                      "SELECT group_concat(kind || ' ' || detail || ' ' || "
                                      "count) FROM loss"),
                     "host call without device row kernel 2");
}
