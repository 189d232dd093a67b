/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that the recorder keeps of a running program, and the page that they are read from. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/live/live.h"
#include "libtrace/store/live/live_idle.h"
#include "libtrace/store/live/live_kernels.h"
#include "libtrace/store/live/live_memory.h"
#include "tests/unit/spool_fixture.h"

enum { MS = 1000000 };

static struct gmt_fixture fixture;
static struct gmt_live *live;
static struct gmt_timebase timebase;
static struct gmt_live_page page;
static int folder;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    folder = gmt_spool_folder_open(fixture.spool);
    live = gmt_live_open(folder, fixture.control);
    gmt_timebase_init(&timebase, true);
    cr_assert_not_null(live);
}

static void teardown(void)
{
    gmt_live_close(live);
    close(folder);
    gmt_fixture_remove(&fixture);
}

TestSuite(live, .init = setup, .fini = teardown, .timeout = 60);

static void count(enum gmt_rec_type type, const void *data, size_t bytes)
{
    uint8_t slots[8 * GMT_SLOT_BYTES] = {0};
    cr_assert_leq(bytes, sizeof(slots));
    memcpy(slots, data, bytes);
    gmt_live_record(live, &timebase,
                    &(struct gmt_spool_record){
                        .data = slots,
                        .type = type,
                        .slots = (unsigned)((bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES)});
}

static void call(enum gmt_rec_type type, struct gmt_call head, const void *payload)
{
    struct {
        struct gmt_call call;
        uint8_t payload[GMT_SLOT_BYTES];
    } record = {.call = head};
    if (payload != NULL) {
        memcpy(record.payload, payload, sizeof(record.payload));
    }
    count(type, &record, payload != NULL ? sizeof(record) : sizeof(record.call));
}

static void copy(unsigned direction, uint64_t bytes, int16_t result, uint8_t flags)
{
    const struct gmt_transfer transfer = {.direction = (uint8_t)direction};
    call(GMT_REC_TRANSFER,
         (struct gmt_call){
             .begin_ticks = 1, .end_ticks = 101, .bytes = bytes, .result = result, .flags = flags},
         &transfer);
}

static void memory(enum gmt_rec_type type, uint32_t id, unsigned kind, uint16_t context,
                   uint64_t bytes)
{
    const struct gmt_alloc alloc = {.id = id, .kind = (uint8_t)kind};
    call(type, (struct gmt_call){.context = context, .bytes = bytes}, &alloc);
}

static void context(uint32_t id, uint32_t device)
{
    const struct gmt_context record = {.id = id, .device = device};
    count(GMT_REC_CONTEXT, &record, sizeof(record));
}

static void read_page(void)
{
    gmt_live_pass(live, UINT64_C(10000) * MS, true);
    cr_assert_eq(gmt_live_read(folder, &page), 0);
}

Test(live, copies_that_were_executed)
{
    copy(GMT_DIR_H2D, 100, 0, 0);
    copy(GMT_DIR_H2D, 50, 0, GMT_CALL_BLOCKING);
    copy(GMT_DIR_D2H, 7, 0, 0);
    copy(GMT_DIR_H2D, 1000, 1, 0); /* failed                          */
    copy(GMT_DIR_H2D, 1000, 0, GMT_CALL_CAPTURING);
    copy(GMT_DIR_H2D, 1000, 0, GMT_CALL_STEP);
    copy(GMT_DIR_H2D, 1000, 0, GMT_CALL_OUTSIDE);
    copy(200, 5, 0, 0); /* no direction that there is      */
    read_page();
    cr_expect_eq(page.copies[GMT_DIR_H2D].count, 2);
    cr_expect_eq(page.copies[GMT_DIR_H2D].bytes, 150);
    cr_expect_eq(page.copies[GMT_DIR_D2H].bytes, 7);
    cr_expect_eq(page.copies[GMT_DIR_UNKNOWN].bytes, 5);
    cr_expect_eq(page.blocking_copies_ns, 100);
    cr_expect_eq(page.failed_calls, 1);
    cr_expect_eq(page.is_partial, 0);
}

Test(live, waits_and_launches)
{
    const struct gmt_launch kernel = {.kernel = 1, .kind = GMT_LAUNCH_KERNEL, .grid = {2, 1, 1}};
    const struct gmt_launch graph = {.kind = GMT_LAUNCH_GRAPH};
    call(GMT_REC_LAUNCH, (struct gmt_call){.begin_ticks = 1, .end_ticks = 2}, &kernel);
    call(GMT_REC_LAUNCH, (struct gmt_call){.begin_ticks = 1, .end_ticks = 2}, &kernel);
    call(GMT_REC_LAUNCH, (struct gmt_call){.begin_ticks = 1, .end_ticks = 2}, &graph);
    call(GMT_REC_SYNC,
         (struct gmt_call){.begin_ticks = 10, .end_ticks = 40, .detail = GMT_SYNC_EVENT}, NULL);
    call(GMT_REC_SYNC, (struct gmt_call){.begin_ticks = 10, .end_ticks = 40, .detail = 99}, NULL);
    read_page();
    cr_expect_eq(page.kernel_launches, 2);
    cr_expect_eq(page.graph_launches, 1);
    cr_expect_eq(page.waits[GMT_SYNC_EVENT].count, 1);
    cr_expect_eq(page.waits[GMT_SYNC_EVENT].device_ns, 30);
    cr_expect_eq(page.kernel[0].launches, 2);
}

/* A reader finds the records of two threads in any order. */
Test(live, memory_in_any_order)
{
    memory(GMT_REC_ALLOC, 1, GMT_ALLOC_DEVICE, 2, 100);
    memory(GMT_REC_FREE, 2, GMT_ALLOC_DEVICE, 2, 200); /* read before its allocation */
    context(2, 3);
    memory(GMT_REC_ALLOC, 2, GMT_ALLOC_DEVICE, 2, 200);
    memory(GMT_REC_ALLOC, 3, GMT_ALLOC_HOST, 2, 4096);
    memory(GMT_REC_ALLOC, 4, GMT_ALLOC_ASYNC, 1, 10);
    memory(GMT_REC_FREE, 4, GMT_ALLOC_ASYNC, 1, 10);
    memory(GMT_REC_FREE, 4, GMT_ALLOC_ASYNC, 1, 10); /* once more: never below 0 */
    context(1, 99);
    read_page();
    cr_expect_eq(page.device[3].memory[GMT_ALLOC_DEVICE].bytes, 100);
    cr_expect_eq(page.device[3].memory[GMT_ALLOC_DEVICE].count, 1);
    cr_expect_eq(page.device[3].memory[GMT_ALLOC_DEVICE].made, 2);
    cr_expect_eq(page.host_memory[GMT_ALLOC_HOST].bytes, 4096);
    cr_expect_eq(page.device[GMT_LIVE_DEVICES - 1].memory[GMT_ALLOC_ASYNC].count, 0);
    cr_expect_eq(page.device[GMT_LIVE_DEVICES - 1].memory[GMT_ALLOC_ASYNC].made, 1);
}

/* Against a table that cannot be wrong; releases in any order, and the table stays small. */
Test(live, memory_of_a_program_that_runs_for_long)
{
    enum { ROUNDS = 400000, SIDE_BY_SIDE = 500 };
    static uint32_t ids[SIDE_BY_SIDE];
    static uint64_t sizes[SIDE_BY_SIDE];
    struct gmt_live_memory held = {0};
    uint64_t bytes = 0, seed = 1, alive = 0;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t at = (size_t)(seed >> 33) % SIDE_BY_SIDE;
        held.pass = i;
        if (ids[at] != 0) {
            cr_assert_eq(gmt_live_memory_freed(&held, ids[at]), 0);
            bytes -= sizes[at];
            alive--;
        }
        ids[at] = i;
        sizes[at] = seed >> 44;
        bytes += sizes[at];
        alive++;
        cr_assert_eq(gmt_live_memory_allocated(&held, i, GMT_ALLOC_DEVICE, 0, sizes[at]), 0);
        if (i % 1000 == 0) { /* of an allocation that was dropped */
            cr_assert_eq(gmt_live_memory_freed(&held, ROUNDS + i), 0);
        }
    }
    gmt_live_memory_sum(&held, &page);
    cr_expect_eq(page.device[0].memory[GMT_ALLOC_DEVICE].bytes, bytes);
    cr_expect_eq(page.device[0].memory[GMT_ALLOC_DEVICE].count, alive);
    cr_expect_leq(held.capacity, 8 * SIDE_BY_SIDE, "%zu places", held.capacity);
    gmt_live_memory_free(&held);
}

