/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps and regions of the program's allocators: what rules make of their memory, and whose bytes a report says they are. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "reports/model/heaps.h"
#include "tests/rules/fixture.h"

#define MIB 1048576.0

/* Of GM205_positive.sql: 512 MiB that nothing touches, from 2.4 to 91 ms, and 256 MiB in use, from 1.3 to 90 ms. */
#define UNUSED "2199023255552"
#define USED "1099511627776"
/* Times are ms, sizes and offsets MiB. */
#define AT(BASE, OFFSET) BASE " + " OFFSET " * 1048576"
#define HEAP(ID, USAGE, ADDRESS, SIZE, BEGIN, END) \
    "INSERT INTO heap (id, usage, address, bytes, begin_ns, end_ns) VALUES (" ID ", '" USAGE \
    "', " ADDRESS ", " SIZE " * 1048576, " BEGIN " * 1000000, " END " * 1000000);"
#define REGION(ID, HEAP_ID, ADDRESS, SIZE, BEGIN, END, STACK) \
    "INSERT INTO region (id, heap_id, made_id, address, bytes, begin_ns, end_ns, stack_id) " \
    "VALUES (" ID ", " HEAP_ID ", " ID ", " ADDRESS ", " SIZE " * 1048576, " BEGIN \
    " * 1000000, " END " * 1000000, " STACK ");"

/* Both tensors come through the allocator's two functions. */
#define STACKS \
    "INSERT INTO string VALUES (20, 'carve'), (21, 'alloc'), (22, 'layer'), (23, 'head'), (24, " \
    "'/src/alloc.cc')," \
    " (25, '/src/net.cc'), (26, 'weight');" \
    "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, runtime) " \
    "VALUES" \
    " (20, 20000, 1, 20000, 20, 24, 5, 0), (21, 20100, 1, 20100, 21, 24, 9, 0)," \
    " (22, 20200, 1, 20200, 22, 25, 20, 0), (23, 20300, 1, 20300, 23, 25, 30, 0);" \
    "INSERT INTO stack VALUES (20, 3), (21, 3);" \
    "INSERT INTO stack_frame VALUES (20, 0, 20), (20, 1, 21), (20, 2, 22), (21, 0, 20), (21, 1, " \
    "21), (21, 2, 23);"

static struct gmt_fixture fixture;
static bool loaded;

static void analyze(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM205_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM205");
    loaded = true;
}

static const struct gmt_heaps_device *report(const char *sql)
{
    analyze(sql);
    cr_assert_not_null(fixture.report.heaps, "%s", sql);
    cr_assert_eq(fixture.report.heaps->device_count, 1);
    const struct gmt_heaps_device *device = &fixture.report.heaps->devices[0];
    cr_expect_float_eq(device->region_bytes + device->slack_bytes + device->other_bytes,
                       device->total_bytes, 0.5);
    return device;
}

static void done(void)
{
    if (loaded) {
        gmt_fixture_free(&fixture);
    }
    loaded = false;
}

TestSuite(heaps, .fini = done);

static bool calls_it_unused(const char *sql)
{
    analyze(sql);
    bool found = fixture.report.finding_count == 1;
    done();
    return found;
}

