/* SPDX-License-Identifier: Apache-2.0 */
/* Asks CUPTI what can be counted on a device (chips.h). */
#include "libtrace/cupti/measure/chips.h"

#include <stdlib.h>

static struct gmt_chip *chips[GMT_CHIPS];

static CUptiResult noted(struct gmt_chip *chip, const char *function, CUptiResult result)
{
    chip->failed = result == CUPTI_SUCCESS ? chip->failed : function;
    return result;
}
#define TRY(function, ...) noted(chip, #function, api->function(__VA_ARGS__))

/* Enabling the profiler succeeds also without permission and starting it is expensive: this shows it. */
static CUptiResult probe(struct gmt_chip *chip, const struct gmt_cupti_api *api, void *context)
{
    CUpti_Profiler_Initialize_Params init = {
        .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUptiResult result = TRY(cuptiProfilerInitialize, &init);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    CUpti_Profiler_GetCounterAvailability_Params params = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
        .ctx = context,
    };
    result = TRY(cuptiProfilerGetCounterAvailability, &params);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    params.pCounterAvailabilityImage = malloc(params.counterAvailabilityImageSize);
    chip->availability = params.pCounterAvailabilityImage;
    return chip->availability != NULL ? TRY(cuptiProfilerGetCounterAvailability, &params)
                                      : CUPTI_ERROR_OUT_OF_MEMORY;
}

static CUptiResult build(struct gmt_chip *chip, const struct gmt_cupti_api *api, uint32_t device)
{
    CUpti_Device_GetChipName_Params name = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
        .deviceIndex = device,
    };
    CUptiResult result = TRY(cuptiDeviceGetChipName, &name);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    bool any = false;
    for (unsigned g = GMT_GROUP_NONE + 1; g < GMT_GROUP_COUNT; g++) {
        if (gmt_group_build(&chip->groups[g], api, name.pChipName, chip->availability,
                            (enum gmt_counter_group)g, &result) == 0) {
            chip->config[g] = &chip->groups[g];
            any = true;
        }
    }
    if (!any) {
        return noted(chip, "cuptiProfilerHostInitialize", result);
    }
    const struct gmt_group *hardware = chip->config[GMT_GROUP_HARDWARE];
    const struct gmt_group *patched = chip->config[GMT_GROUP_PATCHED];
    if (hardware != NULL && patched != NULL &&
        gmt_group_merge(&chip->merged, api, name.pChipName, chip->availability, hardware,
                        patched) == 0) {
        chip->config[GMT_GROUP_HARDWARE] = &chip->merged;
        chip->config[GMT_GROUP_PATCHED] = &chip->merged;
    }
    return CUPTI_SUCCESS;
}

CUptiResult gmt_chip_find(const struct gmt_cupti_api *api, void *context, uint32_t device,
                          const struct gmt_chip **found, const char **failed)
{
    if (device >= GMT_CHIPS) {
        *failed = "gmt_chip_find";
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    if (chips[device] == NULL) {
        chips[device] = calloc(1, sizeof(*chips[device]));
    }
    struct gmt_chip *chip = chips[device];
    if (chip == NULL) {
        *failed = "gmt_chip_find";
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    if (!chip->known) {
        chip->result = probe(chip, api, context);
        if (chip->result == CUPTI_SUCCESS) {
            chip->result = build(chip, api, device);
        }
        chip->known = true;
    }
    *found = chip;
    *failed = chip->result == CUPTI_SUCCESS ? *failed : chip->failed;
    return chip->result;
}
