/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of modelled timelines: no time of theirs was measured, and all of them say so. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "libtrace/base/format.h"

const char *gmt_time_words(struct gmt_analysis *analysis, double ns)
{
    char time[GMT_FORMAT_BYTES];

    return gmt_arena_text(analysis->report->arena,
                          analysis->timeline->modelled ? "about %s, modelled" : "%s",
                          gmt_format_ns(time, ns));
}

/* Methods say what was measured on a GPU; here nothing was. */
static const char *method_modelled(struct gmt_analysis *analysis, const char *method)
{
    static const char measured[] = "measured", modelled[] = "modelled";
    char *text = gmt_arena_text(analysis->report->arena, "modelled for %s from exact counts: %s",
                                analysis->model->device_name != NULL ? analysis->model->device_name
                                                                     : "the model's device",
                                method != NULL ? method : "");

    static_assert(sizeof(measured) == sizeof(modelled), "one takes the place of the other");
    for (char *at = text; at != NULL && (at = strstr(at, measured)) != NULL;) {
        memcpy(at, modelled, sizeof(modelled) - 1);
    }
    return text;
}

void gmt_finding_mark_modelled(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    struct gmt_saving *saving = &finding->saving;

    for (size_t i = 0; i < finding->evidence_count; i++) {
        struct gmt_evidence *evidence = &finding->evidence[i];

        if (strcmp(evidence->unit, "ns") == 0 && strncmp(evidence->name, "modelled", 8) != 0) {
            evidence->name = gmt_arena_text(analysis->report->arena, "modelled_%s", evidence->name);
        }
    }
    if (isnan(saving->best_ns)) {
        return;
    }
    finding->confidence = GMT_CONFIDENCE_MODELLED;
    finding->method = method_modelled(analysis, finding->method);
    saving->low_ns = fmin(saving->low_ns, saving->best_ns / GMT_MODELLED_FACTOR);
    saving->high_ns = fmax(saving->high_ns, saving->best_ns * GMT_MODELLED_FACTOR);
    if (isfinite(finding->cost_ns)) {
        saving->high_ns = fmin(saving->high_ns,
                               fmax(finding->cost_ns * GMT_MODELLED_FACTOR, saving->best_ns));
    }
}
