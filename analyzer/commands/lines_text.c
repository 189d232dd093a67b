/* SPDX-License-Identifier: Apache-2.0 */
/* The annotated listing of gmanalyze lines for a terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/commands/lines_write.h"
#include "libtrace/base/format.h"
#include "reports/model/inlining.h"
#include "reports/text/text_parts.h"

/* Widths of the columns left of the source. */
enum { EXECUTED = 14, RATIO = 14, EXCESS = 11, SHARE = 7, KIND = 15, NUMBER = 7 };
enum { TABS = 4, LEAST_SOURCE = 30 };

/* Shares of the kernel's excess from which on a line stands out. */
static const double hot = 0.25, warm = 0.05;

struct listing {
    struct gmt_text_out out;
    const struct gmt_lines_view *view;
    const struct gmt_kernel_lines *kernel;
    struct gmt_source_text text;
    size_t source_columns; /* 0: no limit */
};

static const char *word_of(const char *kind)
{
    static const struct {
        const char *kind, *word;
    } words[] = {
        {"global_load", "load"},
        {"global_store", "store"},
        {"global_atomic", "atomic"},
        {"local_load", "local load"},
        {"local_store", "local store"},
        {"shared_load", "shared load"},
        {"shared_store", "shared store"},
        {"shared_atomic", "shared atomic"},
        {"constant_load", "constant"},
        {"async_copy", "async copy"},
        {"other", ""},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].kind, kind) == 0) {
            return words[i].word;
        }
    }
    return kind;
}

static double share_of(const struct listing *listing, const struct gmt_source_line *line)
{
    return listing->kernel->excess_bytes > 0 && line->excess_bytes > 0
               ? line->excess_bytes / listing->kernel->excess_bytes
               : 0;
}

static enum gmt_text_style style_of(double share)
{
    return share >= hot ? GMT_STYLE_RED : share >= warm ? GMT_STYLE_YELLOW : GMT_STYLE_PLAIN;
}

/* Tabs become blanks, so that columns stay. */
static char *expand(struct gmt_arena *arena, const char *text)
{
    char *wide = gmt_arena_alloc(arena, strlen(text) * TABS + 1), *at = wide;

    for (size_t column = 0; wide != NULL && *text != '\0'; text++) {
        size_t fill = *text == '\t' ? TABS - column % TABS : 1;

        memset(at, *text == '\t' ? ' ' : *text, fill);
        at += fill;
        column += fill;
    }
    if (wide != NULL) {
        *at = '\0';
    }
    return wide;
}

static void source_cells(const struct listing *listing, int64_t number, bool repeated)
{
    FILE *out = listing->out.out;
    size_t count = listing->text.line_count;

    if (number < 1) {
        fputs("  |", out);
        return;
    }
    fprintf(out, "%*" PRId64 " |", NUMBER, number);
    if (repeated || (size_t)number > count) {
        return;
    }
    const char *text = expand(listing->view->arena, listing->text.lines[number - 1]);
    if (text != NULL && text[0] != '\0') {
        fputc(' ', out);
        gmt_print_clean(out, text, listing->source_columns);
    }
}

static void counts(struct listing *listing, const struct gmt_source_line *line)
{
    struct gmt_text_out *out = &listing->out;
    char text[GMT_FORMAT_BYTES * 2 + 8], bytes[GMT_FORMAT_BYTES];
    double actual, ideal, share = share_of(listing, line);

    gmt_text_style(out, style_of(share));
    gmt_text_cell(out, gmt_format_count(text, line->executed), EXECUTED, true);
    text[0] = '\0';
    if (gmt_source_line_ratio(line, &actual, &ideal)) {
        (void)snprintf(text, sizeof(text), "%.1f / %.1f", actual, ideal);
    }
    gmt_text_cell(out, text, RATIO, true);
    gmt_text_cell(out, line->excess_bytes > 0 ? gmt_format_bytes(bytes, line->excess_bytes) : "",
                  EXCESS, true);
    (void)snprintf(text, sizeof(text), "%.0f %%", 100 * share);
    gmt_text_cell(out, share > 0 ? text : "", SHARE, true);
    fputc(' ', out->out);
    gmt_text_cell(out, word_of(line->kind), KIND - 1, false);
    gmt_text_style(out, GMT_STYLE_PLAIN);
}

