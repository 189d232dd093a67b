/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps and regions that allocators register, from records to rows, in whatever order they come. Links gmt_store. */
#include <criterion/criterion.h>

#include "libtrace/store/recording/recording.h"
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

TestSuite(ingest_regions, .init = setup, .fini = teardown, .timeout = 60);

static void heap(uint32_t chunk, enum gmt_heap_event event, uint64_t ticks, const char *name)
{
    const struct gmt_heap heap = {.head.ticks = ticks,
                                  .since_ticks = ticks,
                                  .address = 0x10000,
                                  .bytes = 4096,
                                  .id = 1,
                                  .stack = 3,
                                  .event = (uint8_t)event,
                                  .usage = GMT_HEAP_SUB_ALLOCATOR};
    gmt_fixture_side(&fixture, chunk, GMT_REC_HEAP, &heap, sizeof(heap), name, "allocator", NULL);
}

static void region(uint32_t chunk, uint32_t id, enum gmt_heap_event event, uint64_t ticks,
                   const char *name)
{
    const struct gmt_region region = {.head.ticks = ticks,
                                      .since_ticks = ticks,
                                      .address = 0x10000 + 256 * (uint64_t)id,
                                      .bytes = 256,
                                      .id = id,
                                      .made = 2,
                                      .heap = 1,
                                      .stack = 5,
                                      .event = (uint8_t)event};
    gmt_fixture_side(&fixture, chunk, GMT_REC_REGION, &region, sizeof(region), name, NULL);
}

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    gmt_fixture_expect_text(&fixture, "PRAGMA integrity_check", "ok");
}

Test(ingest_regions, a_region_that_ends_with_its_heap)
{
    heap(0, GMT_HEAP_BEGUN, 100, "pool");
    region(0, 2, GMT_HEAP_BEGUN, 200, "");
    heap(0, GMT_HEAP_ENDED, 900, "");
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT usage || domain || heap || ifnull(name, '-') || address || '+' || bytes "
        "FROM v_region",
        "sub_allocatorallocatorpool-66048+256");
    gmt_fixture_expect(&fixture, "SELECT lifetime_ns FROM v_region", 700);
    gmt_fixture_expect(&fixture, "SELECT end_ns IS NULL FROM region", 1);
    gmt_fixture_expect(&fixture, "SELECT end_ns - begin_ns FROM heap", 800);
    gmt_fixture_expect(&fixture, "SELECT stack_id FROM heap", 3);
    gmt_fixture_expect(&fixture, "SELECT stack_id FROM region", 5);
}

/* The end, the last name and what it became are read first: they came through the chunk of another thread. */
Test(ingest_regions, records_of_which_the_last_comes_first)
{
    region(0, 3, GMT_HEAP_BEGUN, 500, "");
    region(0, 2, GMT_HEAP_ENDED, 500, "");
    region(0, 2, GMT_HEAP_NAMED, 300, "weights");
    heap(1, GMT_HEAP_BEGUN, 100, "");
    region(1, 2, GMT_HEAP_BEGUN, 200, "");
    ingest();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM region", 2);
    gmt_fixture_expect(&fixture, "SELECT lifetime_ns FROM v_region WHERE id = 2", 300);
    gmt_fixture_expect(&fixture, "SELECT end_ns IS NULL FROM v_region WHERE id = 3", 1);
    gmt_fixture_expect_text(&fixture, "SELECT group_concat(name) FROM v_region", "weights,weights");
    gmt_fixture_expect(&fixture, "SELECT heap IS NULL FROM v_region", 1);
}

Test(ingest_regions, of_several_names_the_last_one)
{
    region(0, 2, GMT_HEAP_BEGUN, 200, "before");
    region(0, 2, GMT_HEAP_NAMED, 300, "after");
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT name FROM v_region", "after");
    /* Without a heap that is known it does not end. */
    gmt_fixture_expect(&fixture, "SELECT end_ns IS NULL FROM v_region", 1);
}

Test(ingest_regions, a_name_that_is_taken_away)
{
    region(0, 2, GMT_HEAP_BEGUN, 200, "before");
    region(0, 2, GMT_HEAP_NAMED, 300, "");
    ingest();
    gmt_fixture_expect(&fixture, "SELECT name IS NULL FROM v_region", 1);
}

/* A number that the schema has no word for. */
Test(ingest_regions, a_usage_that_is_not_known)
{
    struct gmt_heap heap = {
        .head.ticks = 10, .since_ticks = 10, .id = 1, .event = GMT_HEAP_BEGUN, .usage = 77};
    gmt_fixture_side(&fixture, 0, GMT_REC_HEAP, &heap, sizeof(heap), "", "", NULL);
    ingest();
    gmt_fixture_expect_text(&fixture, "SELECT usage FROM heap", "other");
}
