/* SPDX-License-Identifier: Apache-2.0 */
/* GM301, GM303 and GM310: global accesses that touch more sectors than they need. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/price.h"
#include "analyzer/rule.h"
#include "analyzer/thresholds.h"
#include "reports/format.h"

static const char explain_strided[] =
    "What    A warp's load is served in 32-byte sectors. Lanes that read words far apart fetch a\n"
    "        sector each and use a part of it: up to 8 times the traffic for 4-byte words.\n"
    "Seen    Global loads whose sectors are at least twice the ideal, where ideal = bytes asked\n"
    "        for / 32, and at least one sector per request. Bytes are counted per active lane and\n"
    "        access width, so wide and half-empty accesses are not mistaken for strided ones.\n"
    "Saving  Kernels that stream from device memory: the calibrated coalesced kernel moves the\n"
    "        same useful bytes in that time, at this occupancy; time beyond what the "
    "calibration's\n"
    "        own strided kernels took for that ratio stays. Others: each resource's work / its\n"
    "        calibrated rate, combined as (sum t^3)^(1/3), with a latency term that stays; excess\n"
    "        that L1 or L2 already absorbed saves nothing there.\n"
    "Fix     Let threadIdx.x run along the contiguous index; tile through shared memory.\n"
    "Limits  Counters are those of sampled launches. Broadcasts ask for more bytes than they\n"
    "        touch and can hide strided accesses of the same kernel.\n";

static const char explain_misaligned[] =
    "What    A warp's access that starts inside a sector touches one sector more than needed.\n"
    "Seen    Global loads and stores with up to one sector per request more than ideal, and less\n"
    "        than twice the ideal.\n"
    "Saving  From the calibrated offset family: what an offset of one element cost there, scaled\n"
    "        by the kernel's excess sectors against the family's. Where that is less than 3 % of\n"
    "        the kernel's time, as on GPUs whose L1 serves the neighbour's sector, it is a note.\n"
    "Fix     Round the base address up to 32 bytes (better 256); pad rows with cudaMallocPitch.\n"
    "Limits  Which of several arrays is misaligned is not told: see GM202.\n";

static const char explain_store[] =
    "What    As GM301, for stores: lanes that write words far apart write a sector each.\n"
    "Seen    Global stores whose sectors are at least twice the ideal.\n"
    "Saving  The resource model: sectors at L1, L2 and device memory over their calibrated\n"
    "        rates, combined as (sum t^3)^(1/3), with a latency term that stays.\n"
    "Fix     Stage the tile in shared memory and write it out along the contiguous index.\n"
    "Limits  The L2 may merge partial writes before they reach device memory: then the gain\n"
    "        lies at the lower end.\n";

/* Sum of excess sectors over all classes: to judge a class where nothing has a price. */
static double total_sectors(const struct gmt_timeline *tl, bool loads)
{
    double sum = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        struct gmt_access access = loads ? gmt_access_of_loads(&tl->classes[i])
                                         : gmt_access_of_stores(&tl->classes[i]);

        if (isfinite(access.sectors))
            sum += access.sectors * (double)tl->classes[i].launches;
    }
    return sum;
}

static void put_evidence(struct gmt_finding *finding, const struct gmt_tl_class *class,
                         const struct gmt_access *access)
{
    gmt_finding_evidence(finding, "bytes_asked", "bytes", access->bytes);
    gmt_finding_evidence(finding, "sectors", "sectors", access->sectors);
    gmt_finding_evidence(finding, "ideal_sectors", "sectors", access->ideal);
    gmt_finding_evidence(finding, "requests", "instructions", access->requests);
    gmt_finding_evidence(finding, "sectors_per_request", "ratio",
                         access->sectors / access->requests);
    gmt_finding_evidence(finding, "efficiency", "percent",
                         100 * access->bytes / (GMT_SECTOR_BYTES * access->sectors));
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
}

static struct gmt_finding *new_finding(struct gmt_analysis *analysis,
                                       const struct gmt_tl_class *class,
                                       const struct gmt_access *access, const char *prefix)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL)
        return NULL;
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (access->sectors - access->ideal) * GMT_SECTOR_BYTES *
                            (double)class->launches;
    put_evidence(finding, class, access);
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE '%s_%%'",
                            class->id, prefix);
    gmt_finding_claim_class(analysis, finding, class);
    return finding;
}

/* Saving of all launches from the gain of one. */
static void put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_class *class, struct gmt_gain gain)
{
    double n = (double)class->launches;

    gmt_finding_saving(finding, gain.low_ns * n, gain.best_ns * n, gain.high_ns * n);
    finding->confidence = gain.from_family ? gmt_confidence_of_model(analysis->model)
                                           : GMT_CONFIDENCE_MODELLED;
    if (isnan(gain.best_ns)) {
        finding->confidence = GMT_CONFIDENCE_HEURISTIC;
        finding->method = "not priced: no device time or no device model; ranked by excess bytes";
    } else if (gain.from_family) {
        finding->method = "kernel time minus that of the calibrated coalesced kernel for the same "
                          "useful bytes at this occupancy";
    } else {
        finding->method = "resource model: work on each level of memory over its calibrated rate, "
                          "combined with the latency that stays";
    }
}

