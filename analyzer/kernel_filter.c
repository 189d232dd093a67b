/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves in a report what is about kernels whose names match. */
#include <string.h>

#include "analyzer/analysis.h"

static bool matches(const regex_t *kernels, const char *name)
{
    return name != NULL && regexec(kernels, name, 0, NULL, 0) == 0;
}

static size_t keep_findings(const regex_t *kernels, struct gmt_finding *findings, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (matches(kernels, findings[i].where.kernel))
            findings[kept++] = findings[i];
    }
    return kept;
}

static size_t count_of(const struct gmt_finding *findings, size_t n, const char *rule)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += strcmp(findings[i].rule, rule) == 0;
    return count;
}

/* A rule fails by what is shown of it. */
static void count_again(struct gmt_report *report)
{
    for (size_t i = 0; i < report->rule_count; i++) {
        struct gmt_rule_result *rule = &report->rules[i];

        rule->findings = count_of(report->findings, report->finding_count, rule->id);
        rule->notes = count_of(report->notes, report->note_count, rule->id);
        if (rule->outcome == GMT_OUTCOME_FAIL && rule->findings == 0)
            rule->outcome = GMT_OUTCOME_PASS;
    }
}

void gmt_report_keep_kernels(struct gmt_report *report, const regex_t *kernels)
{
    size_t kept = 0;

    report->finding_count = keep_findings(kernels, report->findings, report->finding_count);
    report->note_count = keep_findings(kernels, report->notes, report->note_count);
    count_again(report);
    for (size_t i = 0; i < report->kernel_count; i++) {
        if (matches(kernels, report->kernels[i].name))
            report->kernels[kept++] = report->kernels[i];
    }
    report->kernel_count = kept;
    kept = 0;
    for (size_t i = 0; i < report->race_count; i++) {
        if (matches(kernels, report->races[i].kernel))
            report->races[kept++] = report->races[i];
    }
    report->race_count = kept;
}
