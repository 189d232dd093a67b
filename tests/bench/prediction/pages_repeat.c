/* SPDX-License-Identifier: Apache-2.0 */
/* The section about how far calibrations differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit.h"
#include "pages.h"

#define REPEAT_TARGET 0.05
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Quantities that are judged together. */
static const struct used {
    const char *part, *curve, *value;
} used[] = {
#define GMT_USED(part, curve, value) {part, curve, value},
#include "used.def"
#undef GMT_USED
};

/* How far each of some quantities moved. */
struct moves {
    double *shares;
    size_t n, above;
    double worst;
    const char *worst_name;
};

/* (largest - smallest) / median of the values of one quantity; NAN: fewer than two. */
static double moved(const json_t *values, double *middle)
{
    struct gmt_stat stat = {.median = NAN};
    double each[16], low = INFINITY, high = 0;
    size_t n = 0, i;
    json_t *value;

    json_array_foreach((json_t *)values, i, value)
    {
        if (!json_is_number(value) || n == COUNT_OF(each))
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

static void add(struct moves *moves, const char *name, double share)
{
    if (moves->n == 0 || share > moves->worst) {
        moves->worst = share;
        moves->worst_name = name;
    }
    moves->shares[moves->n++] = share;
    moves->above += share > REPEAT_TARGET;
}

/* "<quantities> | <typical> | <above> | <worst> (<which>)": its name from `from` on, without `less`. */
static void print_moves(FILE *out, const struct moves *moves, size_t from, size_t less)
{
    const char *which = moves->worst_name + from;
    struct gmt_stat stat;

    if (gmt_stat_of(moves->shares, moves->n, &stat) != 0)
        return;
    fprintf(out, "%zu | %s | %zu | %s", moves->n, gmt_percent(stat.median), moves->above,
            gmt_percent(moves->worst));
    if (moves->n > 1)
        fprintf(out, " (%.*s)", (int)(strlen(which) - less), which);
    fputs(" |\n", out);
}

/* ---- rates, one by one -------------------------------------------------------------------------- */

/* Parts of few quantities, each of which rules use by itself. */
static bool is_listed(const char *part)
{
    return strcmp(part, "rates") == 0 || strcmp(part, "latencies") == 0 ||
           strcmp(part, "occupancy_curve") == 0;
}

static void print_rates(FILE *out, const char *part, const json_t *quantities)
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

/* ---- curves ------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "CURVE" or "CURVE POINT", with the value behind it; not what is fitted to all points. */
static bool belongs(const struct used *row, const char *name)
{
    size_t length = strlen(row->curve);
    const char *point = name + length, *behind = strrchr(name, ' ');

    if (strncmp(name, row->curve, length) != 0 || (*point != '\0' && *point != ' '))
        return false;
    if (row->value[0] != '\0')
        return behind != NULL && strcmp(behind + 1, row->value) == 0;
    return behind == NULL || (behind == point && !ends_with(name, "_ns") && !ends_with(name, "_s"));
}

static void print_used(FILE *out, const struct used *row, const json_t *quantities)
{
    struct moves moves = {calloc(json_object_size(quantities) + 1, sizeof(double)), 0, 0, 0, ""};
    const char *name;
    json_t *values;

    if (moves.shares == NULL)
        return;
    json_object_foreach((json_t *)quantities, name, values)
    {
        double middle, share = belongs(row, name) ? moved(values, &middle) : NAN;

        if (isfinite(share))
            add(&moves, name, share);
    }
    if (moves.n > 0) {
        fprintf(out, "| %s %s%s%s | ", row->part, row->curve, row->value[0] != '\0' ? " " : "",
                row->value);
        print_moves(out, &moves, moves.n > 1 ? strlen(row->curve) + 1 : 0,
                    row->value[0] != '\0' ? strlen(row->value) + 1 : 0);
    }
    free(moves.shares);
}

/* ---- whole parts -------------------------------------------------------------------------------- */

static void print_part(FILE *out, const char *part, const json_t *quantities)
{
    struct moves moves = {calloc(json_object_size(quantities) + 1, sizeof(double)), 0, 0, 0, ""};
    const char *name;
    json_t *values;

    if (moves.shares == NULL)
        return;
    json_object_foreach((json_t *)quantities, name, values)
    {
        double middle, share = moved(values, &middle);

        if (isfinite(share))
            add(&moves, name, share);
    }
    if (moves.n > 0) {
        fprintf(out, "| %s | ", part);
        print_moves(out, &moves, 0, 0);
    }
    free(moves.shares);
}

/* What the recordings say of the host depends on whether several processes measured in each. */
static void print_host(FILE *out, const struct gmt_evidence_set *set)
{
    const json_t *pass = json_array_get(json_object_get(set->calibration, "passes"), 0);

    fputs("\nWhat still moves by more than 5 % is the host's work: copies of pageable memory and "
          "what consists "
          "of them,\nwhich the driver makes with the CPU, kernels on a few KiB of mapped memory, "
          "and calls that "
          "allocate or\npage-lock. On this virtual machine one process is slower than the next by "
          "up to 1.3 times "
          "in these; neither\nthe choice of the CPU, fresh buffers, more passes nor another "
          "statistic of them made "
          "them repeat.",
          out);
    if (json_object_get(pass, "process") == NULL)
        fputs(" These\ncalibrations were made by one process each; now several measure, and the "
              "quickest stands for a quantity.",
              out);
    fputs(" Their spread\nin the model holds what passes differ by, and intervals are as wide.\n",
          out);
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
            print_rates(out, part, quantities);
    }
    fputs("\nWhat prices read beside them; a curve has a quantity for each size.\n\n"
          "| used by rules | quantities | typically moved, % | above 5 % | worst, % |\n"
          "|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < COUNT_OF(used); i++)
        print_used(out, &used[i], json_object_get(parts, used[i].part));
    print_host(out, set);
    fputs("\nEverything, used or not.\n\n"
          "| part of the model | quantities | typically moved, % | above 5 % | worst, % |\n"
          "|---|---|---|---|---|\n",
          out);
    json_object_foreach(parts, part, quantities)
    {
        print_part(out, part, quantities);
    }
}
