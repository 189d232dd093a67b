/* SPDX-License-Identifier: Apache-2.0 */
/* The section about how far calibrations differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/fit.h"
#include "pages.h"
#include "rates.h"

/* Places of one rate: sizes, variants, shapes. */
#define PLACES_MOST 128

/* How far each of some quantities moved. */
struct moves {
    double *shares;
    size_t n, above;
    double worst;
    const char *worst_where;
};

static void add(struct moves *moves, const char *where, double share)
{
    if (moves->n == 0 || share > moves->worst) {
        moves->worst = share;
        moves->worst_where = where;
    }
    moves->shares[moves->n++] = share;
    moves->above += share > GMT_REPEAT_TARGET;
}

/* "<quantities> | <typical> | <above> | <worst> (<which>) |" */
static void print_moves(FILE *out, const struct moves *moves)
{
    struct gmt_stat stat;

    if (gmt_stat_of(moves->shares, moves->n, &stat) != 0) {
        return;
    }
    fprintf(out, "%zu | %s | %zu | %s", moves->n, gmt_percent(stat.median), moves->above,
            gmt_percent(moves->worst));
    if (moves->n > 1) {
        fprintf(out, " (%s)", moves->worst_where);
    }
    fputs(" |\n", out);
}

/* ---- what rules use ----------------------------------------------------------------------------- */

struct sum {
    size_t places, above;
};

static void print_rate(FILE *out, const struct gmt_used_rate *rate, const json_t *quantities,
                       struct sum *sum)
{
    struct gmt_moved places[PLACES_MOST];
    double shares[PLACES_MOST];
    struct moves moves = {.shares = shares};
    size_t n = gmt_rate_moves(rate, quantities, places, PLACES_MOST);

    for (size_t i = 0; i < n; i++) {
        add(&moves, places[i].where, places[i].share);
    }
    if (n == 0) {
        return;
    }
    sum->places += moves.n;
    sum->above += moves.above;
    fprintf(out, "| %s %s%s%s | %s | ", rate->part, rate->curve,
            rate->curve[0] != '\0' && rate->value[0] != '\0' ? " " : "", rate->value, rate->rules);
    if (n == 1) {
        fprintf(out, "%.4g | ", places[0].middle);
    } else {
        fputs("| ", out);
    }
    print_moves(out, &moves);
}

static void print_used(FILE *out, const json_t *parts)
{
    struct gmt_used_rate rate;
    struct sum sum = {0, 0};

    fputs("| rate | used by | median | places | typically moved, % | above 5 % | worst, % |\n"
          "|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; gmt_used_rate(i, &rate); i++) {
        print_rate(out, &rate, json_object_get(parts, rate.part), &sum);
    }
    fprintf(out,
            "\nA place is a size of a curve (as rules read it, between the points that were "
            "measured, at 1 and 3 bytes\nof each decade), a variant or a shape. Of all %zu places "
            "%zu moved by more than 5 %%.\n",
            sum.places, sum.above);
}

/* ---- whole parts -------------------------------------------------------------------------------- */

static void print_part(FILE *out, const char *part, const json_t *quantities)
{
    struct moves moves = {.shares = calloc(json_object_size(quantities) + 1, sizeof(double))};
    const char *name;
    json_t *array;

    if (moves.shares == NULL) {
        return;
    }
    json_object_foreach((json_t *)quantities, name, array)
    {
        double values[GMT_CALIBRATIONS_MOST], middle;
        double share = gmt_share_moved(values, gmt_values_of(array, values), &middle);

        if (isfinite(share)) {
            add(&moves, name, share);
        }
    }
    if (moves.n > 0) {
        fprintf(out, "| %s | ", part);
        print_moves(out, &moves);
    }
    free(moves.shares);
}

/* Whose calibrations, and how each measured what the host's clock times. */
static void print_origin(FILE *out, const json_t *repeat)
{
    const json_t *machine = json_object_get(repeat, "machine");
    const char *gpu = gmt_text_of(machine, "gpu"), *driver = gmt_text_of(machine, "driver");
    const char *date = gmt_text_of(machine, "date"), *uuid = gmt_text_of(machine, "uuid");
    json_int_t processes = json_integer_value(json_object_get(repeat, "processes"));
    json_int_t passes = json_integer_value(json_object_get(repeat, "passes"));

    const char *rule = gmt_text_of(repeat, "rule");

    fprintf(out,
            "%s (%s), driver %s, %s: %zu calibrations in a row, of which each measured calls and "
            "copies\nin %d process%s and %d passes; a quantity is the %s. Largest minus smallest, "
            "in per cent\nof the median.\n\n",
            gpu != NULL ? gpu : "unknown GPU", uuid != NULL ? uuid : "no UUID",
            driver != NULL ? driver : "unknown", date != NULL ? date : "undated",
            json_array_size(json_object_get(repeat, "calibrations")), (int)processes,
            processes == 1 ? "" : "es", (int)passes, rule != NULL ? rule : "median");
}

static void print_host(FILE *out)
{
    fputs(
        "\nWhat moves by more than 5 % is the host's work: copies of pageable memory and what "
        "consists of them,\nwhich the driver makes with the CPU, and calls that allocate or "
        "page-lock. On this virtual machine one pass\nover them is slower than the next by up to "
        "1.9 times, for a tenth of a second or for some: of copies above 1 MiB\nthe single "
        "quickest of 15 to 45 passes moves as much as any mean of them, while copies of "
        "page-locked memory of\nthat size, measured in the same passes, stay within 1 %. The "
        "machine had been at work for 8 minutes. On one that\nhas just been started the first "
        "calibration finds pageable copies above 1 MiB 5 to 13 % slower than the next two,\nand "
        "some 60 places move by more than 5 % (2026-11-22, the same command). How often and how it "
        "is measured is in\ndevice-model.md. The spread in the model holds what passes differ by, "
        "and intervals are as wide.\n",
        out);
}

void gmt_page_repeat(FILE *out, const struct gmt_evidence_set *set)
{
    json_t *parts = json_object_get(set->repeat, "parts");
    const char *part;
    json_t *quantities;

    print_origin(out, set->repeat);
    print_used(out, parts);
    print_host(out);
    fputs("\nEverything, used or not.\n\n"
          "| part of the model | quantities | typically moved, % | above 5 % | worst, % |\n"
          "|---|---|---|---|---|\n",
          out);
    json_object_foreach(parts, part, quantities)
    {
        print_part(out, part, quantities);
    }
}
