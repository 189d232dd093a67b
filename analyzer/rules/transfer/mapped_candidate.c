/* SPDX-License-Identifier: Apache-2.0 */
/* GM111: buffers that are copied for one kernel that touches them once: mapped, they need no copy. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/findings/kernel_origin.h"
#include "analyzer/findings/rule.h"
#include "analyzer/memory/engine_gap.h"
#include "analyzer/price/price_mapped.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/launch_rows.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

/* What happens to one device allocation. */
struct mapped_buffer {
    int64_t id;
    size_t in, out;   /* copies from and to pinned memory */
    size_t first;     /* index of the first of them       */
    size_t launches;  /* that got a pointer into it       */
    int64_t class_id; /* of all those launches            */
    bool other;       /* any other use: no candidate      */
    bool async;
    double bytes, cost_ns; /* of all copies */
    double hidden_ns;      /* of cost_ns, behind kernels */
    double handover_ns;    /* of the stream, before and after each copy */
};

struct buffers {
    struct mapped_buffer *rows; /* by id */
    size_t count;
};

static int compare_buffers(const void *a, const void *b)
{
    const struct mapped_buffer *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct mapped_buffer *find(const struct buffers *buffers, int64_t id)
{
    struct mapped_buffer key = {.id = id};

    return id <= 0 ? NULL
                   : bsearch(&key, buffers->rows, buffers->count, sizeof(key), compare_buffers);
}

static void add_copies(const struct gmt_timeline *tl, const struct buffers *buffers,
                       const struct gmt_cover *kernels, const double *handovers)
{
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        struct mapped_buffer *to = find(buffers, copy->dst_allocation);
        struct mapped_buffer *from = find(buffers, copy->src_allocation);
        bool pinned = copy->host_class == GMT_MEM_PINNED && copy->linear;
        bool in = pinned && copy->direction == GMT_DIR_H2D;
        bool out = pinned && copy->direction == GMT_DIR_D2H;
        struct mapped_buffer *mine = in ? to : (out ? from : NULL);

        if (to != NULL) {
            to->other |= !in;
        }
        if (from != NULL) {
            from->other |= !out;
        }
        if (mine == NULL) {
            continue;
        }
        if (mine->in + mine->out == 0) {
            mine->first = i;
        }
        mine->in += in;
        mine->out += out;
        mine->async |= !copy->blocking;
        mine->bytes += (double)copy->bytes;
        mine->cost_ns += gmt_copy_cost_ns(tl, copy);
        mine->hidden_ns += gmt_copy_hidden_ns(tl, kernels, copy);
        mine->handover_ns += handovers[i];
    }
}

static void add_launch(struct mapped_buffer *buffer, int64_t class_id, size_t count)
{
    buffer->other |= class_id == 0 || (buffer->launches > 0 && buffer->class_id != class_id);
    buffer->class_id = class_id;
    buffer->launches += count;
}

/* Each argument of the set once, for so many launches. */
static void add_set(const struct buffers *buffers, const struct gmt_launch_rows *rows, size_t first,
                    int64_t class_id, size_t count)
{
    int64_t set = first < rows->argument_count ? rows->arguments[first].set : 0, last = 0;

    for (size_t k = first; k < rows->argument_count && rows->arguments[k].set == set; k++) {
        int64_t id = rows->arguments[k].allocation;
        struct mapped_buffer *buffer = id != last ? find(buffers, id) : NULL;

        last = id;
        if (buffer != NULL) {
            add_launch(buffer, class_id, count);
        }
    }
}

/* Launches of one kernel with the same arguments mostly come by turns: they are sorted, not searched. */
static bool add_launches(const struct gmt_timeline *tl, const struct buffers *buffers,
                         const struct gmt_launch_rows *rows)
{
    int64_t(*order)[2] = calloc(tl->launch_count + 1, sizeof(*order));
    size_t n = 0, begin = 0;

    if (order == NULL) {
        return false;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].argument_set > 0) {
            order[n][0] = (int64_t)tl->launches[i].argument_set << 24 |
                          (tl->launches[i].class_index + 1);
            order[n++][1] = (int64_t)i;
        }
    }
    gmt_sort_pairs(order, n);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && order[i + 1][0] == order[i][0]) {
            continue;
        }
        size_t launch = (size_t)order[i][1];
        int32_t class = tl->launches[launch].class_index;
        add_set(buffers, rows, rows->first[launch], class >= 0 ? tl->classes[class].id : 0,
                i + 1 - begin);
        begin = i + 1;
    }
    free(order);
    return true;
}

/* What else may use a buffer: launches that became part of a graph, and memsets. */
static void add_others(const struct gmt_timeline *tl, const struct buffers *buffers)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT dst_allocation_id FROM memset UNION SELECT allocation_id FROM "
                            "launch_argument WHERE set_id IN (SELECT argument_set_id FROM launch "
                            "WHERE capturing != 0 AND result = 0)");

    while (rc == 0 && gmt_query_next(&query)) {
        struct mapped_buffer *buffer = find(buffers, gmt_query_id(&query, 0));

        if (buffer != NULL) {
            buffer->other = true;
        }
    }
    gmt_query_close(&query, rc);
}

