/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of tables that are made present: all of them, no others, and with what was in them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/unwind/pages.h"

enum { PAGES = 12 };

Test(pages, are_there_afterwards_and_keep_their_content)
{
    if (getenv("GMT_EMULATED") != NULL) {
        cr_skip_test("qemu does not emulate MADV_POPULATE_WRITE");
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    unsigned char present[PAGES];
    cr_assert_neq(memory, MAP_FAILED);
    (void)madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    memory[2 * page + 8] = 42;
    /* From within page 1 to within page 9, and ten bytes of page 9. */
    gmt_pages_populate(memory + page + 64, 8 * page - 64 + 10);
    cr_assert_eq(mincore(memory, PAGES * page, present), 0);
    for (int i = 0; i < PAGES; i++) {
        cr_expect_eq(present[i] & 1, i >= 1 && i <= 9, "page %d", i);
    }
    cr_expect_eq(memory[2 * page + 8], 42);
    cr_expect_eq(memory[3 * page], 0);
}
