/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that keep their last seconds only: which records are kept. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/ring_limits.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_content.h"
#include "libtrace/store/recording/ring_sift.h"
#include "tests/unit/spool_fixture.h"

enum { BEGIN = 1000 }; /* of the window */

static struct gmt_fixture fixture;
static struct gmt_ring_content content;
static int folder;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_chunk(&fixture, 1, 1 << 16);
    folder = gmt_spool_folder_open(fixture.spool);
}

static void teardown(void)
{
    gmt_ring_content_free(&content);
    close(folder);
    gmt_fixture_remove(&fixture);
}

TestSuite(ring, .init = setup, .fini = teardown, .timeout = 60);

static void call(uint32_t chunk, enum gmt_rec_type type, uint64_t at)
{
    const struct gmt_launch launch = {.launch_seq = (uint32_t)at, .kind = GMT_LAUNCH_KERNEL};
    gmt_fixture_call(
        &fixture, chunk, type,
        &(struct gmt_call){.thread = 1, .begin_ticks = at, .end_ticks = at + 1, .api = 1},
        type == GMT_REC_LAUNCH ? &launch : NULL, type == GMT_REC_LAUNCH ? sizeof(launch) : 0);
}

static void memory(uint32_t chunk, enum gmt_rec_type type, uint32_t id, uint64_t at)
{
    const struct gmt_alloc alloc = {.id = id, .address = 4096 * id, .kind = GMT_ALLOC_DEVICE};
    gmt_fixture_call(
        &fixture, chunk, type,
        &(struct gmt_call){
            .thread = 1, .begin_ticks = at, .end_ticks = at + 1, .bytes = 64, .api = 1},
        &alloc, sizeof(alloc));
}

static void graph(uint32_t id, uint64_t handle, uint64_t since)
{
    const struct gmt_graph graph = {
        .head.ticks = since, .since_ticks = since, .handle = handle, .id = id, .made = id};
    gmt_fixture_side(&fixture, 0, GMT_REC_GRAPH, &graph, sizeof(graph), NULL);
}

static void node(uint32_t graph_id, uint64_t name, uint64_t since, uint8_t is_update)
{
    const struct gmt_graph_node node = {.head.ticks = since,
                                        .since_ticks = since,
                                        .graph = graph_id,
                                        .node = name,
                                        .kind = GMT_NODE_EMPTY,
                                        .is_update = is_update};
    gmt_fixture_side(&fixture, 0, GMT_REC_GRAPH_NODE, &node, sizeof(node), NULL);
}

static void range(uint32_t id, uint64_t begin, uint64_t end, const char *name)
{
    const struct gmt_user_range range = {.head.ticks = end != 0 ? end : begin,
                                         .begin_ticks = begin,
                                         .end_ticks = end,
                                         .id = id,
                                         .kind = GMT_RANGE_PUSH};
    gmt_fixture_side(&fixture, 0, GMT_REC_RANGE, &range, sizeof(range), name, "", NULL);
}

/* One letter for each record, in order: in the window, holds, outside, dropped. */
static void expect(const char *verdicts)
{
    static const char letters[] = {[GMT_RING_DROPPED] = 'd',
                                   [GMT_RING_HOLDS] = 'h',
                                   [GMT_RING_IN] = 'i',
                                   [GMT_RING_OUTSIDE] = 'o'};
    struct gmt_timebase time;
    char found[256] = "";
    gmt_timebase_init(&time, true);
    cr_assert_eq(gmt_ring_content_add_all(&content, folder, 0, geteuid()), 0);
    cr_assert_eq(gmt_ring_sift(&content, &time, BEGIN), 0);
    for (size_t i = 0; i < content.count && i < sizeof(found) - 1; i++) {
        found[i] = letters[content.records[i].verdict];
    }
    cr_expect_str_eq(found, verdicts, "%s instead of %s", found, verdicts);
}