Test(heaps, memory_of_an_allocator_is_not_called_unused)
{
    cr_expect(calls_it_unused(""));
    cr_expect_not(calls_it_unused(HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")));
    /* A heap that is a small part of it, and one that begins before it, as where memory is mapped to addresses: by a region. */
    cr_expect(calls_it_unused(HEAP("1", "sub_allocator", AT(UNUSED, "8"), "4", "3", "80")));
    cr_expect_not(calls_it_unused(HEAP("1", "sub_allocator", AT(UNUSED, "8"), "4", "3", "80")
                                      REGION("2", "1", AT(UNUSED, "8"), "2", "4", "80", "NULL")));
    cr_expect(calls_it_unused(HEAP("1", "sub_allocator", AT(UNUSED, "-8"), "900", "1", "80")));
    cr_expect_not(calls_it_unused(HEAP("1", "sub_allocator", AT(UNUSED, "-8"), "900", "1", "80")
                                      REGION("2", "1", AT(UNUSED, "8"), "2", "4", "80", "NULL")));
    /* Without a heap: one part may be a name for what lies there; two are handed out. */
    cr_expect(calls_it_unused(REGION("1", "NULL", UNUSED, "8", "3", "80", "NULL")));
    cr_expect(calls_it_unused(REGION("1", "NULL", UNUSED, "8", "3", "9", "NULL")
                                  REGION("2", "NULL", UNUSED, "8", "10", "80", "NULL")));
    cr_expect_not(calls_it_unused(REGION("1", "NULL", UNUSED, "8", "3", "80", "NULL") REGION(
        "2", "NULL", AT(UNUSED, "16"), "8", "10", "80", "NULL")));
    /* Parts of one thing; a name for all of it; other memory, and another time. */
    cr_expect(calls_it_unused(HEAP("1", "layout", UNUSED, "512", "3", "80")));
    cr_expect(calls_it_unused(REGION("1", "NULL", UNUSED, "512", "3", "80", "NULL")));
    cr_expect(calls_it_unused(HEAP("1", "sub_allocator", USED, "256", "3", "80")));
    cr_expect(calls_it_unused(HEAP("1", "sub_allocator", UNUSED, "512", "0", "1")));
    cr_expect(calls_it_unused(HEAP("1", "sub_allocator", UNUSED, "512", "92", "99")));
}

/* One address, given to one allocation after the other: each region lies in the one that lives then. */
Test(heaps, an_address_that_is_used_again_and_again)
{
    const struct gmt_heaps_device *d = report(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO allocation (id, kind, context_id, thread_id, address, bytes, begin_ns, "
        "end_ns, "
        "free_begin_ns, free_end_ns) SELECT 1000 + i, 'device', 1, 1, 3 << 40, 1 << 20, "
        "20000000 + 1000 * i, 20000000 + 1000 * i, 20000900 + 1000 * i, 20000900 + 1000 * i FROM "
        "n; "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO region (id, made_id, address, bytes, begin_ns, end_ns) SELECT i, i, 3 << 40, "
        "CASE i WHEN 15000 THEN 1 << 20 ELSE 4096 END, 20000100 + 1000 * i, 20000800 + 1000 * i "
        "FROM n;");
    cr_expect_float_eq(d->region_bytes, 1 * MIB, 0.5);
    cr_expect_float_eq(d->at_ns, 35000100, 0.5);
}

Test(heaps, parts_are_those_of_the_moment_with_most_in_regions)
{
    const struct gmt_heaps_device *d = report(
        HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "100", "4", "20", "NULL")
                REGION("3", "1", AT(UNUSED, "100"), "50", "10", "30", "NULL")
                    REGION("4", "1", AT(UNUSED, "200"), "120", "40", "50", "NULL"));
    cr_expect_float_eq(d->region_bytes, 150 * MIB, 0.5);
    cr_expect_float_eq(d->slack_bytes, 362 * MIB, 0.5);
    cr_expect_float_eq(d->other_bytes, 256 * MIB, 0.5);
    cr_expect_float_eq(d->at_ns, 10e6, 0.5);
    cr_expect_eq((int)d->regions, 2);
    cr_expect_eq((int)d->heaps, 1);
    cr_expect_eq((int)d->left_count, 0);
    cr_assert_eq(d->others.count, 1);
    cr_expect_float_eq(d->others.list[0].bytes, 256 * MIB, 0.5);
}

/* The one that was registered last counts, and bytes that several have count once. */
Test(heaps, what_lies_inside_counts)
{
    const struct gmt_heaps_device *d = report(
        HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "100", "4", "70", "NULL")
                HEAP("3", "sub_allocator", AT(UNUSED, "10"), "40", "5", "70")
                    REGION("4", "3", AT(UNUSED, "10"), "15", "6", "70", "NULL")
                        REGION("5", "1", AT(UNUSED, "90"), "20", "7", "70", "NULL"));
    /* 100, less the inner heap, and what that has handed out; 20, of which 10 lie in the first. */
    cr_expect_float_eq(d->region_bytes, (60 + 15 + 10) * MIB, 0.5);
    cr_expect_float_eq(d->slack_bytes, (512 - 85) * MIB, 0.5);
    cr_expect_eq((int)d->regions, 3);
    cr_expect_eq((int)d->heaps, 2);
}

Test(heaps, the_functions_of_the_allocator_are_no_place)
{
    const struct gmt_heaps_device *d = report(
        STACKS HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "8", "4", "70", "20")
                REGION("3", "1", AT(UNUSED, "8"), "8", "4", "70", "20")
                    REGION("4", "1", AT(UNUSED, "16"), "9", "4", "70", "21")
                        REGION("5", "1", AT(UNUSED, "32"), "1", "4", "70",
                               "NULL") "UPDATE region SET name_id = 26 WHERE id IN (2, 3)");
    cr_assert_eq(d->holders.count, 3);
    cr_expect_str_eq(d->holders.list[0].label, "net.cc:20");
    cr_expect_str_eq(d->holders.list[0].function, "layer");
    cr_expect_str_eq(d->holders.list[0].name, "weight");
    cr_expect_float_eq(d->holders.list[0].bytes, 16 * MIB, 0.5);
    cr_expect_eq((int)d->holders.list[0].count, 2);
    cr_expect_str_eq(d->holders.list[1].label, "net.cc:30");
    cr_expect_null(d->holders.list[1].name);
    cr_expect_str_eq(d->holders.list[2].label, "place not recorded");
}

