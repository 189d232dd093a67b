/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a process that works for another one: all of it arrives there, and not at every step. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "libtrace/base/progress.h"

static double arrived;
static unsigned times;
static char last_part[32];

static void take(double done, const char *part)
{
    arrived += done;
    times++;
    snprintf(last_part, sizeof(last_part), "%s", part);
}

Test(progress, is_forwarded_in_sums)
{
    gmt_progress_forward(take);
    gmt_progress_add_part(1, "first");
    cr_assert_eq(times, 1);
    for (int i = 0; i < 1000; i++) {
        gmt_progress_add_part(0.5, "second");
    }
    cr_assert_lt(times, 100, "each step is forwarded");
    usleep(300000);
    gmt_progress_add_part(2, "third");
    cr_assert_float_eq(arrived, 503, 1e-9);
    cr_assert_str_eq(last_part, "third");
}

Test(progress, ends)
{
    gmt_progress_forward(take);
    gmt_progress_end();
    gmt_progress_add_part(1, "late");
    cr_assert_eq(times, 0);
}
