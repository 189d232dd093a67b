/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that load code, and whether a program that has long been in its loop makes them (host_loads.h). */
#include "analyzer/rules/common/host_loads.h"

#include "analyzer/base/thresholds.h"
#include "libtrace/base/prefix.h"

bool gmt_is_load(const struct gmt_timeline *timeline, const struct gmt_host_call *call)
{
    static const char *const names[] = {"cuLibraryLoad", "cuModuleLoad", "cuLinkComplete"};
    const char *name = call->api >= 0 && (size_t)call->api < timeline->api_count
                           ? timeline->apis[call->api].name
                           : NULL;

    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (gmt_starts_with(name, names[i])) {
            return true;
        }
    }
    return false;
}

/* The first launch that begins at that moment or later. */
static size_t first_from(const struct gmt_timeline *timeline, int64_t at_ns)
{
    size_t low = 0, high = timeline->launch_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (timeline->launches[middle].call.begin_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool gmt_load_recurs(const struct gmt_timeline *timeline, int64_t from_ns, int64_t to_ns)
{
    int64_t known = 0, all = 0;

    for (size_t i = first_from(timeline, from_ns);
         i < timeline->launch_count && timeline->launches[i].call.begin_ns < to_ns; i++) {
        int32_t index = timeline->launches[i].class_index;

        if (index >= 0) {
            const struct gmt_tl_class *class = &timeline->classes[index];

            all += 1;
            known += timeline->launches[class->first_launch].call.begin_ns < from_ns;
        }
    }
    return all >= GMT_HOST_LOADS_BETWEEN && (double)known >= GMT_HOST_LOADS_KNOWN * (double)all;
}
