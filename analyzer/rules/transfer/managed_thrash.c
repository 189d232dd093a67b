/* SPDX-License-Identifier: Apache-2.0 */
/* GM114: kernels that wait for pages of managed memory, and pages that go to and fro. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price_mapped.h"
#include "analyzer/trace/managed_ops.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

/* What launches of a class waited for, in all. */
struct managed_wait {
    size_t launches;    /* in which there was something to wait for              */
    double kernel_ns;   /* that these waited                                     */
    double host_ns;     /* that the host waited for pages which come back        */
    double records;     /* CUPTI's, of both                                      */
    double faults;      /* of the device                                         */
    double in, out;     /* bytes to the device, from it                          */
    double distinct;    /* of those to the device                                */
    double bytes;       /* of the allocations that it was the one to wait for    */
    size_t allocations; /* ... and how many these are                            */
    const struct gmt_tl_allocation *largest;
};

/* Of an allocation: the class that most of its faults are of, by majority vote. */
struct managed_owner {
    int32_t class;
    int64_t votes;
};

static bool is_wait(const struct gmt_tl_managed_op *op)
{
    return op->class_index >= 0 && !op->asked &&
           (op->kind == GMT_MANAGED_GPU_FAULT || op->kind == GMT_MANAGED_H2D ||
            op->kind == GMT_MANAGED_D2D);
}

static void vote(struct managed_owner *owner, int32_t class)
{
    if (owner->votes == 0) {
        owner->class = class;
    }
    owner->votes += owner->class == class ? 1 : -1;
}

static void add_launch(struct managed_wait *wait, double faults_ns)
{
    wait->launches += faults_ns > 0;
    wait->kernel_ns += faults_ns;
}

static void sum_launches(const struct gmt_timeline *tl, struct managed_wait *waits)
{
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].class_index >= 0) {
            add_launch(&waits[tl->launches[i].class_index], tl->launches[i].faults_ns);
        }
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        for (int64_t i = 0; i < tl->classes[c].in_graphs; i++) {
            const struct gmt_tl_node *node = &tl->classes[c].nodes[i];

            add_launch(&waits[c],
                       gmt_faults_within(
                           tl, (struct gmt_interval){node->device_start_ns, node->device_end_ns}));
        }
    }
}

static void sum_device_ops(const struct gmt_timeline *tl, struct managed_wait *waits,
                           struct managed_owner *owners)
{
    for (size_t i = 0; i < tl->managed_count; i++) {
        const struct gmt_tl_managed_op *op = &tl->managed[i];
        int32_t class = is_wait(op) ? op->class_index : -1;

        if (class < 0) {
            continue;
        }
        struct managed_wait *wait = &waits[class];
        wait->records++;
        wait->faults += op->kind == GMT_MANAGED_GPU_FAULT;
        wait->in += op->kind == GMT_MANAGED_GPU_FAULT ? 0 : (double)op->bytes;
        if (op->allocation >= 0) {
            vote(&owners[op->allocation], class);
        }
    }
}

/* The host waits while pages come back. Those that make room on the device are none of its. */
static bool comes_back(const struct gmt_tl_managed_op *op)
{
    return op->kind == GMT_MANAGED_D2H && !op->asked;
}

static const struct managed_owner *owner_of(const struct managed_owner *owners,
                                            const struct gmt_tl_managed_op *op)
{
    const struct managed_owner *owner = op->allocation >= 0 ? &owners[op->allocation] : NULL;

    return owner != NULL && owner->class >= 0 ? owner : NULL;
}

static void sum_host_ops(const struct gmt_timeline *tl, struct managed_wait *waits,
                         const struct managed_owner *owners)
{
    for (size_t i = 0; i < tl->managed_count; i++) {
        const struct gmt_tl_managed_op *op = &tl->managed[i];
        const struct managed_owner *owner = comes_back(op) ? owner_of(owners, op) : NULL;

        if (owner != NULL) {
            waits[owner->class].records++;
            waits[owner->class].out += (double)op->bytes;
            waits[owner->class].host_ns += (double)(op->end_ns - op->start_ns);
        }
    }
}

static void sum_allocations(const struct gmt_timeline *tl, struct managed_wait *waits,
                            const struct managed_owner *owners)
{
    for (size_t i = 0; i < tl->allocation_count; i++) {
        const struct gmt_tl_allocation *allocation = &tl->allocations[i];
        struct managed_wait *wait = owners[i].class >= 0 ? &waits[owners[i].class] : NULL;

        if (wait == NULL) {
            continue;
        }
        wait->allocations++;
        wait->bytes += (double)allocation->bytes;
        if (wait->largest == NULL || allocation->bytes > wait->largest->bytes) {
            wait->largest = allocation;
        }
    }
}

