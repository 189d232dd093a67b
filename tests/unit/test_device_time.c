/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "libtrace/cupti/base/device_time.h"

static const uint32_t grid[3] = {12, 3, 1}, block[3] = {256, 1, 1};

Test(device_time, is_the_mean_of_the_records)
{
    const struct gmt_device_time *of = gmt_device_time_of("kernel", grid, block);
    cr_assert_not_null(of);
    cr_expect_eq(gmt_device_time_mean_ns(of), 0);
    gmt_device_time_note("kernel", grid, block, 1000);
    gmt_device_time_note("kernel", grid, block, 4000);
    cr_expect_eq(gmt_device_time_mean_ns(of), 2500);
    cr_expect_eq(gmt_device_time_of("kernel", grid, block), of);
}

Test(device_time, is_that_of_one_name_and_shape)
{
    const uint32_t turned[3] = {3, 12, 1};
    const struct gmt_device_time *of = gmt_device_time_of("kernel", grid, block);
    gmt_device_time_note("kernels", grid, block, 1000);
    gmt_device_time_note("kernel", turned, block, 1000);
    gmt_device_time_note("kernel", block, grid, 1000);
    cr_expect_eq(gmt_device_time_mean_ns(of), 0);
}

Test(device_time, of_nothing_is_unknown)
{
    gmt_device_time_note("kernel", grid, block, 1000); /* before anybody asks */
    gmt_device_time_note(NULL, grid, block, 1000);
    cr_expect_null(gmt_device_time_of(NULL, grid, block));
    cr_expect_eq(gmt_device_time_mean_ns(NULL), 0);
    cr_expect_eq(gmt_device_time_mean_ns(gmt_device_time_of("kernel", grid, block)), 0);
}

/* Those of too many kernels have no time; the times of the others stay what they are. */
Test(device_time, too_many_kernels)
{
    char name[32];
    const struct gmt_device_time *first = gmt_device_time_of("kernel", grid, block);
    gmt_device_time_note("kernel", grid, block, 1000);
    unsigned without = 0;
    for (unsigned i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof(name), "kernel_%u", i);
        without += gmt_device_time_of(name, grid, block) == NULL;
        gmt_device_time_note(name, grid, block, 9);
    }
    cr_expect_geq(without, 20000 - 8192);
    cr_expect_eq(gmt_device_time_mean_ns(first), 1000);
}
