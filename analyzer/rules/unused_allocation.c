/* SPDX-License-Identifier: Apache-2.0 */
/* GM205: device memory that nothing ever touches. */
#include "analyzer/rules/held_memory.h"
#include "analyzer/thresholds.h"
#include "analyzer/where.h"
#include "reports/format.h"

static const char explain[] =
    "What    Memory that is allocated and never used is missing elsewhere, and its allocation and\n"
    "        release cost time.\n"
    "Seen    Allocations that no copy and no memset touched and of which no kernel got a pointer,\n"
    "        also not while a graph was captured, by call site.\n"
    "Saving  The peak of device memory without them; and the measured times of allocating and\n"
    "        freeing them, without waiting for kernels. What of that the device's work hid saves\n"
    "        nothing: it is left out, and counts at the upper end only.\n"
    "Fix     Remove the allocation. One that a library makes for itself depends on its settings.\n"
    "Limits  Pointers that kernels find in memory are not seen, except by the software device. An\n"
    "        allocation is left alone when a small copy to where kernels look may have brought a\n"
    "        pointer to it, when it is an array, which kernels get as a texture or surface, when\n"
    "        a launch whose arguments are not known ran while it lived, when it lived as the\n"
    "        program broke off, when memory was given to another process, when it is managed (the\n"
    "        host may use it), when it belongs to an allocator of the program's own, and when it\n"
    "        is a piece of a range that was mapped piece by piece and another piece is used.\n";

static bool is_unused(const struct gmt_memory_row *row)
{
    return !row->host && row->bytes > 0 && row->kind != GMT_MEMORY_MANAGED &&
           row->kind != GMT_MEMORY_UNKNOWN && !row->segment && row->first_use_ns == GMT_NO_TIME;
}

static bool choose(const struct gmt_held_group *group, size_t i, struct gmt_interval *life)
{
    const struct gmt_memory_row *row = &group->memory->rows[group->rows[i]];

    if (!is_unused(row) || row->indirect)
        return false;
    *life = gmt_memory_needed(group->memory, row);
    return life->end_ns <= life->begin_ns;
}

static void advise(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                   struct gmt_finding *finding)
{
    const char *it = site->count == 1 ? "it" : "them", *function;
    const char *library = gmt_where_library(&finding->where, &function);

    finding->effort = GMT_EFFORT_SMALL;
    if (library != NULL) {
        finding->fix = gmt_text(analysis,
                                "%s asks for %s itself%s%s%s: its settings may spare %s (the size "
                                "of a workspace or of a pool), or one handle less.",
                                library, it, function != NULL ? " (" : "",
                                function != NULL ? function : "", function != NULL ? ")" : "", it);
        return;
    }
    finding->fix = gmt_text(analysis, "Remove the allocation%s and what frees %s.",
                            site->count == 1 ? "" : "s", it);
    finding->sketch = gmt_text(analysis, "// %s: remove\ncudaMalloc(&p, %lld);",
                               finding->where.label, (long long)site->example->bytes);
}

static void describe(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding)
{
    struct gmt_held_cost cost = {0};
    char count[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES];
    const char *plural = site->count == 1 ? "" : "s";

    for (size_t i = 0; i < site->count; i++)
        gmt_held_add_calls(analysis, &analysis->memory->rows[site->rows[i]], finding, &cost);
    finding->headline = gmt_text(
        analysis, "%s allocation%s, %s together: no copy, memset or kernel ever touched %s",
        gmt_format_count(count, (double)site->count), plural, gmt_format_bytes(all, site->bytes),
        site->count == 1 ? "it" : "them");
    gmt_held_price(analysis, &cost, finding);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns), "
                            "sum(free_end_ns - free_begin_ns) FROM %s",
                            gmt_held_from(analysis, site, ""));
    advise(analysis, site, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    static const struct gmt_held_rule rule = {.choose = choose, .describe = describe};
    const struct gmt_memory *memory = analysis->memory;
    const char *unknown = gmt_held_unknown(analysis);
    size_t doubtful = 0, indirect = 0;

    if (unknown != NULL)
        return gmt_could_not(analysis, "%s", unknown);
    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];
        struct gmt_interval lived = {row->lives_ns, gmt_memory_freed_ns(row)};
        bool doubt = is_unused(row) && gmt_memory_in_doubt(memory, lived);

        doubtful += doubt;
        indirect += is_unused(row) && !doubt && row->indirect;
    }
    enum gmt_outcome outcome = gmt_held_run(analysis, &rule);
    if (outcome == GMT_OUTCOME_PASS && analysis->pending_count == 0 && doubtful > 0)
        return gmt_could_not(analysis,
                             "%zu allocation%s with no use that was seen lived during launches "
                             "whose arguments are not known",
                             doubtful, doubtful == 1 ? "" : "s");
    if (outcome == GMT_OUTCOME_PASS && analysis->pending_count == 0 && indirect > 0)
        return gmt_could_not(
            analysis,
            "%zu allocation%s with no use that was seen may be reached by pointers "
            "in memory, or as a texture or surface",
            indirect, indirect == 1 ? "" : "s");
    return outcome;
}

extern const struct gmt_rule gmt_rule_unused_allocation;
const struct gmt_rule gmt_rule_unused_allocation = {.id = "GM205",
                                                    .slug = "unused-allocation",
                                                    .title = "Device memory that nothing uses",
                                                    .category = "allocations",
                                                    .needs = GMT_NEED_ALLOCATIONS,
                                                    .run = run,
                                                    .explain = explain};
