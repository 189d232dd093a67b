/* SPDX-License-Identifier: Apache-2.0 */
/* Device rows find their host calls, and what has no partner is counted. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/join.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static struct gmt_fixture fixture;

static void setup(void)
{
    struct gmt_capability capability = {.state = GMT_CAP_OK};
    struct gmt_kernel kernel = {.id = 1};
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 20);
    gmt_fixture_context(&fixture, 0, 1, 0);
    gmt_fixture_stream(&fixture, 0, 0x5000, 7, 1);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z3addv", NULL);
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_TRANSFER, "cuMemcpyHtoDAsync_v2");
    gmt_fixture_api(&fixture, 0, 2, GMT_FAMILY_TRANSFER, "cuMemcpyBatchAsync");
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability), "timestamps",
                     "", "", NULL);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(join, .init = setup, .fini = teardown, .timeout = 60);

static struct gmt_call call_at(uint64_t ns)
{
    return (struct gmt_call){.thread = 1,
                             .begin_ticks = ns,
                             .end_ticks = ns + US,
                             .api = 1,
                             .context = 1,
                             .stream = 0x5000};
}

static void copy(uint64_t ns, uint64_t bytes)
{
    struct gmt_call call = call_at(ns);
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D};
    call.bytes = bytes;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
}

static void launch(uint64_t ns, enum gmt_launch_kind kind, uint32_t blocks, uint8_t flags)
{
    struct gmt_call call = call_at(ns);
    struct gmt_launch launch = {.kernel = kind == GMT_LAUNCH_GRAPH ? 0 : 1,
                                .kind = (uint8_t)kind,
                                .grid = {blocks, 1, 1},
                                .block = {32, 1, 1}};
    call.flags = flags;
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
}

static void sync_at(uint64_t ns)
{
    struct gmt_call call = call_at(ns);
    call.detail = GMT_SYNC_STREAM;
    gmt_fixture_call(&fixture, 0, GMT_REC_SYNC, &call, NULL, 0);
}

static struct gmt_device_op op_at(enum gmt_device_op_kind kind, uint32_t correlation, uint64_t ns)
{
    return (struct gmt_device_op){.kind = (uint8_t)kind,
                                  .start_ns = ns,
                                  .end_ns = ns + US,
                                  .correlation = correlation,
                                  .context = 1,
                                  .cupti_stream = 7,
                                  .copy_kind = 1,
                                  .copy_count = 1,
                                  .block = {32, 1, 1}};
}

static void write_op(const struct gmt_device_op *op, const char *name)
{
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE_OP, op, sizeof(*op), name, NULL);
}

static void copy_op(uint32_t correlation, uint64_t ns, uint64_t bytes)
{
    struct gmt_device_op op = op_at(GMT_OP_COPY, correlation, ns);
    op.bytes = bytes;
    write_op(&op, "");
}

static void kernel_op(uint32_t correlation, uint64_t ns, uint32_t blocks, uint32_t graph)
{
    struct gmt_device_op op = op_at(GMT_OP_KERNEL, correlation, ns);
    op.grid[0] = blocks;
    op.grid[1] = op.grid[2] = 1;
    op.graph = graph;
    write_op(&op, "_Z3addv");
}

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
}

/* Each joined transfer's device start is its host begin + `lag`. */
static void expect_copies(int64_t joined, uint64_t lag)
{
    char sql[128];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM transfer WHERE device_start_ns = begin_ns + %llu",
                   (unsigned long long)lag);
    gmt_fixture_expect(&fixture, sql, joined);
    gmt_fixture_expect(&fixture, "SELECT count(device_start_ns) FROM transfer", joined);
}

