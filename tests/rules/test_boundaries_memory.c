/* SPDX-License-Identifier: Apache-2.0 */
/* Where rules about memory and its contents begin and end to speak: the same trace on either side. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/rules/boundary.h"

#define MIB 1048576

/* ---- what memory holds ------------------------------------------------------------------------ */

static double repeated(struct gmt_fixture *fixture)
{
    gmt_fixture_analyze(fixture, "GM105");
    const struct gmt_report *report = &fixture->report;
    const struct gmt_finding *f = report->finding_count > 0 ? report->findings
                                  : report->note_count > 0  ? report->notes
                                                            : NULL;
    double copies = f != NULL ? gmt_fixture_evidence(f, "repeated_copies") : 0;

    gmt_fixture_free(fixture);
    return copies;
}

/* A buffer is filled in `pieces` parts, each with bytes of its own, and again with the same ones. */
static double repeated_of_pieces(int pieces)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(
        &fixture, "GM105",
        "DELETE FROM fingerprint; DELETE FROM transfer; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 2 * %d - 1) INSERT INTO transfer (id, api_id, thread_id, "
        "context_id, stream_id, begin_ns, end_ns, result, stack_id, capturing, direction, "
        "blocking, bytes, dst, src, dst_class, src_class, dst_allocation_id) SELECT i + 1, 1, 1, "
        "1, 1, 1000000 + i * 100000, 1050000 + i * 100000, 0, 1, 0, 'h2d', 1, 32768, 1048576 + i "
        "%% %d * 32768, 4096 + i %% %d * 32768, 'device', 'pinned', 7 FROM n;"
        "INSERT INTO fingerprint (transfer_id, hash, bytes_hashed, whole) SELECT id, "
        "printf('%%032x', dst), bytes, 1 FROM transfer",
        pieces, pieces, pieces);
    return repeated(&fixture);
}

/* So many parts are pieces of a pool: all of them are let go, as looking each up would take too long. */
Test(boundaries_memory, the_content_of_many_parts_of_a_buffer_is_let_go)
{
    cr_expect_float_eq(repeated_of_pieces(256), 256, 0);
    cr_expect_float_eq(repeated_of_pieces(257), 0, 0);
}

/*
 * Every other upload is asynchronous, in a stream that the program then waits for. If that wait does not
 * count, the upload may still run when another stream brings the next one.
 */
static double doubtful_after_waits_for(int stream)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM105",
                      "UPDATE transfer SET blocking = 0, stream_id = %d WHERE id %% 2 = 1;"
                      "INSERT INTO sync (id, begin_ns, end_ns, result, capturing, stream_id, kind) "
                      "SELECT 7000 + id, end_ns + 1000, end_ns + 2000, 0, 0, stream_id, 'stream' "
                      "FROM transfer WHERE blocking = 0",
                      stream);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM105");
    double doubtful = gmt_fixture_evidence(f, "doubtful_copies");

    gmt_fixture_free(&fixture);
    return doubtful;
}

/* Few programs have more streams. Of those beyond, only a wait for the whole device counts. */
Test(boundaries_memory, a_wait_counts_for_a_stream_that_is_tracked)
{
    cr_expect_float_eq(doubtful_after_waits_for(1023), 0, 0);
    cr_expect_gt(doubtful_after_waits_for(1024), 0);
}

static double repeated_at_offset(int64_t offset)
{
    struct gmt_fixture fixture;

    gmt_boundary_load(&fixture, "GM105", "UPDATE transfer SET dst = 1048576 + %" PRId64, offset);
    return repeated(&fixture);
}

/* No device has more than 1 PiB: only a damaged trace has copies to places beyond. */
Test(boundaries_memory, no_place_is_farther_into_an_allocation_than_memory_is_large)
{
    cr_expect_float_eq(repeated_at_offset(INT64_C(1) << 50), 19, 0);
    cr_expect_float_eq(repeated_at_offset((INT64_C(1) << 50) + 256), 0, 0);
}

/* ---- segments of allocators ------------------------------------------------------------------- */

/* One allocation, and a kernel that gets pointers into it, at uneven distances as an allocator gives out parts. */
static size_t segments_of(int64_t bytes, const char *pointers)
{
    struct gmt_fixture fixture;
    char sql[512];

    gmt_fixture_load(&fixture, "common_only");
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO allocation (id, kind, address, bytes, context_id, api_id, "
                   "stack_id, begin_ns, end_ns) VALUES (1, 'device', 1048576, %" PRId64
                   ", 1, 4, 1, "
                   "5, 10); INSERT INTO launch_argument VALUES %s",
                   bytes, pointers);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM204");
    cr_assert_eq(fixture.report.peak_holder_count, 1);
    size_t segments = fixture.report.peak_holders[0].segments;
    gmt_fixture_free(&fixture);
    return segments;
}