/* A line of source without instructions. */
static void plain_line(struct listing *listing, int64_t number)
{
    gmt_text_style(&listing->out, GMT_STYLE_DIM);
    fprintf(listing->out.out, "%*s", EXECUTED + RATIO + EXCESS + SHARE + KIND, "");
    source_cells(listing, number, false);
    gmt_text_style(&listing->out, GMT_STYLE_PLAIN);
    fputc('\n', listing->out.out);
}

/* Lines from `from` up to, not including, `to`. */
static void context(struct listing *listing, int64_t from, int64_t to)
{
    for (int64_t number = from; number < to && (size_t)number <= listing->text.line_count;
         number++) {
        plain_line(listing, number);
    }
}

/* Opcodes are read in the cubin: without it there are none, only places, behind a blank. */
static bool has_opcodes(const struct gmt_kernel_lines *kernel)
{
    for (size_t i = 0; i < kernel->line_count; i++) {
        const char *opcodes = kernel->lines[i].opcodes;

        if (opcodes != NULL && opcodes[0] != ' ') {
            return true;
        }
    }
    return false;
}

static const char *without_lines(const struct gmt_kernel_lines *kernel)
{
    return has_opcodes(kernel)
               ? "no line information: build with nvcc -lineinfo"
               : "no opcodes and no lines: its cubin is not in the trace (see its losses)";
}

static void say_missing(FILE *out, const struct listing *listing)
{
    fputs("  (source: ", out);
    gmt_print_clean(out, listing->text.missing, 0);
    fputs(listing->view->local_sources ? ")" : "; --local-sources looks for it here)", out);
}

static void file_head(struct listing *listing, const char *file)
{
    FILE *out = listing->out.out;

    fputs("\n  ", out);
    gmt_text_style(&listing->out, GMT_STYLE_CYAN);
    gmt_print_clean(out, file != NULL ? file : without_lines(listing->kernel), 0);
    gmt_text_style(&listing->out, GMT_STYLE_PLAIN);
    if (file != NULL && listing->text.missing != NULL) {
        say_missing(out, listing);
    }
    if (listing->text.from_disk) {
        fputs("  (source of this machine: it may have changed since)", out);
    }
    fputc('\n', out);
}

static void column_head(struct listing *listing)
{
    struct gmt_text_out *out = &listing->out;

    gmt_text_style(out, GMT_STYLE_DIM);
    gmt_text_cell(out, "executed", EXECUTED, true);
    gmt_text_cell(out, "per request", RATIO, true);
    gmt_text_cell(out, "excess", EXCESS, true);
    gmt_text_cell(out, "share", SHARE, true);
    gmt_text_cell(out, "", KIND, false);
    fprintf(out->out, "%*s |\n", NUMBER, "line");
    gmt_text_style(out, GMT_STYLE_PLAIN);
}

/* Which calls the function was inlined at that an access stands in: below the access. */
static void callers(struct listing *listing, const struct gmt_source_line *line)
{
    enum { FEW = 8 };
    const int column = EXECUTED + RATIO + EXCESS + SHARE + KIND + NUMBER;
    double actual, ideal;
    size_t shown = line->chain_count < FEW ? line->chain_count : FEW;

    if (!gmt_source_line_ratio(line, &actual, &ideal)) {
        return;
    }
    gmt_text_style(&listing->out, shown > 0 ? GMT_STYLE_CYAN : GMT_STYLE_PLAIN);
    for (size_t i = 0; i < shown; i++) {
        fprintf(listing->out.out, "%*s | ", column, "");
        gmt_print_clean(listing->out.out,
                        gmt_chain_words(listing->view->arena, &line->chains[i], true), 0);
        fputc('\n', listing->out.out);
    }
    if (line->all_chains > shown) {
        fprintf(listing->out.out, "%*s | and in %zu other ways: --format json\n", column, "",
                line->all_chains - shown);
    }
    gmt_text_style(&listing->out, GMT_STYLE_PLAIN);
}

/* Does the line have an access to memory, so that its arithmetic need no row of its own? */
static bool is_beside_access(const struct gmt_kernel_lines *kernel, size_t at)
{
    const struct gmt_source_line *line = &kernel->lines[at];
    double actual, ideal;

    if (line->file == NULL || gmt_source_line_ratio(line, &actual, &ideal)) {
        return false;
    }
    for (size_t i = at > 16 ? at - 16 : 0; i < kernel->line_count && i < at + 16; i++) {
        const struct gmt_source_line *other = &kernel->lines[i];

        if (i != at && other->file != NULL && strcmp(other->file, line->file) == 0 &&
            other->line == line->line && gmt_source_line_ratio(other, &actual, &ideal)) {
            return true;
        }
    }
    return false;
}