/* Bytes of different pages that launches of the class brought to the device; `room` is for all operations. */
static double distinct_bytes(const struct gmt_timeline *tl, size_t class, struct gmt_interval *room)
{
    size_t n = 0;

    for (size_t i = 0; i < tl->managed_count; i++) {
        const struct gmt_tl_managed_op *op = &tl->managed[i];

        if (is_wait(op) && op->kind != GMT_MANAGED_GPU_FAULT && op->bytes > 0 &&
            op->class_index == (int32_t) class && op->address < INT64_MAX - (uint64_t)op->bytes) {
            room[n++] = (struct gmt_interval){(int64_t)op->address,
                                              (int64_t)op->address + op->bytes};
        }
    }
    return gmt_intervals_length(room, gmt_intervals_merge(room, n));
}

/* What moving so much in `pieces` takes at once; 0 of nothing. */
static double bulk_ns(const struct gmt_model *model, enum gmt_mapped_direction direction,
                      double bytes, double pieces)
{
    return bytes > 0 ? pieces * gmt_price_pinned_copy(model, direction, bytes / pieces) : 0;
}

/* Sets the saving: what was waited for, less what it takes to bring the pages before they are needed. */
static void price(struct gmt_analysis *analysis, struct gmt_finding *finding,
                  const struct managed_wait *wait)
{
    double waited_ns = wait->kernel_ns + wait->host_ns, pieces = (double)wait->launches;
    double recording_ns = fmin(waited_ns / 2, GMT_FAULT_RECORD_NS * wait->records);
    double untraced_ns = waited_ns - recording_ns;
    /* Pages that were nowhere are made on the device, once. */
    double after_ns = wait->in > 0 ? bulk_ns(analysis->model, GMT_MAPPED_READ, wait->in, pieces)
                                   : bulk_ns(analysis->model, GMT_MAPPED_READ, wait->bytes, 1);

    after_ns += bulk_ns(analysis->model, GMT_MAPPED_WRITE, wait->out, pieces);
    gmt_finding_evidence(finding, "recording_them", "ns", recording_ns);
    if (isnan(after_ns)) {
        finding->method = gmt_unpriced(analysis);
        return;
    }
    gmt_finding_evidence(finding, "prefetching_them", "ns", after_ns);
    finding->method = "the time of faults and migrations, less what recording them added, less "
                      "bulk copies of the same bytes; high: these overlap with other work; low: "
                      "they take twice as long";
    gmt_finding_saving(finding, untraced_ns - 2 * after_ns, untraced_ns - after_ns, untraced_ns);
    finding->confidence = gmt_confidence_of_model(analysis->model);
}

static void advise(struct gmt_analysis *analysis, struct gmt_finding *finding,
                   const struct gmt_tl_class *class, const struct managed_wait *wait, bool again)
{
    const char *kernel = gmt_short_kernel_name(analysis->report->arena, class->name);
    const char *launch = gmt_text(analysis, "%s<<<%" PRId64 ", %" PRId64 ", 0, stream>>>(...);",
                                  kernel, class->grid[0], class->block[0]);
    const char *label = wait->largest != NULL
                            ? gmt_where_of_call(analysis, &wait->largest->call).label
                            : "managed memory";
    double bytes = wait->largest != NULL ? (double)wait->largest->bytes : wait->in;

    finding->effort = GMT_EFFORT_SMALL;
    if (again) {
        finding->fix = gmt_text(
            analysis,
            "Let one processor work on the memory of %s: do on the device what "
            "the host does between launches, or keep what the host needs in "
            "memory of its own. If both must, prefetch it each time, both ways; "
            "advise cudaMemAdviseSetReadMostly where it is only read.",
            label);
        finding->sketch = gmt_text(
            analysis,
            "cudaMemPrefetchAsync(data, %.0f, device, 0, stream);  // of %s\n"
            "%s\n"
            "cudaMemPrefetchAsync(data, %.0f, host, 0, stream);  // before the host needs it",
            bytes, label, launch, bytes);
        return;
    }
    finding->fix = gmt_text(analysis,
                            "Prefetch the memory of %s to the device before the launch, in its "
                            "stream; what the host needs of it, back after the launch.",
                            label);
    finding->sketch = gmt_text(analysis,
                               "cudaMemPrefetchAsync(data, %.0f, device, 0, stream);  // of %s\n%s",
                               bytes, label, launch);
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct managed_wait *wait, bool again)
{
    char waited[GMT_FORMAT_BYTES], moved[GMT_FORMAT_BYTES], back[GMT_FORMAT_BYTES],
        count[GMT_FORMAT_BYTES], times[GMT_FORMAT_BYTES];
    const char *to_and_fro = "";

    gmt_format_ns(waited, wait->kernel_ns);
    gmt_format_count(count, (double)wait->launches);
    gmt_format_bytes(moved, wait->in > 0 ? wait->in : wait->bytes);
    if (wait->out > 0) {
        to_and_fro = gmt_text(analysis, ", %s back", gmt_format_bytes(back, wait->out));
    }
    if (again) {
        to_and_fro = gmt_text(analysis, "%s, the same pages %s times", to_and_fro,
                              gmt_format_decimal(times, wait->in / wait->distinct, 1));
    }
    finding->headline = gmt_text(
        analysis, "%s launch%s wait%s %s for page faults: %s of managed memory %s%s", count,
        wait->launches == 1 ? "" : "es", wait->launches == 1 ? "s" : "", waited, moved,
        wait->in > 0 ? "come from the host" : "are touched first there", to_and_fro);
}

