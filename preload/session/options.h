/* SPDX-License-Identifier: Apache-2.0 */
/* The recording options of this process, read from GMTRACE_* (table: libtrace/record/options.def). */
#ifndef GMT_PRELOAD_SESSION_OPTIONS_H
#define GMT_PRELOAD_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/ring_limits.h"

enum gmt_stacks { GMT_STACKS_OFF, GMT_STACKS_CALLER, GMT_STACKS_FULL };
enum gmt_collect { GMT_COLLECT_LIGHT, GMT_COLLECT_STANDARD, GMT_COLLECT_DEEP };
enum gmt_deep { GMT_DEEP_AUTO, GMT_DEEP_RERUN, GMT_DEEP_PHASE };

/* Set by the launcher only: the run is for instructions and no more. */
#define GMT_SECOND_RUN_VARIABLE "GMTRACE_SECOND_RUN"
enum gmt_counter_mode { GMT_COUNTERS_AUTO, GMT_COUNTERS_ON, GMT_COUNTERS_OFF };

enum gmt_graph_steps_mode { GMT_GRAPH_STEPS_OFF, GMT_GRAPH_STEPS_ON, GMT_GRAPH_STEPS_ALWAYS };
enum gmt_repeat_mode { GMT_REPEAT_OFF, GMT_REPEAT_ON, GMT_REPEAT_ALWAYS };

enum gmt_fingerprints { GMT_PRINTS_OFF, GMT_PRINTS_SAMPLED, GMT_PRINTS_WHOLE };

#define GMT_UNLIMITED_BUDGET 1e9 /* times the run so far: more than any program asks for */

struct gmt_options {
    const char *output; /* pattern */
    const char *cupti;  /* path, NULL: search */
    enum gmt_collect collect;
    enum gmt_deep deep;
    bool launched;   /* by gmtrace, or by a program that it started */
    bool second_run; /* of two: this one counts instructions */
    enum gmt_stacks stacks;
    bool python; /* read the frames of Python's functions */
    enum gmt_counter_mode counters;
    enum gmt_repeat_mode repeat;
    enum gmt_graph_steps_mode graph_steps;
    enum gmt_fingerprints fingerprints;
    double fingerprint_budget; /* share of elapsed time; 1: no limit */
    size_t fingerprint_limit_bytes;
    uint64_t spool_limit_bytes;
    struct gmt_ring_limits ring; /* keep the last records only; zeros: all of them */
    const char *metrics;         /* pattern, "": none */
    unsigned metrics_seconds;
    const char *dump_on;   /* as gmt_dump_on_read takes it, "": errors and bad ends only */
    bool aggregate;        /* sums over steps only */
    const char *step;      /* the range that is a step, "": any */
    double counter_budget; /* share of elapsed time; GMT_UNLIMITED_BUDGET */
    unsigned counter_samples;
    uint64_t hold_limit_ns; /* that a thread waits for another */
    double overhead;        /* share of elapsed time that all of it may cost; 0: no limit */
    bool overhead_given;    /* else the software device has no limit */
    bool counter_budget_given, fingerprint_budget_given;
};
extern struct gmt_options gmt_options;

/* Read the environment. Values that make no sense keep their default and are remembered. */
void gmt_options_load(void);
/* Write what was odd (unknown variables, bad values) as GMT_REC_CAPABILITY "options". */
void gmt_options_report(void);
/* "collect=standard;stacks=full;..." for the trace. */
void gmt_options_describe(char *text, size_t bytes);

/* GMTRACE_RANGE, "" if unset; may be asked for before gmt_options_load. */
const char *gmt_options_range(void);

/* Path of the running executable; "" if unknown. */
const char *gmt_options_exe(void);

/* Rank of this process in an MPI or torchrun job, or NULL; `size` gets the number of ranks, 1 when
 * it is not known. */
const char *gmt_options_rank(unsigned *size);

#endif
