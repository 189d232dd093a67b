/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one device relieves no other: peaks are those of each device by itself. */
#include <criterion/criterion.h>

#include "tests/rules/fixture.h"

/* 1 GiB that is used in the first millisecond and freed at the end; another one that comes after 50 ms. */
#define TWO_BUFFERS \
    "DELETE FROM transfer; DELETE FROM allocation; DELETE FROM launch_argument;" \
    "INSERT INTO device (id, name) VALUES (1, 'Test GPU'); INSERT INTO context VALUES (2, 1, 2);" \
    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, stack_id, " \
    "begin_ns, " \
    "end_ns, free_api_id, free_begin_ns, free_end_ns) VALUES " \
    "(1, 'device', 1073741824, 1073741824, 1, 1, 4, 1, 100000, 200000, 5, 98000000, 98100000), " \
    "(2, 'device', 10737418240, 1073741824, 2, 1, 4, NULL, 50000000, 50100000, 5, 98200000, " \
    "98300000);" \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "capturing, direction, blocking, bytes, dst, src, dst_class, src_class, src_allocation_id) " \
    "VALUES " \
    "(1, 2, 1, 1, 1, 300000, 900000, 0, 0, 'd2h', 1, 1073741824, 4096, 1073741824, 'pageable', " \
    "'device', 1)," \
    "(2, 2, 1, 2, 1, 51000000, 52000000, 0, 0, 'd2h', 1, 1073741824, 4096, 10737418240, " \
    "'pageable', " \
    "'device', 2);" \
    "INSERT INTO launch_argument VALUES (1, 0, 0, 2, 0);"

static double saved_peak(const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM206_positive");
    gmt_fixture_sql(&fixture, TWO_BUFFERS);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM206");
    double saved = fixture.report.finding_count == 0
                       ? 0
                       : gmt_fixture_evidence(&fixture.report.findings[0], "saved_peak");
    gmt_fixture_free(&fixture);
    return saved;
}

Test(peaks, are_those_of_each_device)
{
    cr_expect_float_eq(saved_peak("SELECT 1"), 0, 1);
    /* Both on the second device. */
    cr_expect_float_eq(saved_peak("UPDATE allocation SET context_id = 2"), 1073741824.0, 1);
}
