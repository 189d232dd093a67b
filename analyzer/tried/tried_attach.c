/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings a fix repairs that was tried, and how far what was predicted of them was off (tried.h). */
#include <math.h>
#include <string.h>

#include "analyzer/tried/tried.h"

/* Rules that findings are of which the fix cannot reach: memory that a program registers is never kept (docs/try.md). */
static const struct {
    const char *fix, *api;
} beyond[] = {{"pinned-cache", "cuMemHostRegister"}};

static double evidence(const struct gmt_finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            return finding->evidence[i].value;
        }
    }
    return NAN;
}

/* Bytes of one of its calls, their mean where they differ; NAN: the finding does not say. */
static double bytes_of_call(const struct gmt_finding *finding)
{
    double each = evidence(finding, "bytes_each");

    return isnan(each) ? evidence(finding, "bytes") / evidence(finding, "copies") : each;
}

static bool is_of_rule(const char *rules, const char *rule)
{
    size_t length = strlen(rule);

    for (const char *at = strstr(rules, rule); at != NULL; at = strstr(at + 1, rule)) {
        if ((at == rules || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool was_known(const struct gmt_tried *tried, const char *fingerprint)
{
    for (size_t i = 0; i < tried->fingerprint_count; i++) {
        if (strcmp(tried->fingerprints[i], fingerprint) == 0) {
            return true;
        }
    }
    return !tried->knows_findings;
}

/* Is it one of those that the fix is for, and of calls that it changes? */
static bool repairs(const struct gmt_tried *tried, const struct gmt_finding *finding)
{
    const struct gmt_tried_counts *counts = tried->counts;

    if (tried->count != 1 || !is_of_rule(counts->rules, finding->rule) ||
        !was_known(tried, finding->fingerprint) || bytes_of_call(finding) < counts->least_bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        if (strcmp(counts->fix, beyond[i].fix) == 0 && finding->where.api != NULL &&
            strstr(finding->where.api, beyond[i].api) != NULL) {
            return false;
        }
    }
    return true;
}

static void add(struct gmt_tried *tried, const struct gmt_finding *finding)
{
    const struct gmt_saving *saving = &finding->saving;
    struct gmt_saving *sum = &tried->predicted;

    tried->findings++;
    if (isnan(saving->best_ns)) {
        return;
    }
    if (isnan(sum->best_ns)) {
        *sum = (struct gmt_saving){0, 0, 0, NAN};
    }
    sum->low_ns += saving->low_ns;
    sum->best_ns += saving->best_ns;
    sum->high_ns += saving->high_ns;
}

static void attach(struct gmt_tried_results *results, struct gmt_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        /* Of values of one fix the first is the best. */
        for (size_t k = 0; k < results->count && findings[i].tried == NULL; k++) {
            if (repairs(&results->rows[k], &findings[i])) {
                findings[i].tried = &results->rows[k];
                add(&results->rows[k], &findings[i]);
            }
        }
    }
}

void gmt_tried_attach(struct gmt_tried_file *file, struct gmt_report *report)
{
    struct gmt_tried_results *results = &file->results;

    report->tried = results;
    attach(results, report->findings, report->finding_count);
    attach(results, report->notes, report->note_count);
    for (size_t i = 0; i < results->count; i++) {
        struct gmt_tried *tried = &results->rows[i];

        tried->predicted.share = tried->predicted.best_ns / results->untouched_ns;
        tried->points = 100 * (tried->predicted.share - tried->gain.share);
    }
}
