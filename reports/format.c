/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people, and text of unknown origin made printable. */
#include "reports/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/printable.h"
#include "reports/inlining.h"
#include "reports/report.h"

static const char dash[] = "–";
static const char *unknown(char *text)
{
    memcpy(text, dash, sizeof(dash));
    return text;
}

/* Three significant digits, as far as the integer part leaves room. */
static int digits_for(double value)
{
    if (value < 9.995)
        return 2;
    return value < 99.95 ? 1 : 0;
}

static const char *scaled(char *text, double value, const char *const *units, size_t n, double step)
{
    size_t unit = 0;

    if (!isfinite(value))
        return unknown(text);
    double magnitude = fabs(value);
    while (unit + 1 < n && magnitude >= step * 0.9995) {
        magnitude /= step;
        unit++;
    }
    bool whole = unit == 0 && magnitude == floor(magnitude);
    snprintf(text, GMT_FORMAT_BYTES, "%s%.*f %s", value < 0 ? "-" : "",
             whole ? 0 : digits_for(magnitude), magnitude, units[unit]);
    return text;
}

const char *gmt_format_ns(char *text, double ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};

    return scaled(text, ns, units, 4, 1000.0);
}

const char *gmt_format_bytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

    return scaled(text, bytes, units, 5, 1024.0);
}

const char *gmt_format_rate(char *text, double bytes_per_s)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};

    return scaled(text, bytes_per_s, units, 5, 1000.0);
}

const char *gmt_format_count(char *text, double count)
{
    char plain[GMT_FORMAT_BYTES];
    size_t out = 0;

    if (!isfinite(count) || fabs(count) > 1e15)
        return unknown(text);
    int length = snprintf(plain, sizeof(plain), "%.0f", count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && plain[i - 1] != '-')
            text[out++] = ',';
        text[out++] = plain[i];
    }
    text[out] = '\0';
    return text;
}

const char *gmt_format_decimal(char *text, double value, int decimals)
{
    if (!isfinite(value))
        return unknown(text);
    snprintf(text, GMT_FORMAT_BYTES, "%.*f", decimals, value);
    return text;
}

const char *gmt_format_percent(char *text, double percent)
{
    if (!isfinite(percent))
        return unknown(text);
    if (percent > 0 && percent < 0.095)
        snprintf(text, GMT_FORMAT_BYTES, "<0.1 %%");
    else
        snprintf(text, GMT_FORMAT_BYTES, "%.*f %%", fabs(percent) >= 99.95 ? 0 : 1, percent);
    return text;
}

size_t gmt_clean_length(const char *text)
{
    const char *bytes;
    size_t length, count = 0;

    for (; *text != '\0'; count++)
        text += gmt_printable_next(text, &bytes, &length);
    return count;
}

size_t gmt_print_clean(FILE *out, const char *text, size_t max_columns)
{
    bool cut = max_columns > 0 && gmt_clean_length(text) > max_columns;
    const char *bytes;
    size_t length, count = 0;

    while (*text != '\0') {
        if (cut && count + 1 == max_columns) {
            fputs("…", out);
            return count + 1;
        }
        text += gmt_printable_next(text, &bytes, &length);
        fwrite(bytes, 1, length, out);
        count++;
    }
    return count;
}

/* At most n characters; where text has more, the last is an ellipsis. */
static char *clean_copy(const char *text, size_t n, bool lines)
{
    static const char ellipsis[] = "…";
    const char *bytes;
    size_t length, used = 0, count = 0, last = 0;
    size_t most = strlen(text);

    most = n < SIZE_MAX / 4 && most > 4 * n ? 4 * n : 3 * most;
    char *clean = malloc(most + sizeof(ellipsis));
    if (clean == NULL)
        return NULL;
    while (*text != '\0' && count++ < n) {
        bool keep = lines && (*text == '\n' || *text == '\t');

        last = used;
        if (keep) {
            clean[used++] = *text++;
            continue;
        }
        text += gmt_printable_next(text, &bytes, &length);
        memcpy(clean + used, bytes, length);
        used += length;
    }
    if (*text != '\0') {
        memcpy(clean + last, ellipsis, sizeof(ellipsis) - 1);
        used = last + sizeof(ellipsis) - 1;
    }
    clean[used] = '\0';
    return clean;
}

char *gmt_clean_copy(const char *text)
{
    return clean_copy(text, SIZE_MAX, false);
}

char *gmt_clean_cut(const char *text, size_t max_columns)
{
    return clean_copy(text, max_columns, false);
}

char *gmt_clean_lines(const char *text)
{
    return clean_copy(text, SIZE_MAX, true);
}

