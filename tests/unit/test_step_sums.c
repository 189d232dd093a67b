/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over steps: what a recorder writes of records is what is derived of the rows of a whole trace. Links gmt_store. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/settings/spool_settings.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/steps/step_kinds.h"
#include "libtrace/store/steps/step_queue.h"
#include "libtrace/store/steps/step_rows.h"
#include "libtrace/store/steps/steps.h"
#include "libtrace/store/steps/steps_derive.h"
#include "tests/unit/spool_fixture.h"

enum { US = 1000, MS = 1000000, API_COPY = 1, API_LOAD, API_OTHER, STACKS = 30 };

static struct gmt_fixture fixture;
static uint64_t seed, now;
static uint32_t next_id, live[64], count;

TestSuite(step_sums, .timeout = 300);

static uint64_t draw(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

static void settings(uint32_t flags, const char *step)
{
    static struct gmt_spool_settings asked;
    int folder = gmt_spool_folder_open(fixture.spool);
    asked = (struct gmt_spool_settings){.flags = flags};
    (void)snprintf(asked.step, sizeof(asked.step), "%s", step);
    cr_assert_eq(gmt_spool_settings_write(folder, &asked), 0);
    close(folder);
}

static void describe(void)
{
    gmt_fixture_process(&fixture, 0, now);
    gmt_fixture_api(&fixture, 0, API_COPY, GMT_FAMILY_TRANSFER, "cuMemcpyHtoD_v2");
    gmt_fixture_api(&fixture, 0, API_LOAD, GMT_FAMILY_MODULE, "cuModuleLoadData");
    gmt_fixture_api(&fixture, 0, API_OTHER, GMT_FAMILY_OTHER, "cuCtxGetCurrent");
    gmt_fixture_context(&fixture, 0, 1, 0);
    gmt_fixture_context(&fixture, 0, 2, 1);
    for (uint32_t i = 1; i <= 9; i++) {
        char name[64];
        const struct gmt_kernel kernel = {.id = i};
        (void)snprintf(name, sizeof(name), i == 9 ? "ncclDevKernel_AllReduce_Sum_f32" : "kernel_%u",
                       i);
        gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), name, NULL);
    }
    for (uint32_t i = 1; i <= STACKS; i++) {
        const struct gmt_stack stack = {.id = i, .depth = 1};
        const uint64_t address = 0x1000 + i;
        gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), &address,
                              sizeof(address));
    }
}

/* A call that begins now and takes `ns`. */
static struct gmt_call call_of(uint32_t thread, uint64_t ns)
{
    struct gmt_call call = {.thread = thread,
                            .begin_ticks = now,
                            .end_ticks = now + ns,
                            .stack = 1 + (uint32_t)draw(STACKS),
                            .api = API_OTHER,
                            .context = (uint16_t)(1 + draw(2)),
                            .stream = 0x100 + draw(3)};
    call.result = draw(50) == 0;
    call.flags = draw(50) == 0 ? GMT_CALL_CAPTURING : 0;
    return call;
}

static void put_op(unsigned kind, unsigned copy_kind, uint64_t bytes, const char *name)
{
    struct gmt_device_op op = {.start_ns = now + 5 * US + draw(20 * US),
                               .bytes = bytes,
                               .device = (uint32_t)draw(2),
                               .cupti_stream = 7 + (uint32_t)draw(3),
                               .correlation = ++next_id,
                               .kind = (uint8_t)kind,
                               .copy_kind = (uint8_t)copy_kind};
    op.end_ns = op.start_ns + 1 * US + draw(100 * US);
    gmt_fixture_side(&fixture, 2, GMT_REC_DEVICE_OP, &op, sizeof(op), name, NULL);
}

