/* SPDX-License-Identifier: Apache-2.0 */
/* Sections about reference kernels: predicted gains, by family and by pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define ERROR_TARGET 0.05  /* of the run time, mean, where an access pattern is repaired */
#define INSIDE_TARGET 0.80 /* share of true gains inside the interval, elsewhere         */

/* Rules whose fix changes an access pattern and nothing else. */
static const char *const access_rules[] = {"GM203", "GM301", "GM302", "GM303", "GM304",
                                           "GM305", "GM307", "GM310", "GM401"};

const struct gmt_miss gmt_misses[] = {
#define GMT_MISS(list, family, variant, reason) {list, family, variant, reason},
#include "expected.def"
#undef GMT_MISS
    {NULL, NULL, NULL, NULL},
};

const char *gmt_miss_reason(const char *list, const char *family, const char *variant)
{
    for (size_t i = 0; gmt_misses[i].list != NULL; i++) {
        if (strcmp(gmt_misses[i].list, list) == 0 && strcmp(gmt_misses[i].family, family) == 0 &&
            strcmp(gmt_misses[i].variant, variant) == 0) {
            return gmt_misses[i].reason;
        }
    }
    return NULL;
}

enum { TEXTS = 8, TEXT_BYTES = 32 };

static char *next_text(void)
{
    static char ring[TEXTS][TEXT_BYTES];
    static unsigned at;

    return ring[at++ % TEXTS];
}

const char *gmt_percent(double share)
{
    char *text = next_text();

    if (isnan(share)) {
        return "-";
    }
    snprintf(text, TEXT_BYTES, "%.1f", 100 * share);
    return text;
}

const char *gmt_microseconds(double ns)
{
    char *text = next_text();

    if (isnan(ns)) {
        return "-";
    }
    snprintf(text, TEXT_BYTES, "%.1f", ns / 1000);
    return text;
}

double gmt_score_ncu(const struct gmt_score *score)
{
    return isfinite(score->ncu) ? score->ncu : score->ncu_local;
}

bool gmt_score_is_heard(const struct gmt_score *score)
{
    return score->heard == GMT_HEARD_TOP ||
           (score->truth < GMT_WORTH_A_FINDING &&
            (score->heard == GMT_HEARD_NOTE || score->heard == GMT_HEARD_BELOW));
}

static bool is_access(const struct gmt_score *score)
{
    for (size_t i = 0; i < sizeof(access_rules) / sizeof(access_rules[0]); i++) {
        if (strcmp(access_rules[i], score->rule) == 0) {
            return true;
        }
    }
    return false;
}

static double error_of(const struct gmt_score *score)
{
    return fabs(score->best - score->truth);
}

static bool is_inside(const struct gmt_score *score)
{
    return score->low <= score->truth && score->truth <= score->high;
}

struct family_sum {
    double error, worst;
    int n, inside, unpriced, against_ncu, better;
    bool access;
};

static void add(struct family_sum *sum, const struct gmt_score *score)
{
    double ncu = gmt_score_ncu(score);

    sum->access |= is_access(score);
    if (isnan(score->best)) {
        sum->unpriced++;
        return;
    }
    sum->n++;
    sum->error += error_of(score);
    sum->worst = fmax(sum->worst, error_of(score));
    sum->inside += is_inside(score);
    if (isfinite(ncu)) {
        sum->against_ncu++;
        sum->better += error_of(score) < fabs(ncu - score->truth);
    }
}

static bool meets_target(const struct family_sum *sum)
{
    if (sum->n == 0) {
        return true;
    }
    return sum->access ? sum->error / sum->n <= ERROR_TARGET
                       : sum->inside >= INSIDE_TARGET * sum->n;
}

bool gmt_family_meets_target(const struct gmt_scores *scores, const char *family)
{
    struct family_sum sum = {.n = 0};

    for (size_t i = 0; i < scores->n; i++) {
        if (strcmp(scores->rows[i].family, family) == 0) {
            add(&sum, &scores->rows[i]);
        }
    }
    return meets_target(&sum);
}

static const char *verdict(const struct family_sum *sum, const char *family)
{
    const char *reason = gmt_miss_reason("target", family, "all");

    if (sum->n == 0) {
        return "nothing priced";
    }
    if (meets_target(sum)) {
        return "met";
    }
    return reason != NULL ? reason : "**missed**, not explained";
}

static void print_sum(FILE *out, const char *name, const struct family_sum *sum)
{
    fprintf(out, "| %s | %d | %d | %s | %s | %d of %d | %d of %d | %s | %s |\n", name, sum->n,
            sum->unpriced, gmt_percent(sum->n > 0 ? sum->error / sum->n : NAN),
            gmt_percent(sum->n > 0 ? sum->worst : NAN), sum->inside, sum->n, sum->better,
            sum->against_ncu, sum->access ? "error <= 5" : "inside >= 80 %", verdict(sum, name));
}

void gmt_page_summary(FILE *out, const struct gmt_scores *scores)
{
    struct family_sum all = {.n = 0};

    fputs("| family | priced | not | mean error | worst | inside the interval | nearer than ncu | "
          "target | |\n|---|---|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0, end; i < scores->n; i = end) {
        struct family_sum sum = {.n = 0};

        for (end = i;
             end < scores->n && strcmp(scores->rows[i].family, scores->rows[end].family) == 0;
             end++) {
            add(&sum, &scores->rows[end]);
            add(&all, &scores->rows[end]);
        }
        print_sum(out, scores->rows[i].family, &sum);
    }
    fprintf(out, "| all | %d | %d | %s | %s | %d of %d | %d of %d | | |\n", all.n, all.unpriced,
            gmt_percent(all.n > 0 ? all.error / all.n : NAN), gmt_percent(all.worst), all.inside,
            all.n, all.better, all.against_ncu);
}

void gmt_page_pairs(FILE *out, const struct gmt_scores *scores)
{
    fputs("| variant | against | rule | bad, us | good, us | gain, % | predicted, % | interval | "
          "error | ncu, % | its error |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < scores->n; i++) {
        const struct gmt_score *s = &scores->rows[i];
        double ncu = gmt_score_ncu(s);

        fprintf(out, "| %s:%s | %s | %s | %s | %s | %s |", s->family, s->variant, s->reference,
                s->rule, gmt_microseconds(s->bad_ns), gmt_microseconds(s->good_ns),
                gmt_percent(s->truth));
        fprintf(out, " %s%s | %s to %s%s | %s |", gmt_percent(s->best),
                s->by_kin && isfinite(s->best) ? " †" : "", gmt_percent(s->low),
                gmt_percent(s->high), isnan(s->best) || is_inside(s) ? "" : " (missed)",
                gmt_percent(error_of(s)));
        fprintf(out, " %s%s | %s |\n", gmt_percent(ncu),
                isnan(s->ncu) && isfinite(ncu) ? " (local)" : "",
                gmt_percent(fabs(ncu - s->truth)));
    }
}
