/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of device memory over ranks. */
#include "analyzer/fleet/imbalance.h"

#include <errno.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* 0: it allocated nothing, or is not compared. */
static double peak_of(const struct gmt_fleet_rank *rank)
{
    double peak = 0;

    for (size_t s = 0; rank->trouble == NULL && s < rank->step_count; s++) {
        double value = rank->values[s * GMT_FLEET_MEASURES + GMT_FLEET_PEAK];

        peak = value > peak ? value : peak;
    }
    return peak;
}

int gmt_fleet_imbalance_find(struct gmt_fleet_imbalance *imbalance, const struct gmt_fleet *fleet)
{
    double *peaks = calloc(fleet->count + 1, sizeof(*peaks));

    *imbalance = (struct gmt_fleet_imbalance){0};
    if (peaks == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < fleet->count; r++) {
        double peak = peak_of(&fleet->ranks[r]);

        if (peak <= 0) {
            continue;
        }
        if (imbalance->ranks == 0 || peak < imbalance->least) {
            imbalance->least = peak;
            imbalance->least_rank = r;
        }
        if (peak > imbalance->most) {
            imbalance->most = peak;
            imbalance->most_rank = r;
        }
        peaks[imbalance->ranks++] = peak;
    }
    size_t n = imbalance->ranks;
    qsort(peaks, n, sizeof(*peaks), by_size);
    imbalance->median = n > 0 ? (peaks[(n - 1) / 2] + peaks[n / 2]) / 2 : 0;
    free(peaks);
    return 0;
}
