/* SPDX-License-Identifier: Apache-2.0 */
/* The latest steps, in order of time and in order of length. */
#include "libtrace/store/live/step_window.h"

#include <stddef.h>
#include <string.h>

#define LEAST_NS UINT64_C(100000)
#define LEAST_PART 10u /* of the median */

uint64_t gmt_step_window_quantile(const struct gmt_step_window *window, unsigned percent)
{
    uint32_t rank = (window->count * percent + 99) / 100;
    return window->count != 0 && rank != 0 ? window->sorted[rank - 1] : 0;
}

/* The first place whose value is not below `ns`. */
static size_t place_of(const struct gmt_step_window *window, uint64_t ns)
{
    size_t low = 0, high = window->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (window->sorted[middle] < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void take_out(struct gmt_step_window *window, uint64_t ns)
{
    size_t at = place_of(window, ns);
    window->count--;
    memmove(&window->sorted[at], &window->sorted[at + 1],
            (window->count - at) * sizeof(window->sorted[0]));
}

static bool is_slow(const struct gmt_step_window *window, uint64_t ns)
{
    uint64_t median = gmt_step_window_quantile(window, 50);
    uint64_t p99 = gmt_step_window_quantile(window, 99), margin = p99 - median;
    margin = margin > median / LEAST_PART ? margin : median / LEAST_PART;
    margin = margin > LEAST_NS ? margin : LEAST_NS;
    return window->count >= GMT_STEP_WARM_UP && ns > p99 + margin;
}

bool gmt_step_window_add(struct gmt_step_window *window, uint64_t ns)
{
    bool slow = is_slow(window, ns);
    if (window->count == GMT_STEP_WINDOW) {
        take_out(window, window->latest[window->next]);
    }
    size_t at = place_of(window, ns);
    memmove(&window->sorted[at + 1], &window->sorted[at],
            (window->count - at) * sizeof(window->sorted[0]));
    window->sorted[at] = ns;
    window->count++;
    window->latest[window->next] = ns;
    window->next = (window->next + 1) % GMT_STEP_WINDOW;
    return slow;
}
