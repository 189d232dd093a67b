/* SPDX-License-Identifier: Apache-2.0 */
/* GM208: page-locked host memory that no transfer and no kernel uses. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/held_memory.h"
#include "libtrace/base/format.h"

/* Bytes that copies touched: from the first to the last. */
static double used_bytes(const struct gmt_memory_row *row)
{
    return row->copied_begin < row->copied_end ? (double)(row->copied_end - row->copied_begin) : 0;
}

static bool choose(const struct gmt_held_group *group, size_t i, struct gmt_interval *life)
{
    const struct gmt_memory_row *row = &group->memory->rows[group->rows[i]];
    struct gmt_interval lived = {row->lives_ns, gmt_memory_freed_ns(row)};
    bool touched = row->first_use_ns != GMT_NO_TIME && row->copied_begin >= row->copied_end;

    /* What the calculation of the peak takes it for: gone. The used part is put back below. */
    *life = (struct gmt_interval){row->lives_ns, row->lives_ns};
    return !row->in_kernels && !touched && !gmt_memory_in_doubt(group->memory, lived) &&
           used_bytes(row) <= GMT_PINNED_USED_SHARE * (double)row->bytes;
}

static void describe(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding)
{
    struct gmt_held_cost cost = {0};
    char all[GMT_FORMAT_BYTES], in_use[GMT_FORMAT_BYTES];
    double used = 0;

    for (size_t i = 0; i < site->count; i++) {
        const struct gmt_memory_row *row = &analysis->memory->rows[site->rows[i]];

        used += used_bytes(row);
        if (used_bytes(row) <= 0) {
            gmt_held_add_calls(analysis, row, finding, &cost);
        }
    }
    gmt_finding_evidence(finding, "copied", "bytes", used);
    gmt_held_price(analysis, &cost, finding);
    const char *part = used > 0 ? gmt_text(analysis, "only %s of them take part in copies",
                                           gmt_format_bytes(in_use, used))
                                : "no copy and no kernel uses them";
    finding->headline = gmt_text(analysis, "%s of page-locked memory in %zu allocation%s: %s",
                                 gmt_format_bytes(all, site->bytes), site->count,
                                 site->count == 1 ? "" : "s", part);
    finding->sql = gmt_text(analysis, "SELECT count(*), sum(bytes) FROM %s",
                            gmt_held_from(analysis, site, ""));
    finding->effort = GMT_EFFORT_SMALL;
    bool registered = site->example->kind == GMT_ALLOC_REGISTERED;
    finding->fix =
        used > 0     ? "Page-lock only the part that is copied, and allocate the rest with malloc."
        : registered ? "Do not register it: the device never accesses it."
                     : "Allocate it with malloc: the device never accesses it.";
    finding->sketch = gmt_text(analysis,
                               registered ? "// %s: register what is copied, not all %lld bytes\n"
                                            "cudaHostRegister(p, copied_bytes, 0);"
                                          : "// %s: in place of cudaMallocHost\n"
                                            "p = malloc(%lld);",
                               finding->where.label, (long long)site->example->bytes);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    static const struct gmt_held_rule rule = {
        .host = true, .choose = choose, .describe = describe, .kept_bytes = used_bytes};
    const struct gmt_memory *memory = analysis->memory;
    const char *unknown = gmt_held_unknown(analysis);

    if (memory->host_count == 0) {
        analysis->result->why = "the program page-locks no host memory";
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    if (unknown != NULL) {
        return gmt_could_not(analysis, "%s", unknown);
    }
    return gmt_held_run(analysis, &rule);
}

extern const struct gmt_rule gmt_rule_over_pinned;
const struct gmt_rule gmt_rule_over_pinned = {.id = "GM208",
                                              .slug = "over-pinned",
                                              .title = "Page-locked memory that nothing uses",
                                              .needs = GMT_NEED_ALL_USES,
                                              .category = "allocations",
                                              .about_request = true,
                                              .run = run};
