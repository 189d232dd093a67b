/* SPDX-License-Identifier: Apache-2.0 */
/* What to change first, in words: what all reports begin with, and what gmtrace prints when a program has ended. */
#ifndef GMT_REPORTS_MODEL_ANSWER_H
#define GMT_REPORTS_MODEL_ANSWER_H

#include "reports/model/report.h"

/*
 * Fills in what to do (finding.action; the title where the rule says no fix) and where (finding.place, without lines): in
 * a kernel the line that causes most of it, where lines are known; else the finding's own place.
 */
void gmt_answer_fill(struct gmt_arena *arena, struct gmt_finding *findings, size_t n);

/* "1-2 lines", "some lines", "restructuring" */
const char *gmt_answer_effort(const struct gmt_finding *finding);

/* "1.73 s -> 1.26 s, 1.37 x", less than 1 % as "5.31 ms of 1.73 s"; "" where it has no price. */
const char *gmt_answer_times(const struct gmt_report *report, const struct gmt_saving *saving);
/* The same of a finding, with what it has in place of a price. */
const char *gmt_answer_gain(const struct gmt_report *report, const struct gmt_finding *finding);

/* "saves 120 to 221 ms, modelled"; "" where it has no price. */
const char *gmt_answer_certainty(const struct gmt_report *report,
                                 const struct gmt_finding *finding);

/* Is the saving of all findings together the sum of theirs? Where not, some of them overlap. */
bool gmt_savings_add_up(const struct gmt_report *report);

/* How many findings are named first: at most GMT_FIRST_FINDINGS, without the last ones that save next to nothing. */
size_t gmt_answer_count(const struct gmt_report *report);

/* Why a place that is named first has no better name, and what helps: the first such reason; NULL: all are named. */
const char *gmt_answer_places_note(const struct gmt_report *report);

/* Was anything recorded that checks look at? */
bool gmt_answer_has_work(const struct gmt_report *report);

/* What "no findings" means, as a sentence without its end. */
const char *gmt_answer_none(const struct gmt_report *report);

/* How much of the time the device was idle, for what most of all, and how much of it for a host that comes too late with its launches: one
 * sentence without its end. NULL: not known. */
const char *gmt_answer_idle(const struct gmt_report *report);
/* What the device was idle for, most time first; returns how many there are. */
size_t gmt_idle_causes_rank(const struct gmt_report *report,
                            enum gmt_time_part causes[GMT_TIME_PARTS]);

/* "between A and B", or the place; ", in C" where it has an inner one. */
const char *gmt_call_place_name(struct gmt_arena *arena, const struct gmt_call_place *place);

/* Why the parts of the time are not those of other figures, or NULL. One sentence without its end. */
const char *gmt_time_parts_note(const struct gmt_report *report);

#endif
