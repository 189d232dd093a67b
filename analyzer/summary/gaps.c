/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be checked and why: capabilities, losses, kernels never measured, failed rules. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/summary/coverage.h"
#include "analyzer/summary/gap.h"
#include "analyzer/summary/gaps.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/store/db/own_schema.h"

static void add_capabilities(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT name, state, detail, remedy, code FROM capability "
                            "WHERE state <> 'ok' ORDER BY state = 'off', name");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *state = gmt_query_text(&query, 1, arena);
        const char *detail = gmt_query_text(&query, 2, arena);
        const char *remedy = gmt_query_text(&query, 3, arena);
        bool off = strcmp(state, "off") == 0;

        /* Switched off by the user is no gap in what was asked for. */
        report->incomplete |= !off;
        if (detail != NULL && detail[0] != '\0') {
            detail = gmt_arena_text(arena, "%s: %s", state, detail);
        } else {
            detail = state;
        }
        gmt_gap_add(report, gmt_query_text(&query, 0, arena), detail,
                    remedy != NULL && remedy[0] != '\0' ? remedy : NULL);
    }
    gmt_query_close(&query, rc);
}

/* The kernel classes of which something holds. */
struct classes_of {
    size_t count;
    double time_ns;
    const struct gmt_tl_class *longest; /* NULL: there is none */
};

static struct classes_of find_classes(const struct gmt_timeline *tl,
                                      bool (*holds)(const struct gmt_tl_class *))
{
    struct classes_of found = {0};

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        if (holds(class)) {
            found.count++;
            found.time_ns += isnan(class->total_ns) ? 0 : class->total_ns;
            found.longest = found.longest == NULL || class->total_ns > found.longest->total_ns
                                ? class
                                : found.longest;
        }
    }
    return found;
}

static bool is_unmeasured(const struct gmt_tl_class *class)
{
    return class->alone != 0 && class->measured == 0;
}

static bool communicates(const struct gmt_tl_class *class)
{
    return class->communicates;
}

static void add_unmeasured(const struct gmt_timeline *tl, struct gmt_report *report)
{
    char text[GMT_FORMAT_BYTES];
    const struct classes_of these = find_classes(tl, is_unmeasured);
    const char *why = gmt_gaps_reason_unmeasured(tl, report);
    /* Where counters were off or refused there is no reason of a class: the row of that capability says it. */
    if (these.count == 0 || !(tl->has_patched || tl->has_hardware || why != NULL)) {
        return;
    }
    report->incomplete = true;
    const char *name = these.longest->name != NULL ? these.longest->name : "unnamed";
    gmt_gap_add(report, "kernels",
                gmt_arena_text(report->arena,
                               "%zu of %" PRIu64 " kernel classes (%s of %s time) never "
                               "measured%s%s%s %s%s",
                               these.count, report->kernel_classes,
                               gmt_format_ns(text, these.time_ns),
                               tl->modelled ? "modelled" : "device",
                               why == NULL       ? ""
                               : these.count > 1 ? "; why, for each of them: "
                                                 : ", ",
                               why != NULL ? why : "", why != NULL && these.count > 1 ? ";" : ":",
                               these.count > 1 ? "the longest is " : "",
                               gmt_short_kernel_name(report->arena, name)),
                gmt_gaps_remedy_unmeasured(why));
}

/* What kernels do that wait for their peers is the matter of all ranks together. */
static void add_communicating(const struct gmt_timeline *tl, struct gmt_report *report)
{
    char text[GMT_FORMAT_BYTES];
    const struct classes_of these = find_classes(tl, communicates);
    if (these.longest == NULL) {
        return;
    }
    const char *name = these.longest->name != NULL ? these.longest->name : "unnamed";
    gmt_gap_add(report, "communication",
                gmt_arena_text(
                    report->arena,
                    "no rule judges %zu kernel class%s%s, as %s for kernels of other "
                    "ranks or devices: %s%s",
                    these.count, these.count == 1 ? "" : "es",
                    these.time_ns > 0
                        ? gmt_arena_text(report->arena, " (%s)", gmt_format_ns(text, these.time_ns))
                        : "",
                    these.count == 1 ? "it waits" : "they wait",
                    these.count > 1 ? "the longest is " : "",
                    gmt_short_kernel_name(report->arena, name)),
                "gmanalyze fleet on the traces of all ranks shows which of them is waited for");
}