static void op(uint32_t device, uint64_t begin_ms, uint64_t end_ms)
{
    const struct gmt_device_op record = {
        .device = device, .kind = GMT_OP_KERNEL, .start_ns = begin_ms * MS, .end_ns = end_ms * MS};
    count(GMT_REC_DEVICE_OP, &record, sizeof(record));
}

static void api(uint16_t id, enum gmt_call_family family)
{
    const struct gmt_api record = {.id = id, .family = (uint16_t)family};
    count(GMT_REC_API, &record, sizeof(record));
}

static void timed(enum gmt_rec_type type, uint16_t id, uint64_t begin_ms, uint64_t end_ms)
{
    static const uint8_t nothing[GMT_SLOT_BYTES];
    bool is_bare = type == GMT_REC_SYNC || type == GMT_REC_CALL;
    call(type, (struct gmt_call){.begin_ticks = begin_ms * MS, .end_ticks = end_ms * MS, .api = id},
         is_bare ? NULL : nothing);
}

/* A device that idles for known causes; two operations overlap, and what comes late is in order all the same. */
Test(live, idle_times_by_cause)
{
    api(1, GMT_FAMILY_MODULE);
    op(0, 100, 110);
    op(0, 300, 320);
    timed(GMT_REC_SYNC, 2, 105, 120); /*                     10 ms of it after the operation */
    timed(GMT_REC_ALLOC, 2, 130, 160);
    timed(GMT_REC_CALL, 1, 150, 200); /* module loading, 40 ms beside no allocation          */
    timed(GMT_REC_CALL, 3, 210, 220); /* any other call                                       */
    timed(GMT_REC_LAUNCH, 2, 280, 290);
    op(0, 305, 330);
    op(1, 50, 51); /* another device, which is busy once: nothing idle is known of it */
    read_page();
    const uint64_t *idle = page.device[0].idle_ns;
    cr_expect_eq(page.device[0].busy_ns, 40 * MS);
    cr_expect_eq(idle[GMT_LIVE_SYNC], 10 * MS);
    cr_expect_eq(idle[GMT_LIVE_ALLOCATION], 30 * MS);
    cr_expect_eq(idle[GMT_LIVE_LOADING], 40 * MS);
    cr_expect_eq(idle[GMT_LIVE_OTHER_CALLS], 10 * MS);
    cr_expect_eq(idle[GMT_LIVE_LAUNCH], 20 * MS, "the call, and 10 ms of latency");
    cr_expect_eq(idle[GMT_LIVE_HOST], 80 * MS);
    cr_expect_eq(page.device[0].kernel_ns, 55 * MS);
    cr_expect_eq(page.device[1].busy_ns, 1 * MS);
    cr_expect_eq(page.device[1].idle_ns[GMT_LIVE_HOST], 0);
    cr_expect_eq(page.device[0].last_ns, 330 * MS);
}

