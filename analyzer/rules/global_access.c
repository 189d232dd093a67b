/* SPDX-License-Identifier: Apache-2.0 */
/* GM301, GM303 and GM310: global accesses that touch more sectors than they need. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    "        own strided kernels took for that ratio stays. Others: what each level of memory "
    "takes\n"
    "        for the remaining work at its calibrated rate, combined as (sum t^3)^(1/3), and no\n"
    "        less than a coalesced kernel with one load in flight per thread. Of the time that\n"
    "        this does not explain, the share of excess sectors goes; at the lower end of the\n"
    "        interval all of it stays.\n"
    "        Where stores are strided as well, both are priced and repaired together: the same\n"
    "        mapping of threads to data makes them so.\n"
    "Fix     Let threadIdx.x run along the contiguous index; tile through shared memory.\n"
    "Limits  Counters are those of sampled launches. Broadcasts ask for more bytes than they\n"
    "        touch and can hide strided accesses of the same kernel. Not so on the software\n"
    "        device, which counts the ideal itself and names the lines; it has no times, so there\n"
    "        excess sectors from 5 % of all sectors on are shown.\n";

static const char explain_misaligned[] =
    "What    A warp's access that starts inside a sector touches one sector more than needed.\n"
    "Seen    Global loads and stores with up to one sector per request more than ideal, and less\n"
    "        than twice the ideal.\n"
    "Saving  Loads: what an offset of one element cost in the calibrated offset family, scaled by\n"
    "        the kernel's excess sectors against the family's. Stores: half of their share of all\n"
    "        sectors, at most all of it. Below 3 % of the kernel's time, as on GPUs whose L1 "
    "serves\n"
    "        the neighbour's sector, it is a note; so it is where GM202 has the cause.\n"
    "        Without times (software device) it is a note, too: less than twice the ideal.\n"
    "Fix     Round the base address up to 32 bytes (better 256); pad rows with cudaMallocPitch.\n"
    "Limits  Which of several arrays is misaligned is not told: see GM202.\n";

static const char explain_store[] =
    "What    As GM301, for stores: lanes that write words far apart write a sector each.\n"
    "Seen    Global stores whose sectors are at least twice the ideal, in kernels whose loads are\n"
    "        in order. Where both are strided, GM301 has them together.\n"
    "Saving  As GM301, for kernels that do not stream like the calibrated family.\n"
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

static void put_evidence(struct gmt_finding *finding, const struct gmt_access *access,
                         const char *const names[6])
{
    gmt_finding_evidence(finding, names[0], "bytes", access->bytes);
    gmt_finding_evidence(finding, names[1], "sectors", access->sectors);
    gmt_finding_evidence(finding, names[2], "sectors", access->ideal);
    gmt_finding_evidence(finding, names[3], "instructions", access->requests);
    gmt_finding_evidence(finding, names[4], "ratio", access->sectors / access->requests);
    gmt_finding_evidence(finding, names[5], "percent",
                         100 * access->bytes / (GMT_SECTOR_BYTES * access->sectors));
}

static const char *const load_names[6] = {"load_bytes_asked",         "load_sectors",
                                          "load_ideal_sectors",       "load_requests",
                                          "load_sectors_per_request", "load_efficiency"};
static const char *const store_names[6] = {"store_bytes_asked",         "store_sectors",
                                           "store_ideal_sectors",       "store_requests",
                                           "store_sectors_per_request", "store_efficiency"};

/* Which accesses of a kernel a finding is about; NULL: not those. */
struct subject {
    const struct gmt_access *loads, *stores;
};

static double excess(const struct gmt_access *access)
{
    return access != NULL ? access->sectors - access->ideal : 0;
}

static struct gmt_finding *new_finding(struct gmt_analysis *analysis,
                                       const struct gmt_tl_class *class, struct subject subject)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL)
        return NULL;
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = (excess(subject.loads) + excess(subject.stores)) * GMT_SECTOR_BYTES *
                            (double)class->launches;
    if (subject.loads != NULL)
        put_evidence(finding, subject.loads, load_names);
    if (subject.stores != NULL)
        put_evidence(finding, subject.stores, store_names);
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE 'global_%s%%'",
                            class->id,
                            subject.stores == NULL  ? "load"
                            : subject.loads == NULL ? "store"
                                                    : "");
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class,
                      (subject.loads != NULL ? GMT_EXCESS_LOADS : 0u) |
                          (subject.stores != NULL ? GMT_EXCESS_STORES : 0u));
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
        finding->method = gmt_unpriced(analysis);
    } else if (gain.from_family) {
        finding->method = "kernel time minus that of the calibrated coalesced kernel for the same "
                          "useful bytes at this occupancy";
    } else {
        finding->method = "kernel time minus the calibrated time of the useful bytes; time that "
                          "the sectors do not explain shrinks by the share of excess sectors";
    }
}

static const char *strided_headline(struct gmt_analysis *analysis, struct subject subject,
                                    const struct gmt_tl_class *class)
{
    const struct gmt_access *access = subject.loads != NULL ? subject.loads : subject.stores;
    char efficiency[GMT_FORMAT_BYTES], other[GMT_FORMAT_BYTES];
    char ratio[GMT_FORMAT_BYTES], also[96] = "";

    if (subject.loads != NULL && subject.stores != NULL) {
        const struct gmt_access *stores = subject.stores;

        gmt_format_decimal(ratio, gmt_access_ratio(stores), 1);
        gmt_format_percent(other, 100 * stores->bytes / (GMT_SECTOR_BYTES * stores->sectors));
        snprintf(also, sizeof(also), ", stores %s (%s x)", other, ratio);
    }
    gmt_format_percent(efficiency, 100 * access->bytes / (GMT_SECTOR_BYTES * access->sectors));
    return gmt_text(analysis, "%s use %s of the sectors they touch (%s x the ideal)%s%s",
                    subject.loads != NULL ? "loads" : "stores", efficiency,
                    gmt_format_decimal(ratio, gmt_access_ratio(access), 1), also,
                    gmt_kernel_time(analysis, class));
}

