/* SPDX-License-Identifier: Apache-2.0 */
/* GM306: spilled registers and arrays in local memory, as far as they are executed. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"

static double sum_of(const struct gmt_tl_class *class, int a, int b)
{
    return gmt_known(class->counter[a]) + gmt_known(class->counter[b]);
}

/*
 * Why local accesses are too few to matter, or NULL. Without times they have to double the memory
 * instructions at least, and to be a part of what the run moves.
 */
static const char *too_few(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                           double share, double sectors, double all_sectors)
{
    char percent[GMT_FORMAT_BYTES];

    if (share < GMT_LOCAL_MIN_SHARE) {
        return gmt_text(analysis, "less than %s of the memory instructions are local",
                        gmt_format_percent(percent, 100 * GMT_LOCAL_MIN_SHARE));
    }
    if (!analysis->timeline->simulated) {
        return NULL;
    }
    if (share < 1 - 1 / GMT_EXCESS_RATIO) {
        return "less than half of the memory instructions are local, and no times show their cost";
    }
    if (sectors * (double)class->launches < GMT_EXCESS_SHARE * all_sectors) {
        return gmt_text(analysis, "less than %s of all such work",
                        gmt_format_percent(percent, 100 * GMT_EXCESS_SHARE));
    }
    return NULL;
}

enum local_kind { SPILLS, ARRAY, DIVERGENT_ARRAY };

static enum local_kind kind_of(const struct gmt_analysis *analysis,
                               const struct gmt_tl_class *class, double local, double sectors)
{
    if (sectors / local >= GMT_LOCAL_DIVERGENT_SECTORS) {
        return DIVERGENT_ARRAY;
    }
    /* What the software device executes has not been through the assembler. */
    if (analysis->timeline->simulated || class->registers < GMT_REGISTERS_HELD) {
        return ARRAY;
    }
    return class->registers % GMT_REGISTER_STEP == 0 || class->registers >= GMT_REGISTERS_MOST
               ? SPILLS
               : ARRAY;
}

/* In shared memory, word j of a thread beside word j of its neighbour: no conflicts. */
static const char *shared_sketch(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];
    char bytes[GMT_FORMAT_BYTES];

    return gmt_text(analysis,
                    "__shared__ float values[%d][%d];  // %s per block\n"
                    "values[j][threadIdx.x] = value;   // instead of values[j]",
                    (int)(class->local_bytes / (int64_t)sizeof(float)), (int)fmin(threads, INT_MAX),
                    gmt_format_bytes(bytes, threads * (double)class->local_bytes));
}

/* Registers per thread with which one block of so many threads still runs. */
static int registers_possible(const struct gmt_tl_device *device, int threads)
{
    int64_t most = threads > 0 ? device->registers_per_sm / threads : 0;

    most -= most % GMT_REGISTER_STEP;
    return most > 0 && most < GMT_REGISTERS_MOST ? (int)most : GMT_REGISTERS_MOST + 1;
}

static void put_fix(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const struct gmt_tl_class *class, enum local_kind kind)
{
    int threads = (int)gmt_clamp(gmt_volume_clamped(class->block), 0, INT_MAX);

    finding->effort = kind == SPILLS ? GMT_EFFORT_SMALL : GMT_EFFORT_MEDIUM;
    if (kind == SPILLS) {
        finding->fix = gmt_text(
            analysis,
            "Allow more than %" PRId64
            " registers with __launch_bounds__ or a larger -maxrregcount, or keep fewer values "
            "live (smaller unrolling, recomputing): the registers do not hold what is live.",
            class->registers);
        finding->sketch = gmt_text(
            analysis,
            "__global__ void __launch_bounds__(%d) kernel(...)  // and no -maxrregcount: up to %d "
            "registers",
            threads, registers_possible(&analysis->timeline->device, threads));
    } else if (kind == DIVERGENT_ARRAY) {
        finding->fix =
            "Keep the array in shared memory, with word j of all threads side by side: now each "
            "lane reads a different word of its array, which takes a sector each.";
        finding->sketch = shared_sketch(analysis, class);
    } else {
        finding->fix = "Index the array by constants (unroll the loop over it), or move it to "
                       "shared memory; if it is spilled registers, raise their limit with "
                       "__launch_bounds__.";
        finding->sketch =
            "#pragma unroll\nfor (int i = 0; i < N; i++)  // N known to the compiler\n"
            "    sum += values[i];";
    }
}

