/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted against measured, of one bad reference kernel. */
#ifndef GMT_TESTS_PREDICTION_SCORE_H
#define GMT_TESTS_PREDICTION_SCORE_H

#include "trial.h"

enum gmt_heard {
    GMT_HEARD_TOP,   /* the rule's finding is the first one         */
    GMT_HEARD_BELOW, /* it is a finding, but another one goes first */
    GMT_HEARD_NOTE,
    GMT_HEARD_NOT,
    GMT_HEARD_UNTRACED
};

/* Gains are shares of the bad variant's run time, 0..1; NAN: none. Strings live as long as the set,
 * or are copied into the arena that gmt_score_variant is given. */
struct gmt_score {
    const char *family, *variant, *reference, *rule;
    double bad_ns, good_ns;
    double truth;           /* (bad - good) / bad                                        */
    double low, best, high; /* predicted with the family left out                        */
    bool by_kin;            /* or, as nothing could be priced so, with its own body's
                               variants left out: those with the same reference          */
    double own_best;        /* predicted with the family in the model                    */
    double ncu, ncu_local;  /* largest estimates of whole-kernel and of local speedups   */
    enum gmt_heard heard;   /* with the family in the model, as a user has it            */
    const char *top_rule;   /* of the first finding; NULL: no finding at all             */
    const char *name;       /* what it must name, by named.def; NULL: no row there       */
    bool named;             /* that in the headline, and the kernel as the place         */
    const char *headline;   /* of the rule's finding or note; NULL: there is none        */
    const char *why;        /* why it is a note, could not be checked, or was not priced */
};

/* 0, or -EIO with the reason in message. A variant without a trace is scored as UNTRACED. */
int gmt_score_variant(struct gmt_evidence_set *set, const json_t *row, struct gmt_arena *arena,
                      struct gmt_score *score, char *message, size_t bytes);

/* The first finding above a note of a rule that may not speak about the variant; NULL: none. */
const struct gmt_finding *gmt_trial_unexpected(const struct gmt_trial *trial, const json_t *row);

/* A bad variant that names the rule which should speak about it. */
bool gmt_is_loud(const json_t *row);

/* Time of the variant that the row is measured against; where it did not run here, of the fastest
 * that has the same reference. NAN: of none. */
double gmt_good_ns(const struct gmt_evidence_set *set, const json_t *row);

/* What rule says about why it says nothing; NULL: nothing. */
const char *gmt_trial_why(const struct gmt_trial *trial, const char *rule);

#endif