static void put_strided_fix(struct gmt_finding *finding, struct subject subject)
{
    finding->effort = GMT_EFFORT_MEDIUM;
    if (subject.loads == NULL) {
        finding->fix = "Let neighbouring threads write neighbouring words: stage the tile in "
                       "shared memory and write it out row by row.";
        finding->sketch = "tile[threadIdx.y][threadIdx.x] = value;\n"
                          "__syncthreads();\n"
                          "out[(size_t)row * width + x0 + threadIdx.x] = "
                          "tile[threadIdx.x][threadIdx.y];";
        return;
    }
    finding->fix =
        subject.stores != NULL
            ? "Loads and stores are strided alike: swap the mapping, so that threadIdx.x "
              "runs along the contiguous dimension of both arrays."
            : "Let neighbouring threads read neighbouring words: index the contiguous "
              "dimension by threadIdx.x, or tile through shared memory.";
    finding->sketch = subject.stores != NULL
                          ? "x = blockIdx.x * blockDim.x + threadIdx.x;  // contiguous\n"
                            "y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                            "out[(size_t)y * width + x] = f(in[(size_t)y * width + x]);"
                          : "x = blockIdx.x * blockDim.x + threadIdx.x;  // contiguous\n"
                            "y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                            "v = in[(size_t)y * width + x];";
}

/* loads: as GM301 sees it, with the stores where they are strided, too; else as GM310 does. */
static void strided(struct gmt_analysis *analysis, const struct gmt_tl_class *class, bool loads,
                    double all_sectors)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    bool loads_strided = gmt_access_ratio(&load) >= GMT_STRIDED_RATIO;
    bool stores_strided = gmt_access_ratio(&store) >= GMT_STRIDED_RATIO;
    struct subject subject = {loads_strided ? &load : NULL, stores_strided ? &store : NULL};

    if (loads ? !loads_strided : loads_strided || !stores_strided)
        return;
    struct gmt_gain gain = gmt_price_access(analysis->model, analysis->timeline, class,
                                            loads_strided, stores_strided);
    double excess_sectors = excess(subject.loads) + excess(subject.stores);
    if (isnan(gain.best_ns) &&
        excess_sectors * (double)class->launches < GMT_EXCESS_SHARE * all_sectors)
        return;
    struct gmt_finding *finding = new_finding(analysis, class, subject);
    if (finding == NULL)
        return;
    if (loads_strided && stores_strided)
        finding->title = "Neighbouring threads read and write far apart";
    finding->headline = strided_headline(analysis, subject, class);
    put_strided_fix(finding, subject);
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

/* Whether GM202 has found the pointer that is the cause. */
static bool is_explained(const struct gmt_analysis *analysis, const struct gmt_finding *finding)
{
    const struct gmt_report *report = analysis->report;

    for (size_t i = 0; i < report->finding_count; i++) {
        const struct gmt_finding *other = &report->findings[i];

        if (strcmp(other->rule, "GM202") == 0 && other->where.kernel != NULL &&
            strcmp(other->where.kernel, finding->where.kernel) == 0)
            return true;
    }
    return false;
}

static void misaligned(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct subject subject = {is_misaligned(&load) ? &load : NULL,
                              is_misaligned(&store) ? &store : NULL};
    const struct gmt_access *access = subject.loads != NULL ? subject.loads : subject.stores;
    char extra[GMT_FORMAT_BYTES];

    if (access == NULL)
        return;
    struct gmt_finding *finding = new_finding(analysis, class, subject);
    if (finding == NULL)
        return;
    finding->headline = gmt_text(analysis, "%s touch %s sectors per request more than needed%s",
                                 subject.loads == NULL    ? "stores"
                                 : subject.stores == NULL ? "loads"
                                                          : "loads and stores",
                                 gmt_format_decimal(extra, excess(access) / access->requests, 2),
                                 gmt_kernel_time(analysis, class));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Start each array, and each row of it, at a multiple of 32 bytes; cudaMalloc "
                   "and cudaMallocPitch give 256 or more.";
    finding->sketch =
        "offset = (offset + 255) & ~(size_t)255;  // before carving out the next array";
    finding->method = "the calibrated cost of an offset of one element, scaled by excess sectors";
    struct gmt_gain gain = gmt_price_misaligned(analysis->model, analysis->timeline, class);
    if (isfinite(gain.best_ns)) {
        double n = (double)class->launches;

        gmt_finding_saving(finding, gain.low_ns * n, gain.best_ns * n, gain.high_ns * n);
        finding->confidence = gain.from_family ? gmt_confidence_of_model(analysis->model)
                                               : GMT_CONFIDENCE_MODELLED;
        if (gain.best_ns < GMT_MISALIGNED_MIN_COST * class->median_ns)
            finding->note_why = "on this GPU the neighbouring access finds the sector in L1";
    } else {
        finding->method = gmt_unpriced(analysis);
        finding->note_why = analysis->timeline->simulated
                                ? "less than twice the ideal, and no times to tell its cost"
                                : "not priced: no device time or no device model";
    }
    if (is_explained(analysis, finding))
        finding->note_why = "GM202 names and prices the pointer that is the cause";
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
