/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every counter group exists and is one pass on every chip that CUPTI 13.0 knows from compute capability 7.5 on, and
 * what a chip cannot count of it is what is written here (docs/compatibility.md). Asked of CUPTI's host API, which needs no GPU.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/cupti/measure/groups.h"

static const struct {
    const char *chip;
    const char *dropped[GMT_GROUP_SPILL + 1]; /* by group, names of metrics.def, space-separated */
} expected[] = {
    {"TU102", {"", "async_copy_instructions tma_instructions", "lsu_wavefronts", ""}},
    {"TU104", {"", "async_copy_instructions tma_instructions", "lsu_wavefronts", ""}},
    {"TU106", {"", "async_copy_instructions tma_instructions", "lsu_wavefronts", ""}},
    {"TU116", {"", "async_copy_instructions tma_instructions", "lsu_wavefronts", ""}},
    {"TU117", {"", "async_copy_instructions tma_instructions", "lsu_wavefronts", ""}},
    {"GA100", {"", "tma_instructions", "lsu_wavefronts", ""}},
    {"GA102", {"", "tma_instructions", "", ""}},
    {"GA103", {"", "tma_instructions", "", ""}},
    {"GA104", {"", "tma_instructions", "", ""}},
    {"GA106", {"", "tma_instructions", "", ""}},
    {"GA107", {"", "tma_instructions", "", ""}},
    {"GA10B", {"", "tma_instructions", "dram_read_bytes dram_write_bytes", ""}},
    {"AD102", {"", "tma_instructions", "", ""}},
    {"AD103", {"", "tma_instructions", "", ""}},
    {"AD104", {"", "tma_instructions", "", ""}},
    {"AD106", {"", "tma_instructions", "", ""}},
    {"AD107", {"", "tma_instructions", "", ""}},
    {"GH100", {"", "", "", ""}},
    {"GB100", {"", "", "", ""}},
    {"GB102", {"", "", "", ""}},
    {"GB110", {"", "", "", ""}},
    {"GB10B", {"", "", "dram_read_bytes dram_write_bytes", ""}},
    {"GB202", {"", "", "", "stalled_long_scoreboard"}},
    {"GB203", {"", "", "", "stalled_long_scoreboard"}},
    {"GB205", {"", "", "", "stalled_long_scoreboard"}},
    {"GB206", {"", "", "", "stalled_long_scoreboard"}},
    {"GB207", {"", "", "", "stalled_long_scoreboard"}},
    {"GB20B", {"", "", "dram_read_bytes dram_write_bytes", "stalled_long_scoreboard"}},
};
#define CHIPS (sizeof(expected) / sizeof(expected[0]))

static struct gmt_cupti_api api;

static void load(void)
{
    if (gmt_cupti_load(&api, NULL) != 0 || api.missing_counters != NULL) {
        cr_skip_test("no CUPTI with the range profiler on this machine");
    }
    gmt_cupti_load_profiler(&api);
}

static const char *name_of(uint16_t id)
{
    for (size_t i = 0; i < gmt_metric_row_count; i++) {
        if (gmt_metric_rows[i].id == id) {
            return gmt_metric_rows[i].name;
        }
    }
    return "?";
}

static void dropped_names(const struct gmt_group *group, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < group->dropped_count && at < bytes; i++) {
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", i != 0 ? " " : "",
                               name_of(group->dropped[i]));
    }
}

static void check_group(size_t chip, enum gmt_counter_group which)
{
    struct gmt_group group;
    CUptiResult result;
    const char *name = expected[chip].chip;
    if (gmt_group_build(&group, &api, name, NULL, which, &result) != 0) {
        /* Nothing of it: then everything is dropped, and said so. */
        cr_assert(group.dropped_count != 0, "group %d of %s: %s", (int)which, name,
                  gmt_cupti_error(&api, result));
    }
    char text[512];
    dropped_names(&group, text, sizeof(text));
    cr_expect(strcmp(text, expected[chip].dropped[which]) == 0, "group %d of %s drops: %s",
              (int)which, name, text);
    gmt_group_release(&group, &api);
}

Test(metrics, each_group_is_one_pass_on_every_generation, .timeout = 120)
{
    load();
    for (size_t chip = 0; chip < CHIPS; chip++) {
        check_group(chip, GMT_GROUP_PATCHED);
        check_group(chip, GMT_GROUP_HARDWARE);
        check_group(chip, GMT_GROUP_SPILL);
    }
}

Test(metrics, hardware_and_patched_are_two_passes_of_one_configuration, .timeout = 120)
{
    load();
    for (size_t chip = 0; chip < CHIPS; chip++) {
        struct gmt_group patched, hardware, merged;
        CUptiResult result;
        const char *name = expected[chip].chip;
        cr_assert(gmt_group_build(&patched, &api, name, NULL, GMT_GROUP_PATCHED, &result) == 0);
        cr_assert(gmt_group_build(&hardware, &api, name, NULL, GMT_GROUP_HARDWARE, &result) == 0);
        cr_expect(gmt_group_merge(&merged, &api, name, NULL, &hardware, &patched) == 0, "%s", name);
        cr_expect(merged.count == hardware.count + patched.count);
        gmt_group_release(&patched, &api);
        gmt_group_release(&hardware, &api);
        gmt_group_release(&merged, &api);
    }
}

Test(metrics, an_unknown_chip_is_refused)
{
    load();
    struct gmt_group group;
    CUptiResult result;
    cr_expect(gmt_group_build(&group, &api, "GX999", NULL, GMT_GROUP_PATCHED, &result) != 0);
    cr_expect(group.image == NULL && group.host == NULL);
}

Test(metrics, ids_are_unique_and_groups_fit_the_arrays)
{
    size_t counts[GMT_GROUP_SPILL + 1] = {0};
    for (size_t i = 0; i < gmt_metric_row_count; i++) {
        counts[gmt_metric_rows[i].group]++;
        for (size_t k = i + 1; k < gmt_metric_row_count; k++) {
            cr_expect(gmt_metric_rows[i].id != gmt_metric_rows[k].id);
            cr_expect(strcmp(gmt_metric_rows[i].name, gmt_metric_rows[k].name) != 0);
        }
    }
    cr_expect(counts[GMT_GROUP_NONE] == 0);
    cr_expect(counts[GMT_GROUP_PATCHED] <= 18, "CUPTI takes 18 patched names at most");
    cr_expect(counts[GMT_GROUP_PATCHED] + counts[GMT_GROUP_HARDWARE] <= GMT_GROUP_METRICS);
}