Test(join, matches_copies_and_kernels_in_order)
{
    for (uint64_t i = 1; i <= 50; i++) {
        copy(i * MS, 4096);
        launch(i * MS + 10 * US, GMT_LAUNCH_KERNEL, 8, 0);
        copy_op((uint32_t)(10 * i), i * MS + 5 * US, 4096);
        kernel_op((uint32_t)(10 * i + 1), i * MS + 15 * US, 8, 0);
    }
    ingest();
    expect_copies(50, 5 * US);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM launch WHERE device_start_ns = begin_ns + 5000", 50);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(join, counts_what_has_no_partner)
{
    copy(1 * MS, 100);
    copy(2 * MS, 200);
    copy_op(1, 1 * MS + US, 100);
    kernel_op(5, 3 * MS, 77, 0);
    ingest();
    expect_copies(1, US);
    gmt_fixture_expect(
        &fixture,
        "SELECT count FROM loss WHERE kind='host call without device row' AND detail='copy'", 1);
    gmt_fixture_expect(
        &fixture, "SELECT count FROM loss WHERE kind='device row not joined' AND detail='kernel'",
        1);
}

static void copy_op_until(uint32_t correlation, uint64_t ns, uint64_t end_ns)
{
    struct gmt_device_op op = op_at(GMT_OP_COPY, correlation, ns);
    op.bytes = 4096;
    op.end_ns = end_ns;
    write_op(&op, "");
}

#define FALSE_TIMES "SELECT count FROM loss WHERE kind='impossible device time' AND detail='copy'"

/* The second of five copies is said to end a second after the last one. */
Test(join, has_no_times_of_a_copy_inside_of_which_others_ran)
{
    sqlite3 *db;
    for (uint64_t i = 1; i <= 5; i++) {
        copy(i * MS, 4096);
        copy_op_until((uint32_t)i, i * MS + 5 * US, i == 2 ? 1000 * MS : i * MS + 6 * US);
    }
    ingest();
    expect_copies(4, 5 * US);
    gmt_fixture_expect(&fixture, FALSE_TIMES, 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE start_ns IS NULL", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='host call without device row'",
                       1);
    /* Done again it is the same, and counted once. */
    cr_assert_eq(gmt_database_open(fixture.output, &db), 0);
    cr_expect_eq(gmt_join_run(db), 0);
    gmt_database_close(db);
    expect_copies(4, 5 * US);
    gmt_fixture_expect(&fixture, FALSE_TIMES, 1);
}

/* One that ends while the next is at work, as where a copy engine begins early; kernels, which may overlap; other streams. */
Test(join, keeps_the_times_of_work_that_overlaps)
{
    gmt_fixture_stream(&fixture, 0, 0x6000, 8, 1);
    for (uint64_t i = 1; i <= 4; i++) {
        copy(i * MS, 4096);
        copy_op_until((uint32_t)i, i * MS + 5 * US, (i + 1) * MS + 5 * US + 500);
    }
    struct gmt_device_op other = op_at(GMT_OP_COPY, 50, 2 * MS + 6 * US);
    other.bytes = 4096;
    other.cupti_stream = 8;
    write_op(&other, "");
    /* The processor copies within the host, and begins when the call is made. */
    struct gmt_device_op within_host = op_at(GMT_OP_COPY, 0, 1 * MS + 4 * US);
    within_host.end_ns = 5 * MS;
    within_host.copy_kind = 9;
    write_op(&within_host, "");
    launch(6 * MS, GMT_LAUNCH_KERNEL, 8, 0);
    launch(7 * MS, GMT_LAUNCH_KERNEL, 8, 0);
    struct gmt_device_op kernel = op_at(GMT_OP_KERNEL, 60, 6 * MS + 5 * US);
    kernel.grid[0] = 8;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.end_ns = 9 * MS;
    write_op(&kernel, "_Z3addv");
    kernel_op(61, 7 * MS + 5 * US, 8, 0);
    ingest();
    expect_copies(4, 5 * US);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch WHERE device_start_ns > 0", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss WHERE kind='impossible device time'",
                       0);
}

/* CUPTI says 0 where it could not take the time: that is no time, and the record is the call's all the same. */
Test(join, has_no_times_where_the_record_has_none)
{
    for (uint64_t i = 1; i <= 4; i++) {
        copy(i * MS, 4096);
        copy_op_until((uint32_t)i, i == 2 ? 0 : i * MS + 5 * US, i == 2 ? 0 : i * MS + 6 * US);
    }
    ingest();
    expect_copies(3, 5 * US);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer WHERE device_end_ns = 0", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='host call without device row'",
                       1);
}

Test(join, finds_the_way_back_after_lost_rows_by_synchronizations)
{
    /* 100 equal copies, a synchronization after each tenth; rows 20..49 were lost. */
    for (uint64_t i = 0; i < 100; i++) {
        copy((i + 1) * MS, 4096);
        if (i % 10 == 9) {
            sync_at((i + 1) * MS + 500 * US);
        }
        if (i < 20 || i >= 50) {
            copy_op((uint32_t)i + 1, (i + 1) * MS + 5 * US, 4096);
        }
    }
    ingest();
    expect_copies(70, 5 * US);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='host call without device row'",
                       30);
}

