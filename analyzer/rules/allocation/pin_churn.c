/* SPDX-License-Identifier: Apache-2.0 */
/* GM207: host memory that is page-locked and released over and over. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/held_memory.h"
#include "libtrace/base/format.h"
#include "libtrace/record/traits.h"

static int compare(const void *a, const void *b, void *sorted)
{
    const struct gmt_memory *memory = sorted;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct gmt_memory_row *p = &memory->rows[x], *q = &memory->rows[y];

    if (p->site != q->site) {
        return p->site < q->site ? -1 : 1;
    }
    if (p->api_id != q->api_id) {
        return p->api_id < q->api_id ? -1 : 1;
    }
    if (p->bytes != q->bytes) {
        return p->bytes < q->bytes ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static bool same(const struct gmt_memory_row *p, const struct gmt_memory_row *q)
{
    return p->site == q->site && p->api_id == q->api_id && p->bytes == q->bytes;
}

/* A pool of host memory keeps its pages locked, whatever is allocated from it. */
static bool is_pooled(const struct gmt_memory *memory, const struct gmt_memory_row *row)
{
    const struct gmt_timeline *tl = memory->timeline;

    return row->api_id >= 0 && (size_t)row->api_id < tl->api_count &&
           (tl->apis[row->api_id].traits & GMT_TRAIT_FROM_POOL) != 0;
}

/* Rows that each follow the release of the one before; in place. */
static size_t pairs_of(const struct gmt_memory *memory, size_t *members, size_t n)
{
    int64_t freed_ns = INT64_MIN;
    size_t pairs = 0;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_memory_row *row = &memory->rows[members[i]];

        if (row->free_begin_ns == GMT_NO_TIME || row->begin_ns < freed_ns ||
            is_pooled(memory, row)) {
            continue;
        }
        freed_ns = row->free_end_ns;
        members[pairs++] = members[i];
    }
    return pairs;
}

static void describe(struct gmt_analysis *analysis, const struct gmt_memory_row *row, size_t pairs,
                     struct gmt_finding *finding)
{
    bool registered = row->kind == GMT_ALLOC_REGISTERED;
    char size[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    finding->headline = gmt_text(
        analysis, "%s are %s and released %s times%s%s", gmt_format_bytes(size, (double)row->bytes),
        registered ? "registered" : "allocated page-locked", gmt_format_count(count, (double)pairs),
        isnan(finding->cost_ns) ? "" : ": ",
        isnan(finding->cost_ns) ? "" : gmt_time_words(analysis, finding->cost_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis, "%s the %s once, before the loop, and keep %s.",
                            registered ? "Register" : "Allocate", size, registered ? "it" : "them");
    finding->sketch = gmt_text(analysis,
                               registered
                                   ? "cudaHostRegister(p, %lld, 0);  // %s: once, before the loop\n"
                                     "for (...)\n    ...\n"
                                     "cudaHostUnregister(p);"
                                   : "cudaMallocHost(&p, %lld);  // %s: once, before the loop\n"
                                     "for (...)\n    ...\n"
                                     "cudaFreeHost(p);",
                               (long long)row->bytes, finding->where.label);
}

/* Why so many pairs, of `all` allocations, are too few to matter, or NULL. */
static const char *too_few(struct gmt_analysis *analysis, size_t pairs, size_t all)
{
    char percent[GMT_FORMAT_BYTES];

    if (pairs < GMT_CHURN_MIN_PAIRS) {
        return gmt_text(analysis, "fewer than %d pairs: this may be set-up instead of a loop",
                        GMT_CHURN_MIN_PAIRS);
    }
    if (analysis->timeline->simulated && (double)pairs < GMT_EXCESS_SHARE * (double)all) {
        return gmt_text(analysis, "less than %s of all page-locked memory",
                        gmt_format_percent(percent, 100 * GMT_EXCESS_SHARE));
    }
    return NULL;
}

static void report_pairs(struct gmt_analysis *analysis, const size_t *members, size_t pairs,
                         size_t all)
{
    const struct gmt_memory *memory = analysis->memory;
    const struct gmt_memory_row *row = &memory->rows[members[0]];
    struct gmt_held_site site = {.rows = members, .count = pairs, .example = row};
    struct gmt_held_cost cost = {0};
    struct gmt_finding *finding = gmt_finding_new(analysis);
    struct gmt_tl_call call = gmt_memory_call(memory, row);

    if (finding == NULL) {
        return;
    }
    /* The first one stays. */
    for (size_t i = 1; i < pairs; i++) {
        gmt_held_add_calls(analysis, &memory->rows[members[i]], finding, &cost);
    }
    finding->where = gmt_where_of_call(analysis, &call);
    gmt_finding_evidence(finding, "pairs", "count", (double)pairs);
    gmt_finding_evidence(finding, "bytes_each", "bytes", (double)row->bytes);
    gmt_held_price(analysis, &cost, finding);
    gmt_finding_evidence(finding, "pinned_in_all", "bytes", (double)row->bytes * (double)pairs);
    describe(analysis, row, pairs, finding);
    finding->sql = gmt_text(
        analysis,
        "SELECT count(*), sum(bytes), sum(end_ns - begin_ns), sum(free_end_ns - free_begin_ns) "
        "FROM %s",
        gmt_held_from(analysis, &site, gmt_text(analysis, "bytes = %lld", (long long)row->bytes)));
    gmt_finding_note_small(finding, too_few(analysis, pairs, all));
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_memory *memory = analysis->memory;
    size_t *members = calloc(memory->count + 1, sizeof(*members));
    size_t n = 0;

    if (members == NULL) {
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < memory->count; i++) {
        if (memory->rows[i].host) {
            members[n++] = i;
        }
    }
    qsort_r(members, n, sizeof(*members), compare, (void *)(uintptr_t)memory);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same(&memory->rows[members[i]], &memory->rows[members[end]]);
             end++) {
        }
        size_t pairs = pairs_of(memory, members + i, end - i);
        if (pairs > 1) {
            report_pairs(analysis, members + i, pairs, n);
        }
    }
    free(members);
    if (n == 0) {
        analysis->result->why = "the program page-locks no host memory";
    }
    return n > 0 ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_pin_churn;
const struct gmt_rule gmt_rule_pin_churn = {.id = "GM207",
                                            .slug = "pin-churn",
                                            .title = "Page-locking in a loop",
                                            .category = "allocations",
                                            .about_request = true,
                                            .run = run};