/* Also where nothing was measured in the end. */
static bool counters_were_on(const struct gmt_timeline *tl)
{
    int64_t on = 0;

    (void)gmt_query_int64(
        tl->db, "SELECT count(*) FROM capability WHERE name = 'counters' AND state = 'ok'", &on);
    return on > 0 || tl->has_patched || tl->has_hardware;
}

/* Of launches outside of the range that is looked at, where there is one. */
static bool has_counters(const struct gmt_tl_class *class)
{
    bool any = false;

    for (size_t i = 0; i < GMT_METRICS && !any; i++) {
        any = isfinite(class->counter[i]);
    }
    return any;
}

/* Kernels that only graphs run are not measured, and some are of no class. */
static void add_graph_kernels(const struct gmt_timeline *tl, struct gmt_report *report)
{
    size_t classes = 0;
    double time_ns = 0;
    char text[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        if (class->in_graphs > 0 && class->alone == 0 && !has_counters(class)) {
            classes++;
            time_ns += class->total_ns;
        }
    }
    if (classes > 0 && counters_were_on(tl)) {
        report->incomplete = true;
        gmt_gap_add(
            report, "graphs",
            gmt_arena_text(report->arena,
                           "%zu kernel class%s (%s of device time) only ran in graphs, and "
                           "%s not measured there",
                           classes, classes == 1 ? "" : "es", gmt_format_ns(text, time_ns),
                           classes == 1 ? "was" : "were"),
            "run the captured code twice before it is captured: those launches are measured");
    }
    if (tl->unknown_nodes > 0) {
        gmt_gap_add(
            report, "graphs",
            gmt_arena_text(report->arena,
                           "%zu kernel%s of graphs (%s of device time) could not be distinguished "
                           "from others, or have no class: they are in no row of Kernels",
                           tl->unknown_nodes, tl->unknown_nodes == 1 ? "" : "s",
                           gmt_format_ns(text, tl->unknown_nodes_ns)),
            NULL);
    }
}

/* Work of the software device that no counter has. */
static void add_unsimulated(const struct gmt_timeline *tl, struct gmt_report *report)
{
    size_t mixed = 0, graphs = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        mixed += tl->classes[i].counter[GMT_M_mixed_space_requests] > 0;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        graphs += tl->launches[i].class_index < 0;
    }
    if (mixed > 0) {
        gmt_gap_add(report, "counters",
                    gmt_arena_text(report->arena,
                                   "%zu kernel class%s with single instructions that touch global "
                                   "and shared memory at once: they are in no sum (see table "
                                   "instruction, kind generic)",
                                   mixed, mixed == 1 ? "" : "es"),
                    NULL);
    }
    if (graphs > 0 && tl->has_patched) {
        gmt_gap_add(report, "graphs",
                    gmt_arena_text(report->arena,
                                   "%zu launch%s of graphs: the kernels in them are not counted",
                                   graphs, graphs == 1 ? "" : "es"),
                    NULL);
    }
}

