/* SPDX-License-Identifier: Apache-2.0 */
/* Launches are judged by what they are given, whatever else the process has done. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "preload/driver/resolve.h"
#include "preload/session/options.h"
#include "preload/state/hazards.h"
#include "preload/state/hook_call.h"
#include "preload/state/waits.h"

struct gmt_options gmt_options;
bool gmt_driver_is_software;

bool gmt_waits_under_way_after(uint64_t within_ns)
{
    return within_ns != 0;
}

enum { HERE = 1, ELSEWHERE = 2 };
#define BYTES UINT64_C(4096)

static uint64_t next = UINT64_C(0x700000000000);

static uint64_t allocate(enum gmt_alloc_kind kind, uint16_t context)
{
    uint64_t base = next;
    next += 4 * BYTES;
    (void)gmt_allocmap_insert(base, BYTES, kind, context);
    return base;
}

/* A launch in the context HERE with one argument. */
static enum gmt_hazard given(uint64_t address)
{
    uint64_t words[] = {7, address + BYTES / 2};
    struct gmt_hazard_given all = {.known = true};
    gmt_hazard_given_words(&all, (const uint8_t *)words, sizeof(words), HERE);
    return gmt_hazard_of(&all);
}

static enum gmt_hazard given_unknown(void)
{
    return gmt_hazard_of(&(struct gmt_hazard_given){.known = false});
}

static const struct gmt_hook_call succeeded = {.id = GMT_HOOK_cuCtxEnablePeerAccess,
                                               .result = CUDA_SUCCESS};
static const struct gmt_hook_call failed = {.id = GMT_HOOK_cuCtxEnablePeerAccess,
                                            .result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED};

static void setup(void)
{
    gmt_hazards_start();
    gmt_allocmap_reset();
}

TestSuite(hazards, .init = setup);

Test(hazards, plain_memory_is_none_whatever_the_process_has_done)
{
    uint64_t own = allocate(GMT_ALLOC_DEVICE, HERE);
    (void)allocate(GMT_ALLOC_HOST, 0);
    (void)allocate(GMT_ALLOC_IPC, HERE);
    gmt_hazards_opened(&succeeded, "peer access");
    cr_expect_eq(given(own), GMT_HAZARD_NONE);
    cr_expect_eq(gmt_hazard_rows[GMT_HAZARD_NONE].measured, GMT_MEASURABLE);
}