Test(ring, calls_of_the_window)
{
    call(0, GMT_REC_CALL, 999);
    call(0, GMT_REC_LAUNCH, 999);
    call(0, GMT_REC_CALL, 1000);
    call(0, GMT_REC_LAUNCH, 1000);
    expect("doii");
}

Test(ring, memory_until_it_is_released_before_the_window)
{
    memory(0, GMT_REC_ALLOC, 1, 10); /* lives */
    memory(0, GMT_REC_ALLOC, 2, 20); /* was released before */
    memory(0, GMT_REC_ALLOC, 3, 30); /* is released inside */
    memory(1, GMT_REC_FREE, 2, 500);
    memory(1, GMT_REC_FREE, 3, 1500);
    memory(1, GMT_REC_ALLOC, 4, 1600);
    memory(1, GMT_REC_FREE, 5, 400); /* its allocation lies in a chunk that is not there */
    expect("hdhdiih");
}

static void export(uint64_t hash, uint32_t alloc, uint64_t ticks)
{
    const struct gmt_export exported = {.head.ticks = ticks, .hash = hash, .alloc = alloc};
    gmt_fixture_side(&fixture, 0, GMT_REC_EXPORT, &exported, sizeof(exported), NULL);
}

Test(ring, handles_until_their_memory_is_released)
{
    memory(0, GMT_REC_ALLOC, 1, 10);
    memory(0, GMT_REC_ALLOC, 2, 20);
    export(7, 1, 30); /* asked for again */
    export(7, 1, 40);
    export(8, 2, 50); /* released before the window */
    export(9, 0, 60); /* of memory that is not known */
    memory(0, GMT_REC_FREE, 2, 500);
    export(9, 0, 1100);
    memory(0, GMT_REC_FREE, 1, 1500);
    expect("hddhdddii");
}

static void heap(uint32_t id, enum gmt_heap_event event, uint64_t since)
{
    const struct gmt_heap heap = {
        .head.ticks = since, .since_ticks = since, .id = id, .event = (uint8_t)event};
    gmt_fixture_side(&fixture, 0, GMT_REC_HEAP, &heap, sizeof(heap), "pool", "", NULL);
}

static void region(uint32_t id, uint32_t made, uint32_t heap_id, enum gmt_heap_event event,
                   uint64_t since)
{
    const struct gmt_region region = {.head.ticks = since,
                                      .since_ticks = since,
                                      .id = id,
                                      .made = made,
                                      .heap = heap_id,
                                      .event = (uint8_t)event};
    gmt_fixture_side(&fixture, 0, GMT_REC_REGION, &region, sizeof(region), "name", NULL);
}

Test(ring, regions_until_they_or_their_heaps_end)
{
    heap(1, GMT_HEAP_BEGUN, 10);
    region(2, 2, 1, GMT_HEAP_BEGUN,
           20); /* resized before the window: another, which has its name */
    region(2, 2, 1, GMT_HEAP_NAMED, 21);
    region(2, 2, 1, GMT_HEAP_ENDED, 22);
    region(3, 2, 1, GMT_HEAP_BEGUN, 22);
    region(4, 4, 1, GMT_HEAP_BEGUN, 30); /* ended before */
    region(4, 4, 1, GMT_HEAP_NAMED, 31);
    region(4, 4, 1, GMT_HEAP_ENDED, 500);
    region(5, 5, 1, GMT_HEAP_BEGUN, 40); /* ends inside */
    region(5, 5, 1, GMT_HEAP_ENDED, 1500);
    heap(6, GMT_HEAP_BEGUN, 50); /* ended before, with a region that has no end of its own */
    region(7, 7, 6, GMT_HEAP_BEGUN, 60);
    region(7, 7, 6, GMT_HEAP_NAMED, 61);
    heap(6, GMT_HEAP_ENDED, 600);
    region(8, 8, 1, GMT_HEAP_ENDED, 700); /* its beginning is lost */
    region(9, 9, 0, GMT_HEAP_BEGUN, 1600);
    region(9, 9, 0, GMT_HEAP_NAMED, 1601);
    expect("hdhdhdddhiddddd"
           "ih");
}

