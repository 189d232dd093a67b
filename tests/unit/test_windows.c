/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that lead out of a snapshot: what this process has mapped, without what is copied. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/repeat/windows.h"
#include "preload/state/allocmap.h"

#define PAGE UINT64_C(4096)

static struct gmt_windows windows;
static struct gmt_reach reach;

static uint64_t map(size_t pages, int protection)
{
    void *there = mmap(NULL, pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(there, MAP_FAILED);
    return (uint64_t)(uintptr_t)there;
}

static void copied(uint64_t base, uint64_t bytes)
{
    reach.extents[reach.count++] = (struct gmt_extent){base, bytes};
}

static void find(void)
{
    cr_assert(gmt_windows_find(&windows, &reach));
    for (size_t i = 1; i < windows.count; i++) {
        cr_assert_lt(windows.windows[i - 1].end, windows.windows[i].first, "window %zu", i);
    }
}

static void setup(void)
{
    reach.count = 0;
}

TestSuite(windows, .init = setup);

Test(windows, hold_what_is_mapped_and_no_small_numbers)
{
    static int variable;
    int local = 0;
    void *heap = malloc(100);
    uint64_t reserved = map(1, PROT_NONE);
    find();
    cr_expect(gmt_windows_hold(&windows, (uint64_t)(uintptr_t)&variable));
    cr_expect(gmt_windows_hold(&windows, (uint64_t)(uintptr_t)&local));
    cr_expect(gmt_windows_hold(&windows, (uint64_t)(uintptr_t)heap));
    cr_expect(gmt_windows_hold(&windows, reserved), "the driver reserves addresses so");
    for (uint64_t word = 0; word < 100000; word += 7) {
        cr_expect_not(gmt_windows_hold(&windows, word));
    }
    cr_expect_not(gmt_windows_hold(&windows, UINT64_C(0x3f8000003f800000)), "two floats");
    cr_expect_not(gmt_windows_hold(&windows, UINT64_MAX));
    free(heap);
}

Test(windows, do_not_hold_what_is_copied_to_the_byte)
{
    uint64_t base = map(16, PROT_READ | PROT_WRITE);
    copied(base + 100, 3000);
    copied(base + 2 * PAGE, PAGE);
    copied(base + 3 * PAGE, 5); /* right behind */
    find();
    cr_expect(gmt_windows_hold(&windows, base + 99));
    cr_expect_not(gmt_windows_hold(&windows, base + 100));
    cr_expect_not(gmt_windows_hold(&windows, base + 3099));
    cr_expect(gmt_windows_hold(&windows, base + 3100));
    cr_expect(gmt_windows_hold(&windows, base + 2 * PAGE - 1));
    cr_expect_not(gmt_windows_hold(&windows, base + 2 * PAGE));
    cr_expect_not(gmt_windows_hold(&windows, base + 3 * PAGE + 4));
    cr_expect(gmt_windows_hold(&windows, base + 3 * PAGE + 5));
}

Test(windows, hold_what_lies_near_copied_memory_even_if_it_is_not_mapped)
{
    uint64_t base = map(4, PROT_READ | PROT_WRITE);
    copied(UINT64_C(0x302000000), 4096); /* where drivers put memory pools */
    copied(base, PAGE);
    find();
    cr_expect_not(gmt_windows_hold(&windows, UINT64_C(0x302000fff)));
    cr_expect(gmt_windows_hold(&windows, UINT64_C(0x302001000)));
    cr_expect(gmt_windows_hold(&windows, UINT64_C(0x310000000)));
    cr_expect_not(gmt_windows_hold(&windows, 0), "numbers are no addresses");
    cr_expect_not(gmt_windows_hold(&windows, 65535));
}

/* A stand-in of the device file that a process maps for RDMA. */
Test(windows, show_that_a_device_on_the_bus_may_have_been_let_in)
{
    char folder[] = "/tmp/gmtrace-windows.XXXXXX", name[128];
    find();
    cr_expect_not(windows.shared_with_devices);
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(name, sizeof(name), "%s/dev", folder);
    cr_assert_eq(mkdir(name, 0700), 0);
    (void)snprintf(name, sizeof(name), "%s/dev/infiniband", folder);
    cr_assert_eq(mkdir(name, 0700), 0);
    (void)snprintf(name, sizeof(name), "%s/dev/infiniband/uverbs0", folder);
    int file = open(name, O_RDWR | O_CREAT, 0600);
    cr_assert(file >= 0 && ftruncate(file, PAGE) == 0);
    cr_assert_neq(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0), MAP_FAILED);
    find();
    cr_expect(windows.shared_with_devices);
    (void)close(file);
    cr_expect_eq(unlink(name), 0);
    for (size_t i = strlen(name); i > strlen(folder); i--) {
        if (name[i - 1] == '/') {
            name[i - 1] = '\0';
            cr_expect_eq(rmdir(name), 0, "%s", name);
        }
    }
}

/* From constants a kernel may go on to what it writes; code leads nowhere. */
Test(windows, distinguish_data_from_code)
{
    uint64_t reserved = map(1, PROT_NONE), constant = map(1, PROT_READ);
    uint64_t writable = map(1, PROT_READ | PROT_WRITE);
    void *shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    find();
    cr_expect(gmt_windows_hold_data(&windows, writable));
    cr_expect(gmt_windows_hold_data(&windows, (uint64_t)(uintptr_t)shared));
    cr_expect(gmt_windows_hold_data(&windows, constant));
    cr_expect_not(gmt_windows_hold_data(&windows, reserved));
    cr_expect_not(gmt_windows_hold_data(&windows, (uint64_t)(uintptr_t)find), "code");
}

Test(windows, an_extent_over_several_mappings_is_taken_out_of_all)
{
    uint64_t base = map(8, PROT_READ | PROT_WRITE);
    cr_assert_eq(mprotect((void *)(uintptr_t)(base + 2 * PAGE), PAGE, PROT_NONE), 0);
    cr_assert_eq(munmap((void *)(uintptr_t)(base + 5 * PAGE), PAGE), 0);
    copied(base, 8 * PAGE);
    find();
    for (uint64_t at = base; at < base + 8 * PAGE; at += 512) {
        cr_expect_not(gmt_windows_hold(&windows, at), "%llu", (unsigned long long)(at - base));
    }
}

/* Far from all that is copied, and in no mapping of the process. */
Test(windows, hold_what_is_known_and_not_restored)
{
    const uint64_t mapped = UINT64_C(0x123400000000), own = UINT64_C(0x223400000000),
                   exported = UINT64_C(0x323400000000);
    (void)gmt_allocmap_insert(mapped, PAGE, GMT_ALLOC_MAPPED, 0);
    (void)gmt_allocmap_insert(own, PAGE, GMT_ALLOC_DEVICE, 1);
    (void)gmt_allocmap_insert(exported, PAGE, GMT_ALLOC_DEVICE, 1);
    cr_assert(gmt_allocmap_share(exported, 1));
    find();
    cr_expect(gmt_windows_hold(&windows, mapped + PAGE - 1));
    cr_expect_not(gmt_windows_hold(&windows, mapped + PAGE));
    cr_expect(gmt_windows_hold(&windows, exported));
    cr_expect_not(gmt_windows_hold(&windows, own), "of another context: nothing copied is near");
}
