/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is held in vain, by call site: what GM204, GM205, GM206 and GM208 have in common. */
#ifndef GMT_ANALYZER_RULES_COMMON_HELD_MEMORY_H
#define GMT_ANALYZER_RULES_COMMON_HELD_MEMORY_H

#include "analyzer/findings/rule.h"
#include "analyzer/memory/memory.h"

/* Rows of one place that a rule has chosen. */
struct gmt_held_site {
    const size_t *rows; /* indices into memory->rows, oldest first */
    size_t count;
    size_t unfreed; /* of all that were made there: never freed, whether chosen or not */
    const struct gmt_memory_row *example; /* the largest */
    double bytes;                         /* of all rows */
    double saved_bytes; /* the peak would be that much lower; NAN: by too little to matter */
    struct gmt_memory_peak peak;
};

/* What is asked about the rows of one place. */
struct gmt_held_group {
    const struct gmt_memory *memory;
    const size_t *rows; /* indices into memory->rows, oldest first */
    size_t count;
    int64_t
        cut_ns; /* the program broke off then: what lived longer may have been needed; or INT64_MAX */
    size_t lost; /* how many gmt_held_is_lost */
    struct gmt_memory_peak peak;
};

struct gmt_held_rule {
    bool host; /* of page-locked host memory */
    /*
     * Chooses the i-th row of a group, and says how long it would live after the fix (empty: not at
     * all).
     */
    bool (*choose)(const struct gmt_held_group *group, size_t i, struct gmt_interval *life);
    /* Bytes that stay of a chosen row while it lived; NULL: none. */
    double (*kept_bytes)(const struct gmt_memory_row *row);
    /* Headline, method, fix and sketch; leaves the headline NULL for what is not to be reported. */
    void (*describe)(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                     struct gmt_finding *finding);
};

/*
 * PASS; COULD_NOT_CHECK without memory, or where nothing was found and the program broke off: rows that
 * lived then are left out.
 */
enum gmt_outcome gmt_held_run(struct gmt_analysis *analysis, const struct gmt_held_rule *rule);

/* The i-th row was never freed, and used for the last time before the next one was made. */
bool gmt_held_is_lost(const struct gmt_held_group *group, size_t i);

/* What calls of the host cost, and how much of that the device's work hid. */
struct gmt_held_cost {
    double total_ns, hidden_ns, wait_ns; /* wait: for kernels, not counted in the total        */
    double unknown_ns; /* releases that may have waited, not known how long: not in it */
};

/* Adds the calls that make and free the row, and claims them for the finding. */
void gmt_held_add_calls(struct gmt_analysis *analysis, const struct gmt_memory_row *row,
                        struct gmt_finding *finding, struct gmt_held_cost *cost);
/* Cost, saving and method of a fix that drops these calls. Nothing without times. */
void gmt_held_price(struct gmt_analysis *analysis, const struct gmt_held_cost *cost,
                    struct gmt_finding *finding);

/* Killed, or ended with a status other than 0 after a call that failed and no more work: what it still
 * meant to do is not known. A status alone is a normal end: many programs report their result by it. */
bool gmt_held_broke_off(const struct gmt_analysis *analysis);
/* Where it did: how, as a clause. "the program ended with exit status 3 after a call that failed" */
const char *gmt_held_end(struct gmt_analysis *analysis);

/* Why uses of memory are not known in this trace, or NULL. */
const char *gmt_held_unknown(const struct gmt_analysis *analysis);

/*
 * "allocation WHERE ..." for the rows: by their ids, or, where those are many and follow no pattern, by
 * where they were made and `condition`.
 */
const char *gmt_held_from(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                          const char *condition);

#endif
