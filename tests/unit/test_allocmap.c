/* SPDX-License-Identifier: Apache-2.0 */
/* The map of live allocations, against a plain list that does the same slowly. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "preload/state/allocmap.h"

#define LIVE 500u

static struct gmt_allocation list[LIVE];
static size_t count;

static const struct gmt_allocation *slow_find(uint64_t address)
{
    for (size_t i = 0; i < count; i++) {
        if (address >= list[i].base && address - list[i].base < list[i].bytes) {
            return &list[i];
        }
    }
    return NULL;
}

static void check(uint64_t address)
{
    struct gmt_allocation found;
    const struct gmt_allocation *expected = slow_find(address);
    bool known = gmt_allocmap_find(address, &found);
    cr_assert_eq(known, expected != NULL, "address %#lx", (unsigned long)address);
    if (known) {
        cr_assert_eq(found.id, expected->id);
        cr_assert_eq(found.base, expected->base);
        cr_assert_eq(found.bytes, expected->bytes);
        cr_assert_eq(found.kind, expected->kind);
    }
}

Test(allocmap, agrees_with_a_plain_list_under_random_changes)
{
    srand(1);
    for (int step = 0; step < 20000; step++) {
        uint64_t base = 0x10000 + (uint64_t)(rand() % 4000) * 4096;
        uint64_t bytes = 1 + (uint64_t)(rand() % 4096);
        if (rand() % 2 == 0 && count < LIVE && slow_find(base) == NULL) {
            uint32_t id = gmt_allocmap_insert(base, bytes, GMT_ALLOC_DEVICE, 1);
            list[count++] = (struct gmt_allocation){
                .base = base, .bytes = bytes, .id = id, .kind = GMT_ALLOC_DEVICE};
        } else if (count > 0) {
            size_t at = (size_t)rand() % count;
            struct gmt_allocation gone;
            cr_assert(gmt_allocmap_remove(list[at].base, &gone));
            cr_assert_eq(gone.id, list[at].id);
            list[at] = list[--count];
        }
        check(base);
        check(base + bytes);
        check(base + bytes - 1);
        check(base - 1);
    }
}

/* Some of several MiB, beside small ones: what was found is kept by its 2 MiB, or by its address. */
Test(allocmap, finds_again_what_it_found_until_that_changes)
{
    srand(2);
    for (int step = 0; step < 3000; step++) {
        uint64_t base = UINT64_C(0x7f0000000000) + (uint64_t)(rand() % 40) * (8u << 20) +
                        (uint64_t)(rand() % 3) * 4096;
        uint64_t bytes = rand() % 2 == 0 ? 1 + (uint64_t)(rand() % 4096)
                                         : (uint64_t)(1 + rand() % 3) << 21;
        struct gmt_allocation gone;
        bool is_free = slow_find(base) == NULL && slow_find(base + bytes - 1) == NULL &&
                       slow_find(base + 4096) == NULL && slow_find(base + 8192) == NULL;
        if (is_free && count < LIVE) {
            uint32_t id = gmt_allocmap_insert(base, bytes, GMT_ALLOC_DEVICE, 1);
            list[count++] = (struct gmt_allocation){
                .base = base, .bytes = bytes, .id = id, .kind = GMT_ALLOC_DEVICE};
        } else if (count > 0) {
            size_t at = (size_t)rand() % count;
            cr_assert(gmt_allocmap_remove(list[at].base, &gone));
            list[at] = list[--count];
        }
        for (int turn = 0; turn < 3; turn++) {
            for (size_t i = 0; i < count; i += 1 + (size_t)rand() % 7) {
                check(list[i].base);
                check(list[i].base + list[i].bytes / 2);
                check(list[i].base + list[i].bytes);
            }
        }
    }
}

/* The handle of an array may lie in memory that is page-locked. */
Test(allocmap, finds_the_same_of_two_that_overlap_whatever_was_asked_before)
{
    const uint64_t base = UINT64_C(0x7f0000000000), inside = base + 65536;
    struct gmt_allocation found;
    uint32_t outer = gmt_allocmap_insert(base, 8u << 20, GMT_ALLOC_REGISTERED, 1);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t inner = gmt_allocmap_insert(inside, 1, GMT_ALLOC_ARRAY, 1);
        for (unsigned turn = 0; turn < 3; turn++) {
            cr_assert(gmt_allocmap_find(inside, &found));
            cr_expect_eq(found.id, inner);
            cr_assert(gmt_allocmap_find(base + 4096, &found));
            cr_expect_eq(found.id, outer);
            cr_expect_not(gmt_allocmap_find(inside + 4096, &found));
        }
        cr_assert(gmt_allocmap_remove(inside, &found));
        cr_assert(gmt_allocmap_find(inside, &found));
        cr_expect_eq(found.id, outer);
    }
}

