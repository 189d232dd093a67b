/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of memory that processes share, from records to rows of memory_handle. Links gmt_store. */
#include <criterion/criterion.h>

#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_api(&fixture, 0, 1, GMT_FAMILY_ALLOC, "cuIpcOpenMemHandle_v2");
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(ingest_handles, .init = setup, .fini = teardown, .timeout = 60);

static void export(uint64_t hash, uint32_t alloc, uint64_t bytes)
{
    const struct gmt_export exported = {
        .head.ticks = 700, .hash = hash, .address = 0x10000, .bytes = bytes, .alloc = alloc};
    gmt_fixture_side(&fixture, 0, GMT_REC_EXPORT, &exported, sizeof(exported), NULL);
}

static void allocate(uint32_t id, uint64_t hash, int16_t result)
{
    const struct gmt_call call = {
        .api = 1, .begin_ticks = 400, .end_ticks = 500, .bytes = 4096, .result = result};
    const struct gmt_alloc alloc = {.address = UINT64_C(0xffff000000000000),
                                    .id = id,
                                    .kind = GMT_ALLOC_IPC,
                                    .handle_hash = hash};
    gmt_fixture_call(&fixture, 0, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
}

static void ingest(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    gmt_fixture_expect_text(&fixture, "PRAGMA integrity_check", "ok");
}

/* Hash, address: 64 bits that are no number. */
Test(ingest_handles, of_exported_memory)
{
    export(UINT64_MAX, 3, 4096);
    export(9, 0, 0);
    ingest();
    gmt_fixture_expect_text(&fixture,
                            "SELECT group_concat(kind || ' ' || hash || ' ' || "
                            "ifnull(allocation_id, '-') || ' ' || address || ' ' || ifnull(bytes, "
                            "'-') || ' ' || since_ns, ', ') FROM memory_handle",
                            "exported -1 3 65536 4096 700, exported 9 - 65536 - 700");
}

Test(ingest_handles, of_memory_that_was_opened)
{
    allocate(5, 77, 0);
    allocate(6, 0, 0);    /* of a spool before version 18, or not memory of another process */
    allocate(0, 78, 201); /* it failed */
    ingest();
    gmt_fixture_expect_text(
        &fixture,
        "SELECT group_concat(h.kind || ' ' || h.hash || ' ' || h.allocation_id || ' ' || "
        "(h.address "
        "= a.address) || ' ' || h.bytes || ' ' || h.since_ns) FROM memory_handle h JOIN allocation "
        "a ON a.id = h.allocation_id",
        "imported 77 5 1 4096 500");
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM memory_handle", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM allocation", 2);
}

/* What no recorder writes is counted. */
Test(ingest_handles, that_are_damaged)
{
    export(7, UINT32_MAX, 4096);
    export(7, 3, UINT64_MAX);
    export(8, 3, 4096);
    ingest();
    gmt_fixture_expect(&fixture, "SELECT sum(hash) FROM memory_handle", 8);
    gmt_fixture_expect(&fixture, "SELECT sum(count) FROM loss", 2);
}
