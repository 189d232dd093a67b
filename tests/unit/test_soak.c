/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of the last seconds for as long as a program may run: what is given up, what is left of it, the numbers
 * and the watch for slow steps take as much after the last round as after the first ones. By rounds, not by time:
 * tests/bench/soak measures the processes. Links gmt_store.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/live/live.h"
#include "libtrace/store/live/step_watch.h"
#include "libtrace/store/recording/ring_content.h"
#include "libtrace/store/recording/ring_sift.h"
#include "tests/unit/spool_fixture.h"

enum {
    ROUNDS = 600,
    SETTLED = 60, /* rounds until every table has its size */
    STEPS = 40,   /* of the program, in each round         */
    BASE = 1,
    CHUNK = 2,
};

static struct gmt_fixture fixture;
static struct gmt_timebase timebase;
static struct gmt_live *live;
static struct gmt_step_watch *watch;
static uint64_t now;
static uint32_t next_id = 1000, next_launch = 1;
static int folder;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    folder = gmt_spool_folder_open(fixture.spool);
    live = gmt_live_open(folder, fixture.control);
    watch = gmt_step_watch_open("");
    gmt_timebase_init(&timebase, true);
    now = 1000000;
    cr_assert(live != NULL && watch != NULL);
}

static void teardown(void)
{
    gmt_live_close(live);
    gmt_step_watch_close(watch);
    close(folder);
    gmt_fixture_remove(&fixture);
}

TestSuite(soak, .init = setup, .fini = teardown, .timeout = 120);

static struct gmt_call head(uint16_t api, uint64_t bytes)
{
    now += 1000;
    return (struct gmt_call){.thread = 1,
                             .begin_ticks = now,
                             .end_ticks = now + 500,
                             .api = api,
                             .context = 1,
                             .bytes = bytes};
}

static void memory(enum gmt_rec_type type, uint32_t id, uint64_t bytes)
{
    const struct gmt_alloc alloc = {
        .id = id, .address = 4096 * (uint64_t)id, .kind = GMT_ALLOC_ASYNC};
    const struct gmt_call call = head(2, bytes);
    gmt_fixture_call(&fixture, CHUNK, type, &call, &alloc, sizeof(alloc));
}

/* Allocates, copies, launches, waits, makes and destroys a graph, frees; with ranges and operations of a device. */
static void step(void)
{
    const uint64_t begin = now;
    const uint32_t id = next_id++;
    const struct gmt_transfer copy = {.direction = GMT_DIR_H2D};
    const struct gmt_launch launch = {
        .kernel = 1, .kind = GMT_LAUNCH_KERNEL, .grid = {1, 1, 1}, .launch_seq = next_launch++};
    const struct gmt_user_range open = {
        .head.ticks = now, .begin_ticks = begin, .id = id, .kind = GMT_RANGE_PUSH};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_RANGE, &open, sizeof(open), "step", "", NULL);
    memory(GMT_REC_ALLOC, id, 4096);
    struct gmt_call call = head(3, 4096);
    gmt_fixture_call(&fixture, CHUNK, GMT_REC_TRANSFER, &call, &copy, sizeof(copy));
    call = head(4, 0);
    gmt_fixture_call(&fixture, CHUNK, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    const struct gmt_device_op op = {.head.ticks = now,
                                     .kind = GMT_OP_KERNEL,
                                     .start_ns = now + 300,
                                     .end_ns = now + 700,
                                     .context = 1};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_DEVICE_OP, &op, sizeof(op), "_Z4stepv", NULL);
    struct gmt_graph graph = {
        .head.ticks = now, .since_ticks = now, .handle = 7, .id = id, .made = id};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_GRAPH, &graph, sizeof(graph), NULL);
    const struct gmt_graph_node node = {
        .head.ticks = now, .since_ticks = now, .graph = id, .node = 9, .kind = GMT_NODE_EMPTY};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_GRAPH_NODE, &node, sizeof(node), NULL);
    call = head(5, 0);
    gmt_fixture_call(&fixture, CHUNK, GMT_REC_SYNC, &call, NULL, 0);
    graph = (struct gmt_graph){.head.ticks = now, .since_ticks = now, .handle = 7};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_GRAPH, &graph, sizeof(graph), NULL);
    memory(GMT_REC_FREE, id, 4096);
    const struct gmt_user_range ended = {.head.ticks = now,
                                         .begin_ticks = begin,
                                         .end_ticks = now,
                                         .id = id,
                                         .kind = GMT_RANGE_PUSH};
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_RANGE, &ended, sizeof(ended), "", "", NULL);
}

