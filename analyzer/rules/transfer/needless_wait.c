/* SPDX-License-Identifier: Apache-2.0 */
/* GM118: waits for the device, again and again, of which the host needs nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/advice.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/needless_waits.h"
#include "libtrace/base/format.h"

struct sums {
    double count, waited_ns, idle_ns, best_ns;
};

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
        "%s waits of %s for the device, and nothing that the host does before the next launch "
        "needs one; the device is idle for %s after each",
        gmt_format_count(count, sums->count), gmt_format_ns(wait, sums->waited_ns / sums->count),
        gmt_format_ns(idle, sums->idle_ns / sums->count));
    finding->method =
        "idle time of the device from the end of what is waited for to the next kernel, as far as "
        "the host, if it did not wait, would be ahead of the device; lower end: the time between "
        "two waits is what the program is to measure, or what needs them is not seen";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix =
        "Leave out this wait: what is launched next is executed in its order without it. Keep it "
        "if a clock of the host measures what lies between two of them, or if something needs "
        "the result that is not seen, as another process does.";
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
    gmt_finding_saving(finding, 0, sums->best_ns, sums->idle_ns);
}

/* All at one place. */
static void report(struct gmt_analysis *analysis, const struct gmt_needless_wait *rows, size_t n)
{
    struct gmt_finding *finding = n < GMT_HOST_WAITS_MIN ? NULL : gmt_finding_new(analysis);
    struct sums sums = {.count = (double)n};

    if (finding == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sums.waited_ns += (double)(rows[i].call.end_ns - rows[i].call.begin_ns);
        sums.idle_ns += rows[i].idle_ns;
        sums.best_ns += rows[i].best_ns;
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
