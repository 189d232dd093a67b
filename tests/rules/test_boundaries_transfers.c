/* SPDX-License-Identifier: Apache-2.0 */
/* Where rules about copies begin and end to speak: the same trace just on either side of each boundary. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/memory/engine_gap.h"
#include "tests/rules/boundary.h"

/* A thousand copies side by side, at 12 us each, that one copy could do. */
static void load_run_of(struct gmt_fixture *fixture, int bytes)
{
    gmt_boundary_load(
        fixture, "GM101",
        "UPDATE transfer SET bytes = %d, dst = 1048576 + (id - 1) * %d, begin_ns = 1000000 + "
        "id * 20000, end_ns = 1012000 + id * 20000",
        bytes, bytes);
}

/*
 * The model's best rate of pageable uploads is 24 bytes/ns. 53 KB then take 2.2 us on the bus, of 11.3 us
 * that the model gives such a copy: 80.4 % are spent before the first byte. Of 57 KB it is 79.4 %.
 */
Test(boundaries_transfers, a_copy_is_small_while_its_time_is_latency)
{
    struct gmt_fixture fixture;

    load_run_of(&fixture, 53000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM101"), 1);
    load_run_of(&fixture, 57000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM101"), 0);
}

/* On the software device, for which there is no model. */
static size_t findings_without_a_model(int bytes)
{
    struct gmt_fixture fixture;
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");

    cr_assert_not_null(sql);
    load_run_of(&fixture, bytes);
    gmt_fixture_sql(&fixture, sql);
    free(sql);
    gmt_fixture_drop_model(&fixture);
    return gmt_boundary_findings(&fixture, "GM101");
}

/* Nothing says then how long the bus takes for the bytes: only one page is small for certain. */
Test(boundaries_transfers, without_a_model_a_copy_is_small_up_to_a_page)
{
    cr_expect_eq(findings_without_a_model(4096), 1);
    cr_expect_eq(findings_without_a_model(4104), 0);
}

/* Nobody reads a few counters for their bytes: the wait is what they cost. */
Test(boundaries_transfers, a_read_back_is_a_scalar_up_to_a_few_counters)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM109", "UPDATE transfer SET bytes = %d", 256);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM109"), 1);
    gmt_boundary_load(&fixture, "GM109", "UPDATE transfer SET bytes = %d", 260);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM109"), 0);
}

/* Up to 64 KiB the runtime has copied the bytes into its own buffer when the call returns. */
Test(boundaries_transfers, what_is_staged_at_once_holds_no_caller)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM103", "UPDATE transfer SET bytes = %d", 65536);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM103"), 0);
    gmt_boundary_load(&fixture, "GM103", "UPDATE transfer SET bytes = %d", 65537);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM103"), 1);
}

/*
 * Each kernel of 1 ms is waited for, and starts `idle_ns` after the one before. Below 2 % of the wait a
 * check every tenth step would gain what the tracer itself adds to a wait.
 */
static void load_read_backs(struct gmt_fixture *fixture, int idle_ns)
{
    gmt_boundary_load(
        fixture, "GM109",
        "UPDATE launch SET begin_ns = 60000000 + (seq - 1) * (1000000 + %d);"
        "UPDATE launch SET end_ns = begin_ns + 5000, device_start_ns = begin_ns + 10000, "
        "device_end_ns = begin_ns + 1010000;"
        "UPDATE transfer SET begin_ns = (SELECT end_ns FROM launch WHERE seq = transfer.id);"
        "UPDATE transfer SET end_ns = begin_ns + 1012000, device_start_ns = begin_ns + 1006000, "
        "device_end_ns = begin_ns + 1007000",
        idle_ns);
}