Test(allocmap, takes_nothing_at_all_for_no_allocation)
{
    struct gmt_allocation found;
    cr_expect_neq(gmt_allocmap_insert(0, 0, GMT_ALLOC_ASYNC, 1), 0u);
    (void)gmt_allocmap_insert(0x7f0000000000, 4096, GMT_ALLOC_DEVICE, 1);
    cr_expect_not(gmt_allocmap_may_hold(1), "small numbers are no addresses");
    cr_expect_not(gmt_allocmap_find(0, &found));
    cr_expect(gmt_allocmap_find(0x7f0000000000, &found));
}

Test(allocmap, gives_every_allocation_an_id_of_its_own)
{
    uint32_t first = gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    struct gmt_allocation gone;
    cr_assert(gmt_allocmap_remove(0x1000, &gone));
    uint32_t second = gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    cr_assert_neq(first, 0);
    cr_assert_neq(first, second, "a reused address is another allocation");
}

Test(allocmap, restores_what_a_failed_free_took)
{
    struct gmt_allocation gone, found;
    uint32_t id = gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_HOST, 1);
    cr_assert(gmt_allocmap_remove(0x1000, &gone));
    cr_assert_not(gmt_allocmap_find(0x1008, &found));
    gmt_allocmap_restore(&gone);
    cr_assert(gmt_allocmap_find(0x1008, &found));
    cr_assert_eq(found.id, id);
}

Test(allocmap, removes_only_at_the_first_byte)
{
    struct gmt_allocation gone;
    (void)gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    cr_assert_not(gmt_allocmap_remove(0x1001, &gone));
    cr_assert_not(gmt_allocmap_remove(0x0fff, &gone));
}

Test(allocmap, distinguishes_memory_classes)
{
    static const struct {
        enum gmt_alloc_kind kind;
        enum gmt_mem_class class;
    } cases[] = {
        {GMT_ALLOC_DEVICE, GMT_MEM_DEVICE},     {GMT_ALLOC_PITCHED, GMT_MEM_DEVICE},
        {GMT_ALLOC_MANAGED, GMT_MEM_MANAGED},   {GMT_ALLOC_ASYNC, GMT_MEM_DEVICE},
        {GMT_ALLOC_POOL, GMT_MEM_DEVICE},       {GMT_ALLOC_HOST, GMT_MEM_PINNED},
        {GMT_ALLOC_REGISTERED, GMT_MEM_PINNED}, {GMT_ALLOC_MAPPED, GMT_MEM_DEVICE},
        {GMT_ALLOC_ARRAY, GMT_MEM_ARRAY},       {GMT_ALLOC_IPC, GMT_MEM_DEVICE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t id, expected = gmt_allocmap_insert(0x10000 * (i + 1), 64, cases[i].kind, 1);
        cr_assert_eq(gmt_allocmap_class(0x10000 * (i + 1) + 63, GMT_MEM_PAGEABLE, &id),
                     cases[i].class);
        cr_assert_eq(id, expected);
    }
    uint32_t id;
    cr_assert_eq(gmt_allocmap_class(0x10, GMT_MEM_PAGEABLE, &id), GMT_MEM_PAGEABLE);
    cr_assert_eq(id, 0);
}

Test(allocmap, takes_what_lies_within_a_range_and_is_of_that_kind)
{
    struct gmt_allocation gone, left;
    (void)gmt_allocmap_insert(0x1000, 0x1000, GMT_ALLOC_MAPPED, 0);
    (void)gmt_allocmap_insert(0x2000, 0x1000, GMT_ALLOC_MAPPED, 0);
    (void)gmt_allocmap_insert(0x3000, 0x1000, GMT_ALLOC_DEVICE, 0);
    (void)gmt_allocmap_insert(0x4000, 0x2000, GMT_ALLOC_MAPPED, 0);
    cr_assert(gmt_allocmap_take_within(0x1000, 0x4000, GMT_ALLOC_MAPPED, &gone));
    cr_expect_eq(gone.base, 0x1000);
    cr_assert(gmt_allocmap_take_within(0x1000, 0x4000, GMT_ALLOC_MAPPED, &gone));
    cr_expect_eq(gone.base, 0x2000);
    cr_expect_not(gmt_allocmap_take_within(0x1000, 0x4000, GMT_ALLOC_MAPPED, &gone));
    cr_expect(gmt_allocmap_find(0x3800, &left), "of another kind");
    cr_expect(gmt_allocmap_find(0x4800, &left), "reaches beyond the range");
}

Test(allocmap, knows_when_a_kernel_could_wait_for_the_host)
{
    struct gmt_allocation gone;
    (void)gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    cr_assert_not(gmt_allocmap_has_host_visible());
    (void)gmt_allocmap_insert(0x2000, 16, GMT_ALLOC_REGISTERED, 1);
    cr_assert(gmt_allocmap_has_host_visible());
    cr_assert(gmt_allocmap_remove(0x2000, &gone));
    cr_assert_not(gmt_allocmap_has_host_visible());
}

Test(allocmap, forgets_what_died_with_its_context_among_many_of_another)
{
    struct gmt_allocation gone;
    for (uint64_t i = 0; i < 20000;
         i++) { /* every fourth dies; one by one from the end is too slow */
        (void)gmt_allocmap_insert(0x10000 + i * 256, 256, GMT_ALLOC_DEVICE, i % 4 == 0 ? 2 : 1);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        cr_assert(gmt_allocmap_take_from(2, &gone));
        cr_assert_eq(gone.context, 2);
        if (i == 2500) { /* above what was looked at already */
            (void)gmt_allocmap_insert(0x10000 + 30000 * 256, 256, GMT_ALLOC_DEVICE, 2);
            cr_assert(gmt_allocmap_take_from(2, &gone));
            cr_assert_eq(gone.base, 0x10000 + 30000 * 256);
        }
    }
    cr_assert_not(gmt_allocmap_take_from(2, &gone));
    for (uint64_t i = 0; i < 15000; i++) {
        cr_assert(gmt_allocmap_take_from(1, &gone));
    }
    cr_assert_not(gmt_allocmap_take_from(1, &gone));
    (void)gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    cr_assert(gmt_allocmap_take_from(1, &gone), "came after the last look");
}

Test(allocmap, starts_anew_in_a_forked_child)
{
    struct gmt_allocation found;
    (void)gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_HOST, 1);
    cr_assert(gmt_allocmap_find(0x1008, &found));
    gmt_allocmap_reset();
    cr_assert_not(gmt_allocmap_find(0x1008, &found));
    cr_assert_not(gmt_allocmap_has_host_visible());
    cr_assert_eq(gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1), 1);
    cr_assert(gmt_allocmap_find(0x1008, &found));
    cr_assert_eq(found.kind, GMT_ALLOC_DEVICE);
}

