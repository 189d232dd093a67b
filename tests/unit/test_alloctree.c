/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of live allocations, against a sorted list, in every order of coming and going. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "preload/state/alloctree.h"

#define MOST 40000u

static struct gmt_alloctree_entry list[MOST];
static size_t count;
static uint64_t next_tag;

/* How many bases are <= address. */
static size_t not_above(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add(uint64_t base)
{
    size_t at = not_above(base);
    struct gmt_alloctree_entry entry = {base, base / 3 + 1, ++next_tag};
    cr_assert(gmt_alloctree_reserve());
    gmt_alloctree_insert(&entry);
    memmove(&list[at + 1], &list[at], (count - at) * sizeof list[0]);
    list[at] = entry;
    count++;
}

static void take(size_t at)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry entry;
    cr_assert(gmt_alloctree_seek(list[at].base, &place));
    gmt_alloctree_get(&place, &entry);
    at = not_above(list[at].base) - 1; /* of equal ones the last */
    cr_assert_eq(entry.tag, list[at].tag);
    gmt_alloctree_remove(&place);
    memmove(&list[at], &list[at + 1], (--count - at) * sizeof list[0]);
}

static void check_seek(uint64_t address)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry entry;
    size_t below = not_above(address);
    bool found = gmt_alloctree_seek(address, &place);
    cr_assert_eq(found, below != 0, "address %#lx", (unsigned long)address);
    if (found) {
        gmt_alloctree_get(&place, &entry);
        cr_assert(memcmp(&entry, &list[below - 1], sizeof entry) == 0);
    }
}

/* The whole tree in both directions, and every entry by its way from the root. */
static void check_all(void)
{
    struct gmt_alloctree_cursor place, last;
    struct gmt_alloctree_entry entry;
    size_t seen = 0;
    for (bool more = gmt_alloctree_first(&place); more; more = gmt_alloctree_step(&place, true)) {
        gmt_alloctree_get(&place, &entry);
        cr_assert_lt(seen, count);
        cr_assert(memcmp(&entry, &list[seen++], sizeof entry) == 0);
        last = place;
    }
    cr_assert_eq(seen, count);
    for (bool more = count != 0; more; more = gmt_alloctree_step(&last, false)) {
        gmt_alloctree_get(&last, &entry);
        cr_assert_eq(entry.tag, list[--seen].tag);
    }
    cr_assert_eq(seen, 0);
    for (size_t i = 0; i < count; i++) {
        check_seek(list[i].base);
        check_seek(list[i].base - 1);
        check_seek(list[i].base + 1);
    }
}

static uint64_t random_base(uint64_t range)
{
    return 0x1000 + ((uint64_t)rand() * 2654435761u + (uint64_t)rand()) % range * 4;
}

static void random_changes(uint64_t range, size_t live, int steps)
{
    for (int step = 0; step < steps; step++) {
        bool grow = count == 0 || (count < live && rand() % 4 != 0);
        if (grow) {
            add(random_base(range));
        } else if (rand() % 2 == 0 || count == MOST) {
            take((size_t)rand() % count);
        } else {
            add(random_base(range));
        }
        check_seek(random_base(range) + 1);
        if (step % 2000 == 0) {
            check_all();
        }
    }
    check_all();
}

Test(alloctree, agrees_with_a_list_under_random_changes)
{
    srand(7);
    random_changes(1u << 30, 3000, 30000);
}

Test(alloctree, keeps_entries_of_one_base_in_their_order)
{
    srand(8);
    random_changes(50, 500, 10000);
}

Test(alloctree, is_right_when_it_is_emptied_in_any_order)
{
    srand(9);
    for (int order = 0; order < 4; order++) {
        for (size_t i = 0; i < 5000; i++) {
            add(order == 1 ? 0x900000 - i * 16 : 0x1000 + i * 16);
        }
        check_all();
        while (count > 0) {
            take(order == 0   ? 0
                 : order == 1 ? count - 1
                 : order == 2 ? count / 2
                              : (size_t)rand() % count);
            if (count % 500 == 0) {
                check_all();
            }
        }
        struct gmt_alloctree_cursor place;
        cr_assert_not(gmt_alloctree_first(&place));
        cr_assert_not(gmt_alloctree_seek(UINT64_MAX, &place));
    }
}

/* Keep one of many, again and again further up: nodes left sparse must not use up the memory. */
Test(alloctree, gives_back_what_sparse_nodes_held)
{
    for (uint64_t round = 0; round < 200; round++) {
        uint64_t start = 0x1000 + round * 0x100000;
        for (uint64_t i = 0; i < 8192; i++) {
            add(start + i * 64);
        }
        size_t first = not_above(start) - 1;
        for (size_t i = count; i-- > first;) {
            if ((list[i].base - start) / 64 % 64 != 0) {
                take(i);
            }
        }
    }
    check_all();
    struct gmt_alloctree_cursor place;
    cr_assert(gmt_alloctree_first(&place));
    cr_assert_leq(place.levels, 4, "%zu entries on %u levels", count, place.levels);
}

Test(alloctree, forgets_everything_at_once)
{
    srand(10);
    for (size_t i = 0; i < 1000; i++) {
        add(random_base(1u << 20));
    }
    gmt_alloctree_clear();
    count = 0;
    check_all();
    random_changes(1u << 20, 1000, 3000);
}
