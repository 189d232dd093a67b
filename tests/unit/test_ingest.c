/* SPDX-License-Identifier: Apache-2.0 */
/* Every record becomes the rows it should, in whatever order threads wrote. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
    gmt_fixture_chunk(&fixture, 1, 1 << 18);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest, .init = setup, .fini = teardown, .timeout = 60);

static struct gmt_call call_at(uint64_t ticks)
{
    return (struct gmt_call){.thread = 1,
                             .begin_ticks = ticks,
                             .end_ticks = ticks + 10,
                             .api = 1,
                             .context = 1,
                             .caller = 0x1234};
}

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(&fixture, "PRAGMA integrity_check"), "ok");
}

Test(ingest, stores_a_transfer_with_all_it_knows)
{
    struct gmt_call call = call_at(5000);
    struct gmt_transfer transfer = {.dst = 0x7000,
                                    .src = 0x100,
                                    .dst_alloc = 3,
                                    .dst_pitch = 512,
                                    .width = 100,
                                    .height = 4,
                                    .depth = 1,
                                    .direction = GMT_DIR_H2D,
                                    .dst_class = GMT_MEM_DEVICE,
                                    .src_class = GMT_MEM_PAGEABLE};
    call.bytes = 400;
    call.flags = GMT_CALL_BLOCKING;
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_TRANSFER, "cuMemcpy2D_v2");
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM v_transfer WHERE bytes=400 AND direction='h2d' AND blocking=1 AND "
        "host_class='pageable' AND begin_ns=5000 AND end_ns=5010 AND width=100 AND height=4 AND "
        "dst_pitch=512 AND src_pitch IS NULL AND driver_api='cuMemcpy2D_v2' AND capturing=0",
        1);
    gmt_fixture_expect(&fixture, "SELECT batch FROM transfer", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM process", 5010);
}

Test(ingest, stores_the_fingerprint_of_a_transfer_or_why_it_has_none)
{
    struct gmt_call call = call_at(5000);
    struct {
        struct gmt_transfer transfer;
        struct gmt_fingerprint print;
    } copy = {{.direction = GMT_DIR_H2D, .fingerprint = GMT_PRINT_WHOLE},
              {.low = 0xf, .high = UINT64_C(0x8000000000000001), .bytes_hashed = 400}};
    copy.print.end_ticks = call.end_ticks + 300;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &copy, sizeof(copy));
    copy.transfer.fingerprint = GMT_PRINT_SAMPLED;
    copy.print.end_ticks = 0; /* of a recorder that did not say */
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &copy, sizeof(copy));
    copy.transfer.fingerprint = GMT_PRINT_OVER_BUDGET;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &copy, sizeof(copy.transfer));
    copy.transfer.fingerprint = GMT_PRINT_NONE;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &copy, sizeof(copy.transfer));
    copy.transfer.fingerprint = GMT_PRINT_WHOLE; /* says that it has a slot more, and has not */
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &copy, sizeof(copy.transfer));
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer", 5);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM v_fingerprint", 3);
    gmt_fixture_expect_text(&fixture, "SELECT hash FROM fingerprint WHERE whole = 1",
                            "8000000000000001000000000000000f");
    gmt_fixture_expect(&fixture, "SELECT bytes_hashed FROM fingerprint WHERE whole = 1", 400);
    gmt_fixture_expect(&fixture, "SELECT hash_ns FROM fingerprint WHERE whole = 1", 300);
    gmt_fixture_expect(&fixture, "SELECT count(hash_ns) FROM fingerprint", 1);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM fingerprint WHERE whole = 0 AND skipped IS NULL", 1);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM fingerprint WHERE hash IS NULL AND whole IS NULL AND "
                       "skipped = 'over_budget'",
                       1);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE detail = 'fingerprint'", 1);
}

