/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule is, what it is given, and how it speaks: through findings, never by printing. */
#ifndef GMT_ANALYZER_FINDINGS_RULE_H
#define GMT_ANALYZER_FINDINGS_RULE_H

#include "analyzer/findings/rule_context.h"
#include "reports/model/report.h"

/* What a rule cannot do without. NEED_*_WORK missing: not applicable; the rest: could not check. */
enum gmt_need {
    GMT_NEED_COPIES = 1 << 0,
    GMT_NEED_ALLOCATIONS = 1 << 1,
    GMT_NEED_LAUNCHES = 1 << 2,
    GMT_NEED_PATCHED = 1 << 3,  /* software-patched counters: bytes asked, sectors, wavefronts */
    GMT_NEED_HARDWARE = 1 << 4, /* occupancy, DRAM and L2 traffic                              */
    GMT_NEED_TIMES = 1 << 5,    /* device timestamps                                           */
    GMT_NEED_MODEL = 1 << 6,
    GMT_NEED_ALL_CALLS = 1 << 7, /* none is missing inside of what was recorded (unseen.h)        */
    GMT_NEED_ALL_USES = 1 << 8, /* of memory: for what concludes from there being none (unseen.h) */
};

struct gmt_rule {
    const char *id, *slug, *title, *category; /* docs/rules/ID-SLUG.md is its page */
    unsigned needs;                           /* of enum gmt_need */
    enum gmt_touches touches;
    /* It is about the code of a kernel, or the shape of its launch: only who wrote the kernel can change that. */
    bool about_code;
    /* It is about what a call asks for: of what a library asks for itself only its makers can change that. */
    bool about_request;
    /* It is about page faults of managed memory: of kernels whose time they are, no other rule has a price. */
    bool prices_faults;
    /*
     * PASS, NOT_APPLICABLE, or COULD_NOT_CHECK as given by gmt_could_not. Findings that were
     * emitted make FAIL of any of them.
     */
    enum gmt_outcome (*run)(struct gmt_analysis *analysis);
};

/* Says why the rule could not be checked; to be returned from run. */
enum gmt_outcome gmt_could_not(struct gmt_analysis *analysis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A finding of the rule that runs, with everything unknown. NULL: no memory; all below take it. */
struct gmt_finding *gmt_finding_new(struct gmt_analysis *analysis);
void gmt_finding_evidence(struct gmt_finding *finding, const char *name, const char *unit,
                          double value);
void gmt_finding_claim(struct gmt_analysis *analysis, struct gmt_finding *finding,
                       struct gmt_interval interval);
/* Of a modelled timeline: so much time of calls that have no place in it. */
void gmt_finding_claim_modelled(struct gmt_analysis *analysis, struct gmt_finding *finding,
                                double ns);
/*
 * Of a modelled timeline: its price, what it is about and its evidence are called modelled. The interval
 * gets room for what such times are off by.
 */
void gmt_finding_mark_modelled(struct gmt_analysis *analysis, struct gmt_finding *finding);
/* Claims every launch of the class that has a device time. */
void gmt_finding_claim_class(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_tl_class *class);
/* Puts low <= best <= high, none of them below 0 or above the cost (when that is known). */
void gmt_finding_saving(struct gmt_finding *finding, double low_ns, double best_ns, double high_ns);
/* ... for all launches of the class, from what a launch of the median time saves. */
void gmt_finding_saving_of_class(struct gmt_finding *finding, const struct gmt_tl_class *class,
                                 double low_ns, double best_ns, double high_ns);

/* Whose lines a finding is about. Excess is work beyond the ideal; for local memory all of it. */
enum gmt_excess {
    GMT_EXCESS_LOADS = 1,
    GMT_EXCESS_STORES = 2,
    GMT_EXCESS_SHARED = 4,
    GMT_EXCESS_LOCAL = 8,
    /* Of these no part is in excess: lines have their share of all that is done so. One at a time. */
    GMT_LINES_NARROW = 16,    /* words narrower than 4 bytes, loaded or stored */
    GMT_LINES_LOADED = 32,    /* what is loaded from global memory             */
    GMT_LINES_FILL = 64,      /* stores to shared memory                       */
    GMT_LINES_SHARED = 128,   /* passes through shared memory                  */
    GMT_LINES_CONSTANTS = 256 /* loads of constants                            */
};
/* The source lines behind a finding about a kernel, where the trace has counts of instructions. */
void gmt_finding_lines(struct gmt_analysis *analysis, struct gmt_finding *finding,
                       const struct gmt_tl_class *class, unsigned excess);

/* "; kernel time 1.20 ms", or "" where there is none. */
const char *gmt_kernel_time(struct gmt_analysis *analysis, const struct gmt_tl_class *class);

/* "1.20 ms", or where times are modelled "about 1.20 ms, modelled". */
const char *gmt_time_words(struct gmt_analysis *analysis, double ns);

/* Why a finding has no price, as its method. */
const char *gmt_unpriced(const struct gmt_analysis *analysis);

/*
 * For a finding without a price, or whose price is modelled: `excess` of all that the program does of that
 * kind makes it a note below GMT_EXCESS_SHARE.
 */
void gmt_finding_judge_part(struct gmt_analysis *analysis, struct gmt_finding *finding,
                            double excess, double all);

/* True, and too small to matter: a note for its size alone. A reason that stands already stays. */
void gmt_finding_note_small(struct gmt_finding *finding, const char *why);

/*
 * The one way out of a rule. Nothing goes out that is about a kernel which communicates: it waits for its peers, so neither
 * its time nor its launch says how it uses the device. The report says so once (gaps.c).
 */
void gmt_finding_emit(struct gmt_analysis *analysis, struct gmt_finding *finding);

/*
 * After a rule has run: makes one finding of all that it said about the same kernel, or about the
 * same call, and files it.
 */
void gmt_findings_settle(struct gmt_analysis *analysis);
/*
 * Gives severity, share and number and adds it to the report. What saves less than the floors
 * of thresholds.h, or has note_why set, becomes a note. What could not be priced is judged by the most
 * that it can save, the time of what it is about: at most of medium severity, and low where that is not
 * known.
 */
void gmt_finding_file(struct gmt_analysis *analysis, struct gmt_finding *finding);

char *gmt_text(struct gmt_analysis *analysis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The condition on stack_id or caller, in SQL, of all calls made at the place of one that has this
 * stack (0: none) and caller: a place may be reached by many ways, each a stack of its own.
 */
const char *gmt_call_condition(struct gmt_analysis *analysis, int64_t stack_id, int64_t caller);
/*
 * The condition on `column`, in SQL and in brackets where it needs them, of just these ids, which it
 * sorts; `otherwise` where they are many and follow no pattern.
 */
const char *gmt_id_condition(struct gmt_analysis *analysis, const char *column, int64_t *ids,
                             size_t n, const char *otherwise);

/* Where a call was made; `call` may be one of many from the same place. */
struct gmt_where gmt_where_of_call(struct gmt_analysis *analysis, const struct gmt_tl_call *call);
/* A kernel, and the place of one of its launches; label = kernel where no place is known. */
struct gmt_where gmt_where_of_class(struct gmt_analysis *analysis,
                                    const struct gmt_tl_class *class);

/* calibrated (on this device or another of its name) or modelled, as the model allows. */
enum gmt_confidence gmt_confidence_of_model(const struct gmt_model *model);

#endif
