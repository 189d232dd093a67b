/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that carried nothing new, summed up: what GM105, GM106 and GM117 have in common. */
#include "analyzer/rules/common/content_sites.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"
#include "libtrace/base/format.h"

void gmt_copy_sum_add(struct gmt_copy_sum *sum, const struct gmt_analysis *analysis,
                      const struct gmt_cover *kernels, const struct gmt_tl_copy *copy,
                      const struct gmt_print *print)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double cost_ns = gmt_copy_cost_ns(tl, copy);
    bool hashed = copy->host_class == GMT_MEM_PINNED && print->whole == 1;
    double alone_ns = gmt_price_untraced_copy_ns(analysis->model, tl, copy, hashed);
    struct gmt_interval interval = gmt_copy_interval(tl, copy);
    double hidden_ns = gmt_cover_within(kernels, interval.begin_ns, interval.end_ns);

    sum->copies++;
    sum->bytes += (double)copy->bytes;
    sum->cost_ns += cost_ns;
    sum->hidden_ns += hidden_ns;
    sum->traced_ns += cost_ns - alone_ns;
    sum->low_ns += copy->blocking ? fmax(0, alone_ns - hidden_ns) : 0;
    sum->best_ns += copy->blocking ? alone_ns : fmax(0, alone_ns - hidden_ns);
}

double gmt_copy_sum_high(const struct gmt_copy_sum *sum)
{
    return sum->best_ns + fmin(sum->traced_ns, GMT_MODEL_UNCERTAINTY * sum->best_ns);
}

const char *gmt_copy_sum_hidden(struct gmt_analysis *analysis, const struct gmt_copy_sum *sum)
{
    char text[GMT_FORMAT_BYTES];

    double hidden_ns = sum->cost_ns - sum->traced_ns - sum->best_ns;

    /* Sums of many times, each rounded: less than a nanosecond is none. */
    if (!(hidden_ns >= 1)) {
        return "";
    }
    return gmt_text(analysis, "; %s of it overlap with kernels and save nothing",
                    gmt_format_ns(text, hidden_ns));
}

const char *gmt_doubt_text(struct gmt_analysis *analysis, int32_t doubt)
{
    const struct gmt_timeline *tl = analysis->timeline;
    static const char *const texts[] = {
        [GMT_DOUBT_NONE] = "",
        [-GMT_DOUBT_ARGUMENTS] = " Launches of unknown arguments may have written there in "
                                 "between: look at them first.",
        [-GMT_DOUBT_INDIRECT] = " No launch gets a pointer into that memory: kernels may write "
                                "there through pointers that lie in memory.",
        [-GMT_DOUBT_STREAM] = " Earlier work of another stream may have written there in between: "
                              "nothing is known of their order.",
        [-GMT_DOUBT_SHARED] = "", /* left out */
        [-GMT_DOUBT_UNSEEN] =
            " Calls outside of the trace or the range may have written there in between.",
        [-GMT_DOUBT_VALUE] = " A value that a stream wrote (cuStreamWriteValue) may lie there.",
    };

    if (doubt <= 0) {
        return texts[-doubt];
    }
    const char *name = tl->classes[doubt - 1].name;
    return name == NULL
               ? texts[-GMT_DOUBT_ARGUMENTS]
               : gmt_text(analysis,
                          " %s got a pointer to it in between: this holds only if it does not "
                          "write there.",
                          gmt_short_kernel_name(analysis->report->arena, name));
}

struct gmt_allocation_device {
    int64_t allocation, device;
};

int gmt_devices_load(struct gmt_devices *devices, const struct gmt_timeline *tl)
{
    struct gmt_query query;

    *devices = (struct gmt_devices){0};
    if (tl->device_count < 2) {
        return 0;
    }
    devices->rows = calloc(tl->allocation_count + 1, sizeof(*devices->rows));
    if (devices->rows == NULL) {
        return -ENOMEM;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT a.id, c.device_id FROM allocation a LEFT JOIN "
                            "context c ON c.id = a.context_id ORDER BY a.id");
    while (rc == 0 && devices->count < tl->allocation_count && gmt_query_next(&query)) {
        devices->rows[devices->count++] = (struct gmt_allocation_device){
            gmt_query_id(&query, 0), gmt_query_known_id(&query, 1)};
    }
    return gmt_query_close(&query, rc);
}

void gmt_devices_free(struct gmt_devices *devices)
{
    free(devices->rows);
}

static int compare_devices(const void *a, const void *b)
{
    const struct gmt_allocation_device *x = a, *y = b;

    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

int64_t gmt_devices_of(const struct gmt_devices *devices, int64_t allocation)
{
    struct gmt_allocation_device key = {allocation, 0};
    const struct gmt_allocation_device *found = devices->count == 0
                                                    ? NULL
                                                    : bsearch(&key, devices->rows, devices->count,
                                                              sizeof(key), compare_devices);

    return found != NULL ? found->device : -1;
}

struct member {
    uint64_t site;
    size_t index;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

void gmt_copies_sort_by_site(const struct gmt_timeline *tl, size_t *members, size_t n)
{
    struct member *sorted = calloc(n + 1, sizeof(*sorted));

    if (sorted == NULL) {
        return; /* in the order of time: more findings, all of them right */
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct member){tl->copies[members[i]].call.site, members[i]};
    }
    qsort(sorted, n, sizeof(*sorted), compare_members);
    for (size_t i = 0; i < n; i++) {
        members[i] = sorted[i].index;
    }
    free(sorted);
}

static const char *why_open(uint8_t skipped)
{
    switch (skipped) {
    case GMT_PRINT_OVER_BUDGET: return "hashing had used up its time budget (--fingerprint-budget)";
    case GMT_PRINT_UNREADABLE: return "the host cannot read that memory, or only slowly";
    case GMT_PRINT_ASYNCHRONOUS: return "asynchronous copies to page-locked memory have none";
    default: return "record with --fingerprints sampled or whole";
    }
}

bool gmt_content_is_left_out(const struct gmt_timeline *tl, int32_t doubt)
{
    return doubt == GMT_DOUBT_SHARED ||
           (doubt != GMT_DOUBT_NONE && tl->unseen != NULL && tl->unseen->limited);
}

static const char *why_left_out(const struct gmt_timeline *tl)
{
    return tl->unseen != NULL && tl->unseen->limited
               ? tl->unseen->uses
               : "the program shares memory with other processes, which may have written there "
                 "between the copies";
}

enum gmt_outcome gmt_content_outcome(struct gmt_analysis *analysis, size_t compared, size_t open,
                                     uint8_t skipped, size_t left_out, const char *what)
{
    if (compared + open == 0) {
        return GMT_OUTCOME_NOT_APPLICABLE;
    }
    if (left_out > 0 && analysis->pending_count == 0) {
        return gmt_could_not(analysis, "%s", why_left_out(analysis->timeline));
    }
    if (open > compared) {
        return gmt_could_not(analysis, "%zu of %zu %s no fingerprint to compare: %s", open,
                             open + compared, what, why_open(skipped));
    }
    return GMT_OUTCOME_PASS;
}