Test(ring, graphs_until_they_end)
{
    graph(1, 0xa, 10);
    node(1, 7, 10, 0);
    graph(0, 0xa, 20); /* the end of the first */
    graph(2, 0xa, 30); /* the driver gives the handle again */
    node(2, 8, 30, 0);
    node(2, 8, 40, 1);
    node(2, 8, 50, 1);
    node(2, 8, 1500, 1);
    graph(3, 0xb, 60);
    graph(0, 0xb, 1200); /* ends inside */
    expect("dddhhdhihi");
}

Test(ring, ranges_that_are_open)
{
    range(1, 10, 0, "open");
    range(2, 20, 0, "ended before");
    range(2, 20, 90, "");
    range(3, 30, 0, "ended inside");
    range(3, 30, 1500, "");
    range(4, 40, 95, "whole, before");
    range(5, 50, 1500, "whole, inside");
    expect("hddhidi");
}

Test(ring, the_latest_of_what_is_said_again)
{
    const struct gmt_capability capability = {.state = GMT_CAP_OK};
    for (uint64_t i = 0; i < 3; i++) {
        struct gmt_capability row = capability;
        row.head.ticks = i;
        gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &row, sizeof(row), i == 1 ? "a" : "b", "",
                         "", NULL);
        struct gmt_stream stream = {
            .head.ticks = i, .handle = 5, .context = 1, .priority = (int32_t)i, .has_priority = 1};
        gmt_fixture_side(&fixture, 0, GMT_REC_STREAM, &stream, sizeof(stream), NULL);
    }
    expect("ddhdhh");
}

Test(ring, counters_of_launches_of_the_window)
{
    const struct gmt_counters before = {.launch_seq = 999}, inside = {.launch_seq = 1000};
    gmt_fixture_side(&fixture, 0, GMT_REC_COUNTERS, &before, sizeof(before), NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_COUNTERS, &inside, sizeof(inside), NULL);
    call(1, GMT_REC_LAUNCH, 999);
    call(1, GMT_REC_LAUNCH, 1000);
    expect("dioi");
}

/* What is written of two chunks says the same as they do; a record that is there twice is dropped. */
Test(ring, the_base_takes_the_place_of_chunks)
{
    uint64_t bytes = 0;
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_ALLOC, "cuMemAlloc_v2");
    memory(0, GMT_REC_ALLOC, 1, 10);
    memory(1, GMT_REC_ALLOC, 2, 20);
    memory(1, GMT_REC_FREE, 2, 30);
    call(1, GMT_REC_LAUNCH, 40);
    expect("hhddo");
    cr_assert_eq(gmt_ring_content_write(&content, folder, 7, 1, &bytes), 0);
    gmt_ring_content_free(&content);
    struct gmt_timebase time;
    gmt_timebase_init(&time, true);
    cr_assert_eq(gmt_ring_content_add_all(&content, folder, 8, geteuid()), 0);
    cr_assert_eq(content.count, 7);
    cr_assert_eq(gmt_ring_sift(&content, &time, BEGIN), 0);
    cr_expect_eq(content.records[0].verdict, GMT_RING_HOLDS);
    cr_expect_eq(content.records[1].verdict, GMT_RING_HOLDS);
    cr_expect_eq(content.records[2].verdict, GMT_RING_DROPPED, "the name, once more");
    cr_expect_eq(content.records[3].verdict, GMT_RING_DROPPED, "the allocation, once more");
    cr_expect_eq(content.corrupt, 0);
}

