/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about single copies: their numbers, what hides a cost, and who speaks of which copy. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

Test(transfer_rules, price_held_callers_by_registered_copies)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM103");
    /* 284.4 us is the model's asynchronous pinned copy of 16 MiB, 1.3 ms registering it. */
    cr_assert_float_eq(f->cost_ns, 20 * 750e3, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "pinned_time"), 20 * 284400.0, 1);
    cr_assert_float_eq(f->saving.best_ns, 20 * (750e3 - 284400.0) - 1.3e6, 1);
    cr_assert_float_eq(gmt_fixture_evidence(f, "waiting_for_kernels"), 0, 1e-9);
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, count_no_call_that_kernels_hide)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    /* Another thread keeps the device busy from the middle of each call on. */
    gmt_fixture_sql(
        &fixture, "UPDATE launch SET begin_ns = 1300000 + 2000000 * (seq - 1), end_ns = 1310000 + "
                  "2000000 * (seq - 1), thread_id = 2, measured = NULL, "
                  "device_start_ns = 1350000 + 2000000 * (seq - 1), "
                  "device_end_ns = 2350000 + 2000000 * (seq - 1)");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM103");
    cr_assert_float_eq(gmt_fixture_evidence(f, "hidden_behind_kernels"), 10 * 400e3, 1);
    cr_assert_float_eq(f->saving.best_ns, 20 * (750e3 - 284400.0) - 10 * 400e3 - 1.3e6, 1);
    cr_assert_not_null(strstr(f->headline, "overlapped with kernels"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, leave_held_callers_to_one_rule)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_analyze(&fixture, "GM102");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    /* The last part is staged, and on its way. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET device_end_ns = end_ns + 20000");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM103");
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies"), 20, 1e-9);
    cr_assert_float_eq(f->saving.best_ns, 20 * (750e3 - 284400.0) - 1.3e6, 1);
    gmt_fixture_free(&fixture);
    /* Without device times the length of the calls shows the same. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET device_start_ns = NULL, device_end_ns = NULL");
    cr_assert_not_null(gmt_fixture_only(&fixture, "GM103"));
    gmt_fixture_free(&fixture);
}

/* The first copies of a process are slow, whatever the memory. */
Test(transfer_rules, believe_no_slow_copy_of_a_buffer_that_is_used_once)
{
    struct gmt_fixture fixture;

    /* 1.9 ms are more than 0.3 pinned and 1.3 for pinning; the model says 0.8. */
    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET end_ns = begin_ns + 1900000");
    cr_assert_not_null(gmt_fixture_only(&fixture, "GM102"));
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET end_ns = begin_ns + 1900000, src = 4096 + "
                              "33554432 * id");
    gmt_fixture_analyze(&fixture, "GM102");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect_float_eq(fixture.report.notes[0].saving.best_ns, 0, 0);
    gmt_fixture_free(&fixture);
}

/* The weights of a module, copied once each, and the batches of a loop, each in a fresh buffer of the host: only these
 * go where the ones before went. */
