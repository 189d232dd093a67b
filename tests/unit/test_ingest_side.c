/* SPDX-License-Identifier: Apache-2.0 */
/* Side records: process, kernels, counters, stacks, capabilities, losses. Links gmt_store. */
#include <criterion/criterion.h>
#include <string.h>

#include "libtrace/store/recording/recording.h"
#include "libtrace/store/spool/timebase.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest_side, .init = setup, .fini = teardown, .timeout = 60);

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    cr_expect_str_eq(gmt_fixture_text(&fixture, "PRAGMA integrity_check"), "ok");
}

Test(ingest_side, quotes_the_command_line_for_a_shell)
{
    gmt_fixture_process(&fixture, 0, 4000);
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT command FROM process", "app 'it'\\''s' -n");
    gmt_fixture_expect_text(&fixture, "SELECT options FROM process", "stacks=caller");
    gmt_fixture_expect(&fixture, "SELECT rank FROM process", INT64_MIN);
    gmt_fixture_expect(&fixture, "SELECT start_ns FROM process", 4000);
}

Test(ingest_side, knows_the_process_even_if_its_record_was_dropped)
{
    ingest();
    gmt_fixture_expect(&fixture, "SELECT pid FROM process", fixture.control->pid);
    gmt_fixture_expect_text(&fixture, "SELECT value FROM meta WHERE key='complete'", "1");
}

static void own(uint8_t work, uint64_t begin_ns, uint64_t end_ns, uint32_t launch_seq, bool beside)
{
    struct gmt_own_time record = {.begin_ns = begin_ns,
                                  .end_ns = end_ns,
                                  .launch_seq = launch_seq,
                                  .work = work,
                                  .is_beside = beside};
    gmt_fixture_side(&fixture, 0, GMT_REC_OWN_TIME, &record, sizeof(record), NULL);
}

/* A number that is no work of this version's is that of a damaged spool: a word that the schema knows. */
Test(ingest_side, stores_what_gmtrace_did_itself)
{
    gmt_fixture_process(&fixture, 0, 4000);
    for (uint32_t work = GMT_OWN_SETUP; work <= GMT_OWN_GRAPH + 1; work++) {
        own((uint8_t)work, 5000, 5000 + work, work == GMT_OWN_LAUNCH ? 7 : 0,
            work == GMT_OWN_SESSION);
    }
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(work, ' ') FROM own_time",
                            "setup session launch instructions code handover wait exit repeat "
                            "graph setup");
    gmt_fixture_expect(&fixture, "SELECT sum(end_ns - begin_ns) FROM own_time", 66);
    gmt_fixture_expect(&fixture, "SELECT launch_seq FROM own_time WHERE work = 'launch'", 7);
    gmt_fixture_expect(&fixture, "SELECT count(launch_seq) FROM own_time", 1);
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(work) FROM own_time WHERE beside",
                            "session");
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    /* It is no call of the program's. */
    gmt_fixture_expect(&fixture, "SELECT coalesce(end_ns, start_ns) FROM process", 4000);
}

static void page(uint8_t kind, uint32_t cause, uint64_t value)
{
    struct gmt_managed_op op = {.start_ns = 5000,
                                .end_ns = 5100,
                                .address = 0x7f0000000000 + kind,
                                .value = value,
                                .src = kind == GMT_MANAGED_D2H ? 0 : GMT_MANAGED_HOST,
                                .dst = kind == GMT_MANAGED_H2D ? 1 : GMT_MANAGED_HOST,
                                .cause = cause,
                                .kind = kind};
    gmt_fixture_side(&fixture, 0, GMT_REC_MANAGED_OP, &op, sizeof(op), NULL);
}

