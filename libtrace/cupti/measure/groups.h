/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which metrics of a counter group a chip can count in one pass, and CUPTI's images for them.
 *
 * The profiler keeps the configuration with which it was first started until it is disabled, and
 * enabling it anew costs a quarter of a second; but the passes of one configuration can be collected
 * one after another. So the two groups that matter, HARDWARE and PATCHED, which never share a pass,
 * become one configuration of two passes, and a change between them costs 40 to 90 ms.
 */
#ifndef GMT_CUPTI_MEASURE_GROUPS_H
#define GMT_CUPTI_MEASURE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/layout.h"

#define GMT_GROUP_METRICS 48u /* more than two groups have */
#define GMT_GROUP_COUNT 4u    /* those of the range profiler: NONE, PATCHED, HARDWARE, SPILL */

struct gmt_metric_row { /* a row of metrics.def */
    uint16_t id;
    uint16_t group; /* enum gmt_counter_group                                          */
    const char *name;
    const char *cupti_name;
};

extern const struct gmt_metric_row gmt_metric_rows[];
extern const size_t gmt_metric_row_count;

struct gmt_group {
    uint16_t ids[GMT_GROUP_METRICS]; /* metrics that are counted ...                    */
    const char
        *cupti_names[GMT_GROUP_METRICS]; /* ... and the names this chip knows them by       */
    size_t count;
    uint16_t dropped[GMT_GROUP_METRICS]; /* metrics that are not: no such name, or no room  */
    size_t dropped_count;
    size_t passes;  /* of the image                                    */
    uint8_t *image; /* configuration image; owned                      */
    size_t image_bytes;
    CUpti_Profiler_Host_Object *host; /* evaluates values; owned                         */
};

/* Build `group` for `chip` ("GH100"). `availability` is the device's counter availability image or
 * NULL. Costs about 10 ms (50-400 ms more the first time in a process). Works without a GPU.
 * Returns 0; -ENOTSUP when the chip is unknown or can count nothing of it (*result says why). */
int gmt_group_build(struct gmt_group *group, const struct gmt_cupti_api *api, const char *chip,
                    const uint8_t *availability, enum gmt_counter_group which, CUptiResult *result);

/* Build in `group` the metrics of two built groups as one configuration, if that is two passes. */
int gmt_group_merge(struct gmt_group *group, const struct gmt_cupti_api *api, const char *chip,
                    const uint8_t *availability, const struct gmt_group *first,
                    const struct gmt_group *second);

void gmt_group_release(struct gmt_group *group, const struct gmt_cupti_api *api);

#endif
