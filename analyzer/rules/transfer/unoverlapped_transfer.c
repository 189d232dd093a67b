/* SPDX-License-Identifier: Apache-2.0 */
/* GM108: copies and kernels of a loop that take turns, where streams would let them run side by side. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/copy_sites.h"
#include "analyzer/rules/common/unoverlapped_loops.h"
#include "analyzer/trace/cover.h"

#define NO_MEMORY "not enough memory, or the trace cannot be read"

struct state {
    struct gmt_loop_covers covers;
    struct gmt_loop *loops;
    size_t count, room;
    bool failed;   /* there was no memory for one */
    bool *relayed; /* by copy: its data goes through the host from step to step */
};

static const char *kernel_of(struct gmt_analysis *analysis, const struct gmt_loop *loop)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_launch *launch = &tl->launches[loop->launch];
    const char *name = launch->class_index >= 0 ? tl->classes[launch->class_index].name : NULL;

    return name != NULL ? gmt_short_kernel_name(analysis->report->arena, name) : "kernel";
}

static const char *sketch_of(struct gmt_analysis *analysis, const struct gmt_loop *loop)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[loop->members[0]];
    bool up = copy->direction == GMT_DIR_H2D;
    double bytes = (double)copy->bytes;

    if (loop->n == 1) {
        bytes /= GMT_PIPELINE_CHUNKS;
    }
    const char *name = kernel_of(analysis, loop);
    const char *copies =
        up ? gmt_text(analysis,
                      "    cudaMemcpyAsync(device[s], host[s], %.0f, cudaMemcpyHostToDevice, "
                      "stream[s]);\n    %s<<<grid, block, 0, stream[s]>>>(device[s], ...);\n",
                      bytes, name)
           : gmt_text(analysis,
                      "    %s<<<grid, block, 0, stream[s]>>>(device[s], ...);\n"
                      "    cudaMemcpyAsync(host[s], device[s], %.0f, cudaMemcpyDeviceToHost, "
                      "stream[s]);\n",
                      name, bytes);
    return gmt_text(analysis, "for (i = 0; i < %zu; i++) {  // %s\n    s = i %% %d;\n%s}",
                    loop->n == 1 ? (size_t)GMT_PIPELINE_CHUNKS : loop->n,
                    loop->n == 1 ? "chunks" : "steps", loop->n == 1 ? 4 : 2, copies);
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_loop *loop, double saved)
{
    char up[GMT_FORMAT_BYTES], down[GMT_FORMAT_BYTES], kernels[GMT_FORMAT_BYTES];
    char any[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    double n = (double)loop->n;

    gmt_finding_evidence(finding, "uploads", "ns", loop->sums.uploads);
    gmt_finding_evidence(finding, "kernels", "ns", loop->sums.kernels);
    gmt_finding_evidence(finding, "readbacks", "ns", loop->sums.readbacks);
    gmt_finding_evidence(finding, "any_of_them", "ns", loop->sums.any);
    gmt_finding_evidence(finding, "pipelined", "ns", loop->sums.any - saved);
    finding->headline = gmt_text(
        analysis,
        "%s step%s of %s do not overlap: %s of uploads, %s of kernels and %s of "
        "read-backs",
        gmt_format_count(count, n), loop->n == 1 ? "" : "s", gmt_format_ns(any, loop->sums.any / n),
        gmt_format_ns(up, loop->sums.uploads / n), gmt_format_ns(kernels, loop->sums.kernels / n),
        gmt_format_ns(down, loop->sums.readbacks / n));
    finding->method = "time of each step minus its longest part (uploads, kernels or read-backs), "
                      "as measured in this run, except for one step that fills the pipeline";
    finding->effort = GMT_EFFORT_MEDIUM;
    if (loop->n > 1) {
        finding->fix = gmt_text(analysis, "Put step i + 1 into another stream than step i%s.",
                                loop->shared
                                    ? ", with a second device buffer: the kernels read the "
                                      "one that is copied into"
                                    : "; the kernels do not touch the buffer of this copy");
    } else {
        finding->fix = gmt_text(
            analysis, "Cut copy and kernel into %.0f chunks, each in a stream of its own.",
            GMT_PIPELINE_CHUNKS);
    }
    finding->sketch = sketch_of(analysis, loop);
}

/* Of what could overlap at most, the share that does. */
static double done(const struct gmt_loop_sums *sums)
{
    double all = sums->uploads + sums->kernels + sums->readbacks;

    return all > sums->longest ? (all - sums->any) / (all - sums->longest) : 1;
}

/* Whether chunks of the copy could go through the kernel one by one. */
static bool can_be_cut(const struct gmt_loop *loop)
{
    return loop->launches == 1 && (loop->shared || !loop->known);
}

/* A copy by itself may be the first or the last of a loop whose steps wait for each other. */
static bool is_of_relay(const struct gmt_timeline *tl, const bool *relayed,
                        const struct gmt_loop *loop)
{
    for (size_t i = 0; loop->n == 1 && i < tl->copy_count; i++) {
        if (relayed[i] && tl->copies[i].call.site == tl->copies[loop->members[0]].call.site) {
            return true;
        }
    }
    return false;
}

/* What other rules found to be saved here by not making the copies, ns. */
static double needless_ns(const struct gmt_analysis *analysis, const struct gmt_finding *finding)
{
    static const char *const rules[] = {"GM105", "GM106", "GM107"};
    const struct gmt_report *report = analysis->report;
    double most = 0;

    for (size_t i = 0; i < report->finding_count; i++) {
        const struct gmt_finding *other = &report->findings[i];
        bool same = other->where.file != NULL && finding->where.file != NULL &&
                    other->where.line == finding->where.line &&
                    strcmp(other->where.file, finding->where.file) == 0;

        for (size_t k = 0; same && k < sizeof(rules) / sizeof(rules[0]); k++) {
            if (strcmp(other->rule, rules[k]) == 0) {
                most = fmax(most, gmt_known(other->saving.best_ns));
            }
        }
    }
    return most;
}

static void report(struct gmt_analysis *analysis, struct gmt_loop *loop, const bool *relayed)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_copy *copy = &tl->copies[loop->members[0]];
    const struct gmt_model_curve *curve = gmt_price_curve(analysis->model, copy, true);
    double steps = loop->n > 1 ? (double)loop->n : GMT_PIPELINE_CHUNKS;
    double saved = (loop->sums.any - loop->sums.longest) * (1 - 1 / steps);
    double chunk = gmt_curve_latency_bound(curve, GMT_CHUNK_LATENCY_SHARE);
    char share[GMT_FORMAT_BYTES];
    const char *why = NULL;

    if (loop->n == 1) {
        /* Each chunk pays the latency of a copy; below a size it is hardly anything else. */
        saved -= (GMT_PIPELINE_CHUNKS - 1) * gmt_known(gmt_curve_at(curve, 0));
        if ((double)copy->bytes < GMT_PIPELINE_CHUNKS * gmt_known(chunk)) {
            why = "copies of chunks of it would take as long as all of it";
        }
    }
    if (done(&loop->sums) >= GMT_OVERLAP_DONE) {
        return;
    }
    if (why == NULL && !(saved >= GMT_OVERLAP_MIN_SHARE * loop->sums.any)) {
        why = gmt_text(analysis, "a pipeline would shorten it by less than %s",
                       gmt_format_percent(share, 100 * GMT_OVERLAP_MIN_SHARE));
    }
    if (why != NULL && is_of_relay(tl, relayed, loop)) {
        return;
    }
    saved = fmax(0, saved);
    gmt_loop_look_at_launches(loop, tl, gmt_analysis_launch_rows(analysis));
    struct gmt_finding *finding = loop->n > 1 || can_be_cut(loop) ? gmt_finding_new(analysis)
                                                                  : NULL;
    if (finding == NULL) {
        return;
    }
    gmt_copy_group_fill(analysis, finding, loop->members, loop->n);
    finding->cost_ns = loop->sums.any;
    describe(analysis, finding, loop, saved);
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *one = &tl->copies[i];

        if (one->host_class == GMT_MEM_PINNED && one->device_start_ns >= loop->span.begin_ns &&
            one->device_end_ns <= loop->span.end_ns) {
            gmt_finding_claim(analysis, finding,
                              (struct gmt_interval){one->device_start_ns, one->device_end_ns});
        }
    }
    bool certain = loop->known && loop->n > 1;
    gmt_finding_saving(finding, certain ? saved / 2 : 0, saved,
                       loop->sums.any - loop->sums.longest);
    finding->confidence = certain ? GMT_CONFIDENCE_MEASURED : GMT_CONFIDENCE_HEURISTIC;
    gmt_finding_note_small(finding, why);
    if (finding->note_why == NULL && 2 * needless_ns(analysis, finding) >= saved) {
        finding->note_why = "most of the copies that it would hide need not be made";
    }
    gmt_finding_emit(analysis, finding);
}

