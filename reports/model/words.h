/* SPDX-License-Identifier: Apache-2.0 */
/* What reports call the parts of their model: names that programs read, and words for people. */
#ifndef GMT_REPORTS_MODEL_WORDS_H
#define GMT_REPORTS_MODEL_WORDS_H

#include "reports/model/report.h"

/* What every report of a simulated trace says at its top, and in place of a time. */
#define GMT_SIMULATED_BADGE "software device: exact counts, no times"
#define GMT_MODELLED_BADGE "software device: exact counts; times are modelled for "
#define GMT_SIMULATED_TIME "n/a: no times"
/* The badge and the word for what a finding lacks, by whether the times are modelled. */
const char *gmt_simulated_badge(const struct gmt_report *report);
const char *gmt_simulated_time(const struct gmt_report *report);
/* "an NVIDIA H200": what times are modelled for. */
const char *gmt_modelled_device(const struct gmt_report *report);

/* "kernels", "idle: allocation"; stable, and the same with _ in place of what is no letter. */
const char *gmt_time_part_title(enum gmt_time_part part);
const char *gmt_time_part_name(enum gmt_time_part part);
const char *gmt_severity_name(enum gmt_severity severity);
const char *gmt_confidence_name(enum gmt_confidence confidence);
/* The same for people: says when the calibration is another device's. */
const char *gmt_confidence_words(const struct gmt_report *report, enum gmt_confidence confidence);
const char *gmt_effort_name(enum gmt_effort effort);
const char *gmt_outcome_name(enum gmt_outcome outcome);
const char *gmt_provenance_name(enum gmt_provenance provenance);
/* Which device was measured, as stored in device_model.match; NULL: none. */
const char *gmt_match_name(enum gmt_provenance provenance);
/* What the shares of a finding's lines are of, in words. */
const char *gmt_lines_of(const struct gmt_finding *finding);
/* How much a finding or note is about: "saves 7.58 us", "at most 12.0 us", ...; "" where it is not known. */
const char *gmt_finding_size(struct gmt_arena *arena, const struct gmt_finding *finding);
/* Notes of one reason stand together: the index behind the last one of the reason of notes[first]. */
size_t gmt_note_group_end(const struct gmt_report *report, size_t first);
/* "main.cu:42", "PTX line 117" where the source is not known. */
const char *gmt_line_label(struct gmt_arena *arena, const struct gmt_finding_line *line);
/* What to do so that a line is named; NULL: it is. */
const char *gmt_line_remedy(const struct gmt_finding_line *line);
/* "`x[i * 33]`: 32.0 per request where 4.0 would do"; only where the line has its code. */
const char *gmt_line_quote(struct gmt_arena *arena, const struct gmt_finding_line *line);

#endif
