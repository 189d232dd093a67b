/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about copies and the kernels around them: waits, trips to the host and back, overlap. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

Test(transfer_waits, distinguish_waiting_from_copying)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM109");
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies"), 10, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "waiting_for_kernels"), 10 * 1005e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "copying"), 10 * 300e3, 1);
    /* Nothing starts after the last one: nine times 400 us, of which every tenth stays. */
    cr_assert_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 9 * 400e3, 1);
    cr_assert_float_eq(f->saving.best_ns, 0.9 * 9 * 400e3, 1);
    cr_assert_float_eq(f->saving.high_ns, 9 * 400e3, 1);
    gmt_fixture_free(&fixture);
    /* The same wait in a call of its own. */
    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO sync (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns,"
        " result, capturing, kind) SELECT id + 5000, 2, 1, 1, 1, begin_ns + 3000, end_ns, "
        "0, 0, 'stream' FROM transfer; UPDATE transfer SET end_ns = begin_ns + 2000, "
        "blocking = 0, dst_class = 'pinned'");
    f = gmt_fixture_only(&fixture, "GM109");
    cr_assert_float_eq(gmt_fixture_evidence(f, "waiting_for_kernels"), 10 * 1005e3, 1);
    cr_assert_float_eq(f->saving.best_ns, 0.9 * 9 * 400e3, 1);
    gmt_fixture_free(&fixture);
}

/* Every other is followed by a second one 1 us later, before the next launch: the device is idle once. */
Test(transfer_waits, count_the_idle_time_of_two_reads_in_a_row_once)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, "
        "device_start_ns, device_end_ns) SELECT id + 1000, api_id, thread_id, context_id, "
        "stream_id, end_ns + 1000, end_ns + 51000, result, stack_id, capturing, direction, "
        "blocking, bytes, dst, src, dst_class, src_class, end_ns + 20000, end_ns + 22000 FROM "
        "transfer WHERE id % 2 = 1");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM109");
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies"), 15, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 9 * 400e3, 9 * 2e3);
    cr_assert_leq(f->saving.best_ns, 0.9 * 9 * 400e3 + 1);
    gmt_fixture_free(&fixture);
}

/* The same where the second one is another call of the same line: two findings of one place, and each has counted that time. */
Test(transfer_waits, count_the_idle_time_of_two_kinds_of_reads_once)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_sql(
        &fixture,
        "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, runtime) "
        "SELECT id + 900, address + 8, module_id, offset + 8, function_id, file_id, line, runtime "
        "FROM frame WHERE id IN (SELECT frame_id FROM stack_frame WHERE stack_id = 1);"
        "INSERT INTO stack SELECT 90, depth FROM stack WHERE id = 1;"
        "INSERT INTO stack_frame SELECT 90, position, frame_id + 900 FROM stack_frame WHERE "
        "stack_id = 1;"
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, "
        "device_start_ns, device_end_ns) SELECT id + 1000, api_id, thread_id, context_id, "
        "stream_id, end_ns + 1000, end_ns + 51000, result, 90, capturing, direction, "
        "blocking, bytes, dst, src, dst_class, src_class, end_ns + 20000, end_ns + 22000 FROM "
        "transfer");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM109");
    cr_assert_eq(f->part_count, 2);
    cr_assert_leq(f->saving.best_ns, 0.9 * 9 * 400e3 + 9 * 2e3);
    cr_assert_float_eq(f->saving.best_ns, fixture.report.combined.best_ns, 1e3);
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, blame_no_readback_for_a_device_that_works_on)
{
    struct gmt_fixture fixture;

    /* Another stream fills the 400 us after each kernel. */
    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, "
                    "end_ns, result, capturing, kind, seq, kernel_id, class_id, no_activity, "
                    "arguments, device_start_ns, device_end_ns) SELECT id + 100, 3, 2, 1, 2, "
                    "end_ns + 100, end_ns + 200, 0, 0, 'kernel', seq + 10, 1, 1, 0, 'complete', "
                    "device_end_ns, device_end_ns + 400000 FROM launch");
    gmt_fixture_analyze(&fixture, "GM109");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, only_note_readbacks_that_wait_for_much_work)
{
    struct gmt_fixture fixture;

    /* Of each 1.4 ms the device is idle for 10 us. */
    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_sql(&fixture, "UPDATE launch SET device_end_ns = device_end_ns + 390000");
    gmt_fixture_analyze(&fixture, "GM109");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_assert_not_null(strstr(fixture.report.notes[0].note_why, "hardly idle"));
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, price_a_step_of_the_host_by_the_idle_time_of_the_device)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM115_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM115");
    cr_assert_float_eq(gmt_fixture_evidence(f, "trips"), 10, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies_time"), 10 * 165e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "host_step"), 10 * 700e3, 1);
    /* 10 us to the next kernel, but for the last one. */
    cr_assert_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 10 * 865e3 + 9 * 10e3, 1);
    double kernel = fmax(3e3, 2 * 4194304 / 4.4e12 * 1e9 * 2);
    cr_assert_float_eq(f->saving.best_ns, 10 * 165e3 + 9 * 10e3 - 10 * kernel, 1);
    cr_assert_float_eq(f->saving.high_ns, 10 * 865e3 + 9 * 10e3 - 10 * kernel, 1);
    cr_assert_float_eq(f->saving.low_ns, 10 * 165e3 - 10 * kernel, 1);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
}