/* Two or three copies of a line, with no launch between them: operands of one kernel, not steps. */
static bool are_operands(const struct gmt_timeline *tl, const size_t *members, size_t n)
{
    return n < GMT_TRIP_MIN &&
           gmt_first_launch_after(tl, tl->copies[members[0]].call.begin_ns) ==
               gmt_first_launch_after(tl, tl->copies[members[n - 1]].call.begin_ns);
}

/* Loops are few where copies are many. */
static struct gmt_loop *push_loop(struct state *state)
{
    if (state->count == state->room) {
        size_t room = state->room > 0 ? 2 * state->room : 64;
        struct gmt_loop *loops = realloc(state->loops, room * sizeof(*loops));

        if (loops == NULL) {
            state->failed = true;
            return NULL;
        }
        state->loops = loops;
        state->room = room;
    }
    return &state->loops[state->count++];
}

static void add_loop(struct gmt_analysis *analysis, size_t *members, size_t n, void *context)
{
    size_t each = are_operands(analysis->timeline, members, n) ? 1 : n;
    struct state *state = context;

    for (size_t i = 0; i < n; i += each) {
        struct gmt_loop *loop = push_loop(state);

        if (loop == NULL) {
            return;
        }
        *loop = (struct gmt_loop){.members = members + i, .n = each};
        gmt_loop_measure(loop, analysis->timeline, &state->covers);
    }
}