/* Caching allocators ask for at least 1 MiB at once; pointers into less are parts of one array. */
Test(boundaries_memory, small_allocations_are_no_segments_of_an_allocator)
{
    static const char four[] = "(1, 0, 0, 1, 512), (1, 1, 0, 1, 1280), (1, 2, 0, 1, 2816), "
                               "(1, 3, 0, 1, 5120)";

    cr_expect_eq(segments_of(MIB, four), 1);
    cr_expect_eq(segments_of(MIB - 512, four), 0);
}

/* PyTorch's segments are multiples of 2 MiB. In any other size two pointers may be a matrix and its second half. */
Test(boundaries_memory, two_pointers_are_enough_where_the_size_is_that_of_pytorch)
{
    static const char two[] = "(1, 0, 0, 1, 512), (1, 1, 0, 1, 1049088)";

    cr_expect_eq(segments_of(22 * MIB, two), 1);
    cr_expect_eq(segments_of(21 * MIB, two), 0);
}

/* ---- memory that is held ---------------------------------------------------------------------- */

/* One more block follows the lost ones, and is still in use. */
static void load_lost(struct gmt_fixture *fixture, int lost)
{
    gmt_boundary_load(fixture, "GM204",
                      "DELETE FROM transfer WHERE src_allocation_id > %d + 1; DELETE FROM memset "
                      "WHERE dst_allocation_id > %d + 1; DELETE FROM allocation WHERE id > %d + 1",
                      lost, lost, lost);
}

/* Two are set-up, which the end of the process frees. The third makes it a loop. */
Test(boundaries_memory, few_lost_blocks_of_a_line_are_no_loop)
{
    struct gmt_fixture fixture;

    load_lost(&fixture, 3);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM204"), 1);
    load_lost(&fixture, 2);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM204"), 1);
}

/* Two buffers of that size, one of them unused. Their calls take no time: only the bytes decide. */
static void load_unused(struct gmt_fixture *fixture, int64_t bytes)
{
    gmt_boundary_load(fixture, "GM205",
                      "UPDATE allocation SET bytes = %" PRId64 ", end_ns = begin_ns + 100, "
                      "free_end_ns = free_begin_ns + 100",
                      bytes);
}

/* Nobody lacks less than 1 MiB, though it is half of the peak here. */
Test(boundaries_memory, a_little_unused_memory_is_a_note)
{
    struct gmt_fixture fixture;

    load_unused(&fixture, MIB);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM205"), 1);
    load_unused(&fixture, MIB - 256);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM205"), 1);
}

static enum gmt_severity severity_of_unused(int64_t bytes)
{
    struct gmt_fixture fixture;

    load_unused(&fixture, bytes);
    enum gmt_severity severity = gmt_fixture_only(&fixture, "GM205")->severity;
    gmt_fixture_free(&fixture);
    return severity;
}

/* The device has 150 GB. A tenth of it decides what else fits. */
Test(boundaries_memory, unused_memory_that_decides_what_else_fits_is_of_medium_severity)
{
    cr_expect_eq(severity_of_unused(INT64_C(15100000000)), GMT_SEVERITY_MEDIUM);
    cr_expect_eq(severity_of_unused(INT64_C(14900000000)), GMT_SEVERITY_LOW);
}

static void load_pinned(struct gmt_fixture *fixture, int bytes)
{
    gmt_boundary_load(fixture, "GM208",
                      "UPDATE host_allocation SET bytes = %d WHERE id = 2;"
                      "UPDATE host_allocation SET end_ns = begin_ns + 100, free_end_ns = "
                      "free_begin_ns + 100",
                      bytes);
}

/* The machine does not miss a few page-locked MiB. */
Test(boundaries_memory, a_little_page_locked_memory_that_is_not_used_is_a_note)
{
    struct gmt_fixture fixture;

    load_pinned(&fixture, 16 * MIB);
    cr_expect_eq(gmt_boundary_findings(&fixture, "GM208"), 1);
    load_pinned(&fixture, 16 * MIB - 4096);
    cr_expect_eq(gmt_boundary_notes(&fixture, "GM208"), 1);
}