Test(ingest_side, stores_what_happened_to_managed_memory)
{
    gmt_fixture_process(&fixture, 0, 4000);
    for (unsigned kind = 0; kind < GMT_MANAGED_KIND_COUNT; kind++) {
        page((uint8_t)kind, kind == GMT_MANAGED_D2H ? 99 : 2, 7);
    }
    page(GMT_MANAGED_KIND_COUNT, 1, 7);
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(kind, ' ') FROM managed_op",
                            "h2d d2h host_fault gpu_fault thrashing throttling remote_map d2d");
    /* The same number is another cause for each kind; one that nobody knows is none. */
    gmt_fixture_expect_text(&fixture,
                            "SELECT group_concat(coalesce(cause, '-'), ' ') FROM managed_op",
                            "coherence - write write - - thrashing coherence");
    gmt_fixture_expect_text(&fixture,
                            "SELECT group_concat(kind, ' ') FROM managed_op WHERE bytes = 7",
                            "h2d d2h thrashing remote_map d2d");
    gmt_fixture_expect_text(
        &fixture, "SELECT group_concat(kind, ' ') FROM managed_op WHERE faults = 7", "gpu_fault");
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(kind, ' ') FROM managed_op WHERE pc = 7",
                            "host_fault");
    gmt_fixture_expect(
        &fixture,
        "SELECT dst_device_id FROM managed_op WHERE kind = 'h2d' AND src_device_id IS NULL", 1);
    gmt_fixture_expect(
        &fixture,
        "SELECT src_device_id FROM managed_op WHERE kind = 'd2h' AND dst_device_id IS NULL", 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count FROM loss WHERE kind = 'corrupt record' AND detail = 'managed memory'", 1);
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM process", 5100);
}

Test(ingest_side, stores_what_recording_cost)
{
    struct gmt_overhead overhead = {.begin_ns = 5000,
                                    .end_ns = 6000,
                                    .calls = 640,
                                    .timed_calls = 20,
                                    .hooks_ns = 11,
                                    .stacks_ns = 12,
                                    .hashing_ns = 13,
                                    .counters_ns = 14,
                                    .error_ns = 3,
                                    .stacks_read = 80,
                                    .stacks_walked = 8,
                                    .stacks_taken = 560,
                                    .budget_ppm = 20000,
                                    .stack_one_in = 8,
                                    .hashing_permille = 250,
                                    .counters_permille = 1000,
                                    .is_beyond = 1};
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_side(&fixture, 0, GMT_REC_OVERHEAD, &overhead, sizeof(overhead), NULL);
    overhead = (struct gmt_overhead){.begin_ns = 6000, .end_ns = 7000, .stack_one_in = 1};
    gmt_fixture_side(&fixture, 0, GMT_REC_OVERHEAD, &overhead, sizeof(overhead), NULL);
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT begin_ns || ' ' || end_ns || ' ' || calls || ' ' || timed_calls || ' ' || "
        "hooks_ns || ' ' || "
        "error_ns || ' ' || stacks_ns || ' ' || hashing_ns || ' ' || counters_ns || ' ' || "
        "budget FROM overhead",
        "5000 6000 640 20 11 3 12 13 14 0.02");
    gmt_fixture_expect_text(
        &fixture,
        "SELECT stacks_read || ' ' || stacks_walked || ' ' || stacks_taken || ' ' || "
        "stack_one_in || ' ' || "
        "hashing || ' ' || counters || ' ' || is_beyond FROM overhead",
        "80 8 560 8 0.25 1.0 1");
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM overhead WHERE budget IS NULL AND error_ns IS NULL", 1);
}

Test(ingest_side, says_exit_when_exit_was_reached)
{
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_side(&fixture, 0, GMT_REC_EXIT, &(struct gmt_side_head){.ticks = 9000},
                     sizeof(struct gmt_side_head), NULL);
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT end_reason FROM process", "exit");
    gmt_fixture_expect(&fixture, "SELECT end_ns FROM process", 9000);
}

Test(ingest_side, demangles_kernels_and_computes_their_occupancy)
{
    struct gmt_device device = {.warp_size = 32, .max_threads_per_sm = 2048};
    struct gmt_kernel kernel = {.id = 1, .registers = 40, .static_shared_bytes = -1};
    struct gmt_kernel_class class = {
        .id = 1, .kernel = 1, .grid = {9, 1, 1}, .block = {100, 1, 1}, .max_blocks_per_sm = 8};
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z3addPfi", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE, &device, sizeof(device), "GPU", "GPU-1", "580.1",
                     "a=1", NULL);
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT name FROM kernel", "add(float*, int)");
    gmt_fixture_expect(&fixture, "SELECT static_shared_bytes FROM kernel", INT64_MIN);
    /* 8 blocks of 4 warps of 64 */
    gmt_fixture_expect(&fixture, "SELECT theoretical_occupancy * 1000 FROM kernel_class", 500);
    gmt_fixture_expect_text(&fixture, "SELECT driver_version FROM device", "580.1");
}