Test(transfer_rules, note_held_callers_whose_buffers_are_copied_once)
{
    static const char slow[] = "UPDATE transfer SET end_ns = begin_ns + 1900000, device_end_ns = "
                               "begin_ns + 1890000, src = 4096 + 33554432 * id";
    struct gmt_fixture fixture;

    /* 1.9 ms are more than 0.3 pinned and 1.3 for pinning; the model says 0.8. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, slow);
    gmt_fixture_sql(&fixture, "UPDATE transfer SET dst = 1048576 + 16777216 * id");
    gmt_fixture_analyze(&fixture, "GM103");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "copied once"), "%s",
                       fixture.report.notes[0].note_why);
    cr_expect_float_eq(fixture.report.notes[0].saving.best_ns, 0, 0);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, slow);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM103");
    cr_expect_float_eq(f->saving.best_ns, 20 * (1.9e6 - 284400 - 1.3e6), 1);
    gmt_fixture_free(&fixture);
    /* Each buffer of the device is filled twice. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, slow);
    gmt_fixture_sql(&fixture, "UPDATE transfer SET dst = 1048576 + 16777216 * (id % 10)");
    cr_assert_not_null(gmt_fixture_only(&fixture, "GM103"));
    gmt_fixture_free(&fixture);
    /* Two of them only once. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, slow);
    gmt_fixture_sql(&fixture, "UPDATE transfer SET dst = 1048576 + 16777216 * (id % 11)");
    gmt_fixture_analyze(&fixture, "GM103");
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* Of two blocks of malloc side by side no call registers both; the rows of one buffer have padding between. */
Test(transfer_rules, register_each_block_of_malloc)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture,
                    "UPDATE transfer SET src = 4096 * 1000 + 16 + id % 2 * (bytes + 4096)");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM102");
    cr_expect_float_eq(gmt_fixture_evidence(f, "host_buffers"), 2, 0);
    cr_expect_not_null(strstr(f->sketch,
                              "(buffer, 16777216, cudaHostRegisterDefault);  // once each: 2 "
                              "buffers\n"),
                       "%s", f->sketch);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture,
                    "UPDATE transfer SET src = 4096 * 1000 + 128 + id % 2 * (bytes + 4096)");
    f = gmt_fixture_only(&fixture, "GM102");
    cr_expect_float_eq(gmt_fixture_evidence(f, "host_buffers"), 1, 0);
    gmt_fixture_free(&fixture);
}