/* Copies that launches of graphs repeat: they are in v_graph_launch, and no rule about copies sees them. */
static void add_graph_copies(const struct gmt_timeline *tl, struct gmt_report *report)
{
    static const char sql[] =
        "SELECT sum(c.launches), sum(c.launches * n.copies), sum(c.launches * n.bytes) FROM "
        "(SELECT g.id, count(*) AS launches FROM launch l JOIN graph g ON g.id = (SELECT v.id FROM "
        "graph v WHERE v.handle = l.graph AND v.begin_ns <= l.begin_ns ORDER BY v.begin_ns DESC "
        "LIMIT 1) WHERE l.kind = 'graph' AND l.result = 0 AND l.capturing = 0 GROUP BY g.id) c "
        "JOIN (SELECT graph_id, count(*) AS copies, sum(bytes) AS bytes FROM graph_node "
        "WHERE kind = 'copy' AND position IS NOT NULL GROUP BY graph_id) n ON n.graph_id = c.id";
    /* Where nodes are switched off a launch has to be looked at by itself. */
    static const char by_launch[] = "SELECT count(DISTINCT launch_id), count(*), sum(bytes) FROM "
                                    "v_graph_launch WHERE kind = 'copy'";
    struct gmt_query query;
    int64_t tables = 0, switches = 0, graphs = 0;
    char bytes[GMT_FORMAT_BYTES];

    /* Traces of earlier versions do not know what is in a graph. */
    (void)gmt_query_int64(
        tl->db,
        "SELECT count(*) FROM sqlite_master WHERE name IN ('graph', 'graph_node') "
        "AND type = 'table'",
        &tables);
    if (tables == 2) {
        (void)gmt_query_int64(tl->db, "SELECT EXISTS (SELECT 1 FROM graph)", &graphs);
    }
    if (graphs == 0) {
        return;
    }
    (void)gmt_query_int64(tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'graph_switch'",
                          &tables);
    if (tables == 1) {
        (void)gmt_query_int64(tl->db, "SELECT count(*) FROM graph_switch", &switches);
    }
    int rc = gmt_query_open(&query, tl->db, switches > 0 ? by_launch : sql);
    if (rc == 0 && gmt_query_next(&query) && gmt_query_count(&query, 1) > 0) {
        int64_t launches = gmt_query_count(&query, 0);

        gmt_gap_add(report, "graphs",
                    gmt_arena_text(report->arena,
                                   "%" PRId64 " launch%s of graphs make%s %" PRId64
                                   " copies (%s) that the rules about copies do not look at: see "
                                   "view v_graph_launch",
                                   launches, launches == 1 ? "" : "es", launches == 1 ? "s" : "",
                                   gmt_query_count(&query, 1),
                                   gmt_format_bytes(bytes, gmt_query_real(&query, 2))),
                    NULL);
    }
    gmt_query_close(&query, rc);
}

/* Copies into shared memory that bypass the load instructions that are counted. */
static void add_uncounted(const struct gmt_timeline *tl, struct gmt_report *report)
{
    size_t classes = 0;
    const char *name = NULL;

    if (tl->simulated) {
        return; /* it counts them */
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        const double *c = tl->classes[i].counter;

        bool copies = c[GMT_M_async_copy_instructions] > 0 && isnan(c[GMT_M_async_copy_bytes]);

        if (copies || c[GMT_M_tma_instructions] > 0) {
            classes++;
            name = tl->classes[i].name;
        }
    }
    if (classes > 0) {
        gmt_gap_add(report, "async copies",
                    gmt_arena_text(
                        report->arena,
                        "%zu kernel class%s load%s through LDGSTS or TMA, which the load counters "
                        "do not see (%s)",
                        classes, classes == 1 ? "" : "es", classes == 1 ? "s" : "",
                        name != NULL ? name : "unnamed"),
                    NULL);
    }
}

