/* SPDX-License-Identifier: Apache-2.0 */
/* GM118: waits for the device, again and again, of which the host needs nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/makers.h"
#include "analyzer/findings/where.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/needless_waits.h"
#include "libtrace/base/format.h"
#include "libtrace/base/prefix.h"

struct sums {
    double count, waited_ns, idle_ns, best_ns;
};

static bool is_of_cupy(const struct gmt_report_frame *frame, const char *file)
{
    return frame->module != NULL && strstr(frame->module, file) != NULL;
}

/* The function of a framework that the user calls in order to wait. */
static bool is_wait_of_framework(const struct gmt_report_frame *frame)
{
    const char *function = frame->function;

    if (gmt_frame_is_made(frame)) {
        return strcmp(function, "synchronize") == 0 || strcmp(function, "block_until_ready") == 0;
    }
    /* Cython's files have no symbols. */
    if (is_of_cupy(frame, "/cupy/cuda/stream.") || is_of_cupy(frame, "/cupy/cuda/device.")) {
        return true;
    }
    return function != NULL &&
           (gmt_starts_with(function, "torch::cuda::synchronize(") ||
            (gmt_starts_with(function, "THCP") && strstr(function, "ynchronize") != NULL));
}

/* Whose code waits. */
static enum gmt_origin origin_of_wait(const struct gmt_where *where)
{
    struct gmt_made_by made = gmt_made_by_stack(where->stack, where->stack_depth, "", 0);

    if (made.origin != GMT_ORIGIN_USER || made.by == GMT_BY_LINES) {
        return made.origin;
    }
    /* For a kernel CuPy counts as the program, which gives it the code; a wait is its own. */
    for (size_t i = 0; i < where->stack_depth; i++) {
        const struct gmt_report_frame *frame = &where->stack[i];

        if (gmt_frame_is_beyond_runtime(frame) &&
            !is_of_cupy(frame, "/cupy_backends/cuda/api/runtime.")) {
            return gmt_origin_of_module(frame->module != NULL ? frame->module : frame->file);
        }
    }
    return GMT_ORIGIN_USER;
}

/* A wait that a library makes of its own accord is not the program's to leave out. */
static void respect_libraries(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    const struct gmt_where *where = &finding->where;
    enum gmt_origin origin = origin_of_wait(where);

    for (size_t i = 0; i < where->stack_depth; i++) {
        if (is_wait_of_framework(&where->stack[i])) {
            return;
        }
        if (gmt_frame_is_own(&where->stack[i])) {
            break;
        }
    }
    finding->advised = true;
    if (origin != GMT_ORIGIN_USER) {
        const char *label = gmt_origin_label(origin);

        finding->note_why = gmt_text(analysis, "a wait of %s: it is not the program's to leave out",
                                     label);
        finding->fix = gmt_text(analysis,
                                "Call less often, or for more data at once, what makes %s wait "
                                "here, if a function that does not wait cannot take its place.",
                                label);
        finding->sketch = NULL;
    }
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_call *call, const struct sums *sums)
{
    char count[GMT_FORMAT_BYTES], wait[GMT_FORMAT_BYTES], idle[GMT_FORMAT_BYTES];

    finding->where = gmt_where_of_call(analysis, call);
    gmt_finding_evidence(finding, "waits", "count", sums->count);
    gmt_finding_evidence(finding, "time_of_the_calls", "ns", sums->waited_ns);
    gmt_finding_evidence(finding, "device_stood_still", "ns", sums->idle_ns);
    finding->headline = gmt_text(
        analysis,
        "%s times the host waits %s for the device and needs nothing of it before the next "
        "launch; the device is idle for %s after each",
        gmt_format_count(count, sums->count), gmt_format_ns(wait, sums->waited_ns / sums->count),
        gmt_format_ns(idle, sums->idle_ns / sums->count));
    finding->method =
        "idle time of the device from the end of what is waited for to the next kernel, but no "
        "more than these waits took: that much earlier is the host without them; lower end: the "
        "time between two waits is what the program is to measure, or what needs them is not seen";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix =
        "Leave out this wait: what is launched next is executed in its order without it. Keep it "
        "if a clock of the host measures what lies between two of them, if the time between two "
        "events is read after it, or if something needs the result that is not seen, as another "
        "process does.";
    finding->sketch = gmt_text(analysis,
                               "%s<<<grid, block, 0, stream>>>(...);   // %s times, and no wait "
                               "after it\n"
                               "...\n"
                               "cudaStreamSynchronize(stream);   // once, where a result is needed",
                               gmt_kernel_before(analysis, call->begin_ns), count);
    finding->sql = gmt_text(analysis,
                            "SELECT begin_ns, end_ns, kind FROM sync WHERE %s ORDER BY begin_ns",
                            gmt_call_condition(analysis, call->stack_id, (int64_t)call->caller));
    finding->conditional = true;
    finding->confidence = GMT_CONFIDENCE_MODELLED;
    finding->cost_ns = sums->waited_ns + sums->idle_ns;
    gmt_finding_saving(finding, 0, sums->best_ns, fmin(sums->idle_ns, sums->waited_ns));
    respect_libraries(analysis, finding);
}