/* What is counted in portions adds up to what is counted at once, whatever lies across their ends. */
Test(live, idle_times_in_portions)
{
    struct gmt_live_idle at_once = {0}, portions = {0};
    static struct gmt_live_page whole, parts;
    uint64_t seed = 7, ns = 1000;
    cr_assert_eq(gmt_live_idle_op(&at_once, 0, 0, 10), 0);
    cr_assert_eq(gmt_live_idle_op(&portions, 0, 0, 10), 0);
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t length = 1 + (seed >> 40) % 3000;
        enum gmt_live_cause cause = (enum gmt_live_cause)((seed >> 20) % GMT_LIVE_HOST);
        cr_assert_eq(gmt_live_idle_call(&at_once, cause, ns, ns + length), 0);
        cr_assert_eq(gmt_live_idle_call(&portions, cause, ns, ns + length), 0);
        if (i % 3 == 0) {
            cr_assert_eq(gmt_live_idle_op(&at_once, 0, ns + 50, ns + length / 2 + 50), 0);
            cr_assert_eq(gmt_live_idle_op(&portions, 0, ns + 50, ns + length / 2 + 50), 0);
        }
        ns += (seed >> 50) % 2000;
        if (i % 500 == 499) { /* nothing that is to come begins before */
            cr_assert_eq(gmt_live_idle_settle(&portions, ns, &parts), 0);
        }
    }
    cr_assert_eq(gmt_live_idle_settle(&at_once, UINT64_MAX, &whole), 0);
    cr_assert_eq(gmt_live_idle_settle(&portions, UINT64_MAX, &parts), 0);
    uint64_t all = 0;
    for (unsigned i = 0; i < GMT_LIVE_CAUSE_COUNT; i++) {
        cr_expect_eq(whole.device[0].idle_ns[i], parts.device[0].idle_ns[i], "%s: %llu, %llu",
                     gmt_live_cause_name((enum gmt_live_cause)i),
                     (unsigned long long)whole.device[0].idle_ns[i],
                     (unsigned long long)parts.device[0].idle_ns[i]);
        all += whole.device[0].idle_ns[i];
    }
    cr_expect_gt(all, 1000000);
    cr_expect_eq(whole.device[0].busy_ns, parts.device[0].busy_ns);
    cr_expect_lt(portions.calls.capacity, 8192, "%zu calls are kept", portions.calls.capacity);
    gmt_live_idle_free(&at_once);
    gmt_live_idle_free(&portions);
}

