/* SPDX-License-Identifier: Apache-2.0 */
/* GM118: what waits that nothing needs cost, and which waits the host does need. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/rules/fixture.h"

static const struct gmt_finding *only(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load_positive(fixture, "GM118", sql);
    return gmt_fixture_only(fixture, "GM118");
}

static void expect_none(const char *what, const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM118", sql);
    gmt_fixture_analyze(&fixture, "GM118");
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", what,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* Idle are 404 us from the kernel's end on, and 4 us before it; 2.5 us of that are the recording's. */
#define IDLE_NS (404e3 - 2500)

/* The kernels take longer than all that the host does: it would be ahead of the device. */
Test(needless_wait, costs_what_the_device_is_idle_for)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "SELECT 1");

    /* The device time of what follows the last one is not known. */
    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 19);
    cr_expect_str_eq(f->where.label, "app.cu:42");
    cr_expect_float_eq(gmt_fixture_evidence(f, "time_of_the_calls"), 19 * 1024e3, 1);
    cr_expect_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 19 * IDLE_NS, 1);
    cr_expect_float_eq(f->saving.best_ns, 19 * IDLE_NS, 1);
    cr_expect_float_eq(f->saving.high_ns, 19 * IDLE_NS, 1);
    cr_expect_eq(f->saving.low_ns, 0);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MODELLED);
    cr_expect_not_null(strstr(f->fix, "Keep it if a clock of the host measures"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

/* Where the host has more to do than the device the waits are short, and it gains no more than these. */
Test(needless_wait, saves_no_more_than_the_host_leaves)
{
    /* A read-back before the loop and one after it. */
#define BETWEEN_READ_BACKS \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) VALUES " \
    "(100, 2, 1, 1, 1, 9980000, 10000000, 0, 1, 0, 'd2h', 1, 4096, 4096, 1048576, 'pageable', " \
    "'device'), (101, 2, 1, 1, 1, 38000000, 38010000, 0, 1, 0, 'd2h', 1, 4096, 4096, 1048576, " \
    "'pageable', 'device');"
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, BETWEEN_READ_BACKS);

    /* The copy follows the last wait, which the host then does not gain by. */
    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 19);
    cr_expect_float_eq(f->saving.best_ns, 19 * IDLE_NS, 1e3);
    cr_expect_float_eq(f->saving.high_ns, 19 * IDLE_NS, 1e3);
    gmt_fixture_free(&fixture);
    /* Kernels of 100 us: the host needs 376 us of each step itself, and the waits were 124 us. */
    f = only(&fixture, BETWEEN_READ_BACKS
             "UPDATE launch SET device_end_ns = device_start_ns + 100000 WHERE seq > 100;"
             "UPDATE sync SET end_ns = begin_ns + 124000");
    cr_expect_float_eq(f->saving.best_ns, 19 * 124e3, 1e3);
    cr_expect_float_eq(f->saving.high_ns, 19 * (404e3 + 900e3 - 2500), 1e3);
    gmt_fixture_free(&fixture);
}

/* It may be a benchmark: no gate is to fail for it. */
Test(needless_wait, is_never_of_high_severity)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "UPDATE launch SET device_end_ns = device_start_ns + 700000 WHERE seq > 100;"
                  "UPDATE sync SET end_ns = begin_ns + 724000");

    cr_expect_gt(f->saving.share, 0.1);
    cr_expect_eq(f->severity, GMT_SEVERITY_MEDIUM);
    gmt_fixture_free(&fixture);
}

Test(needless_wait, of_a_loop_only)
{
    struct gmt_fixture fixture;

    expect_none("15 waits", "DELETE FROM sync WHERE id >= 911016");
    cr_expect_eq(
        gmt_fixture_evidence(only(&fixture, "DELETE FROM sync WHERE id >= 911017"), "waits"), 16);
    gmt_fixture_free(&fixture);
    expect_none("one wait at the end", "DELETE FROM sync WHERE id <> 911020");
    expect_none("nothing is launched after it",
                "DELETE FROM launch WHERE seq > 101; UPDATE sync SET begin_ns = 90000000 + id, "
                "end_ns = 90000100 + id");
}

#define COPY(direction, blocking, dst, src, at) \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) SELECT " \
    "seq, " \
    "2, 1, 1, 1, " at ", " at " + 500, 0, 1, 0, '" direction "', " blocking \
    ", 4096, 4096, 1048576, '" dst "', '" src "' FROM launch WHERE seq > 100;"
#define HOST_ARGUMENT(memory) \
    memory "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, " \
           "allocation_offset) VALUES (7, 0, 0, 700, 0); UPDATE launch SET argument_set_id = 7 " \
           "WHERE seq > 100;"
#define PINNED \
    "INSERT INTO host_allocation (id, kind, address, bytes, context_id, thread_id, api_id, " \
    "begin_ns, end_ns) VALUES (700, 'pinned', 4096, 65536, 1, 1, 4, 1000000, 1060000);"
#define MANAGED \
    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, begin_ns, " \
    "end_ns) VALUES (700, 'managed', 1048576, 65536, 1, 1, 4, 1000000, 1060000);"

Test(needless_wait, not_where_the_host_needs_it)
{
    expect_none("a read-back before it", COPY("d2h", "0", "pinned", "device", "end_ns + 200"));
    expect_none("a read-back after it",
                COPY("d2h", "1", "pageable", "device", "device_end_ns + 30000"));
    expect_none("a buffer that is filled again",
                COPY("h2d", "0", "device", "pinned", "begin_ns - 1000"));
    expect_none("memory that the kernel may write and the host read", HOST_ARGUMENT(PINNED));
    expect_none("managed memory", HOST_ARGUMENT(MANAGED));
    expect_none("arguments that are not known",
                PINNED "UPDATE launch SET arguments = 'unknown', argument_set_id = NULL");
    expect_none("it is for an event", "UPDATE sync SET kind = 'event'");
    expect_none("memory is released",
                "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
                "begin_ns, end_ns, free_begin_ns, free_end_ns, free_api_id) SELECT seq, 'device', "
                "seq * 1048576, 4096, 1, 1, 4, 1000000, 1060000, device_end_ns + 30000, "
                "device_end_ns + 40000, 5 FROM launch WHERE seq > 100");
    expect_none("a function of the host runs in the stream",
                "INSERT INTO api(id, name, runtime_name, family) VALUES (21, 'cuLaunchHostFunc', "
                "'cudaLaunchHostFunc', 'sync'); INSERT INTO api_call (id, api_id, thread_id, "
                "context_id, begin_ns, end_ns, result, capturing) SELECT id + 5000, 21, 1, 1, "
                "device_end_ns + 30000, device_end_ns + 31000, 0, 0 FROM launch WHERE seq > 100");
}

/* Memory of the host that no kernel gets changes nothing; nor do uploads whose call has done them. */
Test(needless_wait, whatever_else_the_program_has)
{
    struct gmt_fixture fixture;

    cr_expect_eq(gmt_fixture_evidence(only(&fixture, PINNED), "waits"), 19);
    gmt_fixture_free(&fixture);
    cr_expect_eq(gmt_fixture_evidence(
                     only(&fixture, COPY("d2d", "0", "device", "device", "end_ns + 200")), "waits"),
                 19);
    gmt_fixture_free(&fixture);
}