/* One small copy is worth a line, and no advice. */
Test(transfer_rules, note_a_single_pageable_copy_with_its_size_and_cost)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture, "DELETE FROM transfer WHERE id > 1; UPDATE transfer SET bytes = "
                              "8192, end_ns = begin_ns + 9000");
    gmt_fixture_analyze(&fixture, "GM102");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    const struct gmt_finding *f = &fixture.report.notes[0];
    cr_expect_float_eq(f->cost_ns, 9000, 0);
    cr_expect_float_eq(f->saving.best_ns, 0, 0);
    cr_expect_not_null(strstr(f->headline, "8.00 KiB in 9.00"), "%s", f->headline);
    cr_expect_not_null(strstr(f->note_why, "copied once"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
    /* Copied again and again, and still not worth it: the good case. */
    gmt_fixture_load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET end_ns = begin_ns + 200000");
    gmt_fixture_analyze(&fixture, "GM102");
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, count_uploads_that_no_kernel_sees)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM107_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM107");
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies"), 11, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "overwritten"), 10, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "freed"), 1, 1e-9);
    cr_assert_float_eq(f->excess_bytes, 10 * 16777216.0 + 1048576, 1e-9);
    cr_assert_float_eq(f->saving.best_ns, 10 * 320e3 + 25e3, 1e-6);
    /* No launch ever gets the buffer that is freed: nothing is certain. */
    cr_assert_float_eq(f->saving.low_ns, 0, 1e-9);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM107_positive");
    gmt_fixture_sql(&fixture, "DELETE FROM transfer WHERE id = 200");
    f = gmt_fixture_only(&fixture, "GM107");
    cr_assert_float_eq(f->saving.low_ns, 10 * 320e3, 1e-6);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, call_no_upload_unused_that_someone_may_read)
{
    static const struct {
        const char *sql;
        enum gmt_outcome outcome;
    } cases[] = {
        {"UPDATE launch SET arguments = 'unknown'", GMT_OUTCOME_COULD_NOT_CHECK},
        {"UPDATE launch SET arguments = 'unknown', argument_set_id = NULL WHERE seq > 1; "
         "DELETE FROM transfer WHERE id = 1 OR id > 100",
         GMT_OUTCOME_COULD_NOT_CHECK},
        {"UPDATE allocation SET kind = 'managed'", GMT_OUTCOME_PASS},
        {"UPDATE kernel SET name = 'ncclDevKernel_AllReduce(ncclDevKernelArgs)'; "
         "DELETE FROM launch_argument; DELETE FROM transfer WHERE id > 100; "
         "UPDATE launch SET begin_ns = begin_ns - 450000",
         GMT_OUTCOME_COULD_NOT_CHECK},
        {"UPDATE transfer SET stream_id = 2, device_start_ns = begin_ns, device_end_ns = end_ns; "
         "UPDATE launch SET begin_ns = begin_ns - 1000000, device_start_ns = begin_ns - 900000, "
         "device_end_ns = begin_ns; DELETE FROM transfer WHERE id IN (110, 200)",
         GMT_OUTCOME_PASS},
#define SHARED_BY(API) \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (8, '" API \
    "', NULL, 'alloc'); INSERT INTO api_call " \
    "(id, api_id, begin_ns, end_ns, result, capturing) VALUES (5000, 8, 1, 2, 0, 0)"
        {SHARED_BY("cuIpcGetMemHandle"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuMemExportToShareableHandle"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuMemPoolExportToShareableHandle"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuMemPoolExportPointer"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuMemGetHandleForAddressRange"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuGraphicsMapResources_ptsz"), GMT_OUTCOME_COULD_NOT_CHECK},
        {SHARED_BY("cuMulticastBindMem"), GMT_OUTCOME_COULD_NOT_CHECK},
        {"UPDATE allocation SET kind = 'ipc'", GMT_OUTCOME_PASS},
        {"UPDATE allocation SET kind = 'external'", GMT_OUTCOME_PASS},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM107_positive");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM107");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "case %zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        cr_expect_eq(fixture.report.rules[0].outcome, cases[i].outcome, "case %zu", i);
        gmt_fixture_free(&fixture);
    }
}

Test(transfer_rules, only_note_what_a_table_of_pointers_may_reach)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM107_positive");
    gmt_fixture_sql(&fixture,
                    "DELETE FROM transfer WHERE id < 100; UPDATE transfer SET bytes = 64, "
                    "dst = 1048576 + 64 * id WHERE id < 200;"
                    "UPDATE transfer SET begin_ns = 1000000, end_ns = 3000000 WHERE id = 200");
    gmt_fixture_analyze(&fixture, "GM107");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_assert_not_null(strstr(fixture.report.notes[0].note_why, "pointer"));
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, rank_wrong_results_before_slow_ones)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM116_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM116");
    cr_assert_eq(f->severity, GMT_SEVERITY_HIGH);
    cr_assert_float_eq(f->saving.best_ns, 0, 1e-9);
    cr_assert_not_null(strstr(f->sketch, "4004, 512, cudaMemcpyHostToDevice"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(
        &fixture, "INSERT INTO allocation (id, kind, address, bytes, pitch, width, height) VALUES "
                  "(1, 'pitched', 67108864, 2097152, 4096, 4004, 512); INSERT INTO transfer (id, "
                  "api_id, thread_id, begin_ns, end_ns, result, caller, capturing, direction, "
                  "blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) VALUES "
                  "(5000, 1, 1, 50000000, 50045000, 0, 99, 0, 'h2d', 1, 2050048, 67108864, 4096, "
                  "'device', 'pinned', 1)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_geq(fixture.report.finding_count, 2);
    cr_assert_str_eq(fixture.report.findings[0].rule, "GM116");
    gmt_fixture_free(&fixture);
    /* All rows without their padding: 480 whole pitches of 512. */
    gmt_fixture_load(&fixture, "fixtures/GM116_positive");
    gmt_fixture_sql(&fixture, "UPDATE allocation SET width = 3840; UPDATE transfer SET bytes = "
                              "1966080");
    f = gmt_fixture_only(&fixture, "GM116");
    cr_assert_not_null(strstr(f->sketch, "3840, 512, cudaMemcpyHostToDevice"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
    /* A 2-D copy that counts the pitch in elements. */
    gmt_fixture_load(&fixture, "fixtures/GM116_negative");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET src_pitch = 4004 WHERE id = 1");
    f = gmt_fixture_only(&fixture, "GM116");
    cr_assert_float_eq(gmt_fixture_evidence(f, "pitch_of_the_copy"), 4004, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "copies"), 1, 1e-9);
    gmt_fixture_free(&fixture);
}