Test(ingest, gives_calls_of_all_families_ids_of_one_sequence)
{
    struct gmt_call call = call_at(5000);
    struct gmt_memset set = {.dst = 0x7000, .element_bytes = 4, .dst_class = GMT_MEM_DEVICE};
    gmt_fixture_call(&fixture, 0, GMT_REC_MEMSET, &call, &set, sizeof(set));
    call.detail = GMT_SYNC_DEVICE;
    gmt_fixture_call(&fixture, 0, GMT_REC_SYNC, &call, NULL, 0);
    gmt_fixture_call(&fixture, 0, GMT_REC_CALL, &call, NULL, 0);
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(DISTINCT id) FROM (SELECT id FROM memset UNION ALL SELECT id FROM sync "
        "UNION ALL SELECT id FROM api_call)",
        3);
    gmt_fixture_expect_text(&fixture, "SELECT kind FROM sync", "device");
}

Test(ingest, joins_an_allocation_and_its_free_in_either_order)
{
    struct gmt_call call = call_at(6000);
    struct gmt_alloc freed = {.id = 1, .address = 0x7000};
    gmt_fixture_api(&fixture, 0, 2, GMT_FAMILY_ALLOC, "cuMemFreeHost");
    gmt_fixture_call(&fixture, 0, GMT_REC_FREE, &call, &freed, sizeof(freed));
    freed.id = 2; /* host memory, but neither the record nor the name says so */
    gmt_fixture_call(&fixture, 0, GMT_REC_FREE, &call, &freed, sizeof(freed));
    call.api = 2;
    freed.id = 3;
    gmt_fixture_call(&fixture, 0, GMT_REC_FREE, &call, &freed, sizeof(freed));
    call = call_at(5000);
    call.bytes = 4096;
    struct gmt_alloc made = {.id = 1, .address = 0x7000, .kind = GMT_ALLOC_PITCHED, .pitch = 512};
    gmt_fixture_call(&fixture, 1, GMT_REC_ALLOC, &call, &made, sizeof(made));
    made = (struct gmt_alloc){.id = 2, .address = 0x7000, .kind = GMT_ALLOC_HOST};
    gmt_fixture_call(&fixture, 1, GMT_REC_ALLOC, &call, &made, sizeof(made));
    made.id = 3;
    made.kind = GMT_ALLOC_REGISTERED;
    gmt_fixture_call(&fixture, 1, GMT_REC_ALLOC, &call, &made, sizeof(made));
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM allocation WHERE id=1 AND kind='pitched' AND bytes=4096 AND "
        "begin_ns=5000 AND free_begin_ns=6000",
        1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM allocation", 1);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM host_allocation WHERE kind IN ('pinned','registered') AND "
        "begin_ns=5000 AND free_begin_ns=6000",
        2);
}

Test(ingest, files_failed_allocations_and_frees_under_api_calls)
{
    struct gmt_call call = call_at(5000);
    struct gmt_alloc alloc = {.id = 0, .kind = GMT_ALLOC_DEVICE};
    call.result = 2;
    gmt_fixture_call(&fixture, 0, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
    gmt_fixture_call(&fixture, 0, GMT_REC_FREE, &call, &alloc, sizeof(alloc));
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM api_call WHERE result=2", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM allocation", 0);
}

