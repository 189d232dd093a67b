/* SPDX-License-Identifier: Apache-2.0 */
/* GM204: device memory that is allocated again and again and never freed. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/allocation/leak_growth.h"
#include "analyzer/rules/common/held_memory.h"
#include "libtrace/base/format.h"

#define NO_MEMORY "not enough memory, or a damaged trace"

static bool choose(const struct gmt_held_group *group, size_t i, struct gmt_interval *life)
{
    const struct gmt_memory_row *row = &group->memory->rows[group->rows[i]];

    if (!gmt_held_is_lost(group, i)) {
        return false;
    }
    *life = (struct gmt_interval){row->lives_ns, gmt_memory_needed(group->memory, row).end_ns};
    return true;
}

static void describe(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding)
{
    char count[GMT_FORMAT_BYTES], lost[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES],
        each[GMT_FORMAT_BYTES];
    bool is_mixed = site->bytes < (double)site->count * (double)site->example->bytes;

    gmt_finding_evidence(finding, "largest", "bytes", (double)site->example->bytes);
    gmt_finding_evidence(finding, "never_freed", "count", (double)site->unfreed);
    gmt_format_bytes(each, (double)site->example->bytes);
    gmt_format_count(count, (double)site->unfreed);
    gmt_format_count(lost, (double)site->count);
    gmt_format_bytes(all, site->bytes);
    /* The last one is needed to the end: it is not freed either, and nothing is lost by that. */
    finding->headline = site->unfreed == site->count
                            ? gmt_text(analysis,
                                       "%s allocations of %s%s are never freed, %s together, and "
                                       "none is used after the next one is made",
                                       count, each, is_mixed ? " or less" : "", all)
                            : gmt_text(analysis,
                                       "%s allocations of %s%s are never freed; %s of them, %s "
                                       "together, are not used after the next one is made",
                                       count, each, is_mixed ? " or less" : "", lost, all);
    if (site->count < GMT_LEAK_MIN_COUNT) {
        finding->note_why = "too few to be a loop: the end of the process frees them";
    }
    finding->sql = gmt_text(analysis, "SELECT count(*), sum(bytes) FROM %s",
                            gmt_held_from(analysis, site, "free_begin_ns IS NULL"));
    finding->method = analysis->timeline->simulated
                          ? "n/a: no times (software device); bytes at the peak are exact"
                          : "no time is saved; the peak of device memory with each of them freed "
                            "after its last use";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Free each of them after its last use, or allocate the %s once.", each);
    finding->sketch = gmt_text(analysis,
                               "cudaMalloc(&p, %lld);  // %s: %zu times in this run\n"
                               "...\n"
                               "cudaFree(p);  // missing",
                               (long long)site->example->bytes, finding->where.label,
                               site->unfreed);
}

/* One note for all that stays until the end, kept by the program or by its allocator. */
static void note_kept(struct gmt_analysis *analysis, bool segments)
{
    const struct gmt_memory *memory = analysis->memory;
    const struct gmt_memory_row *largest = NULL;
    char bytes[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    double n = 0, sum = 0;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (row->host || row->free_begin_ns != GMT_NO_TIME || row->bytes <= 0 ||
            row->segment != segments) {
            continue;
        }
        n++;
        sum += (double)row->bytes;
        if (largest == NULL || row->bytes > largest->bytes) {
            largest = row;
        }
    }
    if (largest == NULL) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    struct gmt_tl_call call = gmt_memory_call(memory, largest);
    finding->where = gmt_where_of_call(analysis, &call);
    gmt_finding_evidence(finding, "allocations", "count", n);
    gmt_finding_evidence(finding, "bytes", "bytes", sum);
    finding->headline = gmt_text(
        analysis,
        n == 1 ? "%s %s%s, %s, is never freed"
               : "%s %s%s, %s together, are never freed; the largest is made here",
        gmt_format_count(count, n), segments ? "segment" : "allocation", n == 1 ? "" : "s",
        gmt_format_bytes(bytes, sum));
    finding->sql = "SELECT count(*), sum(bytes) FROM allocation WHERE free_begin_ns IS NULL";
    finding->method = "no time is saved; bytes as the program asked for them";
    finding->fix = "Free it after its last use, if the program is to run longer.";
    finding->note_why =
        segments ? "the program's own allocator keeps them, and no steady growth was seen"
                 : "the end of the process frees them";
    finding->small = sum < GMT_PEAK_MIN_BYTES;
    gmt_finding_emit(analysis, finding);
}

static bool anything_kept(const struct gmt_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        if (!memory->rows[i].host && memory->rows[i].free_begin_ns == GMT_NO_TIME) {
            return true;
        }
    }
    return false;
}

/* Whether any that was emitted from that one on is a finding, not a note. */
static bool has_findings(const struct gmt_analysis *analysis, size_t from)
{
    for (size_t i = from; i < analysis->pending_count; i++) {
        if (analysis->pending[i].note_why == NULL) {
            return true;
        }
    }
    return false;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    static const struct gmt_held_rule rule = {.choose = choose, .describe = describe};
    const char *unknown = gmt_held_unknown(analysis);

    /* That it grew is true however the program ended, whoever uses it, and if all is given back in the end. */
    int grown = gmt_leak_growth(analysis, true);
    if (grown < 0) {
        return gmt_could_not(analysis, NO_MEMORY);
    }
    if (!anything_kept(analysis->memory)) {
        return GMT_OUTCOME_PASS;
    }
    if (gmt_held_broke_off(analysis)) {
        return gmt_could_not(analysis, "%s: what it would still have freed is not known",
                             gmt_held_end(analysis));
    }
    if (unknown != NULL) {
        return gmt_could_not(analysis, "%s", unknown);
    }
    size_t others = analysis->pending_count;
    enum gmt_outcome outcome = gmt_held_run(analysis, &rule);
    bool has_notes = analysis->pending_count > others;
    int others_grown = has_findings(analysis, others) ? 1 : gmt_leak_growth(analysis, false);
    if (others_grown < 0) {
        return gmt_could_not(analysis, NO_MEMORY);
    }
    if (others_grown == 0 && !has_notes) {
        note_kept(analysis, false);
    }
    if (grown == 0) {
        note_kept(analysis, true);
    }
    return outcome;
}

extern const struct gmt_rule gmt_rule_leak;
const struct gmt_rule gmt_rule_leak = {.id = "GM204",
                                       .slug = "leak",
                                       .title = "Device memory that is never freed",
                                       .category = "allocations",
                                       .needs = GMT_NEED_ALLOCATIONS | GMT_NEED_ALL_USES,
                                       .run = run};