static void strided(struct gmt_analysis *analysis, const struct gmt_tl_class *class, bool loads,
                    double all_sectors)
{
    struct gmt_access access = loads ? gmt_access_of_loads(class) : gmt_access_of_stores(class);
    double ratio = gmt_access_ratio(&access), n = (double)class->launches;
    char efficiency[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES], ratio_text[GMT_FORMAT_BYTES];

    if (!(ratio >= GMT_STRIDED_RATIO))
        return;
    struct gmt_gain gain = gmt_price_access(analysis->model, analysis->timeline, class, loads,
                                            !loads);
    if (isnan(gain.best_ns) && (access.sectors - access.ideal) * n < GMT_EXCESS_SHARE * all_sectors)
        return;
    struct gmt_finding *finding = new_finding(analysis, class, &access,
                                              loads ? "global_load" : "global_store");
    if (finding == NULL)
        return;
    finding->headline = gmt_text(
        analysis, "%s use %s of the sectors they touch (%s x the ideal); kernel time %s",
        loads ? "loads" : "stores",
        gmt_format_percent(efficiency, 100 * access.bytes / (GMT_SECTOR_BYTES * access.sectors)),
        gmt_format_decimal(ratio_text, ratio, 1), gmt_format_ns(time, class->total_ns));
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = loads ? "Let neighbouring threads read neighbouring words: index the contiguous "
                           "dimension by threadIdx.x, or tile through shared memory."
                         : "Let neighbouring threads write neighbouring words: stage the tile in "
                           "shared memory and write it out row by row.";
    finding->sketch = loads ? "x = blockIdx.x * blockDim.x + threadIdx.x;  // contiguous\n"
                              "y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                              "v = in[(size_t)y * width + x];"
                            : "tile[threadIdx.y][threadIdx.x] = value;\n"
                              "__syncthreads();\n"
                              "out[(size_t)row * width + x0 + threadIdx.x] = "
                              "tile[threadIdx.x][threadIdx.y];";
    put_gain(analysis, finding, class, gain);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run_strided(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = total_sectors(tl, true);

    for (size_t i = 0; i < tl->class_count; i++)
        strided(analysis, &tl->classes[i], true, all);
    return GMT_OUTCOME_PASS;
}

static enum gmt_outcome run_store(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double all = total_sectors(tl, false);

    for (size_t i = 0; i < tl->class_count; i++)
        strided(analysis, &tl->classes[i], false, all);
    return GMT_OUTCOME_PASS;
}

static bool is_misaligned(const struct gmt_access *access)
{
    double ratio = gmt_access_ratio(access);
    double extra = (access->sectors - access->ideal) / access->requests;

    return ratio < GMT_STRIDED_RATIO && extra >= GMT_MISALIGNED_MIN_EXTRA &&
           extra <= GMT_MISALIGNED_EXTRA_SECTORS;
}

/* Relative time that the calibration's offset of one element added, and the sectors it added. */
static bool offset_price(const struct gmt_model *model, double *cost, double *excess)
{
    const struct gmt_model_variant *good = gmt_family_variant(&model->offset, "offset_0");
    const struct gmt_model_variant *bad = gmt_family_variant(&model->offset, "offset_1");

    if (good == NULL || bad == NULL)
        return false;
    *cost = fmax(0, bad->median_ns / good->median_ns - 1);
    *excess = bad->sectors_per_request / good->sectors_per_request - 1;
    return *excess > 0;
}

static void misaligned(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access access = gmt_access_of_loads(class), stores = gmt_access_of_stores(class);
    const char *prefix = "global_load", *what = "loads";
    double cost, family_excess;
    char extra[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES];

    if (!is_misaligned(&access)) {
        access = stores;
        prefix = "global_store";
        what = "stores";
    }
    if (!is_misaligned(&access))
        return;
    struct gmt_finding *finding = new_finding(analysis, class, &access, prefix);
    if (finding == NULL)
        return;
    finding->headline = gmt_text(
        analysis, "%s touch %s sectors per request more than needed; kernel time %s", what,
        gmt_format_decimal(extra, (access.sectors - access.ideal) / access.requests, 2),
        gmt_format_ns(time, class->total_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Start each array, and each row of it, at a multiple of 32 bytes; cudaMalloc "
                   "and cudaMallocPitch give 256 or more.";
    finding->sketch =
        "offset = (offset + 255) & ~(size_t)255;  // before carving out the next array";
    finding->method = "the calibrated cost of an offset of one element, scaled by excess sectors";
    if (offset_price(analysis->model, &cost, &family_excess)) {
        double share = cost * (gmt_access_ratio(&access) - 1) / family_excess;
        double best = class->total_ns * share / (1 + share);

        gmt_finding_saving(finding, best / 2, best, best * 2);
        finding->confidence = gmt_confidence_of_model(analysis->model);
        if (share < GMT_MISALIGNED_MIN_COST)
            finding->note_why = "on this GPU the neighbouring access finds the sector in L1";
    } else {
        finding->note_why = "not priced: the device model has no offset family";
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run_misaligned(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 0; i < tl->class_count; i++)
        misaligned(analysis, &tl->classes[i]);
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_strided_access, gmt_rule_misaligned_access,
    gmt_rule_uncoalesced_store;
const struct gmt_rule gmt_rule_strided_access = {.id = "GM301",
                                                 .slug = "strided-access",
                                                 .title = "Neighbouring threads read far apart",
                                                 .category = "global memory",
                                                 .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                 .run = run_strided,
                                                 .explain = explain_strided};
const struct gmt_rule gmt_rule_misaligned_access = {.id = "GM303",
                                                    .slug = "misaligned-access",
                                                    .title = "Accesses start inside a sector",
                                                    .category = "global memory",
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .run = run_misaligned,
                                                    .explain = explain_misaligned};
const struct gmt_rule gmt_rule_uncoalesced_store = {.id = "GM310",
                                                    .slug = "uncoalesced-store",
                                                    .title = "Neighbouring threads write far apart",
                                                    .category = "global memory",
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .run = run_store,
                                                    .explain = explain_store};