Test(join, leaves_out_what_cannot_have_a_row)
{
    launch(1 * MS, GMT_LAUNCH_KERNEL, 8, GMT_CALL_NO_ACTIVITY);
    launch(2 * MS, GMT_LAUNCH_KERNEL, 8, GMT_CALL_CAPTURING);
    copy(3 * MS, 0);
    launch(4 * MS, GMT_LAUNCH_KERNEL, 8, 0);
    kernel_op(9, 4 * MS + 5 * US, 8, 0);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT begin_ns FROM launch WHERE device_start_ns IS NOT NULL",
                       4 * (int64_t)MS);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(join, gives_a_graph_launch_all_its_operations)
{
    launch(1 * MS, GMT_LAUNCH_GRAPH, 0, 0);
    launch(3 * MS, GMT_LAUNCH_GRAPH, 0, 0);
    kernel_op(4, 1 * MS + 10 * US, 8, 3);
    kernel_op(4, 1 * MS + 20 * US, 9, 3);
    kernel_op(6, 3 * MS + 10 * US, 8, 3);
    ingest();
    gmt_fixture_expect(&fixture,
                       "SELECT device_end_ns - device_start_ns FROM launch WHERE begin_ns=1000000",
                       11000);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM device_op WHERE call_id = (SELECT id FROM launch "
                       "WHERE begin_ns=1000000)",
                       2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
}

Test(join, puts_the_parts_of_a_copy_together_and_takes_merged_copies_apart)
{
    copy(1 * MS, 300);
    copy_op(1, 1 * MS + 10 * US, 100);
    copy_op(1, 1 * MS + 20 * US, 200);
    struct gmt_call call = call_at(2 * MS);
    call.api = 2;
    for (uint32_t i = 0; i < 3; i++) {
        struct gmt_transfer part = {.direction = GMT_DIR_H2D, .batch = i};
        call.bytes = UINT64_C(1000) * (i + 1);
        gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &part, sizeof(part));
    }
    struct gmt_device_op merged = op_at(GMT_OP_COPY, 2, 2 * MS + 10 * US);
    merged.bytes = 6000;
    merged.copy_count = 3;
    merged.end_ns = merged.start_ns + 6000;
    write_op(&merged, "");
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT device_end_ns - device_start_ns FROM transfer WHERE bytes=300", 11000);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM transfer WHERE batch IS NOT NULL AND "
                       "device_end_ns - device_start_ns = bytes",
                       3);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

/* What CUPTI says of a peer copy between devices that cannot reach each other (recorded on two H200s): out in
 * the one's context, in in the other's, both in streams of the driver's but for the call's own. */
Test(join, makes_one_copy_of_the_halves_of_one_that_goes_through_the_host)
{
    struct gmt_call call = call_at(1 * MS);
    struct gmt_transfer peer = {.direction = GMT_DIR_PEER};
    call.bytes = 65536;
    gmt_fixture_context(&fixture, 0, 2, 1);
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &peer, sizeof(peer));
    struct gmt_device_op half = op_at(GMT_OP_COPY, 9, 1 * MS + 10 * US);
    half.bytes = 65536;
    half.src_kind = half.dst_kind = 3;
    half.copy_kind = 2;
    half.context = 2;
    half.device = 1;
    half.cupti_stream = 17;
    write_op(&half, "");
    half.start_ns += 5 * US;
    half.end_ns += 5 * US;
    half.copy_kind = 1;
    half.context = 1;
    half.device = 0;
    half.cupti_stream = 7;
    write_op(&half, "");
    copy(2 * MS, 65536); /* from host memory, and no half of anything */
    copy_op(10, 2 * MS + 5 * US, 65536);
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT device_end_ns - device_start_ns FROM transfer WHERE direction='peer'",
        6000);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM device_op WHERE call_id = (SELECT id FROM transfer WHERE "
        "direction='peer')",
        2);
    gmt_fixture_expect(&fixture,
                       "SELECT device_end_ns - device_start_ns FROM transfer WHERE direction='h2d'",
                       1000);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM coverage WHERE what='copies' AND expected=2 AND seen=2 AND "
        "extra=0 AND detail='3 records, 2 of these for copies between devices through the host'",
        1);
}

Test(join, matches_by_device_where_the_stream_is_not_known_to_cupti)
{
    struct gmt_device_op op = op_at(GMT_OP_COPY, 3, 1 * MS + 5 * US);
    struct gmt_call call = call_at(1 * MS);
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D};
    call.stream = 0x6000;
    call.bytes = op.bytes = 64;
    op.cupti_stream = 99;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    write_op(&op, "");
    ingest();
    expect_copies(1, 5 * US);
}

Test(join, gives_the_same_result_when_done_again)
{
    sqlite3 *db;
    copy(1 * MS, 64);
    copy(2 * MS, 64);
    copy_op(1, 1 * MS + 5 * US, 64);
    ingest();
    cr_assert_eq(gmt_database_open(fixture.output, &db), 0);
    cr_expect_eq(gmt_join_run(db), 0);
    gmt_database_close(db);
    expect_copies(1, 5 * US);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='host call without device row'",
                       1);
}

