/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with several problems: one saving for all fixes together, and what each adds to it. */
#include "analyzer/findings/joints.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "libtrace/base/arena.h"

static bool is_about(const struct gmt_finding *finding, const char *kernel)
{
    return finding->saving.best_ns > 0 && finding->where.kernel != NULL &&
           strcmp(finding->where.kernel, kernel) == 0;
}

static double kernel_time(const struct gmt_report *report, const char *kernel)
{
    double sum_ns = NAN;

    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct gmt_kernel_row *row = &report->kernels[i];

        if (strcmp(row->name, kernel) == 0 && isfinite(row->device_ns)) {
            sum_ns = (isnan(sum_ns) ? 0 : sum_ns) + row->device_ns;
        }
    }
    return sum_ns;
}

/* first: the kernel's first finding. alike: room for as many as there are. */
static int add_joint(struct gmt_report *report, size_t first, struct gmt_finding *alike)
{
    struct gmt_joint joint = {.kernel = report->findings[first].where.kernel,
                              .title = report->findings[first].where.title};
    double sum_ns = 0;

    for (size_t i = first; i < report->finding_count; i++) {
        const struct gmt_finding *finding = &report->findings[i];
        struct gmt_joint_part *part = is_about(finding, joint.kernel)
                                          ? GMT_PUSH(report->arena, joint.parts, joint.part_count)
                                          : NULL;

        if (part == NULL) {
            continue;
        }
        *part = (struct gmt_joint_part){i, finding->saving.best_ns};
        sum_ns += finding->saving.best_ns;
        alike[joint.part_count - 1] = *finding;
    }
    if (joint.part_count < 2) {
        return 0;
    }
    int rc = gmt_findings_combine(alike, joint.part_count, report->wall_ns, &joint.saving);
    if (rc != 0 || !(joint.saving.best_ns > 0)) {
        return rc;
    }
    for (size_t i = 0; i < joint.part_count; i++) {
        joint.parts[i].share /= sum_ns;
    }
    joint.cost_ns = kernel_time(report, joint.kernel);
    struct gmt_joint *slot = GMT_PUSH(report->arena, report->joints, report->joint_count);
    if (slot != NULL) {
        *slot = joint;
    }
    return 0;
}

static int compare_joints(const void *a, const void *b)
{
    const struct gmt_joint *x = a, *y = b;

    if (x->saving.best_ns < y->saving.best_ns || x->saving.best_ns > y->saving.best_ns) {
        return x->saving.best_ns < y->saving.best_ns ? 1 : -1;
    }
    return strcmp(x->kernel, y->kernel);
}

int gmt_joints_fill(struct gmt_report *report)
{
    struct gmt_finding *alike = calloc(report->finding_count + 1, sizeof(*alike));
    int rc = alike == NULL ? -ENOMEM : 0;

    for (size_t i = 0; rc == 0 && i < report->finding_count; i++) {
        const char *kernel = report->findings[i].where.kernel;
        bool seen = kernel == NULL || !is_about(&report->findings[i], kernel);

        for (size_t k = 0; k < i && !seen; k++) {
            seen = is_about(&report->findings[k], kernel);
        }
        if (!seen) {
            rc = add_joint(report, i, alike);
        }
    }
    free(alike);
    if (rc == 0 && report->joint_count > 1) {
        qsort(report->joints, report->joint_count, sizeof(*report->joints), compare_joints);
    }
    return rc;
}