Test(ingest_side, stores_counters_with_the_metrics_that_occur)
{
    struct gmt_counters counters = {.launch_seq = 4,
                                    .kernel_class = 2,
                                    .group = GMT_GROUP_PATCHED,
                                    .source = GMT_SOURCE_PATCHED,
                                    .count = 3};
    struct gmt_counter_value values[] = {
        {.metric = 1, .value = 100}, {.metric = 3, .value = 12.5}, {.metric = 60000, .value = 1}};
    gmt_fixture_side_data(&fixture, 0, GMT_REC_COUNTERS, &counters, sizeof(counters), values,
                          sizeof(values));
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM kernel_counters WHERE grp='patched' AND source='patched'",
        2);
    gmt_fixture_expect_text(&fixture,
                            "SELECT group_concat(name) FROM (SELECT name FROM metric ORDER BY id)",
                            "global_load_bytes,global_load_sectors");
    gmt_fixture_expect(&fixture, "SELECT value * 10 FROM kernel_counters WHERE metric_id=3", 125);
    gmt_fixture_expect_text(&fixture, "SELECT detail FROM loss WHERE kind='unknown metric'",
                            "metric 60000");
}

Test(ingest_side, stores_each_frame_once_and_finds_its_module)
{
    struct gmt_object object = {.load_bias = 0x1000, .start = 0x1000, .end = 0x3000};
    struct gmt_stack stack = {.id = 1, .depth = 2};
    uint64_t frames[] = {0x1500, 0x9999};
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), frames,
                          sizeof(frames));
    stack.id = 2;
    stack.depth = 1;
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), frames, 8);
    gmt_fixture_side(&fixture, 0, GMT_REC_OBJECT, &object, sizeof(object), "/no/such/file", "ab",
                     NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_OBJECT, &object, sizeof(object), "/no/such/file", "ab",
                     NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM frame", 2);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM stack_frame", 3);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM module", 1);
    gmt_fixture_expect(&fixture, "SELECT offset FROM v_frame WHERE module='/no/such/file'", 0x500);
    gmt_fixture_expect(&fixture, "SELECT module_id FROM frame WHERE address=0x9999", INT64_MIN);
}

Test(ingest_side, names_lines_of_python_whenever_their_records_come)
{
    struct gmt_stack stack = {.id = 1, .depth = 3};
    uint64_t words[] = {0x1500, GMT_STACK_PYTHON | 2, GMT_STACK_PYTHON | 1};
    struct gmt_python_line line = {.id = 1, .line = 12};
    gmt_fixture_side(&fixture, 0, GMT_REC_PYTHON_LINE, &line, sizeof(line), "f", "a.py", NULL);
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), words, sizeof(words));
    line.id = 2;
    line.line = 0;
    gmt_fixture_side(&fixture, 0, GMT_REC_PYTHON_LINE, &line, sizeof(line), "C.g", "a.py", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM frame", 3);
    gmt_fixture_expect_text(
        &fixture,
        "SELECT group_concat(coalesce(function, '?') || ' ' || coalesce(file, '?') || ' ' || "
        "coalesce(line, '?'), ', ') FROM (SELECT * FROM v_stack ORDER BY position)",
        "? ? ?, C.g a.py ?, f a.py 12");
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM v_stack WHERE module IS NOT NULL OR runtime <> 0", 0);
}

