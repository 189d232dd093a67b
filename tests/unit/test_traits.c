/* SPDX-License-Identifier: Apache-2.0 */
/* Each function has the traits that its documentation gives it; traces hold them. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/entry_points.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/traits.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static const struct {
    const char *name;
    enum gmt_call_family family;
    uint32_t traits;
} rows[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) {#symbol, GMT_FAMILY_##family, traits},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint32_t traits_of(const char *name)
{
    return gmt_traits_of(name, strlen(name));
}

/* The table made from cuda.h says it, too: IPC, shareable handles, pools, external memory, graphics, multicast. */
Test(traits, say_what_shares_memory)
{
    for (size_t i = 0; i < ROWS; i++) {
        cr_expect_eq((rows[i].traits & GMT_TRAIT_SHARES_MEMORY) != 0,
                     gmt_entry_class(rows[i].name) == GMT_ENTRY_SHARE, "%s", rows[i].name);
    }
}

/* One version or variant of a function means what the others mean: "cuMemFree", "cuMemFree_v2_ptsz". */
static size_t base_length(const char *name)
{
    size_t length = strlen(name);
    static const char *const variants[] = {"_ptsz", "_ptds"};
    for (size_t i = 0; i < 2; i++) {
        length -= length > 5 && strncmp(name + length - 5, variants[i], 5) == 0 ? 5 : 0;
    }
    return length > 3 && strncmp(name + length - 3, "_v", 2) == 0 ? length - 3 : length;
}

Test(traits, are_those_of_all_versions)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < i; k++) {
            size_t length = base_length(rows[i].name);
            cr_expect(length != base_length(rows[k].name) ||
                          strncmp(rows[i].name, rows[k].name, length) != 0 ||
                          rows[i].traits == rows[k].traits,
                      "%s and %s", rows[i].name, rows[k].name);
        }
    }
}

/* Every function that has the trait, without version and variant; nothing else may have it. */
static const struct {
    uint32_t trait;
    const char *functions[12];
} documented[] = {
    {GMT_TRAIT_FREES_HOST, {"cuMemFreeHost", "cuMemHostUnregister"}},
    {GMT_TRAIT_FREES_DEVICE, {"cuMemFree", "cuMemFreeAsync"}},
    {GMT_TRAIT_FREES_ADDRESSES, {"cuMemAddressFree"}},
    {GMT_TRAIT_LOCKS_HOST, {"cuMemAllocHost", "cuMemHostAlloc", "cuMemHostRegister"}},
    {GMT_TRAIT_FROM_POOL, {"cuMemAllocFromPoolAsync"}},
    {GMT_TRAIT_BATCH,
     {"cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync", "cuMemDiscardAndPrefetchBatchAsync",
      "cuMemBatchDecompressAsync", "cuMemcpyBatchAsync", "cuMemcpy3DBatchAsync",
      "cuStreamBatchMemOp"}},
    {GMT_TRAIT_HOST_WAITS, {"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"}},
    {GMT_TRAIT_HOST_WORK,
     {"cuLaunchHostFunc", "cuStreamAddCallback", "cuStreamWaitValue32", "cuStreamWaitValue64",
      "cuStreamBatchMemOp"}},
    {GMT_TRAIT_WRITES_VALUE,
     {"cuStreamWriteValue32", "cuStreamWriteValue64", "cuStreamBatchMemOp"}},
    {GMT_TRAIT_BEGINS_CAPTURE, {"cuStreamBeginCapture", "cuStreamBeginCaptureToGraph"}},
    {GMT_TRAIT_DESTROYS_STREAM, {"cuStreamDestroy"}},
    {GMT_TRAIT_STARTS_DRIVER, {"cuInit"}},
};

