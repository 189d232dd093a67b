/* SPDX-License-Identifier: Apache-2.0 */
/* How often a point is taken in one pass: by number, and by time. */
#include <criterion/criterion.h>

#include "kernels/measure/sample_loop.h"

struct taken {
    unsigned warm_up;
    unsigned counted;
    uint64_t took_ns;
};

/* All turns of a point of which one takes so long, on a clock that starts at `began_ns`. */
static struct taken take(struct gmt_sample_loop sample_loop, uint64_t once_ns, uint64_t began_ns)
{
    struct taken taken = {0};

    while (gmt_sample_loop_next(&sample_loop, began_ns + taken.took_ns)) {
        taken.took_ns += once_ns;
        if (sample_loop.counts) {
            taken.counted++;
        } else {
            taken.warm_up++;
        }
        cr_assert(taken.warm_up + taken.counted <= 6);
    }
    return taken;
}

static const struct gmt_sample_loop usual = {.warm_up = 3, .samples = 3};

Test(sample_loop, of_a_short_point_are_as_many_as_asked_for)
{
    struct taken taken = take(usual, 5000, 77);

    cr_assert_eq(taken.warm_up, 3);
    cr_assert_eq(taken.counted, 3);
}

Test(sample_loop, end_with_their_time_and_are_never_none)
{
    struct taken taken = take(usual, 2100000, 0);

    cr_assert_eq(taken.warm_up, 2, "the first four milliseconds warm up");
    cr_assert_eq(taken.counted, 2);
    taken = take(usual, 1900000, 0);
    cr_assert_eq(taken.warm_up, 3);
    cr_assert_eq(taken.counted, 3);
    taken = take(usual, 400000000, 1ull << 60);
    cr_assert_eq(taken.warm_up, 1);
    cr_assert_eq(taken.counted, 1);
}

Test(sample_loop, that_need_no_warm_up_or_are_not_wanted_are_left_out)
{
    struct taken taken = take((struct gmt_sample_loop){.warm_up = 0, .samples = 2}, 5000, 9);

    cr_assert_eq(taken.warm_up, 0);
    cr_assert_eq(taken.counted, 2);
    taken = take((struct gmt_sample_loop){0}, 5000, 9);
    cr_assert_eq(taken.warm_up + taken.counted, 0);
}

Test(sample_loop, cost_what_they_take)
{
    static const uint64_t times_ns[] = {5000, 250000, 1500000, 2500000, 40000000};

    for (size_t i = 0; i < sizeof(times_ns) / sizeof(times_ns[0]); i++) {
        cr_assert_eq(gmt_sample_loop_cost_ns(&usual, (double)times_ns[i]),
                     (double)take(usual, times_ns[i], 0).took_ns, "%zu", i);
    }
}
