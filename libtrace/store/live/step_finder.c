/* SPDX-License-Identifier: Apache-2.0 */
/* What is a step. */
#include "libtrace/store/live/step_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libtrace/record/kinds.h"
#include "libtrace/store/live/launch_pattern.h"

struct gmt_step_finder {
    char wanted[GMT_LIVE_NAME_BYTES], wanted_domain[GMT_LIVE_NAME_BYTES];
    struct {
        uint32_t thread; /* 0: none */
        struct gmt_launch_pattern pattern;
    } threads[GMT_STEP_THREADS];
    bool has_ranges;
};

struct gmt_step_finder *gmt_step_finder_open(const char *name)
{
    struct gmt_step_finder *finder = calloc(1, sizeof(*finder));
    const char *at = strrchr(name, '@');
    if (finder == NULL) {
        return NULL;
    }
    (void)snprintf(finder->wanted, sizeof(finder->wanted), "%.*s",
                   at != NULL ? (int)(at - name) : (int)strlen(name), name);
    (void)snprintf(finder->wanted_domain, sizeof(finder->wanted_domain), "%s",
                   at != NULL ? at + 1 : "");
    return finder;
}

void gmt_step_finder_close(struct gmt_step_finder *finder)
{
    for (size_t i = 0; finder != NULL && i < GMT_STEP_THREADS; i++) {
        gmt_launch_pattern_free(&finder->threads[i].pattern);
    }
    free(finder);
}

/* Depth is counted by domain: ranges of libraries are the outermost of theirs, and several come in a step. */
static bool is_of_library(const char *domain)
{
    /* torch: of gmtrace.torch, which names modules and steps of optimizers. */
    static const char *const libraries[] = {"NCCL", "CCCL", "torch"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (strcasecmp(domain, libraries[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_step(const struct gmt_step_finder *finder, const struct gmt_step_range *range)
{
    const struct gmt_range_names *names = range->names;
    if (range->kind == GMT_RANGE_PROFILER) {
        return false;
    }
    if (finder->wanted[0] == '\0') {
        return (range->kind == GMT_RANGE_START || range->depth == 0) &&
               !is_of_library(names->domain);
    }
    return strncmp(names->name, finder->wanted, sizeof(finder->wanted) - 1) == 0 &&
           (finder->wanted_domain[0] == '\0' || strcmp(names->domain, finder->wanted_domain) == 0);
}

bool gmt_step_finder_range(struct gmt_step_finder *finder, const struct gmt_step_range *range)
{
    bool is = is_step(finder, range);
    finder->has_ranges |= is;
    return is && range->end_ns != 0;
}

uint64_t gmt_step_finder_key(uint64_t what, const uint32_t grid[static 3],
                             const uint32_t block[static 3])
{
    uint64_t key = what;
    for (int i = 0; i < 3; i++) {
        key = (key ^ grid[i]) * UINT64_C(0x9e3779b97f4a7c15);
        key = (key ^ block[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return key != 0 ? key : 1;
}

bool gmt_step_finder_launch(struct gmt_step_finder *finder, uint32_t thread, uint64_t key,
                            uint64_t ns, uint64_t *step_ns, unsigned *slot)
{
    unsigned i = 0;
    while (i < GMT_STEP_THREADS && finder->threads[i].thread != 0 &&
           finder->threads[i].thread != thread) {
        i++;
    }
    if (i == GMT_STEP_THREADS || thread == 0 || finder->wanted[0] != '\0' || finder->has_ranges) {
        return false;
    }
    finder->threads[i].thread = thread;
    *slot = i;
    return gmt_launch_pattern_add(&finder->threads[i].pattern, key, ns, step_ns);
}