/* In each stretch no more than the waits of the place took there. */
static double best_of_place(const struct gmt_needless_wait *rows, size_t n)
{
    double all_ns = 0;

    for (size_t i = 0, end; i < n; i = end) {
        double best_ns = 0, waited_ns = 0;

        for (end = i; end < n && rows[end].stretch == rows[i].stretch; end++) {
            best_ns += rows[end].best_ns;
            waited_ns += rows[end].waited_ns;
        }
        all_ns += fmin(best_ns, waited_ns);
    }
    return all_ns;
}

/* All at one place. */
static void report(struct gmt_analysis *analysis, const struct gmt_needless_wait *rows, size_t n)
{
    struct gmt_finding *finding = n < GMT_HOST_WAITS_MIN ? NULL : gmt_finding_new(analysis);
    struct sums sums = {.count = (double)n, .best_ns = best_of_place(rows, n)};

    if (finding == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sums.waited_ns += rows[i].waited_ns;
        sums.idle_ns += rows[i].idle_ns;
        gmt_finding_claim(analysis, finding, rows[i].idle);
    }
    describe(analysis, finding, &rows[0].call, &sums);
    gmt_finding_emit(analysis, finding);
}

static int compare_places(const void *a, const void *b)
{
    const struct gmt_needless_wait *x = a, *y = b;

    if (x->call.site != y->call.site) {
        return x->call.site < y->call.site ? -1 : 1;
    }
    return (x->call.begin_ns > y->call.begin_ns) - (x->call.begin_ns < y->call.begin_ns);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    struct gmt_needless_waits waits;
    int rc = gmt_needless_waits_find(&waits, analysis->timeline);
    struct gmt_needless_wait *rows = waits.rows;
    size_t n = 0;

    for (size_t i = 0; rc == 0 && i < waits.count; i++) {
        if (!rows[i].needed && rows[i].idle_ns > 0) {
            rows[n++] = rows[i];
        }
    }
    if (n > 1) {
        qsort(rows, n, sizeof(*rows), compare_places);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && rows[end].call.site == rows[i].call.site; end++) {
        }
        report(analysis, &rows[i], end - i);
    }
    gmt_needless_waits_free(&waits);
    return rc == 0 ? GMT_OUTCOME_PASS
                   : gmt_could_not(analysis, "not enough memory, or the waits cannot be read");
}

extern const struct gmt_rule gmt_rule_needless_wait;
const struct gmt_rule gmt_rule_needless_wait = {.id = "GM118",
                                                .slug = "needless-wait",
                                                .title = "Waits for the device that nothing needs",
                                                .category = "transfers",
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES |
                                                         GMT_NEED_ALL_CALLS,
                                                .run = run};
