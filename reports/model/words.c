/* SPDX-License-Identifier: Apache-2.0 */
/* The words that all reports use for severities, confidences, outcomes and lines. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/inlining.h"
#include "reports/model/words.h"

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
        report->model_provenance == GMT_MODEL_SAME_NAME) {
        return "calibrated on another device";
    }
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

    if (isfinite(f->saving.best_ns) && f->saving.best_ns > 0) {
        return gmt_arena_text(arena, f->modelled ? "saves about %s, modelled" : "saves %s",
                              gmt_format_ns(text, f->saving.best_ns));
    }
    if (f->saved_peak_bytes > 0) {
        return gmt_arena_text(arena, "%s less at the peak",
                              gmt_format_bytes(text, f->saved_peak_bytes));
    }
    if (isfinite(f->at_most_ns) && f->at_most_ns > 0) {
        return gmt_arena_text(arena, f->modelled ? "at most %s, modelled" : "at most %s",
                              gmt_format_ns(text, f->at_most_ns));
    }
    if (f->excess_bytes > 0) {
        return gmt_arena_text(arena, "%s unnecessary", gmt_format_bytes(text, f->excess_bytes));
    }
    return "";
}

const char *gmt_modelled_device(const struct gmt_report *report)
{
    const char *name = report->model_device;
    /* Spelt out letter by letter, NVIDIA begins with a vowel. */
    bool vowel = name != NULL && (strncmp(name, "NVIDIA", 6) == 0 ||
                                  (name[0] != '\0' && strchr("AEIOU", name[0]) != NULL));

    return name == NULL ? "the model's device"
                        : gmt_arena_text(report->arena, "%s %s", vowel ? "an" : "a", name);
}

const char *gmt_simulated_badge(const struct gmt_report *report)
{
    return report->modelled
               ? gmt_arena_text(report->arena, GMT_MODELLED_BADGE "%s, none is measured",
                                gmt_modelled_device(report))
               : GMT_SIMULATED_BADGE;
}

const char *gmt_simulated_time(const struct gmt_report *report)
{
    return report->modelled ? "not modelled" : GMT_SIMULATED_TIME;
}

size_t gmt_note_group_end(const struct gmt_report *report, size_t first)
{
    size_t end = first + 1;

    while (end < report->note_count &&
           strcmp(report->notes[end].note_why, report->notes[first].note_why) == 0) {
        end++;
    }
    return end;
}

const char *gmt_line_label(struct gmt_arena *arena, const struct gmt_finding_line *line)
{
    if ((line->file == NULL || line->line <= 0) && line->ptx_line <= 0) {
        return gmt_arena_text(arena, "instruction %s", line->opcode != NULL ? line->opcode : "?");
    }
    if (line->file == NULL || line->line <= 0) {
        return gmt_arena_text(arena, "PTX line %" PRId64, line->ptx_line);
    }
    struct gmt_inline_call outermost = {
        .file = line->caller_file, .line = line->caller_line, .level = 1};
    struct gmt_inline_chain known = {.calls = &outermost, .call_count = 1};
    const char *file = last_part(line->file);
    if (line->caller_file == NULL) {
        return gmt_arena_text(arena, "%s:%" PRId64, file, line->line);
    }
    const char *calls = gmt_chain_words(arena, line->chain.call_count > 0 ? &line->chain : &known,
                                        false);
    return line->chain_count > 1
               ? gmt_arena_text(arena, "%s:%" PRId64 ", %s (one of %zu ways)", file, line->line,
                                calls, line->chain_count)
               : gmt_arena_text(arena, "%s:%" PRId64 ", %s", file, line->line, calls);
}

const char *gmt_line_remedy(const struct gmt_finding_line *line)
{
    if (line->file != NULL && line->line > 0) {
        return NULL;
    }
    /* The opcode is read in the cubin; without one there is at most a place, behind a blank. */
    return line->opcode == NULL || line->opcode[0] == ' '
               ? "no opcode and no line: its cubin is not in the trace (see its losses)"
               : "to see source lines: build with nvcc -lineinfo";
}

const char *gmt_match_name(enum gmt_provenance provenance)
{
    static const char *const names[] = {NULL, "another GPU", "shipped", "another board",
                                        "this board"};

    return names[provenance];
}