Test(boundaries_transfers, read_backs_of_a_busy_device_are_a_note)
{
    struct gmt_fixture fixture;

    load_read_backs(&fixture, 24000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM109"), 1);
    load_read_backs(&fixture, 18500);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM109"), 1);
}

/* Step by step: an upload of `upload_us`, and 1 ms of a kernel on it. */
static void load_steps(struct gmt_fixture *fixture, int upload_us)
{
    gmt_boundary_load(
        fixture, "GM108",
        "DELETE FROM transfer WHERE id > 100; UPDATE transfer SET end_ns = begin_ns + 10000 + "
        "1000 * %d, device_start_ns = begin_ns + 5000, device_end_ns = begin_ns + 5000 + 1000 * "
        "%d",
        upload_us, upload_us);
}

/* With two streams nine of ten uploads run beside a kernel: 0.9 * 126 us are a tenth of 1126 us. */
Test(boundaries_transfers, a_pipeline_that_shortens_a_loop_by_little_is_a_note)
{
    struct gmt_fixture fixture;

    load_steps(&fixture, 130);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM108"), 1);
    load_steps(&fixture, 120);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM108"), 1);
}

/* Ten times, `bytes` go to the host after a kernel, and return `host_ns` later. */
static void load_host_steps(struct gmt_fixture *fixture, int bytes, int host_ns)
{
    gmt_boundary_load(
        fixture, "GM115",
        "UPDATE launch SET begin_ns = 1000000 + (seq - 1) * 9000000;"
        "UPDATE launch SET end_ns = begin_ns + 5000, device_start_ns = begin_ns + 10000, "
        "device_end_ns = begin_ns + 1010000;"
        "UPDATE transfer SET bytes = %d, begin_ns = (SELECT device_end_ns FROM launch WHERE seq = "
        "transfer.id %% 100) + CASE WHEN id > 100 THEN 85000 + %d ELSE 0 END;"
        "UPDATE transfer SET end_ns = begin_ns + 85000",
        bytes, host_ns);
}

/*
 * A core that changes floats one by one takes up to 4 ns for a byte, 4.2 ms for 1 MiB, and 0.1 ms to wake up.
 * A host that takes longer does something else meanwhile.
 */
Test(boundaries_transfers, a_step_of_the_host_is_no_longer_than_a_pass_over_the_bytes)
{
    struct gmt_fixture fixture;

    load_host_steps(&fixture, 1 << 20, 4200000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM115"), 1);
    load_host_steps(&fixture, 1 << 20, 4400000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM115"), 0);
}

/* A page takes 16 us: the rest is what waking up and calling take. */
Test(boundaries_transfers, a_step_of_the_host_on_few_bytes_may_take_as_long_as_waking_up)
{
    struct gmt_fixture fixture;

    load_host_steps(&fixture, 4096, 110000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM115"), 1);
    load_host_steps(&fixture, 4096, 120000);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM115"), 0);
}

static double still_of_gap(int64_t gap_ns)
{
    struct gmt_tl_copy copy = {
        .call = {.end_ns = 4000}, .device_start_ns = 5000, .device_end_ns = 15000};
    struct gmt_tl_launch launch = {.call = {.begin_ns = 4500, .end_ns = 8000},
                                   .device_start_ns = 15000 + gap_ns,
                                   .device_end_ns = 17000 + gap_ns};
    struct gmt_timeline tl = {
        .copies = &copy, .copy_count = 1, .launches = &launch, .launch_count = 1};
    double still_ns = NAN;

    cr_assert_eq(gmt_engine_gaps(&tl, &still_ns), 0);
    return still_ns;
}

/* Handing over from the copy engine takes some us. A stream that is idle for longer waits for another. */
Test(boundaries_transfers, a_long_gap_between_copy_and_kernel_is_no_hand_over)
{
    cr_expect_float_eq(still_of_gap(19000), 19000, 1);
    cr_expect_float_eq(still_of_gap(21000), 0, 0);
}

/* What the device waits for: 85 us + 85 us of copies, 0.7 ms of the host, and the start of the next kernel. */
static double still_before_next_kernel(int gap_ns)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM115",
                      "UPDATE launch SET device_start_ns = begin_ns + %d WHERE seq > 1", gap_ns);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM115");
    double still_ns = gmt_fixture_evidence(f, "device_stood_still");
    gmt_fixture_free(&fixture);
    return still_ns;
}

/* Nine of the ten trips are followed by a kernel. */
Test(boundaries_transfers, a_kernel_that_starts_late_waits_for_more_than_the_step_of_the_host)
{
    double none = still_before_next_kernel(0);

    cr_expect_float_eq(still_before_next_kernel(19000) - none, 9 * 19e3, 1);
    cr_expect_float_eq(still_before_next_kernel(21000) - none, 0, 1);
}

/* Nobody copies a flag or a result to the device to save time, however long the kernel takes. */
Test(boundaries_transfers, little_mapped_memory_is_a_flag_or_a_result)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM112", "UPDATE host_allocation SET bytes = %d", 1048576);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM112"), 1);
    gmt_boundary_load(&fixture, "GM112", "UPDATE host_allocation SET bytes = %d", 1048572);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM112"), 1);
}

/*
 * A buffer is filled in `pieces` parts, and then again in the same order, before the kernel gets it. Each
 * upload of the second time overwrites the oldest of `pieces` uploads that wait for a kernel.
 */
static size_t overwritten_of(int pieces)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(
        &fixture, "GM107",
        "DELETE FROM transfer; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 2 * %d - 1) INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, "
        "begin_ns, end_ns, result, stack_id, capturing, direction, blocking, bytes, dst, src, "
        "dst_class, src_class, dst_allocation_id) SELECT i + 1, 1, 1, 1, 1, 2000000 + i * 100000, "
        "2080000 + i * 100000, 0, 1, 0, 'h2d', 1, 131072, 1048576 + i %% %d * 131072, 4096, "
        "'device', 'pinned', 1 FROM n",
        pieces, pieces);
    gmt_fixture_analyze(&fixture, "GM107");
    size_t n = fixture.report.finding_count == 1
                   ? (size_t)gmt_fixture_evidence(&fixture.report.findings[0], "overwritten")
                   : 0;
    gmt_fixture_free(&fixture);
    return n;
}

/* Each upload is compared with those that wait: without a limit the analysis of n parts takes n * n steps. */
Test(boundaries_transfers, uploads_that_many_others_follow_are_let_go)
{
    cr_expect_eq(overwritten_of(64), 64);
    cr_expect_eq(overwritten_of(65), 0);
}

/* An upload of `bytes` to where kernels look, while the other buffer lives that no kernel is given. */
static void load_possible_table(struct gmt_fixture *fixture, int bytes)
{
    gmt_boundary_load(
        fixture, "GM205",
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, "
        "dst_allocation_id) VALUES (1, 1, 1, 1, 1, 5000000, 5010000, 0, 1, 0, 'h2d', 1, %d, "
        "1099511627776, 4096, 'device', 'pinned', 1)",
        bytes);
}

/* 8192 pointers are more than kernels are given at once: larger uploads are data. */
Test(boundaries_transfers, a_large_upload_is_no_table_of_pointers)
{
    struct gmt_fixture fixture;

    load_possible_table(&fixture, 65536);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM205"), 0);
    load_possible_table(&fixture, 65544);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM205"), 1);
}