/* What is said once, at the start, and holds for ever. */
static void start(void)
{
    const struct gmt_kernel kernel = {.id = 1};
    gmt_fixture_process(&fixture, CHUNK, now);
    gmt_fixture_context(&fixture, CHUNK, 1, 0);
    gmt_fixture_api(&fixture, CHUNK, 2, GMT_FAMILY_ALLOC, "cuMemAllocAsync");
    gmt_fixture_side(&fixture, CHUNK, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z4stepv", NULL);
    memory(GMT_REC_ALLOC, 1, 1 << 20); /* the model */
}

/* As the recorder does: read it, count it, give it up. Returns the bytes that are left of all so far. */
static uint64_t give_up(bool has_base)
{
    struct gmt_ring_content content = {0};
    uint64_t bytes = 0;
    char cause[128];
    if (has_base) {
        cr_assert_eq(gmt_ring_content_add(&content, folder, BASE, geteuid()), 0);
    }
    size_t of_base = content.count;
    cr_assert_eq(gmt_ring_content_add(&content, folder, CHUNK, geteuid()), 0);
    for (size_t i = of_base; i < content.count; i++) {
        const struct gmt_spool_record record = {.data = content.records[i].data,
                                                .type = content.records[i].type,
                                                .slots = content.records[i].slots};
        gmt_live_record(live, &timebase, &record);
        cr_assert_not(gmt_step_watch_record(watch, &timebase, &record, cause), "%s", cause);
    }
    gmt_live_pass(live, now, true);
    cr_assert_eq(gmt_ring_sift(&content, &timebase, now + 1), 0);
    cr_assert_eq(gmt_ring_content_write(&content, folder, BASE, 1, &bytes), 0);
    gmt_ring_content_free(&content);
    return bytes;
}

static void chunk(void)
{
    if (fixture.chunk[CHUNK].map != NULL) {
        munmap(fixture.chunk[CHUNK].map, fixture.chunk[CHUNK].bytes);
        (void)unlink(gmt_fixture_path(&fixture, "chunk-2"));
    }
    gmt_fixture_chunk(&fixture, CHUNK, 1 << 17);
}

Test(soak, nothing_grows_with_the_rounds)
{
    uint64_t base = 0, settled_base = 0;
    size_t settled = 0, most = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        chunk();
        if (round == 0) {
            start();
        }
        for (unsigned i = 0; i < STEPS; i++) {
            step();
        }
        base = give_up(round != 0);
        size_t used = mallinfo2().uordblks; /* 0 under a sanitizer's allocator */
        if (round == SETTLED) {
            settled_base = base;
            settled = used;
        }
        most = round > SETTLED && used > most ? used : most;
        cr_assert(round <= SETTLED || base == settled_base,
                  "round %u: %llu bytes are left, after %llu", round, (unsigned long long)base,
                  (unsigned long long)settled_base);
    }
    cr_expect_leq(most, settled, "%zu bytes in use, after %zu in round %d", most, settled, SETTLED);
    struct gmt_live_page page;
    cr_assert_eq(gmt_live_read(folder, &page), 0);
    cr_expect_eq(page.is_partial, 0);
    cr_expect_eq(page.kernel_launches, ROUNDS * STEPS);
    cr_expect_eq(page.device[0].memory[GMT_ALLOC_ASYNC].bytes, 1 << 20, "the model");
    cr_expect_eq(page.device[0].memory[GMT_ALLOC_ASYNC].made, ROUNDS * STEPS + 1);
    cr_expect_eq(gmt_step_watch_steps(watch)->count, ROUNDS * STEPS);
    cr_expect_gt(page.device[0].busy_ns, 0);
}