Test(allocmap, forgets_what_died_with_its_context)
{
    struct gmt_allocation gone;
    (void)gmt_allocmap_insert(0x1000, 16, GMT_ALLOC_DEVICE, 1);
    uint32_t pinned = gmt_allocmap_insert(0x2000, 16, GMT_ALLOC_HOST, 2);
    (void)gmt_allocmap_insert(0x3000, 16, GMT_ALLOC_DEVICE, 1);
    cr_assert(gmt_allocmap_take_from(1, &gone));
    cr_assert_eq(gone.base, 0x3000);
    cr_assert(gmt_allocmap_take_from(1, &gone));
    cr_assert_eq(gone.base, 0x1000);
    cr_assert_not(gmt_allocmap_take_from(1, &gone));
    cr_assert(gmt_allocmap_take_from(2, &gone));
    cr_assert_eq(gone.id, pinned);
    cr_assert_not(gmt_allocmap_has_host_visible());
}

static bool is_shared(uint64_t address)
{
    struct gmt_allocation found = {0};
    cr_assert(gmt_allocmap_find(address, &found));
    return found.shared;
}

Test(allocmap, shares_what_has_a_byte_of_a_range_until_it_is_freed)
{
    struct gmt_allocation freed;
    for (uint64_t i = 1; i <= 5; i++) {
        (void)gmt_allocmap_insert(i * 0x1000, 0x800, GMT_ALLOC_DEVICE, 1);
    }
    cr_expect_not(gmt_allocmap_share(0x1900, 0x100), "none lies there");
    cr_expect(gmt_allocmap_share(0x27ff, 0x2000),
              "the end of one, one more, and the begin of another");
    const bool expected[] = {false, true, true, true, false};
    for (uint64_t i = 1; i <= 5; i++) {
        cr_expect_eq(is_shared(i * 0x1000 + 0x10), expected[i - 1], "allocation %d", (int)i);
    }
    cr_assert(gmt_allocmap_remove(0x2000, &freed));
    cr_expect(freed.shared);
    gmt_allocmap_restore(&freed);
    cr_expect(is_shared(0x2000), "the call that frees it failed");
    cr_assert(gmt_allocmap_remove(0x2000, &freed));
    (void)gmt_allocmap_insert(0x2000, 0x800, GMT_ALLOC_DEVICE, 1);
    cr_expect_not(is_shared(0x2000), "other memory at that address");
}