Test(ingest_side, adds_up_losses_and_replaces_capabilities)
{
    struct gmt_loss loss = {.count = 2};
    struct gmt_capability capability = {.state = GMT_CAP_OK};
    fixture.control->dropped_full = 7;
    gmt_fixture_side(&fixture, 0, GMT_REC_LOSS, &loss, sizeof(loss), "kind", "detail", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_LOSS, &loss, sizeof(loss), "kind", "detail", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability), "counters",
                     "", "", NULL);
    capability.state = GMT_CAP_PARTIAL;
    capability.code = -3;
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &capability, sizeof(capability), "counters",
                     "because", "do this", NULL);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='kind' AND detail='detail'", 4);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='record dropped'", 7);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM capability WHERE state='partial' AND code=-3 AND "
                       "remedy='do this'",
                       1);
}

Test(ingest_side, counts_records_of_unknown_type_or_too_small)
{
    gmt_fixture_commit(gmt_fixture_reserve(&fixture, 0, 1), 200, 1);
    gmt_fixture_commit(gmt_fixture_reserve(&fixture, 0, 1), 200, 1);
    gmt_fixture_commit(gmt_fixture_reserve(&fixture, 0, 1), GMT_REC_LAUNCH, 1);
    gmt_fixture_process(&fixture, 0, 4000);
    ingest();
    gmt_fixture_expect(
        &fixture, "SELECT count FROM loss WHERE kind='unknown record type' AND detail='type 200'",
        2);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='corrupt record'", 1);
    gmt_fixture_expect_text(&fixture, "SELECT exe FROM process", "/bin/app");
}

Test(ingest_side, time_is_linear_between_pairs_and_goes_on_at_the_mean_rate)
{
    struct gmt_timebase base;
    gmt_timebase_init(&base, false);
    gmt_timebase_add(&base, (struct gmt_clock_pair){1000000000, 1000000000});
    gmt_timebase_add(&base, (struct gmt_clock_pair){1200000000, 1100000000});
    gmt_timebase_add(&base, (struct gmt_clock_pair){1600000000, 1200000000});
    cr_expect_eq(gmt_timebase_ns(&base, 1100000000), 1050000000);
    cr_expect_eq(gmt_timebase_ns(&base, 1400000000), 1150000000);
    cr_expect_eq(gmt_timebase_ns(&base, 1900000000), 1300000000);
    cr_expect_eq(gmt_timebase_ns(&base, 700000000), 900000000);
}

/* Pairs that a damaged control file says, and ticks that a damaged record says. */
Test(ingest_side, time_beyond_all_clocks_does_not_wrap)
{
    struct gmt_timebase base;
    gmt_timebase_init(&base, false);
    gmt_timebase_add(&base, (struct gmt_clock_pair){1000, UINT64_MAX - 2000});
    gmt_timebase_add(&base, (struct gmt_clock_pair){1001, UINT64_MAX - 1000});
    cr_expect_eq(gmt_timebase_ns(&base, UINT64_MAX), UINT64_MAX);
    cr_expect_eq(gmt_timebase_ns(&base, 1002), UINT64_MAX);
    cr_expect_eq(gmt_timebase_ns(&base, 1000), UINT64_MAX - 2000);
    gmt_timebase_init(&base, false);
    gmt_timebase_add(&base, (struct gmt_clock_pair){UINT64_MAX - 1, 1000});
    gmt_timebase_add(&base, (struct gmt_clock_pair){UINT64_MAX, UINT64_C(1) << 62});
    cr_expect_eq(gmt_timebase_ns(&base, 0), 0);
}

Test(ingest_side, time_stays_exact_when_the_table_of_pairs_is_thinned)
{
    struct gmt_timebase base;
    const uint64_t start = 1000000000, last = UINT64_C(5) * GMT_TIMEBASE_PAIRS;
    gmt_timebase_init(&base, false);
    for (uint64_t i = 0; i <= last; i++) {
        gmt_timebase_add(&base,
                         (struct gmt_clock_pair){start + i * 30000000, start + i * 15000000});
    }
    cr_expect_leq(base.count, GMT_TIMEBASE_PAIRS);
    for (uint64_t i = 0; i <= last; i++) {
        cr_assert_eq(gmt_timebase_ns(&base, start + i * 30000000 + 3000),
                     start + i * 15000000 + 1500);
    }
}
