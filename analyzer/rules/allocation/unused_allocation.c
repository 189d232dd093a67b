/* SPDX-License-Identifier: Apache-2.0 */
/* GM205: device memory that nothing ever touches, or reads. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/where.h"
#include "analyzer/rules/common/held_memory.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/ids.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

/* Filled, and read by nothing. What was lost is left to GM204. */
static bool is_filled_only(const struct gmt_memory_row *row)
{
    return row->unread && row->bytes > 0 && !row->segment;
}

static bool is_unused(const struct gmt_memory_row *row)
{
    return !row->host && row->bytes > 0 && row->kind != GMT_ALLOC_MANAGED &&
           row->kind != GMT_ALLOC_UNKNOWN && !gmt_memory_is_foreign(row) && !row->segment &&
           row->first_use_ns == GMT_NO_TIME;
}

static bool choose(const struct gmt_held_group *group, size_t i, struct gmt_interval *life)
{
    const struct gmt_memory_row *row = &group->memory->rows[group->rows[i]];

    if (is_filled_only(row)) {
        *life = (struct gmt_interval){row->lives_ns, row->lives_ns};
        return group->lost < GMT_LEAK_MIN_COUNT || !gmt_held_is_lost(group, i);
    }
    if (!is_unused(row) || row->indirect) {
        return false;
    }
    *life = gmt_memory_needed(group->memory, row);
    return life->end_ns <= life->begin_ns;
}

/* One file with nothing between it and Python: a binding, which asks for what the Python code wants. */
static bool is_binding(const struct gmt_where *where)
{
    size_t i = 0, first;

    while (i < where->stack_depth && where->stack[i].runtime) {
        i++;
    }
    for (first = i; i < where->stack_depth && where->stack[i].module != NULL &&
                    strcmp(where->stack[i].module, where->stack[first].module) == 0;
         i++) {
    }
    return i > first && i < where->stack_depth &&
           (where->stack[i].interpreter || gmt_frame_is_made(&where->stack[i]));
}

static void advise(struct gmt_analysis *analysis, const struct gmt_held_site *site, bool filled,
                   struct gmt_finding *finding)
{
    const char *it = site->count == 1 ? "it" : "them", *function;
    const char *library = gmt_where_library(&finding->where, &function);

    finding->effort = GMT_EFFORT_SMALL;
    if (library != NULL && is_binding(&finding->where)) {
        finding->fix = gmt_text(analysis, "Leave out %s: nothing on the device uses %s.",
                                site->count == 1 ? "this allocation" : "these allocations", it);
        return;
    }
    if (library != NULL) {
        /* A handle made in a loop is the program's; the memory of a single one is not. */
        finding->advised = site->count >= GMT_CHURN_MIN_PAIRS;
        finding->fix = gmt_text(analysis,
                                "Avoid %s by the settings of %s, which asks for %s itself%s%s%s: "
                                "the size of a workspace or of a pool, or one handle less.",
                                it, library, it, function != NULL ? " (" : "",
                                function != NULL ? function : "", function != NULL ? ")" : "");
        return;
    }
    finding->fix = gmt_text(analysis, "Remove the allocation%s and what %s %s.",
                            site->count == 1 ? "" : "s", filled ? "fills and frees" : "frees", it);
    finding->sketch = gmt_text(analysis, "// %s: remove\ncudaMalloc(&p, %lld);",
                               finding->where.label, (long long)site->example->bytes);
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static struct gmt_ids ids_of_filled(struct gmt_analysis *analysis, const struct gmt_held_site *site)
{
    const struct gmt_memory *memory = analysis->memory;
    struct gmt_ids ids = {.ids = calloc(site->count + 1, sizeof(*ids.ids))};

    for (size_t i = 0; ids.ids != NULL && i < site->count; i++) {
        if (is_filled_only(&memory->rows[site->rows[i]])) {
            ids.ids[ids.n++] = memory->rows[site->rows[i]].id;
        }
    }
    analysis->report->arena->failed |= ids.ids == NULL;
    if (ids.ids != NULL) {
        qsort(ids.ids, ids.n, sizeof(*ids.ids), compare_ids);
    }
    return ids;
}

/* What fills the memory: by the device's clock where that is known, as the device works for it. */
static void add_fills(struct gmt_analysis *analysis, const struct gmt_ids *ids,
                      struct gmt_finding *finding, struct gmt_held_cost *cost)
{
    static const char sql[] =
        "SELECT dst_allocation_id, CASE WHEN timed THEN device_start_ns ELSE begin_ns END, CASE "
        "WHEN timed THEN device_end_ns ELSE end_ns END FROM (SELECT *, device_start_ns + "
        "device_end_ns IS NOT NULL AS timed FROM (SELECT dst_allocation_id, begin_ns, end_ns, "
        "device_start_ns, device_end_ns FROM memset WHERE result = 0 AND capturing = 0 UNION ALL "
        "SELECT dst_allocation_id, begin_ns, end_ns, device_start_ns, device_end_ns FROM transfer "
        "WHERE result = 0 AND capturing = 0 AND direction = 'd2d'))";
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_cover kernels;
    struct gmt_query query;

