/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "preload/repeat/launch_time.h"

#define US UINT64_C(1000)

Test(launch_time, the_shortest_launch_shows_what_launching_takes)
{
    cr_expect_eq(gmt_launch_time_of_kernel_ns(52 * US), 22 * US, "nothing is known yet");
    cr_expect_eq(gmt_launch_time_of_kernel_ns(48 * US), 1);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(49 * US), 1 * US);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(5048 * US), 5000 * US);
}

Test(launch_time, launches_of_long_kernels_show_nothing)
{
    cr_expect_eq(gmt_launch_time_of_kernel_ns(3030 * US), 3000 * US);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(3060 * US), 3000 * US);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(110 * US), 50 * US);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(20 * US), 1);
    cr_expect_eq(gmt_launch_time_of_kernel_ns(150 * US), 130 * US);
}

Test(launch_time, is_never_unknown)
{
    cr_expect_eq(gmt_launch_time_of_kernel_ns(1), 1);
    gmt_launch_time_forget();
    cr_expect_eq(gmt_launch_time_of_kernel_ns(40 * US), 10 * US);
}