static const char *words_of(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                            enum local_kind kind)
{
    switch (kind) {
    case SPILLS:
        return gmt_text(analysis, "probably spilled registers, limited to %" PRId64,
                        class->registers);
    case ARRAY: return "probably an array";
    case DIVERGENT_ARRAY: break;
    }
    return "an array, each lane at a different index";
}

static void put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_class *class, enum local_kind kind)
{
    struct gmt_gain gain = gmt_price_local(analysis->model, analysis->timeline, class,
                                           kind == SPILLS);

    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC
                          : gain.from_family  ? gmt_confidence_of_model(analysis->model)
                                              : GMT_CONFIDENCE_MODELLED;
    finding->method =
        isnan(gain.best_ns) ? gmt_unpriced(analysis)
        : gain.from_family
            ? "local stores at the calibrated rate at which L2 takes sectors in; then "
              "what the remaining work takes on each level of memory"
            : "resource model of the remaining work; time that work does not explain "
              "shrinks by the share of memory instructions that are local";
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                  double all_sectors)
{
    double local = sum_of(class, GMT_M_local_load_requests, GMT_M_local_store_requests);
    double n = (double)class->launches;
    double global = sum_of(class, GMT_M_global_load_requests, GMT_M_global_store_requests);
    double shared = sum_of(class, GMT_M_shared_load_requests, GMT_M_shared_store_requests);
    double sectors = sum_of(class, GMT_M_local_load_sectors, GMT_M_local_store_sectors);
    double share = local / (local + global + shared);
    char percent[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES];

    if (!(local > 0)) {
        return;
    }
    enum local_kind kind = kind_of(analysis, class, local, sectors);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = sectors * GMT_SECTOR_BYTES * n;
    gmt_finding_evidence(finding, "local_instructions", "instructions", local);
    gmt_finding_evidence(finding, "share_of_memory_instructions", "percent", 100 * share);
    gmt_finding_evidence(finding, "local_sectors", "sectors", sectors);
    gmt_finding_evidence(finding, "local_sectors_per_request", "ratio", sectors / local);
    gmt_finding_evidence(finding, "local_bytes_per_thread", "bytes", (double)class->local_bytes);
    gmt_finding_evidence(finding, "registers", "count",
                         class->registers > 0 ? (double)class->registers : NAN);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class, GMT_EXCESS_LOCAL);
    finding->headline = gmt_text(
        analysis, "%s of the executed memory instructions are local (%s per thread, %s)%s",
        gmt_format_percent(percent, 100 * share),
        gmt_format_bytes(bytes, (double)class->local_bytes), words_of(analysis, class, kind),
        gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND (metric LIKE 'local_%%' OR metric LIKE '%%_requests')",
                            class->id);
    put_fix(analysis, finding, class, kind);
    put_gain(analysis, finding, class, kind);
    gmt_finding_note_small(finding, too_few(analysis, class, share, sectors, all_sectors));
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;

    double all = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        all += gmt_known(gmt_work_of_class(tl, &tl->classes[i]).l1_sectors) *
               (double)tl->classes[i].launches;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_local_memory;
const struct gmt_rule gmt_rule_local_memory = {.id = "GM306",
                                               .slug = "local-memory",
                                               .title = "Spills and arrays in local memory",
                                               .category = "local memory",
                                               .about_code = true,
                                               .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                               .touches = GMT_TOUCHES_LOCAL,
                                               .run = run};