/* What was said long before the window, and is meant by what lies in it. */
static const struct lasting {
    enum gmt_rec_type type;
    size_t bytes; /* of its fixed part */
    const char *name;
} lasting[] = {
    {GMT_REC_PROCESS, sizeof(struct gmt_process), "process"},
    {GMT_REC_THREAD, sizeof(struct gmt_thread), "thread"},
    {GMT_REC_DEVICE, sizeof(struct gmt_device), "device"},
    {GMT_REC_CONTEXT, sizeof(struct gmt_context), "context"},
    {GMT_REC_STREAM, sizeof(struct gmt_stream), "stream"},
    {GMT_REC_API, sizeof(struct gmt_api), "entry point"},
    {GMT_REC_KERNEL, sizeof(struct gmt_kernel), "kernel"},
    {GMT_REC_KERNEL_CLASS, sizeof(struct gmt_kernel_class), "kernel class"},
    {GMT_REC_STACK, sizeof(struct gmt_stack), "call stack"},
    {GMT_REC_OBJECT, sizeof(struct gmt_object), "mapped file"},
    {GMT_REC_CAPABILITY, sizeof(struct gmt_capability), "capability"},
    {GMT_REC_PYTHON_LINE, sizeof(struct gmt_python_line), "line of Python"},
    {GMT_REC_TENSOR_MAP, sizeof(struct gmt_tensor_map), "tensor map"},
    {GMT_REC_CUBIN, sizeof(struct gmt_cubin_piece), "cubin"},
    {GMT_REC_CUBIN_PLACE, sizeof(struct gmt_cubin_place), "place of a cubin"},
    {GMT_REC_INLINING, sizeof(struct gmt_inlining), "inlining"},
    {GMT_REC_GRAPH, sizeof(struct gmt_graph), "graph"},
    {GMT_REC_GRAPH_NODE, sizeof(struct gmt_graph_node), "node of a graph"},
    {GMT_REC_RANGE, sizeof(struct gmt_user_range), "range that is open"},
    {GMT_REC_HEAP, sizeof(struct gmt_heap), "heap"},
    {GMT_REC_REGION, sizeof(struct gmt_region), "region"},
    {GMT_REC_EXPORT, sizeof(struct gmt_export), "handle of memory"},
};
enum { LASTING = sizeof(lasting) / sizeof(lasting[0]) };

static void say_lasting(const struct lasting *row)
{
    union {
        struct gmt_graph graph;
        struct gmt_graph_node node;
        struct gmt_user_range range;
        struct gmt_heap heap;
        struct gmt_region region;
        struct gmt_export exported;
        uint8_t bytes[4 * GMT_SLOT_BYTES];
    } record = {0};
    if (row->type == GMT_REC_GRAPH) {
        record.graph = (struct gmt_graph){.since_ticks = 10, .handle = 0xa, .id = 1, .made = 1};
    } else if (row->type == GMT_REC_GRAPH_NODE) {
        record.node = (struct gmt_graph_node){.since_ticks = 10, .graph = 1, .node = 7};
    } else if (row->type == GMT_REC_RANGE) {
        record.range = (struct gmt_user_range){.begin_ticks = 10, .id = 1, .kind = GMT_RANGE_PUSH};
    } else if (row->type == GMT_REC_HEAP) {
        record.heap = (struct gmt_heap){.since_ticks = 10, .id = 1, .event = GMT_HEAP_BEGUN};
    } else if (row->type == GMT_REC_REGION) {
        record.region = (struct gmt_region){
            .since_ticks = 10, .id = 2, .heap = 1, .made = 2, .event = GMT_HEAP_BEGUN};
    } else if (row->type == GMT_REC_EXPORT) {
        record.exported = (struct gmt_export){.hash = 5, .alloc = 1};
    }
    ((struct gmt_side_head *)(void *)record.bytes)->ticks = 10;
    gmt_fixture_side(&fixture, 0, row->type, record.bytes, row->bytes, "a name", "", NULL);
}

static size_t count_of(enum gmt_rec_type type, enum gmt_ring_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < content.count; i++) {
        count += content.records[i].type == type && content.records[i].verdict == verdict;
    }
    return count;
}