static void report(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                   const struct managed_wait *wait)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);
    const struct gmt_timeline *tl = analysis->timeline;
    bool again = wait->out > 0 && wait->in >= GMT_MANAGED_AGAIN * wait->distinct &&
                 wait->distinct > 0;

    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = wait->kernel_ns + wait->host_ns;
    gmt_finding_evidence(finding, "launches", "count", (double)wait->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", gmt_class_device_ns(class));
    gmt_finding_evidence(finding, "faults_time", "ns", wait->kernel_ns);
    gmt_finding_evidence(finding, "page_faults", "count", wait->faults);
    gmt_finding_evidence(finding, "to_the_device", "bytes", wait->in);
    gmt_finding_evidence(finding, "different_pages", "bytes", wait->distinct);
    gmt_finding_evidence(finding, "to_the_host", "bytes", wait->out);
    gmt_finding_evidence(finding, "host_time", "ns", wait->host_ns);
    gmt_finding_evidence(finding, "allocations", "count", (double)wait->allocations);
    describe(analysis, finding, wait, again);
    advise(analysis, finding, class, wait, again);
    finding->sql = gmt_text(analysis,
                            "SELECT m.kind, m.cause, m.allocation_id, count(*), sum(m.bytes), "
                            "sum(m.duration_ns) FROM v_managed_op m JOIN launch l ON l.id = "
                            "m.launch_id WHERE l.class_id = %" PRId64 " GROUP BY 1, 2, 3",
                            class->id);
    gmt_finding_claim_class(analysis, finding, class);
    for (size_t i = 0; i < tl->managed_count && wait->out > 0; i++) {
        const struct gmt_tl_managed_op *op = &tl->managed[i];

        if (comes_back(op) && wait->largest != NULL && op->allocation >= 0 &&
            tl->allocations[op->allocation].call.site == wait->largest->call.site) {
            gmt_finding_claim(analysis, finding, (struct gmt_interval){op->start_ns, op->end_ns});
        }
    }
    price(analysis, finding, wait);
    gmt_finding_emit(analysis, finding);
}

/* What the recording says of it: "" where all was recorded. */
static const char *not_recorded(struct gmt_analysis *analysis)
{
    struct gmt_query query;
    const char *why = "faults of managed memory were not recorded";
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT state, detail FROM capability WHERE name = 'managed_memory'");

    if (!analysis->timeline->has_managed_ops) {
        why = "this trace is of a version that did not record faults of managed memory";
    } else if (rc == 0 && gmt_query_next(&query)) {
        const char *state = gmt_query_text_here(&query, 0);
        const char *detail = gmt_query_text(&query, 1, analysis->report->arena);

        why = state != NULL && strcmp(state, "ok") == 0
                  ? ""
                  : gmt_text(analysis, "faults of managed memory were not all recorded: %s",
                             detail != NULL ? detail : "nobody knows why");
    }
    return gmt_query_close(&query, rc) == 0 ? why : "the trace cannot be read";
}

static bool has_managed(const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->allocation_count; i++) {
        if (tl->allocations[i].kind == GMT_ALLOC_MANAGED) {
            return true;
        }
    }
    return false;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct managed_wait *waits = calloc(tl->class_count + 1, sizeof(*waits));
    struct managed_owner *owners = calloc(tl->allocation_count + 1, sizeof(*owners));
    struct gmt_interval *room = calloc(tl->managed_count + 1, sizeof(*room));
    enum gmt_outcome outcome = GMT_OUTCOME_NOT_APPLICABLE;

    if (waits == NULL || owners == NULL || room == NULL) {
        outcome = gmt_could_not(analysis, "not enough memory");
    } else if (has_managed(tl)) {
        const char *why = not_recorded(analysis);

        for (size_t i = 0; i < tl->allocation_count; i++) {
            owners[i].class = -1;
        }
        sum_launches(tl, waits);
        sum_device_ops(tl, waits, owners);
        sum_host_ops(tl, waits, owners);
        sum_allocations(tl, waits, owners);
        for (size_t i = 0; i < tl->class_count; i++) {
            if (waits[i].records > 0 && waits[i].launches > 0) {
                waits[i].distinct = distinct_bytes(tl, i, room);
                report(analysis, &tl->classes[i], &waits[i]);
            }
        }
        outcome = why[0] == '\0' ? GMT_OUTCOME_PASS : gmt_could_not(analysis, "%s", why);
    }
    free(waits);
    free(owners);
    free(room);
    return outcome;
}

extern const struct gmt_rule gmt_rule_managed_thrash;
const struct gmt_rule gmt_rule_managed_thrash = {
    .id = "GM114",
    .slug = "managed-thrash",
    .title = "Kernels wait for pages of managed memory",
    .category = "transfers",
    .prices_faults = true,
    .needs = GMT_NEED_ALLOCATIONS | GMT_NEED_LAUNCHES | GMT_NEED_TIMES,
    .run = run};