#define FINGERPRINTS \
    "CREATE TABLE IF NOT EXISTS fingerprint (transfer_id INTEGER PRIMARY KEY, hash TEXT, " \
    "bytes_hashed INTEGER, whole INTEGER, skipped TEXT);"

Test(transfer_waits, believe_fingerprints_of_what_the_host_did)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM115_positive");
    gmt_fixture_sql(&fixture, FINGERPRINTS
                    "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) SELECT id, "
                    "printf('%016x%016x', id, 7), bytes, 1 FROM transfer");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM115");
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    cr_assert_float_eq(f->saving.best_ns, f->saving.high_ns, 1);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM115_positive");
    gmt_fixture_sql(&fixture, FINGERPRINTS
                    "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) SELECT id, "
                    "printf('%016x%016x', id % 100, 7), bytes, 1 FROM transfer");
    gmt_fixture_analyze(&fixture, "GM115");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0,
                 "round trips: GM106: %s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, leave_long_steps_of_the_host_alone)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM115_positive");
    gmt_fixture_sql(&fixture,
                    "UPDATE transfer SET bytes = 65536; UPDATE allocation SET bytes = 65536");
    gmt_fixture_analyze(&fixture, "GM115");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, price_one_crossing_between_devices)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM110_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM110");
    cr_assert_float_eq(gmt_fixture_evidence(f, "pairs"), 10, 1e-9);
    /* The kernel of the iteration before runs into each read-back's wait for 20 us. */
    cr_assert_float_eq(gmt_fixture_evidence(f, "time"), 10 * 2490e3, 1, "%g",
                       gmt_fixture_evidence(f, "time"));
    cr_assert_float_eq(f->saving.best_ns, 10 * (2490e3 - 1240e3), 1, "%g", f->saving.best_ns);
    cr_assert_float_eq(f->saving.low_ns, 0, 1);
    gmt_fixture_free(&fixture);
    /* On one device the same copies are a step of the host. */
    gmt_fixture_load(&fixture, "fixtures/GM110_positive");
    gmt_fixture_sql(&fixture, "UPDATE context SET device_id = 0");
    gmt_fixture_analyze(&fixture, "GM110");
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_NOT_APPLICABLE);
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, price_copies_between_devices_as_calibrated_here)
{
    /* 10 us and 67108864 B at 400 GB/s. */
    struct gmt_model_point points[] = {{0, 10e3, NAN}, {134217728, 345544.32, NAN}};
    const double peer_ns = 10e3 + 67108864 / 400.0;
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM110_positive");
    fixture.model.peer = (struct gmt_model_curve){.points = points, .n = 2};
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM110");
    cr_assert_float_eq(gmt_fixture_evidence(f, "between_devices"), 10 * peer_ns, 1, "%g",
                       gmt_fixture_evidence(f, "between_devices"));
    cr_assert_float_eq(f->saving.best_ns, 10 * (2490e3 - peer_ns), 1, "%g", f->saving.best_ns);
    cr_assert_float_eq(f->saving.low_ns, 10 * (2490e3 - 1240e3), 1, "%g", f->saving.low_ns);
    cr_assert_geq(f->saving.high_ns, f->saving.best_ns);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC, "the bytes have no fingerprints");
    gmt_fixture_free(&fixture);
    /* Another device of the kind may be connected otherwise. */
    gmt_fixture_load(&fixture, "fixtures/GM110_positive");
    gmt_fixture_sql(&fixture, "UPDATE device SET uuid = 'GPU-another'");
    fixture.model.peer = (struct gmt_model_curve){.points = points, .n = 2};
    f = gmt_fixture_only(&fixture, "GM110");
    cr_assert_float_eq(f->saving.best_ns, 10 * (2490e3 - 1240e3), 1, "%g", f->saving.best_ns);
    gmt_fixture_free(&fixture);
}