static void put_launch(uint32_t thread, uint32_t kernel)
{
    char name[64];
    struct gmt_call call = call_of(thread, 2 * US + draw(9 * US));
    const struct gmt_launch launch = {.kernel = kernel,
                                      .kind = GMT_LAUNCH_KERNEL,
                                      .grid = {1 + (uint32_t)draw(3), 1, 1},
                                      .block = {32, 1, 1},
                                      .launch_seq = ++next_id};
    (void)snprintf(name, sizeof(name),
                   kernel == 9 ? "ncclDevKernel_AllReduce_Sum_f32" : "kernel_%u", kernel);
    gmt_fixture_call(&fixture, thread - 1, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
    if (call.result == 0 && call.flags == 0) {
        put_op(GMT_OP_KERNEL, 0, 0, name);
    }
}

static void put_copy(uint32_t thread)
{
    struct gmt_call call = call_of(thread, 3 * US + draw(30 * US));
    struct gmt_transfer transfer = {.direction = (uint8_t)draw(GMT_DIR_COUNT),
                                    .batch = draw(20) == 0};
    call.bytes = 1 + draw(100000);
    call.flags |= draw(2) != 0 ? GMT_CALL_BLOCKING : 0;
    gmt_fixture_call(&fixture, thread - 1, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
    put_op(GMT_OP_COPY, 1 + (unsigned)draw(10), call.bytes, NULL);
}

static void put_memory(uint32_t thread)
{
    struct gmt_call call = call_of(thread, 10 * US);
    bool is_free = count == 64 || (count != 0 && draw(2) == 0);
    count = is_free ? count - 1 : count;
    struct gmt_alloc alloc = {.id = is_free ? live[count] : ++next_id,
                              .kind = draw(3) == 0 ? GMT_ALLOC_HOST : GMT_ALLOC_DEVICE};
    call.result = 0;
    call.bytes = 1 + draw(1000000);
    alloc.kind = is_free ? 0 : alloc.kind;
    gmt_fixture_call(&fixture, thread - 1, is_free ? GMT_REC_FREE : GMT_REC_ALLOC, &call, &alloc,
                     sizeof(alloc));
    if (!is_free) {
        live[count++] = alloc.id;
    }
}

static void put_other(uint32_t thread)
{
    struct gmt_call call = call_of(thread, 1 * US + draw(50 * US));
    const struct gmt_memset set = {.dst_class = GMT_MEM_DEVICE};
    switch (draw(3)) {
    case 0:
        call.detail = (uint8_t)(GMT_SYNC_STREAM + draw(4));
        gmt_fixture_call(&fixture, thread - 1, GMT_REC_SYNC, &call, NULL, 0);
        break;
    case 1:
        call.bytes = 512;
        gmt_fixture_call(&fixture, thread - 1, GMT_REC_MEMSET, &call, &set, sizeof(set));
        put_op(GMT_OP_MEMSET, 0, 512, NULL);
        break;
    default:
        call.api = draw(4) == 0 ? API_LOAD : API_OTHER;
        gmt_fixture_call(&fixture, thread - 1, GMT_REC_CALL, &call, NULL, 0);
    }
}

/* payload: is in the first record, or where `later` in the last. */
static void put_said_range(uint32_t thread, uint64_t begin_ns, const char *name, const char *domain,
                           bool in_two, const char *payload, bool later)
{
    struct gmt_user_range range = {
        .begin_ticks = begin_ns, .id = ++next_id, .thread = thread, .kind = GMT_RANGE_PUSH};
    if (in_two) {
        gmt_fixture_side(&fixture, thread - 1, GMT_REC_RANGE, &range, sizeof(range), name, domain,
                         later ? "" : payload, NULL);
    }
    range.end_ticks = now;
    gmt_fixture_side(&fixture, thread - 1, GMT_REC_RANGE, &range, sizeof(range), in_two ? "" : name,
                     in_two ? "" : domain, in_two && !later ? "" : payload, NULL);
}

static void put_range(uint32_t thread, uint64_t begin_ns, const char *name, const char *domain,
                      bool in_two)
{
    put_said_range(thread, begin_ns, name, domain, in_two, "", false);
}

/* The i-th range of NCCL in a step: one that makes a communicator, 2 groups, and 7 operations of all ranks among 9. */
static void put_nccl(unsigned i)
{
    static const char *const names[] = {"ncclAllReduce", "ncclAllReduce", "ncclGroupStart",
                                        "ncclAllGather", "ncclSend",      "ncclGroupEnd",
                                        "ncclBroadcast"};
    const char *name = i == 0 ? "ncclCommInitRank" : names[i % 7];
    const char *payload = i == 0                               ? "fedcba9876543210,,8,3"
                          : strncmp(name, "ncclGroup", 9) == 0 ? ""
                                                               : "fedcba9876543210,4000,,";
    put_said_range(1, now - 5 * US, name, "NCCL", i % 2 == 0, payload, i % 4 == 0);
}

/* Two threads; the first has ranges, some of which the other interrupts with its own. */
static void put_program(unsigned steps, bool has_ranges, unsigned calls, uint64_t rest_ns)
{
    seed = 4711;
    now = 5 * MS;
    next_id = count = 0;
    for (uint32_t i = 0; i < 3; i++) {
        gmt_fixture_chunk(&fixture, i, (size_t)steps * calls * 640 + (1 << 20));
    }
    describe();
    for (unsigned step = 0; step < steps; step++) {
        uint64_t begin_ns = now;
        for (unsigned i = 0; i < calls; i++) {
            uint32_t thread = 1 + (i % 4 == 3);
            now += 60 * US + draw(20 * US);
            switch (i == 0 ? 0 : draw(4)) {
            case 0: put_launch(thread, i == 0 ? 8 : 1 + (uint32_t)draw(7)); break;
            case 1: put_copy(thread); break;
            case 2: put_memory(thread); break;
            default: put_other(thread); break;
            }
        }
        for (unsigned i = 0; i < 14 && step % 5 == 0; i++) {
            now += 50 * US;
            put_launch(1, 9);
            now += 20 * US;
            put_nccl(i);
        }
        now += 100 * US + rest_ns;
        if (has_ranges) {
            put_range(1, begin_ns, step % 7 == 6 ? "validate" : "train", "", step % 2 == 0);
            put_range(2, begin_ns + US, "load", "", false);
        }
        now += step % 50 == 49 ? UINT64_C(11000) * MS
                               : 0; /* a pause: a slice, and one in which nothing happens */
    }
}

/* Each table as text, with names in place of their numbers. */
static const char *const tables[] = {
    "SELECT s.id, number, steps, source, n.text, begin_ns, end_ns, range_ns, longest_ns FROM step "
    "s "
    "LEFT JOIN string n ON n.id = s.name_id ORDER BY 1",
    "SELECT * FROM step_call ORDER BY 1, 2, 3",
    "SELECT * FROM step_work ORDER BY 1, 2, 3",
    "SELECT step_id, n.text AS t, launches, operations, device_ns, longest_ns FROM step_kernel "
    "LEFT JOIN "
    "string n ON n.id = name_id ORDER BY 1, 2",
    "SELECT step_id, position, device_id, n.text, start_ns, device_ns FROM step_slowest LEFT JOIN "
    "string n "
    "ON n.id = name_id ORDER BY 1, 2",
    "SELECT * FROM step_time ORDER BY 1, 2, 3",
    "SELECT * FROM step_memory ORDER BY 1, 2",
    /* Sums of all calls keep more of them: those that a recorder keeps, by the rule of gmtrace.db(5), are the same. */
    "SELECT step_id, position, source, n.text, device_id, stream, begin_ns, end_ns, communicator, "
    "number, ranks, bytes, grouped FROM (SELECT *, count(*) OVER (PARTITION BY step_id, source "
    "ORDER BY coalesce(number, position) & -coalesce(number, position) DESC RANGE UNBOUNDED "
    "PRECEDING) AS kept FROM step_collective) LEFT JOIN string n ON n.id = name_id WHERE kept <= "
    "32 ORDER BY 1, 3, 2",
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* Of one table; malloc'ed. */
static char *text_of(sqlite3 *db, const char *sql, size_t *rows)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    sqlite3_stmt *row;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    for (*rows = 0; sqlite3_step(row) == SQLITE_ROW; ++*rows) {
        for (int i = 0; i < sqlite3_column_count(row); i++) {
            const unsigned char *value = sqlite3_column_text(row, i);
            (void)fprintf(out, "%s|", value != NULL ? (const char *)value : "-");
        }
        (void)fputc('\n', out);
    }
    sqlite3_finalize(row);
    (void)fclose(out);
    return text;
}

/* Record the program of `put` twice, and keep the trace under `name`. */
static sqlite3 *record(uint32_t flags, const char *step, unsigned steps, bool has_ranges,
                       unsigned calls, uint64_t rest_ns)
{
    sqlite3 *db;
    gmt_fixture_make(&fixture);
    put_program(steps, has_ranges, calls, rest_ns);
    settings(flags, step);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_assert_eq(sqlite3_open(fixture.output, &db), SQLITE_OK);
    return db;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return value;
}

/* The first line that differs. */
static void expect_equal(const char *sums, const char *derived, const char *sql)
{
    size_t at = 0;
    while (sums[at] != '\0' && sums[at] == derived[at]) {
        at++;
    }
    if (sums[at] != derived[at]) {
        while (at > 0 && sums[at - 1] != '\n') {
            at--;
        }
        cr_assert_fail("%s\nrecorded: %.*s\nderived:  %.*s", sql, (int)strcspn(sums + at, "\n"),
                       sums + at, (int)strcspn(derived + at, "\n"), derived + at);
    }
}

static void compare(const char *step, unsigned steps, bool has_ranges, unsigned calls,
                    uint64_t rest_ns)
{
    char *sums[TABLES], *derived;
    size_t rows[TABLES], derived_rows;
    sqlite3 *db = record(GMT_SETTINGS_AGGREGATES, step, steps, has_ranges, calls, rest_ns);
    cr_expect(gmt_steps_only(db));
    cr_expect_eq(
        number(db, "SELECT count(*) FROM launch") + number(db, "SELECT count(*) FROM device_op") +
            number(db, "SELECT count(*) FROM range") + number(db, "SELECT count(*) FROM api_call"),
        0);
    cr_expect_eq(number(db, "SELECT count(*) FROM loss"), 0);
    for (size_t i = 0; i < TABLES; i++) {
        sums[i] = text_of(db, tables[i], &rows[i]);
        cr_expect_gt(rows[i], 0, "%s", tables[i]);
    }
    sqlite3_close(db);
    gmt_fixture_remove(&fixture);

    db = record(0, "", steps, has_ranges, calls, rest_ns);
    cr_expect_not(gmt_steps_only(db));
    cr_expect_eq(number(db, "SELECT count(*) FROM step"), 0);
    cr_assert_eq(gmt_steps_derive(db, step), 0);
    for (size_t i = 0; i < TABLES; i++) {
        derived = text_of(db, tables[i], &derived_rows);
        expect_equal(sums[i], derived, tables[i]);
        cr_expect_eq(rows[i], derived_rows);
        free(derived);
        free(sums[i]);
    }
    /* What was divided is whole: the calls of all steps, and the copied bytes, are those of the rows. */
    cr_expect_eq(
        number(db, "SELECT sum(calls) FROM step_call WHERE kind IN ('kernel', 'collective')"),
        number(db, "SELECT count(*) FROM launch WHERE result = 0 AND capturing = 0"));
    cr_expect_eq(number(db, "SELECT sum(bytes) FROM step_call WHERE kind LIKE 'copy%'"),
                 number(db, "SELECT sum(bytes) FROM transfer WHERE result = 0 AND capturing = 0"));
    cr_expect_eq(number(db, "SELECT sum(device_ns) FROM step_work"),
                 number(db, "SELECT sum(end_ns - start_ns) FROM device_op"));
    cr_expect_eq(
        number(db, "SELECT live_bytes FROM step_memory WHERE device_id = 1 ORDER BY step_id DESC"),
        number(db,
               "SELECT sum(bytes) FROM allocation WHERE context_id = 2 AND free_end_ns IS NULL"));
    /* Of the 9 operations of each of these steps the third and the eighth have no number. */
    cr_expect_eq(number(db, "SELECT count(*) FROM step_collective WHERE source = 'range' AND "
                            "coalesce(number, 0) <> CASE (position - 1) % 9 WHEN 2 THEN 0 WHEN 7 "
                            "THEN 0 ELSE 7 * ((position - 1) / 9) + substr('120345607', (position "
                            "- 1) % 9 + 1, 1) END"),
                 0);
    cr_expect_eq(number(db, "SELECT count(*) FROM step_collective c JOIN string n ON n.id = "
                            "c.name_id WHERE source = 'range' AND (communicator IS NULL OR bytes "
                            "<> 16384 OR ranks <> 8 OR (grouped IS NULL) = (n.text IN "
                            "('ncclAllGather', 'ncclSend')) OR (number IS NULL) <> (n.text = "
                            "'ncclSend'))"),
                 0);
    cr_expect_eq(
        number(db, "SELECT count(*) FROM step s JOIN step n ON n.id = s.id + 1 WHERE n.begin_ns < "
                   "s.end_ns"),
        0);
    sqlite3_close(db);
    gmt_fixture_remove(&fixture);
}

Test(step_sums, ranges)
{
    compare("", 400, true, 60, 8 * MS);
}

Test(step_sums, a_range_that_is_named)
{
    compare("train", 200, true, 40, 8 * MS);
}

Test(step_sums, launches_that_form_a_pattern)
{
    compare("", 600, false, 20, 10 * MS);
}

static int no_name(void *context, const char *text, int64_t *id)
{
    (void)context;
    (void)text;
    *id = 1;
    return 0;
}

/* More at one moment than the queue holds: it is summed up all the same, at once, and in bounded memory. */
Test(step_sums, calls_that_all_end_at_once)
{
    enum { CALLS = 3 * GMT_STEP_EVENTS };
    const struct gmt_step_sink sink = {.string = no_name};
    struct gmt_step_writer *writer;
    struct gmt_steps *steps = gmt_steps_open("", GMT_STEP_COLLECTIVES, 1);
    sqlite3 *db;
    cr_assert_eq(gmt_own_schema(&db), 0);
    cr_assert_eq(gmt_step_writer_open(db, "main", 0, &sink, &writer), 0);
    for (unsigned i = 0; i < CALLS; i++) {
        const struct gmt_step_event event = {.type = GMT_STEP_EVENT_CALL,
                                             .kind = GMT_STEP_COPY_H2D,
                                             .flags = GMT_STEP_COUNTS,
                                             .begin_ns = 1000,
                                             .end_ns = 2000,
                                             .bytes = 1,
                                             .stack = 1};
        cr_assert_eq(gmt_steps_add(steps, &event, writer), 0);
    }
    cr_assert_eq(gmt_steps_finish(steps, 0, writer), 0);
    cr_expect_eq(number(db, "SELECT sum(bytes) FROM step_call"), CALLS);
    cr_expect_eq(number(db, "SELECT count(*) FROM step_call"), 1);
    gmt_step_writer_close(writer);
    gmt_steps_close(steps);
    sqlite3_close(db);
}

/* Short steps share rows, which begin and end where steps do. */
Test(step_sums, short_steps)
{
    compare("", 2000, true, 4, 0);
}

/* More steps than there is room for: the older ones share rows, and nothing is lost. */
Test(step_sums, many_steps)
{
    enum { STEPS = 12000 };
    sqlite3 *db = record(GMT_SETTINGS_AGGREGATES, "", STEPS, true, 2, 10 * MS);
    cr_expect_leq(number(db, "SELECT count(*) FROM step"), GMT_STEP_ROWS);
    cr_expect_gt(number(db, "SELECT max(steps) FROM step"), 3);
    cr_expect_eq(number(db, "SELECT max(number + steps - 1) FROM step"),
                 number(db, "SELECT sum(steps) FROM step"));
    cr_expect_eq(number(db, "SELECT steps FROM step ORDER BY id DESC LIMIT 1"), 1);
    cr_expect_eq(
        number(db,
               "SELECT count(*) FROM (SELECT 1 FROM step_call WHERE stack_id IS NOT NULL GROUP BY "
               "step_id HAVING count(*) > 8)"),
        0);
    cr_expect_eq(
        number(db, "SELECT count(*) FROM step_call WHERE step_id NOT IN (SELECT id FROM step)"), 0);
    char *sums[TABLES];
    size_t rows;
    for (size_t i = 0; i < TABLES; i++) {
        sums[i] = text_of(db, tables[i], &rows);
    }
    sqlite3_close(db);
    gmt_fixture_remove(&fixture);
    db = record(0, "", STEPS, true, 2, 10 * MS);
    cr_assert_eq(gmt_steps_derive(db, ""), 0);
    for (size_t i = 0; i < TABLES; i++) {
        char *derived = text_of(db, tables[i], &rows);
        if (i != 3 && i != 4) { /* ties of kernels are decided by the number of their name */
            expect_equal(sums[i], derived, tables[i]);
        }
        free(derived);
        free(sums[i]);
    }
    cr_expect_eq(
        number(db, "SELECT sum(calls) FROM step_call WHERE kind IN ('kernel', 'collective')"),
        number(db, "SELECT count(*) FROM launch WHERE result = 0 AND capturing = 0"));
    cr_expect_eq(
        number(db, "SELECT sum(ns) FROM step_time WHERE cause = 'busy' AND device_id = 0") > 0, 1);
    sqlite3_close(db);
    gmt_fixture_remove(&fixture);
}