const char *gmt_severity_name(enum gmt_severity severity)
{
    static const char *const names[] = {"note", "low", "medium", "high"};

    return names[severity];
}

const char *gmt_confidence_name(enum gmt_confidence confidence)
{
    static const char *const names[] = {"measured", "calibrated", "modelled", "heuristic"};

    return names[confidence];
}

const char *gmt_confidence_words(const struct gmt_report *report, enum gmt_confidence confidence)
{
    if (confidence == GMT_CONFIDENCE_CALIBRATED &&
        report->model_provenance == GMT_MODEL_OTHER_BOARD)
        return "calibrated on another board";
    return gmt_confidence_name(confidence);
}

const char *gmt_effort_name(enum gmt_effort effort)
{
    static const char *const names[] = {"small", "medium", "large"};

    return names[effort];
}

const char *gmt_outcome_name(enum gmt_outcome outcome)
{
    static const char *const names[] = {"pass", "fail", "not applicable", "could not check"};

    return names[outcome];
}

const char *gmt_provenance_name(enum gmt_provenance provenance)
{
    static const char *const names[] = {"none", "modelled", "modelled", "another board",
                                        "calibrated"};

    return names[provenance];
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

const char *gmt_line_quote(struct gmt_arena *arena, const struct gmt_finding_line *line)
{
    return isfinite(line->per_request) && isfinite(line->ideal_per_request)
               ? gmt_arena_text(arena, "%s (%.1f per request where %.1f would do)", line->code,
                                line->per_request, line->ideal_per_request)
               : line->code;
}

const char *gmt_lines_of(const struct gmt_finding *finding)
{
    return finding->lines_of != NULL ? finding->lines_of : "the excess";
}

const char *gmt_finding_size(struct gmt_arena *arena, const struct gmt_finding *f)
{
    char text[GMT_FORMAT_BYTES];

    if (isfinite(f->saving.best_ns) && f->saving.best_ns > 0)
        return gmt_arena_text(arena, "saves %s", gmt_format_ns(text, f->saving.best_ns));
    if (f->saved_peak_bytes > 0)
        return gmt_arena_text(arena, "%s less at the peak",
                              gmt_format_bytes(text, f->saved_peak_bytes));
    if (isfinite(f->at_most_ns) && f->at_most_ns > 0)
        return gmt_arena_text(arena, "at most %s", gmt_format_ns(text, f->at_most_ns));
    if (f->excess_bytes > 0)
        return gmt_arena_text(arena, "%s for nothing", gmt_format_bytes(text, f->excess_bytes));
    return "";
}

size_t gmt_note_group_end(const struct gmt_report *report, size_t first)
{
    size_t end = first + 1;

    while (end < report->note_count &&
           strcmp(report->notes[end].note_why, report->notes[first].note_why) == 0)
        end++;
    return end;
}

const char *gmt_line_label(struct gmt_arena *arena, const struct gmt_finding_line *line)
{
    if ((line->file == NULL || line->line <= 0) && line->ptx_line <= 0)
        return gmt_arena_text(arena, "instruction %s", line->opcode != NULL ? line->opcode : "?");
    if (line->file == NULL || line->line <= 0)
        return gmt_arena_text(arena, "PTX line %" PRId64, line->ptx_line);
    struct gmt_inline_call outermost = {
        .file = line->caller_file, .line = line->caller_line, .level = 1};
    struct gmt_inline_chain known = {.calls = &outermost, .call_count = 1};
    const char *file = last_part(line->file);
    if (line->caller_file == NULL)
        return gmt_arena_text(arena, "%s:%" PRId64, file, line->line);
    const char *calls = gmt_chain_words(arena, line->chain.call_count > 0 ? &line->chain : &known,
                                        false);
    return line->chain_count > 1
               ? gmt_arena_text(arena, "%s:%" PRId64 ", %s (one of %zu ways)", file, line->line,
                                calls, line->chain_count)
               : gmt_arena_text(arena, "%s:%" PRId64 ", %s", file, line->line, calls);
}

const char *gmt_line_remedy(const struct gmt_finding_line *line)
{
    if (line->file != NULL && line->line > 0)
        return NULL;
    /* The opcode is read in the cubin; without one there is at most a place, behind a blank. */
    return line->opcode == NULL || line->opcode[0] == ' '
               ? "neither opcode nor line: its cubin is not in the trace, see its losses"
               : "to see source lines: build with nvcc -lineinfo";
}

const char *gmt_match_name(enum gmt_provenance provenance)
{
    static const char *const names[] = {NULL, "another GPU", "shipped", "another board",
                                        "this board"};

    return names[provenance];
}
