/* SPDX-License-Identifier: Apache-2.0 */
/* Sections about pairs of transfer programs, and about how far calibrations differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit.h"
#include "pages.h"

#define TRANSFER_TARGET 0.10
#define REPEAT_TARGET 0.05

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
    if (values == NULL)
        return NAN;
    json_array_foreach(samples, i, sample)
    {
        values[i] = json_number_value(sample);
        *sum_ns += values[i];
    }
    if (gmt_stat_of(values, json_array_size(samples), &stat) != 0)
        stat.median = NAN;
    free(values);
    return stat.median;
}

static int print_transfer(FILE *out, struct gmt_evidence_set *set, const json_t *pair,
                          char *message, size_t bytes)
{
    const json_t *good = json_object_get(pair, "good");
    double traced_ns = NAN, sum_ns = NAN;
    double bad_ns = median_of(json_object_get(pair, "bad"), &sum_ns);
    double good_ns = median_of(good, &sum_ns);
    size_t repetitions = json_array_size(json_object_get(good, "samples_ns"));
    double setup_ns = gmt_number_of(good, "setup_ns") / (double)repetitions;
    double truth = (bad_ns - good_ns - setup_ns) / bad_ns;
    struct gmt_trial trial;
    int rc = gmt_trial_run(&trial, set, gmt_text_of(pair, "trace"), 0, 0, NULL, message, bytes);

    if (rc == 0) {
        const struct gmt_finding *f = trial.report.finding_count > 0 ? &trial.report.findings[0]
                                                                     : NULL;
        /* What was recorded took longer, by the tracer's share: like is divided by like. */
        median_of(json_object_get(pair, "traced"), &traced_ns);
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
        if (rc == 0)
            rc = print_transfer(out, set, pair, message, bytes);
    }
    return rc;
}

/* ---- repeatability ------------------------------------------------------------------------------ */

/* (largest - smallest) / median of the values of one quantity; NAN: fewer than two. */
static double moved(const json_t *values, double *middle)
{
    struct gmt_stat stat = {.median = NAN};
    double each[16], low = INFINITY, high = 0;
    size_t n = 0, i;
    json_t *value;

    json_array_foreach((json_t *)values, i, value)
    {
        if (!json_is_number(value) || n == sizeof(each) / sizeof(each[0]))
            continue;
        each[n++] = json_number_value(value);
        low = fmin(low, each[n - 1]);
        high = fmax(high, each[n - 1]);
    }
    if (n < 2 || gmt_stat_of(each, n, &stat) != 0 || !(stat.median > 0))
        return NAN;
    *middle = stat.median;
    return (high - low) / stat.median;
}

/* Parts of few quantities, each of which rules use by itself. */
static bool is_listed(const char *part)
{
    return strcmp(part, "rates") == 0 || strcmp(part, "latencies") == 0 ||
           strcmp(part, "occupancy_curve") == 0;
}

static void print_quantities(FILE *out, const char *part, const json_t *quantities)
{
    const char *name;
    json_t *values;

    json_object_foreach((json_t *)quantities, name, values)
    {
        double middle = NAN, share = moved(values, &middle);

        if (isfinite(share))
            fprintf(out, "| %s %s | %.4g | %s%s |\n", part, name, middle, gmt_percent(share),
                    share > REPEAT_TARGET ? " **above 5**" : "");
    }
}

static void print_part(FILE *out, const char *part, const json_t *quantities)
{
    double *shares = calloc(json_object_size(quantities) + 1, sizeof(*shares));
    struct gmt_stat stat = {.median = NAN};
    double worst = -1;
    const char *name, *worst_name = "-";
    size_t n = 0, above = 0;
    json_t *values;

    if (shares == NULL)
        return;
    json_object_foreach((json_t *)quantities, name, values)
    {
        double middle = NAN, share = moved(values, &middle);

        if (isnan(share))
            continue;
        shares[n++] = share;
        above += share > REPEAT_TARGET;
        if (share > worst) {
            worst = share;
            worst_name = name;
        }
    }
    if (n > 0 && gmt_stat_of(shares, n, &stat) == 0)
        fprintf(out, "| %s | %zu | %s | %zu | %s (%s) |\n", part, n, gmt_percent(stat.median),
                above, gmt_percent(worst), worst_name);
    free(shares);
}

void gmt_page_repeat(FILE *out, const struct gmt_evidence_set *set)
{
    json_t *parts = json_object_get(set->raw, "repeat");
    const char *part;
    json_t *quantities;

    fputs("| rate | median | moved, % |\n|---|---|---|\n", out);
    json_object_foreach(parts, part, quantities)
    {
        if (is_listed(part))
            print_quantities(out, part, quantities);
    }
    fputs("\n| part of the model | quantities | typically moved, % | above 5 % | worst, % |\n"
          "|---|---|---|---|---|\n",
          out);
    json_object_foreach(parts, part, quantities)
    {
        print_part(out, part, quantities);
    }
}
