/* SPDX-License-Identifier: Apache-2.0 */
/* The gain of a fix from paired differences of run times. */
#include <stdlib.h>
#include <string.h>

#include "launcher/try/try.h"

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double gmt_try_median(const double *values, unsigned count)
{
    double copy[GMT_TRY_MOST_TURNS];
    if (count == 0 || count > GMT_TRY_MOST_TURNS) {
        return 0;
    }
    memcpy(copy, values, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), by_value);
    return count % 2 == 1 ? copy[count / 2] : (copy[count / 2 - 1] + copy[count / 2]) / 2;
}

/* The interval between the k-th smallest and the k-th largest holds the median with 1 - 2 P(X < k), X binomial with n and a
 * half. The narrowest one that holds it with `wanted`, or the whole range where none does. */
struct gmt_try_gain gmt_try_gain_of(const double *differences, unsigned count, double wanted)
{
    double copy[GMT_TRY_MOST_TURNS], weight = 1, below = 0;
    struct gmt_try_gain gain = {.pairs = count};
    if (count == 0 || count > GMT_TRY_MOST_TURNS) {
        return gain;
    }
    memcpy(copy, differences, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), by_value);
    for (unsigned i = 0; i < count; i++) {
        weight /= 2;
    }
    unsigned k = 0;
    gain.coverage = 1 - 2 * weight;
    for (unsigned i = 0; i < count / 2; i++) { /* weight: P(X = i) */
        below += weight;
        if (1 - 2 * below < wanted) {
            break;
        }
        k = i;
        gain.coverage = 1 - 2 * below;
        weight *= (double)(count - i) / (double)(i + 1);
    }
    gain.median_s = gmt_try_median(differences, count);
    gain.low_s = copy[k];
    gain.high_s = copy[count - 1 - k];
    return gain;
}