Test(ingest, distinguishes_default_per_thread_and_reused_streams)
{
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D};
    struct gmt_call call = call_at(5000);
    gmt_fixture_api(&fixture, 0, 9, GMT_FAMILY_STREAM, "cuStreamDestroy_v2");
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call.stream = 1; /* CU_STREAM_LEGACY */
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call.stream = 2; /* CU_STREAM_PER_THREAD */
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call.stream = 0;
    call.flags = GMT_CALL_PER_THREAD;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call.thread = 2;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call = call_at(6000);
    call.stream = 0x5000;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    gmt_fixture_stream(&fixture, 0, 0x5000, 13, 6001); /* after its first use */
    call.api = 9;
    call.begin_ticks = 7000;
    gmt_fixture_call(&fixture, 0, GMT_REC_CALL, &call, NULL, 0);
    call.begin_ticks = 8000;
    call.api = 1;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    gmt_fixture_stream(&fixture, 0, 0x5000, 14, 8001);
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM transfer t JOIN stream s ON s.id=t.stream_id WHERE s.handle=0", 2);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(DISTINCT s.id) FROM transfer t JOIN stream s ON s.id=t.stream_id "
        "WHERE s.handle=2",
        2);
    gmt_fixture_expect(&fixture,
                       "SELECT s.cupti_id FROM transfer t JOIN stream s ON s.id=t.stream_id "
                       "WHERE t.begin_ns=6000",
                       13);
    gmt_fixture_expect(&fixture,
                       "SELECT s.cupti_id FROM transfer t JOIN stream s ON s.id=t.stream_id "
                       "WHERE t.begin_ns=8000",
                       14);
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM stream WHERE cupti_id=13", 7000);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM stream", 5);
}

Test(ingest, stores_equal_launch_arguments_once)
{
    struct {
        struct gmt_launch launch;
        struct gmt_launch_arg args[2];
    } payload = {.launch = {.kernel = 1,
                            .kernel_class = 1,
                            .grid = {2, 1, 1},
                            .block = {64, 1, 1},
                            .kind = GMT_LAUNCH_KERNEL,
                            .arguments = GMT_ARGS_COMPLETE,
                            .argument_count = 2,
                            .group = GMT_GROUP_PATCHED},
                 .args = {{.parameter = 0, .alloc = 3, .offset = 64}, {.parameter = 0xffff}}};
    struct gmt_call call = call_at(5000);
    call.flags = GMT_CALL_NO_ACTIVITY;
    for (uint32_t i = 1; i <= 3; i++) {
        payload.launch.launch_seq = i;
        payload.args[0].offset = i == 3 ? 128 : 64;
        gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &payload, sizeof(payload));
    }
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(DISTINCT argument_set_id) FROM launch", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch_argument", 4);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch_argument WHERE parameter IS NULL", 2);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM launch WHERE measured='patched' AND no_activity=1 AND "
                       "cluster_x IS NULL AND device_start_ns IS NULL",
                       3);
}

Test(ingest, refuses_launch_arguments_that_the_record_does_not_hold)
{
    struct gmt_launch launch = {.kind = GMT_LAUNCH_KERNEL, .argument_count = 200};
    struct gmt_call call = call_at(5000);
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch WHERE argument_set_id IS NULL", 1);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='corrupt record'", 1);
}

/* ---- damaged spools -------------------------------------------------------------------------- */

/* What no recorder writes is not stored, but counted; what stands beside it is. */
Test(ingest, stores_no_number_out_of_range)
{
    const uint64_t huge = UINT64_C(0xfffffffffffffff0);
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D};
    struct gmt_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct gmt_memset set = {.dst_class = GMT_MEM_DEVICE};
    struct gmt_alloc alloc = {.id = 7, .address = 0x7000, .kind = GMT_ALLOC_DEVICE};
    struct gmt_device_op op = {.kind = GMT_OP_COPY, .start_ns = 1, .end_ns = huge};
    struct gmt_call call = call_at(5000);
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call.bytes = huge;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    gmt_fixture_call(&fixture, 0, GMT_REC_MEMSET, &call, &set, sizeof(set));
    gmt_fixture_call(&fixture, 0, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
    gmt_fixture_call(&fixture, 0, GMT_REC_CALL, &call, NULL, 0);
    call = call_at(5000);
    call.end_ticks = huge;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    call = call_at(5000);
    call.thread = UINT32_MAX;
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    call = call_at(5000);
    call.stack = UINT32_MAX;
    gmt_fixture_call(&fixture, 0, GMT_REC_SYNC, &call, NULL, 0);
    call = call_at(5000);
    launch.kernel_class = UINT32_MAX;
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE_OP, &op, sizeof(op), "", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer", 1);
    gmt_fixture_expect(
        &fixture,
        "SELECT (SELECT count(*) FROM memset) + (SELECT count(*) FROM allocation) + (SELECT "
        "count(*) FROM api_call) + (SELECT count(*) FROM launch) + (SELECT count(*) FROM sync) "
        "+ (SELECT count(*) FROM device_op)",
        0);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind = 'corrupt record'", 9);
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM process",
                       5010); /* nor does a time that cannot be end the recording */
}