static struct buffers read_buffers(const struct gmt_timeline *tl,
                                   const struct gmt_launch_rows *rows)
{
    struct buffers buffers = {calloc(tl->allocation_count + 1, sizeof(struct mapped_buffer)), 0};
    double *handovers = calloc(tl->copy_count + 1, sizeof(*handovers));
    struct gmt_cover kernels = {0};

    if (rows == NULL || buffers.rows == NULL || handovers == NULL ||
        gmt_engine_gaps(tl, handovers) != 0 ||
        gmt_cover_make(&kernels, tl, GMT_COVER_KERNELS) != 0) {
        goto failed;
    }
    for (size_t i = 0; i < tl->allocation_count; i++) {
        if (tl->allocations[i].kind == GMT_ALLOC_DEVICE ||
            tl->allocations[i].kind == GMT_ALLOC_ASYNC) {
            buffers.rows[buffers.count++].id = tl->allocations[i].call.id;
        }
    }
    qsort(buffers.rows, buffers.count, sizeof(*buffers.rows), compare_buffers);
    add_copies(tl, &buffers, &kernels, handovers);
    if (!add_launches(tl, &buffers, rows)) {
        goto failed;
    }
    add_others(tl, &buffers);
    gmt_cover_free(&kernels);
    free(handovers);
    return buffers;
failed:
    gmt_cover_free(&kernels);
    free(buffers.rows);
    free(handovers);
    return (struct buffers){NULL, 0};
}

static bool is_one_use(const struct mapped_buffer *buffer)
{
    size_t copies = buffer->in + buffer->out;

    return !buffer->other && copies > 0 && (buffer->in == 0 || buffer->out == 0) &&
           buffer->launches > 0 && buffer->launches <= copies;
}

static const struct gmt_tl_class *class_of(const struct gmt_timeline *tl, int64_t id)
{
    for (size_t i = 0; i < tl->class_count; i++) {
        if (tl->classes[i].id == id) {
            return &tl->classes[i];
        }
    }
    return NULL;
}

enum touch { TOUCH_UNKNOWN, TOUCH_ONCE, TOUCH_OFTEN };

/* Does a launch go over its buffers once, coalesced, as far as counters show of all of them? */
static enum touch touch_of(const struct gmt_tl_class *class)
{
    double asked = class->counter[GMT_M_global_load_bytes] +
                   gmt_known(class->counter[GMT_M_global_store_bytes]);
    double sectors = class->counter[GMT_M_global_load_sectors] +
                     gmt_known(class->counter[GMT_M_global_store_sectors]);

    if (isnan(asked) || isnan(sectors) || isnan(class->footprint_bytes)) {
        return TOUCH_UNKNOWN;
    }
    return asked <= GMT_MAPPED_ONCE * class->footprint_bytes &&
                   sectors * GMT_SECTOR_BYTES <= GMT_MAPPED_ONCE * asked
               ? TOUCH_ONCE
               : TOUCH_OFTEN;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct mapped_buffer *buffer, const struct gmt_tl_class *class)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[buffer->first];
    size_t copies = buffer->in + buffer->out;
    char size[GMT_FORMAT_BYTES];
    const char *took = isnan(buffer->cost_ns)
                           ? ""
                           : gmt_text(analysis, ", %s", gmt_time_words(analysis, buffer->cost_ns));

    finding->where = gmt_where_of_call(analysis, &copy->call);
    gmt_finding_evidence(finding, "copies", "count", (double)copies);
    gmt_finding_evidence(finding, "bytes", "bytes", buffer->bytes);
    gmt_finding_evidence(finding, "launches", "count", (double)buffer->launches);
    gmt_finding_evidence(finding, "bytes_asked_for", "bytes",
                         class->counter[GMT_M_global_load_bytes] +
                             gmt_known(class->counter[GMT_M_global_store_bytes]));
    gmt_finding_evidence(finding, "buffers_of_the_kernel", "bytes", class->footprint_bytes);
    finding->headline = gmt_text(analysis, "%s %s copied %s for one pass of %s each time%s",
                                 gmt_format_bytes(size, buffer->bytes / (double)copies),
                                 copies == 1 ? "is" : "are", gmt_name_direction(copy->direction),
                                 gmt_kernel_label(analysis, class), took);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Give the kernel the pinned buffer of %s itself: it %s each byte once.",
                            size, buffer->in > 0 ? "reads" : "writes");
    finding->sketch = gmt_text(
        analysis,
        "cudaHostAlloc(&host, %" PRId64 ", cudaHostAllocMapped);  // in place of cudaMalloc\n"
        "%s<<<grid, block, 0, stream>>>(host, ...);  // no cudaMemcpy",
        copy->bytes, gmt_short_kernel_name(analysis->report->arena, class->name));
    finding->sql = gmt_text(
        analysis,
        "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer WHERE "
        "result = 0 AND capturing = 0 AND %s_allocation_id = %" PRId64,
        buffer->in > 0 ? "dst" : "src", buffer->id);
}