/* Base after base, each of the one before: what lasts is in the last of them, once. */
Test(ring, what_lasts_is_there_whatever_its_age)
{
    struct gmt_timebase time;
    uint64_t bytes = 0, first = 0;
    gmt_timebase_init(&time, true);
    for (size_t i = 0; i < LASTING; i++) {
        say_lasting(&lasting[i]);
    }
    memory(0, GMT_REC_ALLOC, 1, 10);
    call(1, GMT_REC_LAUNCH, 500);
    for (int generation = 0; generation < 50; generation++) {
        gmt_ring_content_free(&content);
        if (generation > 0) {
            cr_assert_eq(gmt_ring_content_add(&content, folder, 7, geteuid()), 0);
        }
        /* The chunk is there until the base has its name: a recorder that is killed in between leaves both. */
        if (generation < 2) {
            cr_assert_eq(gmt_ring_content_add(&content, folder, 0, geteuid()), 0);
        }
        cr_assert_eq(gmt_ring_content_add(&content, folder, 1, geteuid()), 0);
        cr_assert_eq(gmt_ring_sift(&content, &time, BEGIN + 1000 * (uint64_t)generation), 0);
        for (size_t i = 0; i < LASTING; i++) {
            size_t count = count_of(lasting[i].type, GMT_RING_HOLDS);
            /* Of an open range, and of a graph with its nodes, the same record may be there twice. */
            bool may_repeat = lasting[i].type == GMT_REC_GRAPH ||
                              lasting[i].type == GMT_REC_RANGE || lasting[i].type == GMT_REC_HEAP ||
                              lasting[i].type == GMT_REC_REGION ||
                              lasting[i].type == GMT_REC_GRAPH_NODE;
            cr_assert(count == 1 || (may_repeat && count == 2), "%zu times in generation %d: %s",
                      count, generation, lasting[i].name);
        }
        cr_assert_eq(count_of(GMT_REC_ALLOC, GMT_RING_HOLDS), 1);
        cr_assert_eq(count_of(GMT_REC_LAUNCH, GMT_RING_HOLDS), 0);
        cr_assert_eq(gmt_ring_content_write(&content, folder, 7, 1, &bytes), 0);
        first = generation == 1 ? bytes : first;
        cr_assert(generation < 2 || bytes == first, "generation %d: %llu bytes, not %llu",
                  generation, (unsigned long long)bytes, (unsigned long long)first);
    }
}

Test(ring, a_torn_record_ends_its_chunk)
{
    call(0, GMT_REC_LAUNCH, 1000);
    *(uint32_t *)gmt_fixture_reserve(&fixture, 0, 1) = 0x1234;
    call(1, GMT_REC_LAUNCH, 1001);
    expect("ii");
    cr_expect_eq(content.corrupt, 1);
}

Test(ring, limits_that_are_read)
{
    static const struct {
        const char *text;
        uint64_t ms, mib; /* 0: refused */
    } cases[] = {{"30s,256M", 30000, 256},
                 {"256M,30s", 30000, 256},
                 {"500ms", 500, 256},
                 {"2m", 120000, 256},
                 {"1h,1G", 3600000, 1024},
                 {"1.5s,2048K", 1500, 2},
                 {"512M", 30000, 512},
                 {"", 0, 0},
                 {",", 0, 0},
                 {"30", 0, 0},
                 {"30s,", 0, 0},
                 {"30s,30s", 0, 0},
                 {"1M,2M", 0, 0},
                 {"99ms", 0, 0},
                 {"1023K", 0, 0},
                 {"nans", 0, 0},
                 {"-5s", 0, 0},
                 {"30sM", 0, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_ring_limits limits;
        int error = gmt_ring_limits_read(cases[i].text, &limits);
        cr_expect_eq(error, cases[i].ms != 0 ? 0 : -EINVAL, "%s", cases[i].text);
        if (error == 0) {
            cr_expect_eq(limits.ns, cases[i].ms * 1000000, "%s", cases[i].text);
            cr_expect_eq(limits.bytes, cases[i].mib << 20, "%s", cases[i].text);
        }
    }
}
