/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of copies aside, by copies of stated lengths. */
#include <criterion/criterion.h>

#include "preload/repeat/copy_rate.h"

#define MIB (UINT64_C(1) << 20)

/* 1 s for 2 MiB: the thread did not run meanwhile. */
Test(copy_rate, bears_a_copy_during_which_the_thread_did_not_run)
{
    uint64_t rate = gmt_copy_rate_after(4000, 2 * MIB, UINT64_C(1000000000));

    cr_expect_eq(rate, 2000);
    rate = gmt_copy_rate_after(rate, 2 * MIB, 2 * MIB * 1000 / 4096);
    cr_expect_eq(rate, 4096, "the next copy shows again what the device can do: %lu", rate);
}

Test(copy_rate, learns_of_a_slow_device_by_a_few_copies)
{
    uint64_t rate = GMT_COPY_RATE_FIRST;
    int copies = 0;

    for (; rate > 1000 && copies < 100; copies++) {
        rate = gmt_copy_rate_after(rate, 10 * MIB, 10 * MIB);
    }
    cr_expect_eq(rate, 1000);
    cr_expect_leq(copies, 6);
}

Test(copy_rate, takes_a_faster_copy_as_it_is)
{
    cr_expect_eq(gmt_copy_rate_after(50000, 1000 * MIB, MIB), 1000000);
}

Test(copy_rate, is_never_0_and_ignores_copies_that_say_nothing)
{
    cr_expect_eq(gmt_copy_rate_after(1, 2 * MIB, UINT64_C(10000000000000)), 1);
    cr_expect_eq(gmt_copy_rate_after(7, MIB, 1), 7);
    cr_expect_eq(gmt_copy_rate_after(7, 2 * MIB, 0), 7);
}
