/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves in a report what is about kernels whose names match. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/kernel_filter.h"

/* What is shown of a class of kernels, and what it is called. */
struct kernel_name {
    const char *shown, *true_name;
};

struct wanted_kernels {
    const struct kernel_name *names; /* by what is shown */
    size_t name_count;
    const regex_t *kernels;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct kernel_name *)a)->shown, ((const struct kernel_name *)b)->shown);
}

/* False: no memory. */
static bool sort_names(struct wanted_kernels *wanted, const struct gmt_timeline *tl,
                       struct gmt_arena *arena)
{
    struct kernel_name *names = NULL;

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        if (class->name == NULL) {
            continue;
        }
        struct kernel_name *name = GMT_PUSH(arena, names, wanted->name_count);
        if (name == NULL) {
            return false;
        }
        *name = (struct kernel_name){class->name, class->signature};
    }
    if (names != NULL) {
        qsort(names, wanted->name_count, sizeof(*names), compare_names);
    }
    wanted->names = names;
    return true;
}

/* A redacted report has numbers for names, and the expression is about names. */
static bool matches(const struct wanted_kernels *wanted, const char *shown)
{
    const struct kernel_name key = {.shown = shown};
    const struct kernel_name *found = shown != NULL && wanted->name_count > 0
                                          ? bsearch(&key, wanted->names, wanted->name_count,
                                                    sizeof(key), compare_names)
                                          : NULL;
    const char *name = found != NULL ? found->true_name : shown;

    return name != NULL && regexec(wanted->kernels, name, 0, NULL, 0) == 0;
}

static size_t keep_findings(const struct wanted_kernels *wanted, struct gmt_finding *findings,
                            size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (matches(wanted, findings[i].where.kernel)) {
            findings[kept++] = findings[i];
        }
    }
    return kept;
}

static size_t count_of(const struct gmt_finding *findings, size_t n, const char *rule)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        count += strcmp(findings[i].rule, rule) == 0;
    }
    return count;
}

/* A rule fails by what is shown of it. */
static void count_again(struct gmt_report *report)
{
    for (size_t i = 0; i < report->rule_count; i++) {
        struct gmt_rule_result *rule = &report->rules[i];

        rule->findings = count_of(report->findings, report->finding_count, rule->id);
        rule->notes = count_of(report->notes, report->note_count, rule->id);
        if (rule->outcome == GMT_OUTCOME_FAIL && rule->findings == 0) {
            rule->outcome = GMT_OUTCOME_PASS;
        }
    }
}

void gmt_report_keep_kernels(const struct gmt_timeline *timeline, struct gmt_report *report,
                             const regex_t *kernels)
{
    struct wanted_kernels wanted = {.kernels = kernels};
    size_t kept = 0;

    if (!sort_names(&wanted, timeline, report->arena)) {
        return; /* the arena says so: there will be no report */
    }
    report->finding_count = keep_findings(&wanted, report->findings, report->finding_count);
    report->note_count = keep_findings(&wanted, report->notes, report->note_count);
    count_again(report);
    for (size_t i = 0; i < report->kernel_count; i++) {
        if (matches(&wanted, report->kernels[i].name)) {
            report->kernels[kept++] = report->kernels[i];
        }
    }
    report->kernel_count = kept;
    kept = 0;
    for (size_t i = 0; i < report->race_count; i++) {
        if (matches(&wanted, report->races[i].kernel)) {
            report->races[kept++] = report->races[i];
        }
    }
    report->race_count = kept;
}

static int by_time(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    double x = tl->classes[*(const size_t *)a].total_ns,
           y = tl->classes[*(const size_t *)b].total_ns;

    return (x < y) - (x > y);
}

/* "no kernel matches ...; the longest are: a(int), b(float*), ..." */
static void name_longest(const struct gmt_timeline *timeline, char *message, size_t bytes)
{
    size_t *order = calloc(timeline->class_count + 1, sizeof(*order)), n = 0, shown = 0;
    size_t used = (size_t)snprintf(message, bytes, "no kernel matches the expression of --kernel");
    const char *last = NULL;

    for (size_t i = 0; order != NULL && i < timeline->class_count; i++) {
        if (timeline->classes[i].name != NULL) {
            order[n++] = i;
        }
    }
    if (n > 1) {
        qsort_r(order, n, sizeof(*order), by_time, (void *)(uintptr_t)timeline);
    }
    for (size_t i = 0; i < n && shown < 4 && used < bytes; i++) {
        const char *name = timeline->classes[order[i]].name;

        if (last != NULL && strcmp(last, name) == 0) {
            continue; /* another shape of it */
        }
        used += (size_t)snprintf(message + used, bytes - used, "%s%.80s",
                                 shown++ == 0 ? "; the longest are: " : ", ", name);
        last = name;
    }
    if (n == 0 && used < bytes) {
        (void)snprintf(message + used, bytes - used, ": the trace has none");
    }
    free(order);
}

int gmt_kernels_match(const struct gmt_timeline *timeline, const regex_t *kernels, char *message,
                      size_t bytes)
{
    for (size_t i = 0; i < timeline->class_count; i++) {
        const char *name = timeline->classes[i].signature;

        if (name != NULL && regexec(kernels, name, 0, NULL, 0) == 0) {
            return 0;
        }
    }
    name_longest(timeline, message, bytes);
    return -ENOENT;
}