/* The rows of one file, from `at` on; returns the first that is of another. */
static size_t file_rows(struct listing *listing, size_t at)
{
    const struct gmt_kernel_lines *kernel = listing->kernel;
    const char *file = kernel->lines[at].file;
    int64_t next = 1; /* the first line of source that is not printed yet */
    long around = listing->view->context;

    for (; at < kernel->line_count; at++) {
        const struct gmt_source_line *line = &kernel->lines[at];
        bool same = line->file == file ||
                    (line->file != NULL && file != NULL && strcmp(line->file, file) == 0);

        if (!same) {
            break;
        }
        if (is_beside_access(kernel, at)) {
            continue;
        }
        if (file == NULL) {
            counts(listing, line);
            fputs("  ", listing->out.out);
            if (line->ptx_line > 0) {
                fprintf(listing->out.out, "PTX line %" PRId64 ": ", line->ptx_line);
            }
            gmt_print_clean(listing->out.out, line->opcodes != NULL ? line->opcodes : "", 0);
            fputc('\n', listing->out.out);
            continue;
        }
        int64_t from = line->line - around, end = next + around;

        if (line->line >= next) {
            if (next > 1 && from > end) {
                context(listing, next, end);
                fprintf(listing->out.out, "%*s\n",
                        EXECUTED + RATIO + EXCESS + SHARE + KIND + NUMBER, "...");
                next = from;
            }
            context(listing, next > 1 || from < 1 ? next : from, line->line);
        }
        counts(listing, line);
        source_cells(listing, line->line, line->line < next);
        fputc('\n', listing->out.out);
        callers(listing, line);
        next = line->line + 1;
    }
    if (file != NULL) {
        context(listing, next, next + around);
    }
    return at;
}

static void kernel_listing(struct listing *listing)
{
    const struct gmt_kernel_lines *kernel = listing->kernel;
    FILE *out = listing->out.out;
    char excess[GMT_FORMAT_BYTES], launches[GMT_FORMAT_BYTES];

    gmt_text_style(&listing->out, GMT_STYLE_BOLD);
    gmt_print_clean(out, kernel->kernel != NULL ? kernel->kernel : "?", 0);
    gmt_text_style(&listing->out, GMT_STYLE_PLAIN);
    fprintf(out, "\n  %s beyond the ideal in a launch; %s launch%s counted%s\n",
            gmt_format_bytes(excess, kernel->excess_bytes),
            gmt_format_count(launches, (double)kernel->launches), kernel->launches == 1 ? "" : "es",
            kernel->simulated ? " by the software device" : " on the GPU");
    for (size_t at = 0; at < kernel->line_count;) {
        const char *file = kernel->lines[at].file;

        listing->text = file != NULL ? gmt_source_text_load(listing->view->db, listing->view->arena,
                                                            file, listing->view->local_sources)
                                     : (struct gmt_source_text){0};
        file_head(listing, file);
        column_head(listing);
        at = file_rows(listing, at);
    }
}

/* Columns for the source; 0, no limit, where nobody's window must hold it. */
static size_t columns_left(void)
{
    const size_t taken = EXECUTED + RATIO + EXCESS + SHARE + KIND + NUMBER + 3;
    struct winsize window;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) {
        return 0;
    }
    return window.ws_col > taken + LEAST_SOURCE ? window.ws_col - taken : LEAST_SOURCE;
}

void gmt_lines_text(const struct gmt_lines_view *view)
{
    struct listing listing = {
        .out = {.out = stdout, .color = view->color},
        .view = view,
        .source_columns = columns_left(),
    };

    for (size_t i = 0; i < view->shown; i++) {
        if (i > 0) {
            putchar('\n');
        }
        listing.kernel = &view->kernels[i];
        kernel_listing(&listing);
    }
    if (view->shown < view->kernel_count) {
        printf("\n%zu more kernel%s; --top 0 shows all\n", view->kernel_count - view->shown,
               view->kernel_count - view->shown == 1 ? "" : "s");
    }
}
