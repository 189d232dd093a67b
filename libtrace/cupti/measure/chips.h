/* SPDX-License-Identifier: Apache-2.0 */
/* What the process may count on each device, and with which configurations; found out once. */
#ifndef GMT_CUPTI_MEASURE_CHIPS_H
#define GMT_CUPTI_MEASURE_CHIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/measure/groups.h"
#include "libtrace/cupti/measure/sampling.h"

#define GMT_CHIPS 64u /* devices that are tracked */

struct gmt_chip {
    struct gmt_group groups[GMT_GROUP_COUNT];  /* what is counted of each group                   */
    struct gmt_group merged;                   /* HARDWARE and PATCHED in one configuration       */
    struct gmt_group *config[GMT_GROUP_COUNT]; /* with which a group is counted; NULL = cannot be */
    uint8_t *availability;
    bool known;
    CUptiResult result; /* what asking gave: success, or CUPTI's refusal   */
    const char *failed; /* ... of this function                            */
};

/* The chip of `device`, in which `context` is. Returns CUPTI_SUCCESS, or CUPTI's reason why nothing
 * can be counted there with *failed the function that said so. Some 150 ms the first time in a
 * process, nothing after that. The caller holds the collector's lock. */
CUptiResult gmt_chip_find(const struct gmt_cupti_api *api, void *context, uint32_t device,
                          const struct gmt_chip **chip, const char **failed);

#endif