    if (tl->simulated || ids->n == 0 || gmt_cover_make(&kernels, tl, GMT_COVER_KERNELS) != 0) {
        return;
    }
    int rc = gmt_query_open(&query, tl->db, sql);
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_interval fill = {gmt_query_time(&query, 1), gmt_query_time(&query, 2)};

        if (gmt_ids_index(ids, gmt_query_id(&query, 0)) < 0 || fill.begin_ns == GMT_NO_TIME ||
            fill.end_ns <= fill.begin_ns) {
            continue;
        }
        cost->total_ns += (double)(fill.end_ns - fill.begin_ns);
        cost->hidden_ns += gmt_cover_within(&kernels, fill.begin_ns, fill.end_ns);
        gmt_finding_claim(analysis, finding, fill);
    }
    (void)gmt_query_close(&query, rc);
    gmt_cover_free(&kernels);
}

static void describe(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding)
{
    struct gmt_ids ids = ids_of_filled(analysis, site);
    struct gmt_held_cost cost = {0};
    size_t filled = ids.n;
    char count[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES];
    const char *plural = site->count == 1 ? "" : "s";

    for (size_t i = 0; i < site->count; i++) {
        gmt_held_add_calls(analysis, &analysis->memory->rows[site->rows[i]], finding, &cost);
    }
    add_fills(analysis, &ids, finding, &cost);
    free(ids.ids);
    finding->headline = gmt_text(
        analysis, "%s allocation%s, %s together: no copy, memset or kernel ever %s %s%s",
        gmt_format_count(count, (double)site->count), plural, gmt_format_bytes(all, site->bytes),
        filled > 0 ? "read" : "touched", site->count == 1 ? "it" : "them",
        filled == 0            ? ""
        : filled < site->count ? gmt_text(analysis, ", %zu were only filled", filled)
                               : ", only filled");
    gmt_finding_evidence(finding, "only_filled", "count", (double)filled);
    gmt_held_price(analysis, &cost, finding);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns), "
                            "sum(free_end_ns - free_begin_ns) FROM %s",
                            gmt_held_from(analysis, site, ""));
    advise(analysis, site, filled > 0, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    static const struct gmt_held_rule rule = {.choose = choose, .describe = describe};
    const struct gmt_memory *memory = analysis->memory;
    const char *unknown = gmt_held_unknown(analysis);
    size_t doubtful = 0, indirect = 0;

    if (unknown != NULL) {
        return gmt_could_not(analysis, "%s", unknown);
    }
    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];
        struct gmt_interval lived = {row->lives_ns, gmt_memory_freed_ns(row)};
        bool doubt = is_unused(row) && gmt_memory_in_doubt(memory, lived);

        doubtful += doubt;
        indirect += is_unused(row) && !doubt && row->indirect;
    }
    enum gmt_outcome outcome = gmt_held_run(analysis, &rule);
    if (outcome == GMT_OUTCOME_PASS && analysis->pending_count == 0 && doubtful > 0) {
        return gmt_could_not(analysis,
                             "%zu allocation%s without a recorded use existed during launches "
                             "whose arguments are not known",
                             doubtful, doubtful == 1 ? "" : "s");
    }
    if (outcome == GMT_OUTCOME_PASS && analysis->pending_count == 0 && indirect > 0) {
        return gmt_could_not(analysis,
                             "%zu allocation%s without a recorded use may be used through pointers "
                             "in memory, or as a texture or surface",
                             indirect, indirect == 1 ? "" : "s");
    }
    return outcome;
}

extern const struct gmt_rule gmt_rule_unused_allocation;
const struct gmt_rule gmt_rule_unused_allocation = {.id = "GM205",
                                                    .slug = "unused-allocation",
                                                    .title = "Device memory that nothing uses",
                                                    .category = "allocations",
                                                    .needs = GMT_NEED_ALLOCATIONS |
                                                             GMT_NEED_ALL_USES,
                                                    .about_request = true,
                                                    .run = run};