/* Of one stack alone no more is known than that its innermost function registers. */
Test(heaps, the_place_of_one_stack)
{
    const struct gmt_heaps_device *d = report(
        STACKS HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "8", "4", "70", "20")
                REGION("3", "1", AT(UNUSED, "8"), "8", "4", "70",
                       "20") "UPDATE region SET name_id = 26 WHERE id = 2");
    cr_assert_eq(d->holders.count, 1);
    cr_expect_str_eq(d->holders.list[0].label, "alloc.cc:9");
    cr_expect_null(d->holders.list[0].name, "one of two has it");
}

/* The pool is freed at 91 ms, and nobody has said that its heap has ended; then other memory lies there. */
Test(heaps, they_end_with_the_allocation)
{
    const struct gmt_heaps_device *d = report(
        HEAP("1", "sub_allocator", UNUSED, "512", "3", "NULL")
            REGION("2", "1", UNUSED, "8", "4", "NULL",
                   "NULL") "INSERT INTO allocation (id, kind, address, bytes, context_id, "
                           "thread_id, api_id, begin_ns, end_ns)"
                           " VALUES (3, 'device', " UNUSED
                           ", 536870912, 1, 1, 4, 92000000, 92400000)");
    cr_expect_float_eq(d->region_bytes, 8 * MIB, 0.5);
    cr_expect_eq((int)d->left_count, 0);
    /* The new one is nobody's segment: it is unused. */
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 1, "%s",
                 gmt_fixture_found(&fixture.report));
}

Test(heaps, regions_that_are_there_to_the_end)
{
    const struct gmt_heaps_device *d = report(
        "UPDATE allocation SET free_begin_ns = NULL, free_end_ns = NULL;" HEAP(
            "1", "sub_allocator", UNUSED, "512", "3", "NULL")
            REGION("2", "1", UNUSED, "8", "4", "NULL", "NULL")
                REGION("3", "1", AT(UNUSED, "8"), "9", "4", "70", "NULL"));
    cr_expect_eq((int)d->left_count, 1);
    cr_expect_float_eq(d->left_bytes, 8 * MIB, 0.5);
}

/* Memory is mapped to a range of addresses piece by piece; what is not mapped takes no memory. */
Test(heaps, of_reserved_addresses_what_is_mapped_counts)
{
    const struct gmt_heaps_device *d = report(
        "UPDATE allocation SET kind = 'mapped' WHERE id = 2;"
        "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
        "begin_ns, end_ns)"
        " VALUES (3, 'mapped', " AT(UNUSED, "512") ", 1048576, 1, 1, 4, 5000000, 5100000);" HEAP(
            "1", "sub_allocator", UNUSED, "100000", "1", "95")
            REGION("2", "1", AT(UNUSED, "511"), "8", "6", "70", "NULL"));
    cr_expect_float_eq(d->region_bytes, 2 * MIB, 0.5, "%g", d->region_bytes);
    cr_expect_float_eq(d->slack_bytes, 511 * MIB, 0.5);
    cr_expect_eq((int)d->heaps, 1);
}