static int compare_loops(const void *a, const void *b)
{
    const struct gmt_loop *x = a, *y = b;

    if (x->own_ns < y->own_ns || x->own_ns > y->own_ns) {
        return x->own_ns < y->own_ns ? 1 : -1;
    }
    return (x->members[0] > y->members[0]) - (x->members[0] < y->members[0]);
}

/* Has it steps, and kernels in them? A read-back behind the last kernel has none: it ends another's step. */
static bool is_loop(const struct gmt_loop *loop)
{
    return (loop->n == 1 || loop->n >= GMT_TRIP_MIN) && loop->sums.kernels > 0;
}

/* A loop with several copies is reported once, by the longest of them. */
static bool is_reported(const struct state *state, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const struct gmt_interval *a = &state->loops[i].span, *b = &state->loops[k].span;

        if (is_loop(&state->loops[k]) && a->begin_ns < b->end_ns && b->begin_ns < a->end_ns) {
            return true;
        }
    }
    return false;
}

static bool is_meant(const struct gmt_analysis *analysis, const struct gmt_tl_copy *copy)
{
    const struct gmt_run *run = copy->run >= 0 ? &analysis->runs->runs[copy->run] : NULL;

    return (copy->direction == GMT_DIR_H2D || copy->direction == GMT_DIR_D2H) &&
           copy->host_class == GMT_MEM_PINNED && copy->bytes > GMT_SCALAR_BYTES &&
           copy->device_start_ns != GMT_NO_TIME && copy->device_end_ns != GMT_NO_TIME &&
           (run == NULL || !(gmt_run_is_rows(run) || gmt_run_is_small(analysis, run)));
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    struct state state = {.relayed = calloc(tl->copy_count + 1, sizeof(*state.relayed))};
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;
    size_t n = 0;

    if (members == NULL || state.relayed == NULL || gmt_analysis_launch_rows(analysis) == NULL ||
        gmt_loop_covers_make(&state.covers, tl) != 0 || gmt_loop_relays(tl, state.relayed) != 0) {
        outcome = gmt_could_not(analysis, NO_MEMORY);
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (is_meant(analysis, &tl->copies[i]) && !state.relayed[i]) {
            members[n++] = i;
        }
    }
    gmt_copy_groups(analysis, members, n, add_loop, &state);
    if (state.failed) {
        outcome = gmt_could_not(analysis, NO_MEMORY);
        goto out;
    }
    if (state.count > 1) {
        qsort(state.loops, state.count, sizeof(*state.loops), compare_loops);
    }
    for (size_t i = 0; i < state.count; i++) {
        if (is_loop(&state.loops[i]) && !is_reported(&state, i)) {
            report(analysis, &state.loops[i], state.relayed);
        }
    }
out:
    gmt_loop_covers_free(&state.covers);
    free(state.loops);
    free(state.relayed);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_unoverlapped_transfer;
const struct gmt_rule gmt_rule_unoverlapped_transfer = {
    .id = "GM108",
    .slug = "unoverlapped-transfer",
    .title = "Copies and kernels that do not overlap",
    .category = "transfers",
    .needs = GMT_NEED_COPIES | GMT_NEED_LAUNCHES | GMT_NEED_TIMES,
    .run = run};