/* A program may ask for anything: no damage where the driver refused. */
Test(ingest, stores_what_a_failed_call_asked_for)
{
    struct gmt_call call = call_at(5000);
    struct gmt_alloc alloc = {.kind = GMT_ALLOC_DEVICE};
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D, .dst_pitch = UINT64_MAX};
    call.bytes = UINT64_MAX;
    call.result = 2;
    gmt_fixture_call(&fixture, 0, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    ingest();
    gmt_fixture_expect(&fixture, "SELECT bytes FROM api_call", INT64_MAX);
    gmt_fixture_expect(&fixture, "SELECT bytes FROM transfer WHERE bytes = dst_pitch", INT64_MAX);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(ingest, stores_addresses_and_handles_of_64_bits)
{
    const uint64_t high = UINT64_C(0xffffffffff600400);
    struct gmt_transfer transfer = {.direction = GMT_DIR_H2D, .dst = high, .src = high};
    struct gmt_call call = call_at(5000);
    call.caller = call.stream = high;
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    ingest();
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM transfer t JOIN stream s ON s.id = t.stream_id WHERE t.dst = "
        "-10484736 AND t.src = t.dst AND t.caller = t.dst AND s.handle = t.dst",
        1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(ingest, adds_losses_up_to_the_most_there_can_be)
{
    struct gmt_loss loss = {.count = UINT64_MAX};
    for (int i = 0; i < 8; i++) {
        gmt_fixture_side(&fixture, 0, GMT_REC_LOSS, &loss, sizeof(loss), "queue full", "", NULL);
    }
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE typeof(count) = 'integer'",
                       INT64_MAX);
}

/* The number of an allocation takes no memory of its size. */
Test(ingest, one_allocation_of_a_great_number_takes_little_memory)
{
    struct gmt_call call = call_at(5000);
    struct gmt_alloc alloc = {.id = INT32_MAX, .address = 0x7000, .kind = GMT_ALLOC_HOST};
    struct rusage before, after;
    gmt_fixture_call(&fixture, 0, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
    alloc = (struct gmt_alloc){.id = INT32_MAX, .address = 0x7000};
    gmt_fixture_call(&fixture, 0, GMT_REC_FREE, &call, &alloc, sizeof(alloc));
    cr_assert_eq(getrusage(RUSAGE_SELF, &before), 0);
    ingest();
    cr_assert_eq(getrusage(RUSAGE_SELF, &after), 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM host_allocation WHERE begin_ns = 5000 AND free_begin_ns = 5000", 1);
    cr_expect_lt(after.ru_maxrss - before.ru_maxrss, 100 << 10);
}

Test(ingest, a_frame_far_from_its_module_has_no_offset)
{
    struct {
        struct gmt_stack stack;
        uint64_t address;
    } stack = {.stack = {.id = 1, .depth = 1}, .address = (uint64_t)INT64_MIN + 5};
    struct gmt_object object = {
        .load_bias = 0x1000, .start = (uint64_t)INT64_MIN, .end = (uint64_t)INT64_MIN + 10};
    gmt_fixture_side(&fixture, 0, GMT_REC_OBJECT, &object, sizeof(object), "/bin/app", "", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM frame WHERE module_id = 1", 1);
    gmt_fixture_expect(&fixture, "SELECT offset FROM frame", INT64_MIN);
}
