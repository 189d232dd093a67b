/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's check of itself: a line where all agrees, one more for each kind that does not. */
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/text/text_parts.h"

#define LABEL "seen    "

static const char *joined(const struct gmt_report *r, const char *text, const char *more)
{
    return text[0] == '\0' ? more : gmt_arena_text(r->arena, "%s, %s", text, more);
}

/* "1,200 copies, 45 kernels" */
static const char *compared(const struct gmt_report *r)
{
    const char *text = "";
    char count[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < r->coverage.line_count; i++) {
        const struct gmt_coverage_line *line = &r->coverage.lines[i];

        if (strcmp(line->kind, "records") == 0) {
            text = joined(r, text,
                          gmt_arena_text(r->arena, "%s %s", gmt_format_count(count, line->expected),
                                         line->what));
        }
    }
    return text;
}

/* "cuGetProcAddress_v2, dlsym" */
static const char *lookup_paths(const struct gmt_report *r)
{
    const char *text = "";

    for (size_t i = 0; i < r->coverage.line_count; i++) {
        if (strcmp(r->coverage.lines[i].kind, "lookup_path") == 0) {
            text = joined(r, text, r->coverage.lines[i].what);
        }
    }
    return text;
}

/* "static runtime in 2 modules" */
static const char *runtimes(const struct gmt_report *r)
{
    static const char *const forms[] = {"static", "shared"};
    const char *text = "";

    for (size_t form = 0; form < 2; form++) {
        size_t count = 0;

        for (size_t i = 0; i < r->coverage.line_count; i++) {
            const struct gmt_coverage_line *line = &r->coverage.lines[i];

            count += strcmp(line->kind, "runtime") == 0 && line->class != NULL &&
                     strcmp(line->class, forms[form]) == 0;
        }
        if (count > 0) {
            text = joined(r, text,
                          gmt_arena_text(r->arena, "%s CUDA runtime in %zu module%s", forms[form],
                                         count, count == 1 ? "" : "s"));
        }
    }
    return text;
}

static void difference(struct gmt_text_out *t, const struct gmt_report *r,
                       const struct gmt_coverage_line *line)
{
    char expected[GMT_FORMAT_BYTES], seen[GMT_FORMAT_BYTES], extra[GMT_FORMAT_BYTES];
    const char *example = NULL;

    for (size_t i = 0; i < r->coverage.example_count && example == NULL; i++) {
        if (strcmp(r->coverage.examples[i].what, line->what) == 0) {
            example = r->coverage.examples[i].detail;
        }
    }
    gmt_text_wrap(
        t, 2, LABEL,
        gmt_arena_text(
            r->arena, "%s: %s of %s have a device record%s%s%s", line->what,
            gmt_format_count(seen, line->seen), gmt_format_count(expected, line->expected),
            line->extra == 0   ? ""
            : line->extra == 1 ? ", 1 record is without a call"
                               : gmt_arena_text(r->arena, ", %s records are without a call",
                                                gmt_format_count(extra, line->extra)),
            example != NULL ? "; for example " : "", example != NULL ? example : ""));
}

void gmt_text_coverage(struct gmt_text_out *t, const struct gmt_report *r)
{
    bool whole = t->detail->gaps == 0;
    const char *by = whole ? lookup_paths(r) : "", *from = whole ? runtimes(r) : "";

    if (r->coverage.line_count == 0) {
        return;
    }
    for (size_t i = 0; i < r->coverage.line_count; i++) {
        const struct gmt_coverage_line *line = &r->coverage.lines[i];

        if (strcmp(line->kind, "records") == 0 &&
            (line->seen != line->expected || line->extra > 0)) {
            difference(t, r, line);
        }
    }
    const char *agreement = "no complete device records to compare with";
    if (r->coverage.compared) {
        agreement = r->coverage.differs
                        ? gmt_arena_text(r->arena, "the rest of %s agrees with CUPTI", compared(r))
                        : gmt_arena_text(r->arena, "%s: hooks and CUPTI agree", compared(r));
    }
    if (t->detail->gaps == 1 && r->coverage.compared && !r->coverage.differs) {
        return;
    }
    gmt_text_wrap(t, 2, LABEL,
                  gmt_arena_text(r->arena, "%s%s%s%s%s", agreement,
                                 by[0] != '\0' ? "; driver reached by " : "", by,
                                 from[0] != '\0' ? "; " : "", from));
}
