/* SPDX-License-Identifier: Apache-2.0 */
/* GM206: device memory that lies idle at the moment of the peak, before its first or after its last use. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/held_memory.h"
#include "libtrace/base/format.h"

static bool choose(const struct gmt_held_group *group, size_t i, struct gmt_interval *life)
{
    const struct gmt_memory_row *row = &group->memory->rows[group->rows[i]];

    /* Of what nothing reads GM205 says that it can go. */
    if (row->first_use_ns == GMT_NO_TIME || row->unread || row->lives_ns > group->peak.at_ns ||
        gmt_memory_freed_ns(row) <= group->peak.at_ns) {
        return false;
    }
    *life = gmt_memory_needed(group->memory, row);
    if (life->end_ns > group->peak.at_ns && life->begin_ns < group->peak.until_ns) {
        return false;
    }
    return group->lost < GMT_LEAK_MIN_COUNT || !gmt_held_is_lost(group, i);
}

/* How long the example lies idle, "1.2 s before its first use". */
static const char *idle(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                        struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_interval need = gmt_memory_needed(analysis->memory, site->example);
    int64_t freed_ns = gmt_memory_freed_ns(site->example);
    bool late = need.end_ns <= site->peak.at_ns;
    char time[GMT_FORMAT_BYTES];

    freed_ns = freed_ns == INT64_MAX ? tl->end_ns : freed_ns;
    if (tl->simulated) {
        return late ? "kept after its last use" : "allocated before its first use";
    }
    double before_ns = (double)(need.begin_ns - site->example->lives_ns);
    double after_ns = fmax(0, (double)freed_ns - (double)need.end_ns);
    gmt_finding_evidence(finding, "before_first_use", "ns", before_ns);
    gmt_finding_evidence(finding, "after_last_use", "ns", after_ns);
    return gmt_text(analysis, "%s %s", gmt_format_ns(time, late ? after_ns : before_ns),
                    late ? "after its last use" : "before its first use");
}

static void describe(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding)
{
    char all[GMT_FORMAT_BYTES], peak[GMT_FORMAT_BYTES];
    struct gmt_interval need = gmt_memory_needed(analysis->memory, site->example);
    bool late = need.end_ns <= site->peak.at_ns;

    /* Holding what nobody else needs then is no fault. */
    if (isnan(site->saved_bytes) ||
        site->saved_bytes <
            fmax(GMT_PEAK_MIN_BYTES, GMT_PEAK_MIN_SHARE * (double)site->peak.bytes)) {
        return;
    }
    const char *how = idle(analysis, site, finding);
    finding->headline = gmt_text(analysis, "%s of the peak of %s lie idle: %zu allocation%s, %s%s",
                                 gmt_format_bytes(all, site->bytes),
                                 gmt_format_bytes(peak, (double)site->peak.bytes), site->count,
                                 site->count == 1 ? "" : "s",
                                 site->count == 1 ? "" : "the largest of them ", how);
    finding->sql = gmt_text(analysis, "SELECT count(*), sum(bytes) FROM %s",
                            gmt_held_from(analysis, site, ""));
    finding->method = analysis->timeline->simulated
                          ? "n/a: no times (software device); bytes at the peak are exact"
                          : "no time is saved; the peak of device memory with these allocations "
                            "living from their first use to their last";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = late ? "Free it right after its last use, before the peak is reached."
                        : "Allocate it right before its first use, after the peak.";
    finding->sketch = gmt_text(
        analysis,
        late ? "last_use<<<grid, block>>>(p);\n"
               "cudaFree(p);  // %s: %lld bytes, before the next large allocation"
             : "// %s: not here, but right before the first use\n"
               "cudaMalloc(&p, %lld);",
        finding->where.label, (long long)site->example->bytes);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    static const struct gmt_held_rule rule = {.choose = choose, .describe = describe};
    const char *unknown = gmt_held_unknown(analysis);

    if (unknown != NULL) {
        return gmt_could_not(analysis, "%s", unknown);
    }
    return gmt_held_run(analysis, &rule);
}

extern const struct gmt_rule gmt_rule_early_alloc_late_free;
const struct gmt_rule gmt_rule_early_alloc_late_free = {
    .id = "GM206",
    .slug = "early-alloc-late-free",
    .title = "Device memory not in use at the peak",
    .category = "allocations",
    .needs = GMT_NEED_ALLOCATIONS | GMT_NEED_ALL_USES,
    .run = run};