#define SECOND_DEVICE \
    "INSERT INTO device (id, name, uuid, compute_major, compute_minor) VALUES (1, 'Second', " \
    "'GPU-2', 9, 0);" \
    "INSERT INTO context VALUES (2, 1, 2); UPDATE allocation SET context_id = 2 WHERE id = 2;"

Test(heaps, each_device_has_its_own)
{
    const struct gmt_heaps_device *d = report(
        SECOND_DEVICE HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "100", "4", "20", "NULL"));
    cr_expect_eq(d->device, 1);
    cr_expect_float_eq(d->region_bytes, 100 * MIB, 0.5);
    cr_expect_float_eq(d->slack_bytes, 412 * MIB, 0.5);
    cr_expect_eq(d->other_bytes, 0, "the other device's");
    cr_assert_eq(d->named_count, 1);
    cr_expect_float_eq(d->named[0].peak_bytes, 100 * MIB, 0.5);
}

/* Two chunks of one pool, and a heap without a name; their peak lies before the device's. */
Test(heaps, of_one_name_are_one_row)
{
    const struct gmt_heaps_device *d = report(
        STACKS HEAP("1", "sub_allocator", UNUSED, "100", "3", "80")
            HEAP("2", "sub_allocator", AT(UNUSED, "100"), "60", "3", "80")
                HEAP("3", "sub_allocator", AT(UNUSED, "200"), "50", "3", "80")
                    REGION("4", "1", UNUSED, "40", "4", "8", "NULL")
                        REGION("5", "2", AT(UNUSED, "100"), "20", "5", "80", "NULL")
                            REGION("6", "3", AT(UNUSED, "200"), "48", "9", "80",
                                   "NULL") "UPDATE heap SET name_id = 26, domain_id = 22 "
                                           "WHERE id < 3");
    cr_expect_float_eq(d->at_ns, 9e6, 0.5);
    cr_assert_eq(d->named_count, 2);
    const struct gmt_heaps_named *pool = &d->named[0], *other = &d->named[1];
    cr_expect_str_eq(pool->name, "weight");
    cr_expect_str_eq(pool->domain, "layer");
    cr_expect_eq((int)pool->count, 2);
    cr_expect_float_eq(pool->held_bytes, 160 * MIB, 0.5);
    cr_expect_float_eq(pool->region_bytes, 20 * MIB, 0.5);
    cr_expect_float_eq(pool->peak_bytes, 60 * MIB, 0.5);
    cr_expect_float_eq(pool->peak_at_ns, 5e6, 0.5);
    cr_expect_null(other->name);
    cr_expect_null(other->domain);
    cr_expect_float_eq(other->held_bytes, 50 * MIB, 0.5);
    cr_expect_float_eq(other->region_bytes, 48 * MIB, 0.5);
    cr_expect_eq((int)d->rest_names, 0);
}

/* A pool of the same name takes its memory from another: 100 are handed out to it, 60 of them are handed out again. */
#define POOL_IN_POOL \
    HEAP("1", "sub_allocator", UNUSED, "300", "3", "80") \
    REGION("2", "1", UNUSED, "100", "4", "70", "NULL") \
    HEAP("3", "sub_allocator", UNUSED, "100", "5", "70") \
    REGION("4", "3", UNUSED, "40", "6", "20", "NULL") \
    REGION("5", "3", AT(UNUSED, "30"), "30", "7", "20", "NULL") \
    "UPDATE heap SET name_id = 26;"

