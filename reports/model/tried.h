/* SPDX-License-Identifier: Apache-2.0 */
/* What `gmtrace try` found out of fixes, beside the findings that they repair. */
#ifndef GMT_REPORTS_MODEL_TRIED_H
#define GMT_REPORTS_MODEL_TRIED_H

#include "reports/model/report.h"

/* As gmtrace try says it: docs/try.md. */
enum gmt_tried_state {
    GMT_TRIED_PROVEN,  /* results are equal, and the whole interval is a gain            */
    GMT_TRIED_TRIED,   /* too much was not compared, too few runs, or there are no times */
    GMT_TRIED_NO_GAIN, /* none is shown                                                  */
    GMT_TRIED_DIFFERS, /* a result differed                                              */
    GMT_TRIED_STATES
};

struct gmt_tried_refusal {
    const char *reason;
    double calls, bytes;
};

/* What one fix was applied to in the run that was compared. */
struct gmt_tried_counts {
    const char *fix, *rules;         /* rules: those that it is for, with blanks between */
    const char *one, *many;          /* what is counted: "copy", "copies"                */
    double calls, bytes, left_bytes; /* left: of such calls, left to the driver          */
    double least_bytes;              /* smaller calls are never changed                  */
    struct gmt_tried_refusal *refusals;
    size_t refusal_count;
};

/* One set of fixes that were on together: one, or all. */
struct gmt_tried {
    const char *name; /* of the fix, with its value where that is not the standard one; "all" */
    const char *why;  /* of the state */
    const char *difference; /* the first result that differed; NULL: none did */
    enum gmt_tried_state state;
    double pairs, coverage;      /* of runs; of the interval. 0: not timed, and the gain is NAN */
    struct gmt_saving gain;      /* of the whole run; its share is that of an untouched run    */
    struct gmt_saving predicted; /* likewise, of the report's findings; NAN: they have no price */
    double points;               /* predicted less tried, of 100 of an untouched run; NAN       */
    size_t findings;             /* and notes of the report that it repairs, all together       */
    struct gmt_tried_counts *counts;
    size_t count;
    const char **fingerprints; /* of the findings that were known when it was tried */
    size_t fingerprint_count;
    bool knows_findings; /* those are all; else the rule alone says which it repairs */
};

struct gmt_tried_results {
    const char *file;
    double untouched_ns; /* median of the whole program, from its start; NAN: not timed */
    double calls, bytes, unchecked_calls,
        unchecked_bytes;    /* copies to the host that were compared, or not */
    struct gmt_tried *rows; /* of values of one fix the best one first */
    size_t count;
};

/* The same in the memory of an arena. NULL: `results` is, or there is no memory. */
struct gmt_tried_results *gmt_tried_results_copy(const struct gmt_tried_results *results,
                                                 struct gmt_arena *arena);

const char *gmt_tried_state_name(enum gmt_tried_state state);
/* Does the gain of a fix that was proven say more of it than a price? */
bool gmt_finding_is_proven(const struct gmt_finding *finding);
/* How sure the finding is, as programs read it: "proven", or how its saving is known. */
const char *gmt_finding_confidence(const struct gmt_finding *finding);

/* "gains 150 ms of 1.20 s (12.5 %), 140 ms to 160 ms with 97 % in 8 pairs of runs"; "not timed" */
const char *gmt_tried_gain_words(struct gmt_arena *arena, const struct gmt_tried_results *results,
                                 const struct gmt_tried *tried);
/* "proven: results are equal, and the gain is no accident; for this finding and 2 others together" */
const char *gmt_tried_state_words(struct gmt_arena *arena, const struct gmt_tried *tried);
/* "applied to 8 copies, 32.0 MiB; not to 3 copies, 12.0 MiB: too small to gain" */
const char *gmt_tried_applied_words(struct gmt_arena *arena, const struct gmt_tried *tried);
/* "predicted 14.1 % of the run: 1.6 points more than tried"; NULL: one of them is not known */
const char *gmt_tried_points_words(struct gmt_arena *arena, const struct gmt_tried *tried);
/* "compared: 12 copies to the host, 3.00 MiB; unchecked: 2 of 14, 1.00 MiB" */
const char *gmt_tried_compared_words(struct gmt_arena *arena,
                                     const struct gmt_tried_results *results);
/* All of it, clause by clause. */
const char *gmt_tried_words(struct gmt_arena *arena, const struct gmt_tried_results *results,
                            const struct gmt_tried *tried);

#endif