Test(transfer_waits, leave_the_longest_engine_of_each_step)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM108");
    cr_assert_float_eq(gmt_fixture_evidence(f, "uploads"), 10 * 310e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "kernels"), 10 * 1000e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "readbacks"), 10 * 80e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "any_of_them"), 10 * 1390e3, 1);
    /* All but one of ten steps shrink to their kernel. */
    cr_assert_float_eq(f->saving.best_ns, 9 * 390e3, 1, "%g", f->saving.best_ns);
    cr_assert_float_eq(f->saving.high_ns, 10 * 390e3, 1);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    cr_assert_not_null(strstr(f->fix, "second device buffer"), "%s", f->fix);
    cr_assert_not_null(strstr(f->sketch, "16777216, cudaMemcpyHostToDevice"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
}

/* The uploads take 310 of the 390 us that a pipeline would hide. */
Test(transfer_waits, hide_no_copies_that_need_not_be_made)
{
    static const struct {
        const char *sql;
        size_t findings; /* of GM108 */
    } cases[] = {
        {"SELECT 1", 0},
        {"UPDATE fingerprint SET hash = printf('%032x', transfer_id)", 1},
        /* four of ten are the same: 0.93 of 3.5 ms */
        {"UPDATE fingerprint SET hash = printf('%032x', transfer_id) WHERE transfer_id > 4", 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        size_t findings = 0;

        gmt_fixture_load(&fixture, "fixtures/GM108_positive");
        gmt_fixture_sql(&fixture,
                        "UPDATE launch_argument SET parameter = 1 WHERE allocation_id = 1; "
                        "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) "
                        "SELECT id, '000102030405060708090a0b0c0d0e0f', bytes, 1 FROM "
                        "transfer WHERE direction = 'h2d'");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze_by(&fixture, (const char *const[]){"GM105", "GM108"}, 2);
        for (size_t k = 0; k < fixture.report.finding_count; k++) {
            findings += strcmp(fixture.report.findings[k].rule, "GM108") == 0;
        }
        cr_expect_eq(findings, cases[i].findings, "case %zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

Test(transfer_waits, overlap_nothing_that_depends_or_is_pageable)
{
    static const char *const cases[] = {
        "UPDATE transfer SET src_class = 'pageable' WHERE id < 100; "
        "UPDATE transfer SET dst_class = 'pageable' WHERE id > 100",
        /* Each upload takes what the read-back before it has brought. */
        "UPDATE transfer SET bytes = 4194304, src = 33554432 WHERE id < 100",
        "DELETE FROM launch WHERE seq > 0",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM108_positive");
        gmt_fixture_sql(&fixture, cases[i]);
        gmt_fixture_analyze(&fixture, "GM108");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "case %zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

Test(transfer_waits, promise_little_where_arguments_are_unknown_or_a_kernel_must_be_cut)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(&fixture, "UPDATE launch SET arguments = 'unknown' WHERE seq = 3");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM108");
    cr_assert_float_eq(f->saving.low_ns, 0, 1e-9);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
    /* One step of 10 ms: in four chunks. */
    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(
        &fixture,
        "DELETE FROM launch WHERE seq > 1; DELETE FROM transfer WHERE id NOT IN (1, 101); "
        "UPDATE transfer SET bytes = 268435456, begin_ns = begin_ns - 5000000, "
        "device_start_ns = device_start_ns - 5000000 WHERE id = 1; "
        "UPDATE launch SET device_end_ns = device_end_ns + 4000000; "
        "UPDATE transfer SET device_start_ns = 65020000, device_end_ns = 66020000, "
        "end_ns = 66030000 WHERE id = 101");
    f = gmt_fixture_only(&fixture, "GM108");
    double any = 5310e3 + 5000e3 + 1000e3;
    cr_assert_float_eq(gmt_fixture_evidence(f, "any_of_them"), any, 1);
    cr_assert_float_eq(f->saving.best_ns, (any - 5310e3) * 0.75 - 3 * 5600, 1, "%g",
                       f->saving.best_ns);
    cr_assert_float_eq(f->saving.low_ns, 0, 1e-9);
    cr_assert_not_null(strstr(f->sketch, "67108864"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
}

/* A copy in, a kernel, and a copy out that takes the longest of the three: one pass, not a read-back alone. */
Test(transfer_waits, find_one_pass_whose_read_back_is_the_longest)
{
    static const char pass[] =
        "DELETE FROM launch WHERE seq > 1; DELETE FROM transfer WHERE id NOT IN (1, 101); "
        "UPDATE transfer SET bytes = 268435456; "
        "UPDATE transfer SET begin_ns = begin_ns - 5000000, "
        "device_start_ns = device_start_ns - 5000000 WHERE id = 1; "
        "UPDATE launch SET device_end_ns = device_end_ns + 4000000; "
        "UPDATE transfer SET device_start_ns = 65020000, device_end_ns = 71020000, "
        "end_ns = 71030000 WHERE id = 101;";
    static const char *const none[] = {
        "",
        "UPDATE launch_argument SET allocation_id = 2", /* the kernel does not get what is copied */
        "UPDATE transfer SET src_class = 'pageable' WHERE id = 1",
        "INSERT INTO launch SELECT * FROM more", /* what two kernels work on cannot be cut */
    };
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(&fixture, pass);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM108");
    double any = 5310e3 + 5000e3 + 6000e3;
    cr_expect_float_eq(gmt_fixture_evidence(f, "any_of_them"), any, 1);
    cr_expect_float_eq(f->saving.best_ns, (any - 6000e3) * 0.75 - 3 * 5600, 1, "%g",
                       f->saving.best_ns);
    cr_expect_float_eq(f->saving.low_ns, 0, 0);
    gmt_fixture_free(&fixture);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        bool one = none[i][0] == '\0'; /* the same with a shorter kernel */

        gmt_fixture_load(&fixture, "fixtures/GM108_positive");
        gmt_fixture_sql(&fixture, pass);
        gmt_fixture_sql(&fixture,
                        "CREATE TEMP TABLE more AS SELECT * FROM launch; UPDATE more SET id = id + "
                        "1, seq = 2, begin_ns = begin_ns + 10, device_start_ns = device_start_ns + "
                        "4000000; UPDATE launch SET device_end_ns = device_start_ns + 3900000");
        gmt_fixture_sql(&fixture, none[i]);
        gmt_fixture_analyze(&fixture, "GM108");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, one, "%s: %s",
                     none[i], gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
    /* Chunks of so little would be hardly anything but latency. */
    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(&fixture, pass);
    gmt_fixture_sql(&fixture, "UPDATE transfer SET bytes = 65536");
    gmt_fixture_analyze(&fixture, "GM108");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "chunks"), "%s",
                       fixture.report.notes[0].note_why);
    gmt_fixture_free(&fixture);
}

/* Two operands that one line copies, one after the other, before the kernel that takes both. */
Test(transfer_waits, take_copies_of_one_line_for_operands)
{
    static const char pass[] =
        "DELETE FROM launch WHERE seq > 1; DELETE FROM transfer WHERE id NOT IN (1, 2, 101); "
        "UPDATE transfer SET bytes = 268435456; "
        "UPDATE transfer SET begin_ns = begin_ns - 9000000, device_start_ns = device_start_ns - "
        "9000000, end_ns = end_ns - 5000000, device_end_ns = device_end_ns - 5000000 WHERE id = 1;"
        "UPDATE transfer SET begin_ns = 55500000, end_ns = 59600000, device_start_ns = 55600000, "
        "device_end_ns = 59600000 WHERE id = 2;"
        "UPDATE launch SET device_end_ns = device_end_ns + 4000000;"
        "UPDATE transfer SET device_start_ns = 65020000, device_end_ns = 66020000, end_ns = "
        "66030000 WHERE id = 101;";
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(&fixture, pass);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM108");
    cr_expect_float_eq(gmt_fixture_evidence(f, "copies"), 1, 0);
    gmt_fixture_free(&fixture);
    /* With a kernel between them they may be set-up and one step. */
    gmt_fixture_load(&fixture, "fixtures/GM108_positive");
    gmt_fixture_sql(&fixture, pass);
    gmt_fixture_sql(&fixture,
                    "UPDATE launch SET begin_ns = 55400000, end_ns = 55410000, device_start_ns = "
                    "55420000, device_end_ns = 55590000");
    gmt_fixture_analyze(&fixture, "GM108");
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* An upload before a loop of kernels, and two or three of a line, are no steps. */
Test(transfer_waits, take_no_set_up_for_a_step)
{
    static const char *const cases[] = {
        "DELETE FROM transfer WHERE id NOT IN (1, 110)",
        "DELETE FROM transfer WHERE id NOT IN (1, 101); DELETE FROM launch WHERE seq > 1; "
        "UPDATE launch_argument SET allocation_id = 2",
        "DELETE FROM transfer WHERE id % 100 > 3; DELETE FROM launch WHERE seq > 3",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM108_positive");
        gmt_fixture_sql(&fixture, cases[i]);
        gmt_fixture_sql(&fixture,
                        "UPDATE transfer SET bytes = 268435456, begin_ns = begin_ns - "
                        "5000000, device_start_ns = device_start_ns - 5000000 WHERE id = 1");
        gmt_fixture_analyze(&fixture, "GM108");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "case %zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}