/* A recorder that is far behind finds millions of calls in one pass. */
Test(live, idle_times_of_more_calls_than_there_is_room_for)
{
    struct gmt_live_idle idle = {0};
    static struct gmt_live_page found;
    cr_assert_eq(gmt_live_idle_op(&idle, 0, 0, 10), 0);
    for (uint64_t i = 1; i < 2000000; i++) {
        cr_assert_eq(gmt_live_idle_call(&idle, GMT_LIVE_SYNC, i * 10, i * 10 + 5), 0);
    }
    cr_expect(gmt_live_idle_is_full(&idle) != 0);
    cr_expect_leq(idle.calls.capacity, 4 * 131072, "%zu calls are kept", idle.calls.capacity);
    cr_assert_eq(gmt_live_idle_op(&idle, 0, 20000000, 20000001), 0);
    cr_assert_eq(gmt_live_idle_settle(&idle, UINT64_MAX, &found), 0);
    cr_expect_eq(found.device[0].idle_ns[GMT_LIVE_SYNC] + found.device[0].idle_ns[GMT_LIVE_HOST],
                 20000000 - 10);
    cr_expect_lt(idle.calls.count, 131072);
    gmt_live_idle_free(&idle);
}

Test(live, kernels_that_are_busy_stay_in_the_table)
{
    struct gmt_live_kernels kernels = {0};
    const uint32_t one[3] = {1, 1, 1};
    cr_assert_eq(gmt_live_kernels_name(&kernels, 1, "_Z4busyv", 16), 0);
    cr_assert_eq(gmt_live_kernels_name(&kernels, 2, "_Z4busyv", 16), 0); /* of another module */
    for (uint32_t i = 0; i < 5000; i++) {
        const uint32_t grid[3] = {i, 1, 1};
        gmt_live_kernels_device(&kernels, "_Z4busyv", 16, one, one, 100000);
        gmt_live_kernels_launch(&kernels, 1 + i % 2, one, one);
        gmt_live_kernels_launch(&kernels, 3, grid, one); /* another shape each time */
        if (i % 100 == 0) {
            gmt_live_kernels_age(&kernels);
        }
    }
    gmt_live_kernels_device(&kernels, "_Z7unknownv", 16, one, one, 1);
    gmt_live_kernels_put(&kernels, &page);
    size_t found = 0;
    for (size_t i = 0; i < GMT_LIVE_KERNELS; i++) {
        if (page.kernel[i].kernel == 1) {
            found++;
            cr_expect_eq(page.kernel[i].launches, 5000);
            cr_expect_eq(page.kernel[i].device_ns, 500000000);
            cr_expect_str_eq(page.kernel[i].name, "_Z4busyv");
        }
        cr_expect_neq(page.kernel[i].kernel, 0, "the table has room");
    }
    cr_expect_eq(found, 1);
    gmt_live_kernels_free(&kernels);
}

Test(live, a_page_is_read_whole_or_not_at_all)
{
    cr_expect_eq(gmt_live_read(folder, &page), -ENOENT, "none is written yet");
    read_page();
    cr_expect_eq(page.updated_ns, UINT64_C(10000) * MS);
    FILE *file;
    cr_assert_eq(chmod(gmt_fixture_path(&fixture, GMT_LIVE_FILE), 0600), 0);
    cr_assert_not_null(file = fopen(gmt_fixture_path(&fixture, GMT_LIVE_FILE), "r+"));
    cr_assert_eq(fseek(file, offsetof(struct gmt_live_page, seq), SEEK_SET), 0);
    const uint32_t odd = 3;
    cr_assert_eq(fwrite(&odd, sizeof(odd), 1, file), 1);
    (void)fflush(file);
    cr_expect_eq(gmt_live_read(folder, &page), -EAGAIN, "it is being written");
    cr_assert_eq(ftruncate(fileno(file), 100), 0);
    cr_expect_eq(gmt_live_read(folder, &page), -ENOENT, "it was cut short");
    (void)fclose(file);
}

/* A recorder that begins anew after a failure has not seen all: the numbers say so. */
Test(live, numbers_of_a_second_attempt_are_partial)
{
    read_page();
    cr_expect_eq(page.is_partial, 0);
    gmt_live_close(live);
    live = gmt_live_open(folder, fixture.control);
    read_page();
    cr_expect_eq(page.is_partial, 1);
}

/* Nothing in a record is trusted. */
Test(live, damaged_records)
{
    uint64_t seed = 3;
    for (int i = 0; i < 200000; i++) {
        uint64_t slots[8 * GMT_SLOT_BYTES / 8];
        for (size_t j = 0; j < sizeof(slots) / sizeof(slots[0]); j++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            slots[j] = seed >> (seed >> 59);
        }
        struct gmt_spool_record record = {.data = slots,
                                          .type = (unsigned)(seed >> 40) % 64,
                                          .slots = 1 + (unsigned)(seed >> 30) % 8};
        gmt_live_record(live, &timebase, &record);
        if (i % 1000 == 0) {
            gmt_live_pass(live, (uint64_t)i * MS, true);
        }
    }
    gmt_live_pass(live, 1, true);
}
