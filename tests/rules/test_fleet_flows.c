/* SPDX-License-Identifier: Apache-2.0 */
/* What of a trace is said of memory that processes share: by handle, direction and time. */
#include <criterion/criterion.h>

#include "analyzer/fleet/handed/flows.h"
#include "tests/rules/fixture.h"

enum { TIMES = 10, BYTES = 67108864 };

static struct gmt_fixture fixture;
static struct gmt_fleet_rank rank;
static struct gmt_arena arena;

/* GM110's copies: ten from allocation 1 to the host, ten from there to allocation 2. */
static void look(const char *sql)
{
    gmt_fixture_load(&fixture, "fixtures/GM110_positive");
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM110");
    cr_assert_eq(gmt_fleet_flows_read(&rank, &fixture.timeline, &arena), 0);
}

static void drop(void)
{
    gmt_fixture_free(&fixture);
    gmt_arena_free(&arena);
}

TestSuite(fleet_flows, .fini = drop);

#define HANDLE \
    "INSERT INTO memory_handle (kind, hash, allocation_id, address, bytes, since_ns) VALUES "

Test(fleet_flows, copies_of_a_program_alone_are_none)
{
    look("");
    cr_expect_eq(rank.flow_count + rank.exported_count + rank.sharing.opened, 0);
}

Test(fleet_flows, what_it_exports_is_its_own_memory)
{
    look(HANDLE "('exported', 9, 1, 1048576, 67108864, 950000), ('exported', -9, 1, 1048576, "
                "67108864, 960000), ('exported', 9, 1, 1048576, 67108864, 970000)");
    cr_expect_eq(rank.flow_count + rank.sharing.opened, 0);
    cr_assert_eq(rank.exported_count, 2);
    cr_expect_eq(rank.exported[0], 9);
    cr_expect_eq(rank.exported[1], (uint64_t)-9);
}

Test(fleet_flows, copies_with_opened_memory_by_handle)
{
    look(HANDLE "('imported', 5, 1, 1048576, 67108864, 950000)");
    cr_expect_eq(rank.sharing.opened, 1);
    cr_assert_eq(rank.flow_count, 2, "it was opened, and it was copied");
    cr_expect_eq(rank.flows[0].from, 5);
    cr_expect_eq(rank.flows[0].opened, 1);
    cr_expect_eq(rank.flows[0].opened_bytes, BYTES);
    cr_expect_eq(rank.flows[0].copies, 0);
    cr_expect_eq(rank.flows[1].from, 5);
    cr_expect_eq(rank.flows[1].to, 0);
    cr_expect_eq(rank.flows[1].over_host, 1);
    cr_expect_eq(rank.flows[1].opened, 0);
    cr_expect_eq(rank.flows[1].copies, TIMES);
    cr_expect_eq(rank.flows[1].bytes, (uint64_t)TIMES * BYTES);
    cr_expect_eq(rank.flows[1].timed_bytes, 0, "the device's times are not known");
}

Test(fleet_flows, between_devices_with_their_times)
{
    look(HANDLE
         "('imported', 5, 1, 1048576, 67108864, 950000);"
         "UPDATE transfer SET direction = 'd2d', src_class = 'device', src_allocation_id = 1, "
         "device_start_ns = begin_ns + 1000, device_end_ns = begin_ns + 21000 WHERE id > "
         "104;"
         "UPDATE transfer SET device_end_ns = NULL, device_start_ns = NULL WHERE id = 110;"
         "DELETE FROM transfer WHERE id < 105");
    cr_assert_eq(rank.flow_count, 1);
    cr_expect_eq(rank.flows[0].from, 5);
    cr_expect_eq(rank.flows[0].over_host, 0);
    cr_expect_eq(rank.flows[0].opened, 1);
    cr_expect_eq(rank.flows[0].copies, 6);
    cr_expect_eq(rank.flows[0].timed_bytes, (uint64_t)5 * BYTES);
    cr_expect_float_eq(rank.flows[0].device_ns, 5 * 20e3, 1e-6);
    cr_expect_eq(rank.sharing.is_modelled, 0);
}

/* No handle has it, and it stands for memory of the process itself. */
Test(fleet_flows, a_hash_of_zero_is_none)
{
    look(HANDLE "('imported', 0, 1, 1048576, 67108864, 950000), ('exported', 0, 2, 134217728, "
                "67108864, 950000)");
    cr_expect_eq(rank.flow_count + rank.exported_count + rank.sharing.opened, 0);
}

/* As in a damaged trace: copies of memory that is not known are not from there. */
Test(fleet_flows, what_was_opened_and_is_no_allocation_is_none)
{
    look(HANDLE "('imported', 5, NULL, 1048576, 67108864, 950000);"
                "UPDATE transfer SET src_allocation_id = NULL");
    cr_expect_eq(rank.flow_count + rank.sharing.opened, 0);
}

Test(fleet_flows, traces_of_earlier_versions_have_none)
{
    look("DROP TABLE memory_handle");
    cr_expect_eq(rank.flow_count + rank.exported_count, 0);
}
