/* SPDX-License-Identifier: Apache-2.0 */
/* The section about pairs of transfer programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/fit.h"
#include "pages.h"

#define TRANSFER_TARGET 0.10

/* ---- transfers ---------------------------------------------------------------------------------- */

/* Median and sum of the samples of one run of one program. */
static double median_of(const json_t *run, double *sum_ns)
{
    const json_t *samples = json_object_get(run, "samples_ns");
    struct gmt_stat stat = {.median = NAN};
    double *values = calloc(json_array_size(samples) + 1, sizeof(*values));
    size_t i;
    json_t *sample;

    *sum_ns = 0;
    if (values == NULL) {
        return NAN;
    }
    json_array_foreach(samples, i, sample)
    {
        values[i] = json_number_value(sample);
        *sum_ns += values[i];
    }
    if (gmt_stat_of(values, json_array_size(samples), &stat) != 0) {
        stat.median = NAN;
    }
    free(values);
    return stat.median;
}

static bool leaves_tracing_out(const struct gmt_finding *finding)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, "added_by_tracing") == 0) {
            return true;
        }
    }
    return false;
}

static int print_transfer(FILE *out, struct gmt_evidence_set *set, const json_t *pair,
                          char *message, size_t bytes)
{
    const json_t *good = json_object_get(pair, "good");
    double traced_ns = NAN, untraced_ns = NAN, sum_ns = NAN;
    double bad_ns = median_of(json_object_get(pair, "bad"), &untraced_ns);
    double good_ns = median_of(good, &sum_ns);
    size_t repetitions = json_array_size(json_object_get(good, "samples_ns"));
    double setup_ns = gmt_number_of(good, "setup_ns") / (double)repetitions;
    double truth = (bad_ns - good_ns - setup_ns) / bad_ns;
    struct gmt_trial trial;
    int rc = gmt_trial_run(&trial, set, gmt_text_of(pair, "trace"), 0, 0, NULL, message, bytes);

    if (rc == 0) {
        const struct gmt_finding *f = trial.report.finding_count > 0 ? &trial.report.findings[0]
                                                                     : NULL;
        /* What was recorded took longer, by the tracer's share: like is divided by like. A promise
         * that leaves this share out is of the run without a tracer. */
        median_of(json_object_get(pair, "traced"), &traced_ns);
        if (f != NULL && leaves_tracing_out(f)) {
            traced_ns = untraced_ns;
        }
        double best = f != NULL ? f->saving.best_ns / traced_ns : NAN;
        double error = fabs(best - truth);

        fprintf(out, "| %s | %s | %s | %s | %s |", gmt_text_of(pair, "pair"),
                f != NULL ? f->rule : "-", gmt_microseconds(bad_ns), gmt_microseconds(good_ns),
                gmt_percent(truth));
        fprintf(out, " %s | %s to %s | %s | %s |\n", gmt_percent(best),
                gmt_percent(f != NULL ? f->saving.low_ns / traced_ns : NAN),
                gmt_percent(f != NULL ? f->saving.high_ns / traced_ns : NAN), gmt_percent(error),
                error <= TRANSFER_TARGET ? "met" : "**missed**");
    }
    gmt_trial_free(&trial);
    return rc;
}

int gmt_page_transfers(FILE *out, struct gmt_evidence_set *set, char *message, size_t bytes)
{
    size_t i;
    json_t *pair;
    int rc = 0;

    fputs("| pair | first finding | bad, us | good, us | gain, % | predicted, % | interval | error "
          "| |\n|---|---|---|---|---|---|---|---|---|\n",
          out);
    json_array_foreach(json_object_get(set->raw, "transfers"), i, pair)
    {
        if (rc == 0) {
            rc = print_transfer(out, set, pair, message, bytes);
        }
    }
    return rc;
}
