/* SPDX-License-Identifier: Apache-2.0 */
/* The findings as CSV (RFC 4180), one row each: for spreadsheets and scripts. */
#include "reports/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"
#include "reports/writers.h"

/* "-3.5e9" is a number all the same. */
static bool is_number(const char *text)
{
    char *end = NULL;

    (void)strtod(text, &end);
    return end != text && *end == '\0' && strpbrk(text, "xXnN") == NULL;
}

/* Full-width "+", "-", "=" and "@", which spreadsheets of some languages take for the narrow ones. */
static bool is_wide_sign(const char *text)
{
    static const char *const signs[] = {"\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\x9d",
                                        "\xef\xbc\xa0"};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strncmp(text, signs[i], 3) == 0) {
            return true;
        }
    }
    return false;
}

static bool runs(const char *text)
{
    return is_wide_sign(text) ||
           (text[0] != '\0' && strchr("=+-@\t\r\n", text[0]) != NULL && !is_number(text));
}

void gmt_csv_text(FILE *out, const char *text)
{
    if (text == NULL) {
        return;
    }
    char *clean = gmt_clean_copy(text);
    /* A spreadsheet would run it; what it takes for a text begins with an apostrophe. */
    bool formula = runs(text);
    /* Cells end at a semicolon where the comma is the decimal sign. Blanks at the ends are kept by readers
     * only where they are quoted. */
    bool quoted = clean != NULL && (clean[0] == '\0' || strpbrk(clean, "\",;") != NULL ||
                                    clean[0] == ' ' || clean[strlen(clean) - 1] == ' ');

    if (quoted) {
        fputc('"', out);
    }
    if (formula) {
        fputc('\'', out);
    }
    for (const char *at = clean; at != NULL && *at != '\0'; at++) {
        if (*at == '"') {
            fputc('"', out);
        }
        fputc(*at, out);
    }
    if (quoted) {
        fputc('"', out);
    }
    free(clean);
}

void gmt_csv_integer(FILE *out, int64_t value)
{
    fprintf(out, "%" PRId64, value);
}

void gmt_csv_number(FILE *out, double value)
{
    if (!isfinite(value)) {
        return;
    }
    if (value == floor(value) && fabs(value) < 9e15) {
        fprintf(out, "%.0f", value);
    } else {
        fprintf(out, "%.9g", value);
    }
}

static const char *const columns[] = {"rank",
                                      "severity",
                                      "rule",
                                      "slug",
                                      "headline",
                                      "file",
                                      "line",
                                      "place",
                                      "function",
                                      "kernel",
                                      "api",
                                      "cost_ns",
                                      "saving_low_ns",
                                      "saving_best_ns",
                                      "saving_high_ns",
                                      "share_of_wall",
                                      "excess_bytes",
                                      "confidence",
                                      "effort",
                                      "fingerprint",
                                      "fix",
                                      "tried_fix",
                                      "tried_state",
                                      "tried_low_ns",
                                      "tried_best_ns",
                                      "tried_high_ns",
                                      "tried_share_of_run",
                                      "tried_points"};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void text_field(FILE *out, const char *text)
{
    fputs(GMT_CSV_NEXT, out);
    gmt_csv_text(out, text);
}

static void number_field(FILE *out, double value)
{
    fputs(GMT_CSV_NEXT, out);
    gmt_csv_number(out, value);
}

/* Empty where no fix was tried, and the numbers where it was not timed. */
static void tried_fields(FILE *out, const struct gmt_tried *tried)
{
    static const struct gmt_saving unknown = {NAN, NAN, NAN, NAN};
    const struct gmt_saving *gain = tried != NULL ? &tried->gain : &unknown;

    text_field(out, tried != NULL ? tried->name : NULL);
    text_field(out, tried != NULL ? gmt_tried_state_name(tried->state) : NULL);
    number_field(out, round(gain->low_ns));
    number_field(out, round(gain->best_ns));
    number_field(out, round(gain->high_ns));
    number_field(out, gain->share);
    number_field(out, tried != NULL ? tried->points : NAN);
}

static void row(FILE *out, const struct gmt_finding *f, size_t rank)
{
    const struct gmt_where *w = &f->where;

    gmt_csv_integer(out, (int64_t)rank);
    text_field(out, gmt_severity_name(f->severity));
    text_field(out, f->rule);
    text_field(out, f->slug);
    text_field(out, f->headline);
    text_field(out, w->file);
    number_field(out, w->line > 0 ? (double)w->line : NAN);
    text_field(out, w->label);
    text_field(out, w->function);
    text_field(out, w->kernel);
    text_field(out, w->api);
    number_field(out, round(f->cost_ns));
    number_field(out, round(f->saving.low_ns));
    number_field(out, round(f->saving.best_ns));
    number_field(out, round(f->saving.high_ns));
    number_field(out, f->saving.share);
    number_field(out, f->excess_bytes);
    text_field(out, gmt_finding_confidence(f));
    text_field(out, gmt_effort_name(f->effort));
    text_field(out, f->fingerprint);
    text_field(out, f->fix);
    tried_fields(out, f->tried);
    fputs(GMT_CSV_END, out);
}

static int write_csv(const struct gmt_report *r, const struct gmt_writer_options *options,
                     FILE *out)
{
    (void)options;
    for (size_t i = 0; i < COLUMNS; i++) {
        fprintf(out, "%s%s", i > 0 ? GMT_CSV_NEXT : "", columns[i]);
    }
    fputs(GMT_CSV_END, out);
    for (size_t i = 0; i < r->finding_count; i++) {
        row(out, &r->findings[i], i + 1);
    }
    /* Notes rank behind all findings. */
    for (size_t i = 0; i < r->note_count; i++) {
        row(out, &r->notes[i], r->finding_count + i + 1);
    }
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_csv = {.name = "csv", .write = write_csv};