Test(hazards, memory_of_the_host_is_tried_and_that_of_others_refused)
{
    static const struct {
        enum gmt_alloc_kind kind;
        uint16_t context;
        enum gmt_hazard hazard;
    } rows[] = {
        {GMT_ALLOC_HOST, 0, GMT_HAZARD_HOST_MEMORY},
        {GMT_ALLOC_REGISTERED, 0, GMT_HAZARD_HOST_MEMORY},
        {GMT_ALLOC_MANAGED, HERE, GMT_HAZARD_HOST_MEMORY},
        {GMT_ALLOC_IPC, HERE, GMT_HAZARD_OTHERS_MEMORY},
        {GMT_ALLOC_EXTERNAL, HERE, GMT_HAZARD_OTHERS_MEMORY},
        {GMT_ALLOC_DEVICE, ELSEWHERE, GMT_HAZARD_OTHERS_MEMORY},
        {GMT_ALLOC_POOL, ELSEWHERE, GMT_HAZARD_OTHERS_MEMORY},
        {GMT_ALLOC_POOL, HERE, GMT_HAZARD_NONE},
        {GMT_ALLOC_MAPPED, 0, GMT_HAZARD_NONE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t address = allocate(rows[i].kind, rows[i].context);
        cr_expect_eq(given(address), rows[i].hazard, "row %zu", i);
    }
    cr_expect_eq(gmt_hazard_rows[GMT_HAZARD_HOST_MEMORY].action, GMT_HAZARD_TRIED);
    cr_expect_eq(gmt_hazard_rows[GMT_HAZARD_OTHERS_MEMORY].action, GMT_HAZARD_REFUSED);
}

Test(hazards, where_there_is_one_context_no_memory_is_of_another)
{
    struct gmt_allocation allocation = {.kind = GMT_ALLOC_DEVICE, .context = ELSEWHERE};
    cr_expect_not(gmt_hazards_of_others(&allocation, 0));
    cr_expect(gmt_hazards_of_others(&allocation, HERE));
}

Test(hazards, an_export_is_of_the_memory_that_it_names)
{
    uint64_t exported = allocate(GMT_ALLOC_DEVICE, HERE), other = allocate(GMT_ALLOC_DEVICE, HERE);
    gmt_hazards_exported(&failed, exported, 1);
    cr_expect_eq(given(exported), GMT_HAZARD_NONE, "the call failed");
    gmt_hazards_exported(&succeeded, exported + 8, 1);
    cr_expect_eq(given(exported), GMT_HAZARD_OTHERS_MEMORY);
    cr_expect_eq(given(other), GMT_HAZARD_NONE);
    cr_expect_not(gmt_hazards_any_unknown());
    gmt_hazards_exported(&succeeded, UINT64_C(0x1000), 1);
    cr_expect(gmt_hazards_any_unknown(), "nobody knows whose that is");
}

Test(hazards, of_mapped_memory_any_may_be_the_one_that_was_exported)
{
    uint64_t mapped = allocate(GMT_ALLOC_MAPPED, 0), own = allocate(GMT_ALLOC_DEVICE, HERE);
    gmt_hazards_exported(&succeeded, 0, 0);
    cr_expect_eq(given(mapped), GMT_HAZARD_OTHERS_MEMORY);
    cr_expect_eq(given(own), GMT_HAZARD_NONE);
}

Test(hazards, of_mapped_memory_any_may_be_the_one_that_was_imported)
{
    const struct gmt_hook_call import = {.id = GMT_HOOK_cuMemImportFromShareableHandle,
                                         .result = CUDA_SUCCESS};
    uint64_t mapped = allocate(GMT_ALLOC_MAPPED, 0);
    gmt_hazards_opened(&succeeded, "peer access");
    cr_expect_eq(given(mapped), GMT_HAZARD_NONE);
    gmt_hazards_opened(&import, "memory of other processes");
    cr_expect_eq(given(mapped), GMT_HAZARD_OTHERS_MEMORY);
}

Test(hazards, arguments_that_cannot_be_read_may_lead_to_all_that_there_is)
{
    cr_expect_eq(given_unknown(), GMT_HAZARD_NONE);
    uint64_t host = allocate(GMT_ALLOC_HOST, 0);
    cr_expect_eq(given_unknown(), GMT_HAZARD_HOST_UNKNOWN);
    gmt_hazards_opened(&failed, "peer access");
    cr_expect_eq(given_unknown(), GMT_HAZARD_HOST_UNKNOWN, "the call failed");
    gmt_hazards_opened(&succeeded, "peer access");
    cr_expect_eq(given_unknown(), GMT_HAZARD_OTHERS_UNKNOWN);
    cr_expect_eq(given(host), GMT_HAZARD_HOST_MEMORY, "these can be read");
}

Test(hazards, what_communicates_is_refused_first)
{
    struct gmt_hazard_given all = {
        .communicates = true, .known = true, .host = true, .others = true};
    cr_expect_eq(gmt_hazard_of(&all), GMT_HAZARD_COMMUNICATES);
    cr_expect_eq(gmt_hazard_rows[GMT_HAZARD_COMMUNICATES].measured, GMT_UNMEASURED_NEVER);
}

Test(hazards, work_that_waits_is_ignored_where_the_user_says_so)
{
    cr_expect(gmt_hazards_waiting(1));
    gmt_options.counters = GMT_COUNTERS_ON;
    cr_expect_not(gmt_hazards_waiting(1));
    gmt_options.counters = GMT_COUNTERS_AUTO;
    gmt_driver_is_software = true;
    cr_expect_not(gmt_hazards_waiting(1));
}