static void claim(struct gmt_analysis *analysis, struct gmt_finding *finding,
                  const struct mapped_buffer *buffer)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        if (copy->dst_allocation == buffer->id || copy->src_allocation == buffer->id) {
            gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, copy));
        }
    }
}

/* Why the copies are not worth sparing, or NULL. */
static const char *no_gain(const struct gmt_gain *gain, const struct gmt_gain *all)
{
    if (gain->best_ns > 0) {
        return NULL;
    }
    return all->best_ns > 0 ? "kernels hide the copies" : "the bus is no faster without the copies";
}

static void report_buffer(struct gmt_analysis *analysis, const struct mapped_buffer *buffer,
                          const struct gmt_tl_class *class, double all_bytes)
{
    bool in = buffer->in > 0;
    double copies = (double)(buffer->in + buffer->out), each = buffer->bytes / copies;
    enum gmt_mapped_direction direction = in ? GMT_MAPPED_READ : GMT_MAPPED_WRITE;
    double cost_ns = buffer->cost_ns + buffer->handover_ns, t_ns = class->median_ns;
    double open_ns = cost_ns - buffer->hidden_ns;
    struct gmt_gain alone = gmt_price_without_copy(
        analysis->model, direction, t_ns, (buffer->cost_ns - buffer->hidden_ns) / copies, each);
    struct gmt_gain gain = gmt_price_without_copy(analysis->model, direction, t_ns,
                                                  open_ns / copies, each);
    /* The device may wait for the host afterwards: then hidden time counts after all. */
    struct gmt_gain all = gmt_price_without_copy(analysis->model, direction, t_ns, cost_ns / copies,
                                                 each);
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    finding->cost_ns = cost_ns;
    finding->excess_bytes = buffer->bytes;
    describe(analysis, finding, buffer, class);
    claim(analysis, finding, buffer);
    if (isnan(gain.best_ns)) {
        finding->method = gmt_unpriced(analysis);
        gmt_finding_judge_part(analysis, finding, buffer->bytes, all_bytes);
        gmt_finding_emit(analysis, finding);
        return;
    }
    gmt_finding_evidence(finding, "kernel", "ns", class->median_ns);
    if (buffer->handover_ns > 0) {
        gmt_finding_evidence(finding, "standing_still", "ns", buffer->handover_ns);
    }
    gmt_finding_evidence(finding, "going_over_mapped_memory", "ns",
                         gmt_price_mapped_once(analysis->model, direction, each));
    finding->method = "measured time of copy and kernel, minus the kernel overlapped with the "
                      "model's time of one pass over mapped memory";
    double launches = (double)buffer->launches;
    gmt_finding_hidden(analysis, finding, buffer->hidden_ns, buffer->cost_ns);
    gmt_finding_saving(finding, buffer->async ? 0 : alone.low_ns * launches,
                       gain.best_ns * launches, all.high_ns * launches);
    finding->confidence = gmt_confidence_of_model(analysis->model);
    if (analysis->timeline->simulated) {
        gmt_finding_judge_part(analysis, finding, buffer->bytes, all_bytes);
    } else {
        gmt_finding_note_small(finding, no_gain(&gain, &all));
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct buffers buffers = read_buffers(tl, gmt_analysis_launch_rows(analysis));
    size_t unknown = 0, candidates = 0;
    double all = 0;

    if (buffers.rows == NULL) {
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        all += (double)tl->copies[i].bytes;
    }
    for (size_t i = 0; i < buffers.count; i++) {
        const struct mapped_buffer *buffer = &buffers.rows[i];
        const struct gmt_tl_class *class = is_one_use(buffer) ? class_of(tl, buffer->class_id)
                                                              : NULL;
        enum touch touch = class != NULL ? touch_of(class) : TOUCH_OFTEN;

        candidates += class != NULL;
        unknown += touch == TOUCH_UNKNOWN;
        if (touch == TOUCH_ONCE) {
            report_buffer(analysis, buffer, class, all);
        }
    }
    free(buffers.rows);
    if (candidates == 0) {
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    return unknown > 0 ? gmt_could_not(analysis,
                                       "the kernels on %zu of %zu buffers that are copied once "
                                       "were not measured",
                                       unknown, candidates)
                       : GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_mapped_candidate;
const struct gmt_rule gmt_rule_mapped_candidate = {.id = "GM111",
                                                   .slug = "mapped-candidate",
                                                   .title = "Copies that mapped memory would avoid",
                                                   .category = "transfers",
                                                   .needs = GMT_NEED_COPIES | GMT_NEED_LAUNCHES |
                                                            GMT_NEED_MODEL | GMT_NEED_ALL_USES,
                                                   .run = run};
