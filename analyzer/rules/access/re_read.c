/* SPDX-License-Identifier: Apache-2.0 */
/* GM308: kernels that read the same bytes of global memory many times, in order, and stage nothing. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price_shared.h"
#include "libtrace/base/format.h"

/* Edges of tiles that are tried; two tiles of each fit into the 48 KiB of every block. */
static const double edges[] = {8, 16, 32};
enum { EDGES = sizeof(edges) / sizeof(edges[0]), TILES = 2 };

struct best {
    double edge;
    struct gmt_gain gain;
};

static struct best best_tile(const struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct best best = {edges[EDGES - 1], {NAN, NAN, NAN, false}};

    for (size_t i = 0; i < EDGES; i++) {
        struct gmt_gain gain = gmt_price_tile(analysis->model, analysis->timeline, class, edges[i]);

        if (isfinite(gain.best_ns) && !(gain.best_ns <= best.gain.best_ns)) {
            best = (struct best){edges[i], gain};
        }
    }
    return best;
}

static bool is_candidate(const struct gmt_tl_class *class, const struct gmt_access *load)
{
    double shared = gmt_known(class->counter[GMT_M_shared_load_requests]);
    struct gmt_reread reread = gmt_reread_of(class);

    /* It has its tile, and leaves it unread. */
    if (gmt_is_staged_unread(class, &reread)) {
        return false;
    }
    return load->sectors * GMT_SECTOR_BYTES >= GMT_REREAD_FACTOR * gmt_bytes_to_read(class) &&
           gmt_access_ratio(load) < GMT_STRIDED_RATIO && shared < load->requests;
}

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding, double edge)
{
    int e = (int)edge;
    char bytes[GMT_FORMAT_BYTES];

    gmt_format_bytes(bytes, TILES * edge * edge * sizeof(float));
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Stage tiles of %d x %d words in shared memory (%s for two operands of "
                            "4-byte words): each word then comes from global memory once per tile "
                            "instead of %d times.",
                            e, e, bytes, e);
    finding->sketch = gmt_text(analysis,
                               "__shared__ float a[%d][%d], b[%d][%d];\n"
                               "for (int k0 = 0; k0 < n; k0 += %d) {\n"
                               "    a[ty][tx] = A[row * n + k0 + tx];\n"
                               "    b[ty][tx] = B[(k0 + ty) * n + col];\n"
                               "    __syncthreads();\n"
                               "    for (int k = 0; k < %d; k++)\n"
                               "        sum += a[ty][k] * b[k][tx];\n"
                               "    __syncthreads();\n"
                               "}",
                               e, e, e, e, e, e);
}

static void put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_class *class, const struct best *best)
{
    const struct gmt_gain *gain = &best->gain;

    gmt_finding_saving_of_class(finding, class, gain->low_ns, gain->best_ns, gain->high_ns);
    finding->confidence = isnan(gain->best_ns) ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MODELLED;
    finding->method = isnan(gain->best_ns)
                          ? gmt_unpriced(analysis)
                          : gmt_text(analysis,
                                     "resource model with tiles of %d x %d words: 1/%d of the "
                                     "global loads, and one shared load for each present one",
                                     (int)best->edge, (int)best->edge, (int)best->edge);
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class, double all)
{
    struct gmt_access load = gmt_access_of_loads(class);
    double n = (double)class->launches, once = gmt_bytes_to_read(class);
    double read = load.sectors * GMT_SECTOR_BYTES;
    char times[GMT_FORMAT_BYTES], size[GMT_FORMAT_BYTES];

    if (!is_candidate(class, &load)) {
        return;
    }
    struct best best = best_tile(analysis, class);
    if ((isnan(best.gain.best_ns) || analysis->timeline->simulated) &&
        (read < GMT_REREAD_FACTOR_UNPRICED * once || once <= GMT_REREAD_MIN_BYTES)) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = read * (1 - 1 / best.edge) * n;
    gmt_finding_evidence(finding, "load_sectors", "sectors", load.sectors);
    gmt_finding_evidence(finding, "bytes_to_read", "bytes", once);
    gmt_finding_evidence(finding, "reads_of_each_byte", "ratio", read / once);
    gmt_finding_evidence(finding, "l2_read_sectors", "sectors",
                         class->counter[GMT_M_l2_read_sectors]);
    gmt_finding_evidence(finding, "tile_edge", "words", best.edge);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    finding->headline = gmt_text(
        analysis, "global loads read %s %s times, and nothing is staged in shared memory%s",
        gmt_format_bytes(size, once), gmt_format_decimal(times, read / once, 0),
        gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND (metric LIKE 'global_load%%' OR metric LIKE 'l2_read%%' OR "
                            "metric LIKE 'footprint%%')",
                            class->id);
    put_fix(analysis, finding, best.edge);
    put_gain(analysis, finding, class, &best);
    gmt_finding_lines(analysis, finding, class, GMT_LINES_LOADED);
    gmt_finding_judge_part(analysis, finding, read * n, all);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    bool known = false;
    double all = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        known |= isfinite(gmt_bytes_to_read(class));
        all += gmt_known(class->counter[GMT_M_global_load_sectors]) * GMT_SECTOR_BYTES *
               (double)class->launches;
    }
    if (!known) {
        return gmt_could_not(analysis, "the trace has no pointer arguments of kernels");
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_re_read;
const struct gmt_rule gmt_rule_re_read = {.id = "GM308",
                                          .slug = "re-read",
                                          .title = "The same bytes are read again and again",
                                          .category = "global memory",
                                          .about_code = true,
                                          .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                          .touches = GMT_TOUCHES_LOADS,
                                          .run = run};