/* A byte counts once, however many regions cover it. */
Test(heaps, regions_in_regions_count_once)
{
    const struct gmt_heaps_device *d = report(STACKS POOL_IN_POOL);
    cr_assert_eq(d->named_count, 1);
    cr_expect_float_eq(d->named[0].peak_bytes, 100 * MIB, 0.5);
    cr_expect_float_eq(d->named[0].peak_at_ns, 4e6, 0.5);
    done();

    /* 120 are handed out when nothing lies inside of them any more: that is the most. */
    d = report(STACKS POOL_IN_POOL REGION("6", "1", AT(UNUSED, "90"), "30", "30", "60", "NULL"));
    cr_expect_float_eq(d->named[0].peak_bytes, 120 * MIB, 0.5);
    cr_expect_float_eq(d->named[0].peak_at_ns, 30e6, 0.5);
}

/* 22 heaps of 64 KiB and more, 4 MiB apart, with a region of 4 KiB each. */
#define MANY_NAMES \
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 21) " \
    "INSERT INTO string SELECT 100 + i, 'pool ' || i FROM n;" \
    "INSERT INTO heap (id, usage, address, bytes, begin_ns, end_ns, name_id) SELECT id, " \
    "'sub_allocator', (" UNUSED ") + ((id - 100) << 22), (id - 99) << 16, 5000000, 70000000, id " \
    "FROM string WHERE id >= 100;" \
    "INSERT INTO region (id, heap_id, made_id, address, bytes, begin_ns, end_ns) SELECT 100 + " \
    "id, id, id, address, 4096, 6000000, 70000000 FROM heap;"

/* What they hold adds up to what lies in heaps, listed or not, and in each other. */
Test(heaps, of_many_names_the_largest_are_listed)
{
    const struct gmt_heaps_device *d = report(
        MANY_NAMES HEAP("1", "sub_allocator", UNUSED, "512", "3", "80")
            REGION("2", "1", UNUSED, "100", "4", "70", "NULL"));
    double held = d->rest_held_bytes, used = d->rest_region_bytes;

    cr_assert_eq(d->named_count, 20);
    cr_expect_null(d->named[0].name);
    cr_expect_str_eq(d->named[1].name, "pool 21");
    cr_expect_float_eq(d->named[1].held_bytes, 22 * 65536, 0.5);
    cr_expect_float_eq(d->named[1].region_bytes, 4096, 0.5);
    for (size_t i = 0; i < d->named_count; i++) {
        held += d->named[i].held_bytes;
        used += d->named[i].region_bytes;
    }
    cr_expect_eq((int)d->rest_names, 3);
    cr_expect_eq((int)d->rest_heaps, 3);
    cr_expect_float_eq(used, d->region_bytes, 0.5);
    cr_expect_float_eq(held, d->region_bytes + d->slack_bytes, 0.5);
}

Test(heaps, a_trace_of_an_earlier_version_has_none)
{
    gmt_fixture_load(&fixture, "fixtures/GM205_positive");
    gmt_fixture_make_earlier(&fixture, "DROP TABLE region; DROP TABLE heap");
    gmt_fixture_analyze(&fixture, "GM205");
    loaded = true;
    cr_expect_null(fixture.report.heaps);
    cr_expect_eq(fixture.report.finding_count, 1);
}

/* What no recorder writes. */
Test(heaps, numbers_that_cannot_be)
{
    analyze("INSERT INTO heap (id, usage, address, bytes, begin_ns, end_ns) VALUES"
            " (1, 'sub_allocator', -1, 9, 1, 2), (2, 'sub_allocator', 9223372036854775807, "
            "9223372036854775807, 1, 2),"
            " (3, 'sub_allocator', 1, 8796093022208, -9, 9223372036854775807), (4, 'other', 0, 0, "
            "NULL, NULL);"
            "INSERT INTO region (id, heap_id, made_id, address, bytes, begin_ns, end_ns) VALUES"
            " (5, 3, 99, 1, 8796093022208, 9, 1), (6, 77, 6, 9223372036854775807, 1, 1, NULL),"
            " (7, 3, 7, " UNUSED ", 8796093022208, 3000000, NULL), (8, 3, 8, " UNUSED
            ", 8796093022208, 3000000, NULL)");
    cr_assert_not_null(fixture.report.heaps);
    cr_expect_leq(fixture.report.heaps->devices[0].total_bytes, 768 * MIB + 0.5);
    cr_expect_float_eq(fixture.report.heaps->devices[0].region_bytes, 512 * MIB, 0.5);
}