/* Times in which the program, or a library of its own, used CUPTI itself. */
static void add_device_gaps(const struct gmt_timeline *tl, struct gmt_report *report)
{
#define DEVICE_GAPS(which) \
    "SELECT client, request, count(*), min(g.begin_ns) - p.start_ns, " \
    "max(coalesce(g.end_ns, p.end_ns)) - p.start_ns, sum(coalesce(g.end_ns, p.end_ns) - " \
    "g.begin_ns), sum(g.end_ns IS NULL) FROM device_gap g, process p WHERE " which \
    " GROUP BY client ORDER BY min(g.begin_ns)"
    const char *sql = gmt_trace_has_column(tl->db, "device_gap", "reason")
                          ? DEVICE_GAPS("reason IS NOT 'budget'")
                          : DEVICE_GAPS("1");
    struct gmt_query query;
    int64_t tables = 0;
    char from[GMT_FORMAT_BYTES], to[GMT_FORMAT_BYTES], sum[GMT_FORMAT_BYTES];

    /* Traces of earlier versions have no such table. */
    (void)gmt_query_int64(
        tl->db, "SELECT count(*) FROM sqlite_master WHERE name = 'device_gap' AND type = 'table'",
        &tables);
    if (tables != 1) {
        return;
    }
    int rc = gmt_query_open(&query, tl->db, sql);
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t times = gmt_query_count(&query, 2);
        const char *client = gmt_query_text(&query, 0, report->arena);
        const char *request = gmt_query_text(&query, 1, report->arena);
        bool known = client != NULL && client[0] != '\0';

        report->incomplete = true;
        gmt_gap_add(report, "device times",
                    gmt_arena_text(report->arena,
                                   "missing from %s to %s%s%s: another CUPTI client (%s, %s) was "
                                   "active; device work in that time is known from host calls "
                                   "only, and copies that may have waited for it are not priced",
                                   gmt_format_ns(from, gmt_query_real(&query, 3)),
                                   gmt_query_count(&query, 6) > 0
                                       ? "the end"
                                       : gmt_format_ns(to, gmt_query_real(&query, 4)),
                                   times > 1 ? ", in all " : "",
                                   times > 1 ? gmt_format_ns(sum, gmt_query_real(&query, 5)) : "",
                                   known ? client : "the program", request != NULL ? request : "?"),
                    "record without the program's own profiler");
    }
    gmt_query_close(&query, rc);
}

static void add_rules(struct gmt_report *report)
{
    for (size_t i = 0; i < report->rule_count; i++) {
        const struct gmt_rule_result *rule = &report->rules[i];

        if (rule->outcome != GMT_OUTCOME_COULD_NOT_CHECK) {
            continue;
        }
        report->incomplete = true;
        gmt_gap_add(report, gmt_arena_text(report->arena, "%s %s", rule->id, rule->slug), rule->why,
                    NULL);
    }
}

void gmt_gaps_fill(const struct gmt_timeline *tl, const struct gmt_model *model,
                   struct gmt_report *report)
{
    if (!tl->complete) {
        report->incomplete = true;
        gmt_gap_add(report, "recording",
                    "the trace was never finished; its last rows may be missing", NULL);
    }
    if (tl->end_reason != NULL && strcmp(tl->end_reason, "killed") == 0) {
        gmt_gap_add(report, "recording",
                    "the program was killed; calls still open then are missing", NULL);
    }
    add_capabilities(tl, report);
    gmt_gaps_add_losses(tl, report);
    add_device_gaps(tl, report);
    gmt_device_seen_add_gap(tl, report);
    gmt_coverage_add_gaps(report);
    if (tl->device_count > 1) {
        gmt_gap_add(
            report, "devices",
            gmt_arena_text(report->arena,
                           "%zu devices were used; copies and kernels are priced as if all ran on "
                           "the first",
                           tl->device_count),
            NULL);
    }
    add_unmeasured(tl, report);
    add_communicating(tl, report);
    add_uncounted(tl, report);
    add_graph_kernels(tl, report);
    add_graph_copies(tl, report);
    if (tl->simulated) {
        add_unsimulated(tl, report);
    }
    add_rules(report);
    if (model->provenance == GMT_MODEL_MODELLED && !tl->simulated) {
        gmt_gap_add(
            report, "prices",
            gmt_arena_text(report->arena,
                           "no device model of such a GPU: savings are modelled with that of %s",
                           model->device_name != NULL ? model->device_name : "another GPU"),
            "gmanalyze --calibrate now on the machine with the GPU");
    }
    if (model->provenance != GMT_MODEL_NONE && model->noisy) {
        gmt_gap_add(report, "prices", "the device was busy or throttled while it was calibrated",
                    "gmanalyze --calibrate now on an idle GPU");
    }
}