/* Copies before and after the scope have the same size, and run while the one inside waits. */
Test(join, calls_outside_of_a_scope_are_joined_and_then_forgotten)
{
    for (uint64_t i = 1; i <= 20; i++) {
        struct gmt_call call = call_at(i * 10 * US);
        struct gmt_transfer transfer = {.direction = GMT_DIR_H2D};
        call.bytes = 4096;
        call.flags = i == 11 ? 0 : GMT_CALL_OUTSIDE;
        gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
        copy_op((uint32_t)i, MS + i * 100 * US, 4096);
    }
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer", 1);
    gmt_fixture_expect(&fixture, "SELECT begin_ns FROM transfer", (int64_t)(110 * US));
    gmt_fixture_expect(&fixture, "SELECT device_start_ns FROM transfer", (int64_t)(MS + 1100 * US));
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

static void gap(uint32_t id, uint64_t begin_ns, uint64_t end_ns)
{
    struct gmt_device_gap record = {.id = id, .begin_ns = begin_ns, .end_ns = end_ns};
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE_GAP, &record, sizeof(record), "libother.so",
                     "cuptiActivityEnable", NULL);
}

/* Without the gaps, the first call in one would get the times of the first call after it. */
Test(join, calls_made_while_another_had_cupti_get_no_times_and_are_no_losses)
{
    for (uint64_t i = 1; i <= 30; i++) {
        copy(i * 100 * US, 4096);
        launch(i * 100 * US + 20 * US, GMT_LAUNCH_KERNEL, 8,
               i / 10 == 1 ? GMT_CALL_NO_ACTIVITY : 0);
        if (i < 10 || (i >= 20 && i < 25)) {
            copy_op((uint32_t)(2 * i), 10 * MS + i * 100 * US, 4096);
            kernel_op((uint32_t)(2 * i + 1), 10 * MS + i * 100 * US + 5 * US, 8, 0);
        }
    }
    gap(1, 1 * MS - 50 * US, 0);
    gap(1, 1 * MS - 50 * US, 2 * MS - 50 * US);
    gap(2, 2500 * US - 50 * US, 0); /* to the end */
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_gap", 2);
    gmt_fixture_expect(&fixture, "SELECT end_ns IS NULL FROM device_gap WHERE id = 2", 1);
    expect_copies(14, 10 * MS);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM launch WHERE device_start_ns = begin_ns + 9985000", 14);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

/* Records go off and on again a hundred times; what was begun just before they went off may run while they are. */
Test(join, calls_made_while_records_were_off_get_no_times_and_are_no_losses)
{
    struct gmt_device_gap record = {.reason = GMT_GAP_BUDGET, .switch_us = 8};
    for (uint64_t i = 0; i < 1000; i++) {
        bool on = i / 5 % 2 == 0;
        copy(i * 20 * US + MS, 4096);
        launch(i * 20 * US + MS + 10 * US, GMT_LAUNCH_KERNEL, 8, on ? 0 : GMT_CALL_NO_ACTIVITY);
        if (on) {
            copy_op((uint32_t)(2 * i), 101 * MS + i * 20 * US, 4096);
            kernel_op((uint32_t)(2 * i + 1), 101 * MS + i * 20 * US + 5 * US, 8, 0);
        }
        if (i % 10 == 5) {
            record.id = (uint32_t)i;
            record.begin_ns = i * 20 * US + MS - 2 * US;
            record.end_ns = record.begin_ns + 100 * US;
            gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE_GAP, &record, sizeof(record), "", "",
                             NULL);
        }
    }
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM device_gap WHERE reason = 'budget' AND switch_ns = 8000",
        100);
    expect_copies(500, 100 * MS);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM launch WHERE device_start_ns = begin_ns + 99995000", 500);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM device_op WHERE call_id IS NULL", 0);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM coverage WHERE kind = 'records' AND expected = 500 AND "
        "seen = 500 AND extra = 0 AND detail LIKE '%500 while records were off%'",
        2);
}

/* Another thread's copy began before records were off, and ended when they were: it may have a record, and has none here. */
Test(join, a_call_that_overlaps_the_switching_is_no_loss)
{
    struct gmt_device_gap record = {
        .id = 1, .reason = GMT_GAP_BUDGET, .switch_us = 8, .begin_ns = 2 * MS, .end_ns = 3 * MS};
    copy(MS, 4096);
    copy_op(1, MS + 10 * US, 4096);
    copy(2 * MS - 500, 8192);
    copy(3 * MS - 500, 16384);
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE_GAP, &record, sizeof(record), "", "", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer WHERE device_start_ns IS NOT NULL",
                       1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM coverage WHERE what = 'copies' AND expected = 1 AND seen = 1", 1);
}
