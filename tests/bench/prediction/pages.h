/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of docs/prediction.md. */
#ifndef GMT_TESTS_PREDICTION_PAGES_H
#define GMT_TESTS_PREDICTION_PAGES_H

#include <stdio.h>

#include "score.h"

/* A gain that a person would notice; below it a note is the right answer. */
#define GMT_WORTH_A_FINDING 0.03

struct gmt_scores {
    struct gmt_score *rows;
    size_t n;
};

/* Whether that is what the list promises; true for loud variants whose gain is worth only a note. */
bool gmt_score_is_heard(const struct gmt_score *score);
/* Rows of expected.def; a row without a list ends them. */
struct gmt_miss {
    const char *list, *family, *variant, *reason;
};
extern const struct gmt_miss gmt_misses[];
/* Why a miss is expected, or NULL. list as in expected.def. */
const char *gmt_miss_reason(const char *list, const char *family, const char *variant);

/* ncu's largest applicable estimate: of the whole kernel, else of a part; NAN. */
double gmt_score_ncu(const struct gmt_score *score);

/* Whether the predictions for a family are as good as is asked; true where nothing was priced. */
bool gmt_family_meets_target(const struct gmt_scores *scores, const char *family);

void gmt_page_summary(FILE *out, const struct gmt_scores *scores);
void gmt_page_pairs(FILE *out, const struct gmt_scores *scores);
void gmt_page_loud(FILE *out, const struct gmt_scores *scores);
int gmt_page_quiet(FILE *out, struct gmt_evidence_set *set, char *message, size_t bytes);
int gmt_page_transfers(FILE *out, struct gmt_evidence_set *set, char *message, size_t bytes);
void gmt_page_repeat(FILE *out, const struct gmt_evidence_set *set);

/* "12.3", or "-" for NAN; a ring of buffers, so that a few fit one call of printf. */
const char *gmt_percent(double share);
const char *gmt_microseconds(double ns);

#endif
