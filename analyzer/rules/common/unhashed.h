/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies that hashing had no time for: what they would add to GM105, GM106 and GM117, by those of the same
 * place, size and memory that could be compared.
 */
#ifndef GMT_ANALYZER_RULES_COMMON_UNHASHED_H
#define GMT_ANALYZER_RULES_COMMON_UNHASHED_H

#include "analyzer/memory/content.h"
#include "analyzer/rules/common/content_sites.h"

/* What a rule knows of the content of one copy. */
enum gmt_hashed {
    GMT_HASHED_OTHERWISE, /* no case of the rule, or not hashed for another reason */
    GMT_HASHED_NEW,       /* compared, and new */
    GMT_HASHED_REPEATED,  /* compared, and what the rule looks for */
    GMT_HASHED_OPEN, /* what the rule looks for but for its bytes; not hashed, for want of time */
};

struct gmt_unhashed_copy {
    size_t index;
    uint64_t memory; /* address: what is of other memory counts for itself */
    enum gmt_hashed state;
};

/* A rule's question about the copies of one place of the program. */
struct gmt_unhashed_ask {
    const struct gmt_timeline *timeline;
    const struct gmt_copy_content *contents;
    /* A copy repeats where it brings what the one before brought: then fingerprints are compared across copies
     * that have none, too. Of different ones it is known that one copy was new, and no more of equal ones. */
    bool in_a_row;
    /* Adds what an open copy takes; its low_ns is 0 where the copy is in doubt for other reasons. */
    void (*add)(void *context, size_t index, struct gmt_copy_sum *sum);
    void *context;
};

/* Of the open copies, what repeats by the share of the compared ones. All 0 where there is nothing to go by. */
struct gmt_unhashed {
    size_t compared, repeated; /* of those that have open copies beside them */
    size_t open;
    double copies, bytes;
    double cost_ns, most_cost_ns;    /* NAN without times, as the rest                          */
    double low_ns, best_ns, high_ns; /* by Wilson's interval of the share; low: 0 by samples    */
};

/* `rows`: all copies of the place that the rule knows anything of. Sorts them. */
struct gmt_unhashed gmt_unhashed_estimate(const struct gmt_unhashed_ask *ask,
                                          struct gmt_unhashed_copy *rows, size_t n);

/* Wilson's 95 % interval of a share of which `hits` of `n` > 0 are known. */
struct gmt_share_limits {
    double low, high;
};
struct gmt_share_limits gmt_wilson_limits(size_t hits, size_t n);

/* " (18 of 18 that could be compared, an estimate for 85 that hashing had no time for)", or "". */
const char *gmt_unhashed_words(struct gmt_analysis *analysis, const struct gmt_unhashed *unhashed);
/* The same for the method: how they count, or "". */
const char *gmt_unhashed_method(const struct gmt_unhashed *unhashed);
/* The evidence of it, where there is any. */
void gmt_unhashed_evidence(const struct gmt_unhashed *unhashed, struct gmt_finding *finding);
/* Claims the time of the open copies among the rows that an estimate was made for. */
void gmt_unhashed_claim(struct gmt_analysis *analysis, const struct gmt_unhashed *unhashed,
                        const struct gmt_unhashed_copy *rows, size_t n,
                        struct gmt_finding *finding);

#endif