Test(traits, are_on_the_functions_that_are_documented_so)
{
    for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
        size_t found = 0, wanted = 0;
        for (const char *const *name = documented[i].functions; *name != NULL; name++) {
            wanted++;
        }
        for (size_t k = 0; k < ROWS; k++) {
            size_t length = base_length(rows[k].name), at = 0;
            while (at < wanted &&
                   (strlen(documented[i].functions[at]) != length ||
                    strncmp(documented[i].functions[at], rows[k].name, length) != 0)) {
                at++;
            }
            cr_expect_eq(at < wanted, (rows[k].traits & documented[i].trait) != 0, "%s, 0x%x",
                         rows[k].name, documented[i].trait);
            found |= at < wanted ? (size_t)1 << at : 0;
        }
        cr_expect_eq(found, ((size_t)1 << wanted) - 1, "0x%x: no row of one", documented[i].trait);
    }
}

Test(traits, fit_into_their_bits)
{
    for (size_t i = 0; i < ROWS; i++) {
        cr_expect_eq(rows[i].traits >> GMT_TRAIT_BITS, 0, "%s", rows[i].name);
        cr_expect_eq(traits_of(rows[i].name), rows[i].traits);
    }
    cr_expect_eq(traits_of("cuMemFreeHos"), 0);
    cr_expect_eq(traits_of(""), 0);
}

static struct gmt_fixture fixture;

/* A trace with all functions. */
static void record(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 20);
    gmt_fixture_process(&fixture, 0, 1000);
    for (size_t i = 0; i < ROWS; i++) {
        gmt_fixture_api(&fixture, 0, (uint16_t)(i + 1), rows[i].family, rows[i].name);
    }
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
}

static void remove_it(void)
{
    gmt_fixture_remove(&fixture);
}

static void change(const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(fixture.output, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void expect_all(sqlite3 *db)
{
    int64_t value;
    for (size_t i = 0; i < ROWS; i++) {
        char sql[128];
        (void)snprintf(sql, sizeof(sql), "SELECT traits FROM api WHERE name = '%s'", rows[i].name);
        cr_assert_eq(gmt_database_integer(db, sql, -1, &value), 0);
        cr_expect_eq(value, rows[i].traits, "%s", rows[i].name);
    }
    cr_assert_eq(
        gmt_database_integer(
            db, "SELECT count(*) FROM api WHERE " GMT_SQL_HAS("traits", GMT_TRAIT_BEGINS_CAPTURE),
            -1, &value),
        0);
    cr_expect_eq(value, 6);
}

static void expect_all_when_read(void)
{
    sqlite3 *db;
    char message[256];
    cr_assert_eq(gmt_trace_open(fixture.output, 0, &db, message, sizeof(message)), 0, "%s",
                 message);
    expect_all(db);
    sqlite3_close(db);
}

/* Views would hold on to the column. */
static const char without[] = "DROP VIEW IF EXISTS v_transfer; DROP VIEW IF EXISTS v_launch; "
                              "DROP VIEW IF EXISTS v_memory; ALTER TABLE api DROP COLUMN traits; "
                              "PRAGMA user_version = 8";

TestSuite(traits_in_traces, .init = record, .fini = remove_it, .timeout = 60);

Test(traits_in_traces, are_those_of_the_table)
{
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM api WHERE traits IS NULL"), 0);
    expect_all_when_read();
}

Test(traits_in_traces, are_read_from_names_where_the_column_is_missing)
{
    change(without);
    expect_all_when_read();
}

Test(traits_in_traces, are_read_from_names_where_they_are_not_known)
{
    change("UPDATE api SET traits = NULL WHERE id > 20");
    expect_all_when_read();
}

Test(traits_in_traces, are_made_when_an_older_trace_is_brought_up)
{
    sqlite3 *db;
    change(without);
    cr_assert_eq(gmt_database_open(fixture.output, &db), 0);
    cr_assert_eq(gmt_database_upgrade(db), 0, "%s", sqlite3_errmsg(db));
    expect_all(db);
    gmt_database_close(db);
    expect_all_when_read();
}
