/* SPDX-License-Identifier: Apache-2.0 */
/* GM307: reads of constants in which the lanes of a warp ask for different words. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "libtrace/base/format.h"

static const char sketch[] = "__shared__ float table[N];\n"
                             "for (int i = threadIdx.x; i < N; i += blockDim.x)\n"
                             "    table[i] = constants[i];  // each word once, all lanes busy\n"
                             "__syncthreads();\n"
                             "value = table[index];  // different words, different banks";

static void put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_class *class, struct gmt_gain gain)
{
    gmt_finding_saving_of_class(finding, class, gain.low_ns, gain.best_ns, gain.high_ns);
    finding->confidence = isnan(gain.best_ns) ? GMT_CONFIDENCE_HEURISTIC
                                              : gmt_confidence_of_model(analysis->model);
    finding->method = isnan(gain.best_ns)
                          ? gmt_unpriced(analysis)
                          : "excess words times the calibrated cost of one more word per constant "
                            "load, overlapped with the other work";
}

static void check(struct gmt_analysis *analysis, const struct gmt_tl_class *class, double all_words)
{
    struct gmt_constants constants = gmt_constants_of(class);
    double ratio = constants.words / constants.requests, n = (double)class->launches;
    double excess = constants.words - constants.requests;
    char words[GMT_FORMAT_BYTES];

    if (!(constants.requests > 0) || !(ratio >= GMT_CONSTANT_WORDS)) {
        return;
    }
    struct gmt_gain gain = gmt_price_constants(analysis->model, analysis->timeline, class);
    if ((isnan(gain.best_ns) || analysis->timeline->simulated) && ratio < GMT_EXCESS_RATIO) {
        return;
    }
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = excess * sizeof(float) * n;
    gmt_finding_evidence(finding, "constant_loads", "instructions", constants.requests);
    gmt_finding_evidence(finding, "constant_words", "words", constants.words);
    gmt_finding_evidence(finding, "words_per_load", "ratio", ratio);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    gmt_finding_claim_class(analysis, finding, class);
    /* Reads of parameters, which all lanes share, keep the mean a little below a whole number. */
    bool whole = fabs(ratio / round(ratio) - 1) < GMT_STRUCT_MATCH;
    finding->headline = gmt_text(analysis,
                                 "a warp reads %s different words of constant memory per load%s%s",
                                 gmt_format_decimal(words, ratio, whole ? 0 : 1),
                                 whole ? "" : " on average", gmt_kernel_time(analysis, class));
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE 'constant_%%'",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = "Copy the table to shared memory at the start of the block and index it there; "
                   "constant memory is for words that all lanes read at once.";
    finding->sketch = sketch;
    put_gain(analysis, finding, class, gain);
    gmt_finding_lines(analysis, finding, class, GMT_LINES_CONSTANTS);
    gmt_finding_judge_part(analysis, finding, excess * n, all_words);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    bool counted = false, used = false;
    double all = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        struct gmt_constants constants = gmt_constants_of(&tl->classes[i]);

        counted |= isfinite(constants.requests) && isfinite(constants.words);
        used |= constants.requests > 0;
        all += gmt_known(constants.words) * (double)tl->classes[i].launches;
    }
    if (!counted) {
        return gmt_could_not(analysis, "no counters of the constant cache in this trace");
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        check(analysis, &tl->classes[i], all);
    }
    return used ? GMT_OUTCOME_PASS : GMT_OUTCOME_NOT_APPLICABLE;
}

extern const struct gmt_rule gmt_rule_divergent_constant;
const struct gmt_rule gmt_rule_divergent_constant = {.id = "GM307",
                                                     .slug = "divergent-constant",
                                                     .title = "Lanes read different constants",
                                                     .category = "constant memory",
                                                     .about_code = true,
                                                     .needs = GMT_NEED_LAUNCHES,
                                                     .touches = GMT_TOUCHES_CONSTANTS,
                                                     .run = run};
